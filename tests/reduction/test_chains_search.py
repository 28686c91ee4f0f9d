"""Searches of conditionals, by steps for any classifier and by kernels, equal enumeration."""

import numpy as np
import pytest
from scipy.special import expit, logit

import oracles
from colabel.reduction._chain_draws import joined
from colabel.reduction._conditional_base import chain_parents
from colabel.reduction._conditional_search import Beam, FittedRows, Rows, distinct, put_in_front
from colabel.reduction._linear_rows import LinearRows

SEEDS = range(200)


class Known:
    """A classifier of known log-odds ``weight . [x, y]``."""

    def __init__(self, weight):
        self.weight = weight

    def predict_proba(self, X):
        u = X @ self.weight
        return np.column_stack([expit(-u), expit(u)])


def draw(seed, max_labels=6, n_samples=4):
    """Linear conditionals of a chain in a random order; ties and certainty in some seeds."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, max_labels + 1))
    order = rng.permutation(n_labels)
    base = rng.normal(size=(n_samples, n_labels)) * 2
    couplings = rng.normal(size=(n_labels, n_labels)) * 3
    if seed % 3 == 0:
        base, couplings = np.round(base), np.round(couplings)
    if seed % 7 == 0:
        base, couplings = 0.0 * base, 0.0 * couplings
    mask = np.zeros_like(couplings)
    for label, given in enumerate(chain_parents(order)):
        mask[label, given] = 1.0
    return LinearRows(base, couplings * mask), order


def as_fitted(rows, order):
    """The same conditionals as classifiers; the features are the base log-odds."""
    parents = chain_parents(order)
    estimators = [
        Known(np.concatenate([np.eye(rows.n_labels)[label], rows.couplings[label, given]]))
        for label, given in enumerate(parents)
    ]
    return FittedRows(rows.base, estimators, parents, np.full(rows.n_labels, np.nan))


def joint(rows, order):
    """Log-probabilities of all labelings, by the chain rule, one at a time: (n, 2^L)."""
    Z = oracles.all_labelings(rows.n_labels)
    out = np.zeros((rows.n_samples, len(Z)))
    for i in range(rows.n_samples):
        for s, z in enumerate(Z):
            for label, given in enumerate(chain_parents(order)):
                u = rows.base[i, label] + rows.couplings[label, given] @ z[given]
                out[i, s] -= np.logaddexp(0.0, -u if z[label] else u)
    return out


def codes(labels):
    return labels.astype(np.int64) @ (1 << np.arange(labels.shape[-1])[::-1])


@pytest.fixture(scope="module")
def problems():
    found = [draw(seed) for seed in SEEDS]
    return [(rows, order, joint(rows, order)) for rows, order in found]


def test_probabilities_of_all_labelings_sum_to_one(problems):
    for rows, order, every in problems:
        np.testing.assert_allclose(np.exp(every).sum(axis=1), 1.0)
        for some in (rows, as_fitted(rows, order)):
            Z, log_p = some.enumerate(order)
            assert len(np.unique(Z, axis=0)) == 2**rows.n_labels
            np.testing.assert_allclose(log_p, every[:, codes(Z)], atol=1e-10)
            np.testing.assert_allclose(some.log_prob_all(Z), log_p, atol=1e-10)
            picked = Z[np.arange(rows.n_samples) % len(Z)]
            expected = every[np.arange(rows.n_samples), codes(picked)]
            np.testing.assert_allclose(some.log_prob(picked), expected, atol=1e-10)


def test_beams_of_kernel_and_steps_agree_and_bound_what_they_leave_out(problems):
    for seed, (rows, order, every) in enumerate(problems):
        width = 1 + seed % 8
        fast, slow = rows.beam(order, width), Rows.beam(rows, order, width)
        fitted = as_fitted(rows, order).beam(order, width)
        for beam in (fast, slow, fitted):
            assert beam.log_p.shape[1] == min(width, 2**rows.n_labels)
            here = np.take_along_axis(every, codes(beam.labels), axis=1)
            np.testing.assert_allclose(beam.log_p, here, atol=1e-10)
            assert (np.diff(np.sort(codes(beam.labels), axis=1), axis=1) > 0).all()
            out = every.copy()
            np.put_along_axis(out, codes(beam.labels), -np.inf, axis=1)
            assert (out.max(axis=1) <= beam.rest + 1e-10).all()
        np.testing.assert_allclose(fast.log_p, slow.log_p, atol=1e-12)
        np.testing.assert_allclose(fast.rest, slow.rest, atol=1e-12)
        np.testing.assert_array_equal(fast.labels, slow.labels)


def test_a_beam_as_wide_as_all_labelings_equals_enumeration(problems):
    for rows, order, every in problems:
        for some in (rows, as_fitted(rows, order)):
            beam = some.beam(order, 64)
            np.testing.assert_allclose(beam.log_p, -np.sort(-every, axis=1), atol=1e-10)
            assert np.isneginf(beam.rest).all()


def test_exact_search_equals_enumeration(problems):
    for seed, (rows, order, every) in enumerate(problems):
        best = every.max(axis=1)
        for some in (rows, as_fitted(rows, order)):
            beam = some.beam(order, 1 + seed % 3)
            found = some.mode(order, beam, 10**6)
            assert found.log_p.shape == beam.log_p.shape
            np.testing.assert_allclose(found.log_p[:, 0], best, atol=1e-10)
            here = every[np.arange(rows.n_samples), codes(found.labels[:, 0])]
            np.testing.assert_allclose(here, best, atol=1e-10)
            assert (found.rest <= best + 1e-10).all()
            out = every.copy()
            np.put_along_axis(out, codes(found.labels), -np.inf, axis=1)
            assert (out.max(axis=1) <= found.rest + 1e-10).all()


def test_a_search_cut_short_brackets_the_optimum(problems):
    short = np.zeros(2)
    for rows, order, every in problems:
        best = every.max(axis=1)
        for i, some in enumerate((rows, as_fitted(rows, order))):
            found = some.mode(order, some.beam(order, 1), 2)
            assert (found.log_p[:, 0] <= best + 1e-10).all()
            assert (np.maximum(found.log_p[:, 0], found.rest) >= best - 1e-10).all()
            short[i] += np.sum(found.rest > found.log_p[:, 0] + 1e-9)
    assert (short > 50).all()


def test_exact_search_without_the_empty_labeling_equals_enumeration(problems):
    modes = 0
    for seed, (rows, order, every) in enumerate(problems):
        best = every[:, 1:].max(axis=1)
        modes += np.sum(every.argmax(axis=1) == 0)
        for some in (rows, as_fitted(rows, order)):
            beam = some.beam(order, 2 + seed % 3)
            found = some.mode(order, beam, 10**6, nonempty=True)
            assert found.log_p.shape == beam.log_p.shape
            here = np.where(found.labels.any(axis=2), found.log_p, -np.inf)
            np.testing.assert_allclose(here.max(axis=1), best, atol=1e-10)
            listed = np.take_along_axis(every, codes(found.labels), axis=1)
            np.testing.assert_allclose(found.log_p, listed, atol=1e-10)
            # The empty labeling is listed, so that the bound need not hold for it.
            assert (~found.labels.any(axis=2)).any(axis=1).all()
            assert (found.rest <= best + 1e-10).all()
            out = every.copy()
            np.put_along_axis(out, codes(found.labels), -np.inf, axis=1)
            assert (out.max(axis=1) <= found.rest + 1e-10).all()
    assert modes > 100


def test_draws_of_kernel_and_steps_agree(problems):
    for seed, (rows, order, every) in enumerate(problems):
        rng = np.random.default_rng(seed)
        first_point, uniform = rng.random(), rng.random((1 + seed % 12, rows.n_labels))
        fast = rows.draws(order, first_point, uniform)
        for other in (rows, as_fitted(rows, order)):
            slow = Rows.draws(other, order, first_point, uniform)
            np.testing.assert_allclose(fast.means, slow.means, atol=1e-10)
            assert fast.log_p.shape == slow.log_p.shape
            for i in range(rows.n_samples):
                here, there = (np.isfinite(found.log_p[i]) for found in (fast, slow))
                ours, theirs = codes(fast.labels[i, here]), codes(slow.labels[i, there])
                np.testing.assert_array_equal(np.sort(ours), np.sort(theirs))
                np.testing.assert_allclose(fast.log_p[i, here], every[i, ours], atol=1e-10)
                np.testing.assert_allclose(slow.log_p[i, there], every[i, theirs], atol=1e-10)


def test_beams_and_draws_joined_weigh_all_labelings(problems):
    """Averaged over the draws, weights before normalising are the probabilities."""
    for seed in (1, 2, 4):
        rows, order, every = problems[seed]
        beam, n_draws, n_times = rows.beam(order, 2), 5, 1500
        total = np.zeros(every.shape)
        for again in range(n_times):
            rng = np.random.default_rng(again)
            drawn = rows.draws(order, rng.random(), rng.random((n_draws, rows.n_labels)))
            table = joined(beam, drawn, n_draws)
            np.testing.assert_allclose(table.weights.sum(axis=1), 1.0)
            least, most = table.marginal_bounds()
            assert (table.marginals() >= least - 1e-12).all()
            assert (table.marginals() <= most + 1e-12).all()
            i, k = np.nonzero(np.isfinite(table.scores))
            place = codes(table.labelings)[i, k]
            assert len(np.unique(i * every.shape[1] + place)) == len(place)
            np.testing.assert_allclose(table.scores[i, k], every[i, place], atol=1e-10)
            p, w = np.exp(table.scores[i, k]), table.weights[i, k]
            first = np.searchsorted(i, i)  # of the labelings of the same row
            scaled = w * (p / w)[first]
            assert (scaled >= p * (1 - 1e-9)).all()
            total[i, place] += scaled / n_times
        np.testing.assert_allclose(total, np.exp(every), atol=0.03)


def test_the_kernel_proves_modes_of_many_labels_as_wide_beams_do():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        order = rng.permutation(25)
        mask = np.zeros((25, 25))
        for label, given in enumerate(chain_parents(order)):
            mask[label, given] = 1.0
        couplings = rng.normal(size=(25, 25)) * mask
        rows = LinearRows(rng.normal(size=(5, 25)) * 2 - 1.0, couplings)
        proved = rows.mode(order, rows.beam(order, 1), 10**6)
        widened = Rows.mode(rows, order, rows.beam(order, 4), 10**7)
        assert (proved.rest <= proved.log_p[:, 0] + 1e-12).all()
        assert (widened.rest <= widened.log_p[:, 0] + 1e-12).all()
        np.testing.assert_allclose(proved.log_p[:, 0], widened.log_p[:, 0], atol=1e-10)


def test_greedy_and_random_paths_agree(problems):
    for seed, (rows, order, _) in enumerate(problems):
        cuts = logit(np.random.default_rng(seed).random(rows.base.shape))
        for decide in (
            lambda label, odds: odds > 0.0,
            lambda label, odds, cuts=cuts: odds > cuts[:, label],
        ):
            Y, odds = rows.path(order, decide)
            for other in (
                Rows.path(rows, order, decide),
                as_fitted(rows, order).path(order, decide),
            ):
                np.testing.assert_array_equal(Y, other[0])
                np.testing.assert_allclose(odds, other[1], atol=1e-10)
            np.testing.assert_allclose(rows.all_log_odds(Y), odds, atol=1e-12)
            np.testing.assert_allclose(Rows.all_log_odds(rows, Y), odds, atol=1e-12)


@pytest.mark.parametrize("n_burn", [0, 3])
def test_gibbs_samples_by_kernel_and_by_steps_agree(n_burn):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n_labels = int(rng.integers(1, 7))
        couplings = rng.normal(size=(n_labels, n_labels)) * 2
        np.fill_diagonal(couplings, 0.0)
        rows = LinearRows(rng.normal(size=(5, n_labels)), couplings)
        cuts = logit(rng.random((3, 8, n_labels)))
        draws, means = rows.gibbs(cuts, n_burn)
        slow_draws, slow_means = Rows.gibbs(rows, cuts, n_burn)
        assert draws.shape == (5, 3 * (7 - n_burn), n_labels)
        np.testing.assert_array_equal(draws, slow_draws)
        np.testing.assert_allclose(means, slow_means, atol=1e-12)


def test_a_missed_labeling_takes_the_place_of_the_last():
    labels = np.array([[[1, 0], [0, 0]], [[1, 1], [0, 1]]], dtype=np.int8)
    beam = Beam(labels, np.log([[0.3, 0.2], [0.5, 0.1]]), np.log([0.4, 0.15]))
    better = np.array([[0, 1], [1, 1]], dtype=np.int8)
    found = put_in_front(beam, better, np.log([0.4, 0.5]), np.log([0.4, 0.5]))
    assert found.labels.tolist() == [[[0, 1], [1, 0]], [[1, 1], [0, 1]]]
    np.testing.assert_allclose(np.exp(found.log_p), [[0.4, 0.3], [0.5, 0.1]])
    np.testing.assert_allclose(np.exp(found.rest), [0.4, 0.15])
    np.testing.assert_array_equal(beam.labels, labels)


def test_distinct_draws_are_counted():
    draws = np.array([[[1, 0], [1, 0], [0, 0]], [[0, 1], [1, 1], [0, 0]]], dtype=np.int8)
    labelings, counts = distinct(draws)
    assert counts.tolist() == [[2, 1, 0], [1, 1, 1]]
    assert labelings[0, :2].tolist() == [[1, 0], [0, 0]]
    empty = distinct(np.zeros((0, 3, 2), dtype=np.int8))
    assert empty[0].shape == (0, 1, 2)
