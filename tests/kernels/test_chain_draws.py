"""Draws from chains at evenly spaced points equal the obvious ones, and are right on average."""

import numpy as np
import pytest

from colabel._kernels.chain_draws import spread_draws
from kernels.test_chain import codes, draw, joint, log_sigmoid

SEEDS = range(200)


def points(seed, n_labels, n_draws=None):
    """The place of the first point, and numbers for the parts that have one point at most."""
    rng = np.random.default_rng(seed)
    n_draws = int(rng.integers(1, 20)) if n_draws is None else n_draws
    return rng.random(), rng.random((n_draws, n_labels))


def drawn(base, lower, first_point, uniform):
    shape = len(base), len(uniform)
    labels = np.zeros((*shape, base.shape[1]), dtype=np.int8)
    log_p, means = np.empty(shape), np.empty(base.shape)
    spread_draws(base, lower, first_point, uniform, labels, log_p, means)
    return labels, log_p, means


def slow_draws(base, lower, first_point, uniform):
    """All points one by one, for one sample: {labels on: log-probability} and means."""
    n_draws, n_labels = uniform.shape
    found, seen = {}, [{} for _ in range(n_labels)]
    for j in range(n_draws):
        place, start, length, value, on = (j + first_point) / n_draws, 0.0, 1.0, 0.0, ()
        for t in range(n_labels):
            u = base[t] + sum(lower[t, s] for s in on)
            off = np.exp(log_sigmoid(-u))
            seen[t][on] = max(length, 1.0 / n_draws), 1.0 - off
            right = place >= start + length * off
            if n_draws * length < 1.0:
                right = uniform[j, t] >= off
            start += length * off if right else 0.0
            length *= 1.0 - off if right else off
            value += log_sigmoid(u if right else -u)
            on = (*on, t) if right else on
        found[on] = value
    means = [
        np.average([p for _, p in s.values()], weights=[w for w, _ in s.values()]) for s in seen
    ]
    return found, means


@pytest.mark.parametrize("part", range(5))
def test_draws_equal_those_point_by_point(part):
    for seed in SEEDS[part::5]:
        base, lower = draw(seed)
        first_point, uniform = points(seed, base.shape[1])
        labels, log_p, means = drawn(base, lower, first_point, uniform)
        for i in range(len(base)):
            found, mean = slow_draws(base[i], lower, first_point, uniform)
            size = len(found)
            assert np.isneginf(log_p[i, size:]).all()
            ours = [tuple(np.flatnonzero(z)) for z in labels[i, :size]]
            assert set(ours) == set(found)
            np.testing.assert_allclose(log_p[i, :size], [found[on] for on in ours], atol=1e-10)
            np.testing.assert_allclose(means[i], mean, atol=1e-10)


def test_probable_labelings_are_drawn_for_sure_and_others_as_often_as_they_should():
    base, lower = draw(1, 5)
    p, n_draws, n_times = np.exp(joint(base, lower)), 10, 1500
    total, means = np.zeros(p.shape), np.zeros(base.shape)
    for seed in range(n_times):
        labels, log_p, mean = drawn(base, lower, *points(seed, base.shape[1], n_draws))
        for i in range(len(base)):
            there = codes(labels[i, np.isfinite(log_p[i])])
            assert len(np.unique(there)) == len(there)
            total[i, there] += 1
        means += mean / n_times
    sure = n_draws * p >= 1.0
    assert sure.any()
    assert (~sure & (p > 1e-3)).any()
    assert (total[sure] == n_times).all()
    chance = np.minimum(n_draws * p, 1.0)
    error = np.sqrt(chance * (1 - chance) / n_times)
    assert (np.abs(total / n_times - chance) < 5 * error + 1e-3).all()
    # The bits of code 0..2^L - 1, the first label in front.
    Z = (np.arange(p.shape[1])[:, None] >> np.arange(base.shape[1])[::-1]) & 1
    np.testing.assert_allclose(means, p @ Z, atol=0.01)


def test_many_fair_coins_stay_fair():
    """A point has 53 digits; a hundred coins need more."""
    first_point, uniform = points(0, 120, 600)
    labels, log_p, means = drawn(np.zeros((1, 120)), np.zeros((120, 120)), first_point, uniform)
    assert np.isfinite(log_p).all()
    assert np.abs(labels[0].mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(600)
    np.testing.assert_allclose(means, 0.5)


def test_no_samples_and_certain_labels():
    first_point, uniform = points(0, 3, 7)
    assert drawn(np.zeros((0, 3)), np.zeros((3, 3)), first_point, uniform)[0].shape == (0, 7, 3)
    labels, log_p, means = drawn(
        np.array([[800.0, -800.0, 800.0]]), np.zeros((3, 3)), first_point, uniform
    )
    assert np.isfinite(log_p).sum() == 1
    assert labels[0, 0].tolist() == [1, 0, 1]
    np.testing.assert_allclose(means, [[1.0, 0.0, 1.0]])
