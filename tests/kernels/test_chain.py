"""Searches in linear chains equal enumeration."""

import numpy as np
import pytest

import oracles
from colabel._kernels.chain import beam_search, branch_and_bound

SEEDS = range(250)


def draw(seed, max_labels=6, n_samples=3):
    """Base log-odds and couplings; some seeds with ties, zeros or near certainty."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, max_labels + 1))
    base = rng.normal(size=(n_samples, n_labels)) * 2
    lower = np.tril(rng.normal(size=(n_labels, n_labels)) * 3, -1)
    if seed % 3 == 0:
        base, lower = np.round(base), np.round(lower)
    if seed % 7 == 0:
        base, lower = 0.0 * base, 0.0 * lower
    if seed % 11 == 0:
        base, lower = 30.0 * base, 30.0 * lower
    return base, lower


def log_sigmoid(u):
    return -np.logaddexp(0.0, -u)


def joint(base, lower):
    """Log-probability of all labelings by the chain rule: (n, 2^L)."""
    out = np.zeros((len(base), 2 ** base.shape[1]))
    for s, z in enumerate(oracles.all_labelings(base.shape[1])):
        for t, on in enumerate(z):
            u = base[:, t] + lower[t, :t] @ z[:t]
            out[:, s] += log_sigmoid(u if on else -u)
    return out


def reach_of(lower):
    n_labels = len(lower)
    reach = np.zeros((2, n_labels, n_labels))
    for s in range(n_labels):
        for t in range(s):
            reach[0, s, t] = np.minimum(lower[s, t:s], 0.0).sum()
            reach[1, s, t] = np.maximum(lower[s, t:s], 0.0).sum()
    return reach


def codes(labels):
    return labels.astype(np.int64) @ (1 << np.arange(labels.shape[-1])[::-1])


def search(base, lower, width):
    n, n_labels = base.shape
    labels = np.zeros((n, width, n_labels), np.int8)
    log_p, rest = np.empty((n, width)), np.empty(n)
    beam_search(base, lower, labels, log_p, rest)
    return labels, log_p, rest


def test_joint_probabilities_sum_to_one():
    for seed in range(40):
        np.testing.assert_allclose(np.exp(joint(*draw(seed, 5))).sum(axis=1), 1.0)


@pytest.mark.parametrize("part", range(5))
def test_a_beam_as_wide_as_all_labelings_equals_enumeration(part):
    for seed in SEEDS[part::5]:
        base, lower = draw(seed, 5)
        every = joint(base, lower)
        labels, log_p, rest = search(base, lower, every.shape[1])
        assert np.isneginf(rest).all()
        np.testing.assert_allclose(log_p, -np.sort(-every, axis=1), atol=1e-12)
        np.testing.assert_allclose(
            np.take_along_axis(every, codes(labels), axis=1), log_p, atol=1e-12
        )


def slow_beam(base, lower, width):
    """Beam search on lists of (log-probability, labels) for one sample; returns the list, rest."""
    beam, rest = [(0.0, ())], -np.inf
    for t in range(len(base)):
        grown = []
        for p, y in beam:
            u = base[t] + sum(lower[t, j] for j in y)
            grown += [(p + log_sigmoid(-u), y), (p + log_sigmoid(u), y + (t,))]
        grown.sort(key=lambda one: (-one[0], len(one[1])))
        beam, dropped = grown[:width], grown[width:]
        rest = max([rest, *(p for p, _ in dropped)])
    return beam, rest


@pytest.mark.parametrize("part", range(5))
def test_a_narrow_beam_equals_the_obvious_one_and_bounds_what_it_left_out(part):
    for seed in SEEDS[part::5]:
        base, lower = draw(seed)
        width = min(1 + seed % 9, 2 ** base.shape[1])
        labels, log_p, rest = search(base, lower, width)
        every = joint(base, lower)
        for i in range(len(base)):
            beam, bound = slow_beam(base[i], lower, width)
            np.testing.assert_allclose(log_p[i], [p for p, _ in beam], atol=1e-12)
            np.testing.assert_allclose(rest[i], bound, atol=1e-12)
            np.testing.assert_allclose(every[i, codes(labels[i])], log_p[i], atol=1e-12)
            assert len(set(codes(labels[i]))) == width
            others = np.delete(every[i], codes(labels[i]))
            assert others.max(initial=-np.inf) <= rest[i] + 1e-12


@pytest.mark.parametrize("part", range(5))
def test_branch_and_bound_finds_the_mode_with_the_fewest_labels(part):
    for seed in SEEDS[part::5]:
        base, lower = draw(seed)
        every = joint(base, lower)
        labels, log_p, _ = search(base, lower, 1)
        labels, proof = labels[:, 0].copy(), np.column_stack([log_p, log_p])
        branch_and_bound(base, lower, reach_of(lower), 10**6, False, labels, proof)
        best = every.max(axis=1)
        np.testing.assert_allclose(proof[:, 0], best, atol=1e-12)
        np.testing.assert_array_equal(proof[:, 1], proof[:, 0])
        np.testing.assert_allclose(every[np.arange(3), codes(labels)], best, atol=1e-12)
        count = oracles.all_labelings(base.shape[1]).sum(axis=1)
        for i in range(3):
            assert labels[i].sum() <= count[every[i] >= best[i] - 1e-15].min()


def test_branch_and_bound_finds_the_best_labeling_that_is_not_empty():
    modes = 0
    for seed in SEEDS:
        base, lower = draw(seed)
        base = base - 1.5 * (seed % 2)
        every = joint(base, lower)
        modes += np.sum(every.argmax(axis=1) == 0)
        labels = np.zeros(base.shape, dtype=np.int8)
        labels[:, seed % base.shape[1]] = 1
        log_p = every[np.arange(3), codes(labels)]
        for max_nodes in (10**6, 1 + seed % 4):
            found, proof = labels.copy(), np.column_stack([log_p, log_p])
            branch_and_bound(base, lower, reach_of(lower), max_nodes, True, found, proof)
            best, here = every[:, 1:].max(axis=1), every[np.arange(3), codes(found)]
            assert found.any(axis=1).all()
            np.testing.assert_allclose(proof[:, 0], here, atol=1e-12)
            assert np.all(proof[:, 1] >= best - 1e-12)
            if max_nodes == 10**6:
                np.testing.assert_allclose(here, best, atol=1e-12)
                np.testing.assert_array_equal(proof[:, 1], proof[:, 0])
    assert modes > 100


def test_a_search_cut_short_brackets_the_optimum():
    short = 0
    for seed in SEEDS:
        base, lower = draw(seed)
        best = joint(base, lower).max(axis=1)
        labels, log_p, _ = search(base, lower, 1)
        proof = np.column_stack([log_p, log_p])
        start = labels[:, 0].copy()
        branch_and_bound(base, lower, reach_of(lower), 1 + seed % 4, False, start, proof)
        assert np.all(proof[:, 0] <= best + 1e-12)
        assert np.all(proof[:, 1] >= best - 1e-12)
        short += np.sum(proof[:, 1] > proof[:, 0] + 1e-9)
    assert short > 50


def test_no_samples():
    labels, _, _ = search(np.zeros((0, 3)), np.zeros((3, 3)), 2)
    assert labels.shape == (0, 2, 3)
