"""All cuts at once equal the cuts one by one, and solve the total variation problem."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from colabel.decoders.graph_cut import GraphCut
from colabel.decoders.parametric_cut import parametric_cut, total_variation
from colabel.exceptions import IncompatibleError
from colabel.scores import Pairwise
from decoders import oracles_cut as oracle


def shifted(scores, price):
    return scores.plus_unary(np.full(scores.unary.shape, price))


@pytest.mark.parametrize("regime", oracle.REGIMES)
def test_family_holds_the_best_labeling_of_every_price(regime):
    for seed in range(200):
        scores = oracle.problem(seed, regime, max_labels=8)
        entry = parametric_cut(scores).entry
        Z, values = oracle.values(scores)
        # Between and at the breakpoints of the first row, and beyond them.
        marks = np.unique(entry[0])
        ends = [marks[0] - abs(marks[0]) - 1e-9, marks[-1] + abs(marks[-1]) + 1e-9]
        prices = np.array([*marks, *(marks[1:] + marks[:-1]) / 2, *ends])
        on = (entry[0] < prices[:, None]).astype(int)
        reached = scores.value_all(on)[0] + prices * on.sum(axis=1)
        best = np.max(values[0] + prices[:, None] * Z.sum(axis=1), axis=1)
        slack = 20 * oracle.tolerance(scores)[0] + 1e-13 * np.abs(prices) * scores.n_labels
        assert np.all(np.abs(reached - best) <= slack)


def test_entries_are_exact_breakpoints_where_numbers_are_integers():
    for seed in range(100):
        scores = oracle.problem(seed, "ties", max_labels=6)
        family = parametric_cut(scores)
        for step in (-4.5, -1.0, 0.0, 0.5, 2.0):
            smallest = oracle.smallest_maximisers(shifted(scores, step))
            np.testing.assert_array_equal(family.labels_at(step), smallest)


def test_cuts_one_by_one_agree_on_larger_graphs():
    rng = np.random.default_rng(0)
    for density in (0.08, 0.8):
        i, j = np.triu_indices(60, 1)
        kept = rng.random(len(i)) < density
        couplings = rng.exponential(2.0 / (density * 60), size=kept.sum())
        scores = Pairwise(rng.normal(size=(70, 60)), np.stack([i, j], 1)[kept], couplings)
        family = parametric_cut(scores)
        prices = rng.normal(-1.0, 1.0, size=70)
        found = GraphCut().decode(scores.plus_unary(np.repeat(prices[:, None], 60, axis=1)))
        np.testing.assert_array_equal(family.labels_at(prices), found.labels)


def test_family_and_breakpoints_of_a_sample():
    scores = Pairwise([[0.0, -4.0, -2.0]], [[1, 2]], [4.0])
    family = parametric_cut(scores)
    np.testing.assert_array_equal(family.breakpoints(0), [0.0, 1.0])
    np.testing.assert_array_equal(family.family(0), [[0, 0, 0], [1, 0, 0], [1, 1, 1]])


def by_least_squares(values, edges, weights):
    """Solve the dual, a least squares problem in a box."""
    incidence = np.zeros((len(values), len(edges)))
    incidence[edges[:, 0], np.arange(len(edges))] = 1
    incidence[edges[:, 1], np.arange(len(edges))] = -1
    kept = weights > 0
    incidence, weights = incidence[:, kept], weights[kept]
    if not kept.any():
        return values
    z = lsq_linear(incidence, values, bounds=(-weights, weights), method="bvls", tol=1e-14).x
    return values - incidence @ z


@pytest.mark.parametrize("chain", [True, False])
def test_total_variation_equals_its_dual(chain):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        V = int(rng.integers(2, 10))
        edges = np.stack([np.arange(V - 1), np.arange(1, V)], axis=1)
        if not chain:
            i, j = np.triu_indices(V, 1)
            edges = np.stack([i, j], axis=1)[rng.random(len(i)) < 0.5]
        weights = rng.exponential(0.5, size=len(edges)) * (rng.random(len(edges)) < 0.9)
        values = rng.normal(size=(1, V))
        found = total_variation(values, edges, weights)[0]
        np.testing.assert_allclose(found, by_least_squares(values[0], edges, weights), atol=1e-7)


def test_total_variation_between_no_weight_and_all_weight():
    values = np.random.default_rng(1).normal(size=(5, 6))
    chain = np.stack([np.arange(5), np.arange(1, 6)], axis=1)
    np.testing.assert_allclose(total_variation(values, chain, np.zeros(5)), values)
    mean = np.repeat(values.mean(axis=1, keepdims=True), 6, axis=1)
    np.testing.assert_allclose(total_variation(values, chain, np.full(5, 100.0)), mean)


def test_degenerate_sizes_and_repulsion():
    assert parametric_cut(Pairwise(np.zeros((0, 3)), [[0, 1]], [1.0])).entry.shape == (0, 3)
    assert parametric_cut(Pairwise([[2.0]], np.zeros((0, 2), int), [])).entry[0, 0] == -2.0
    with pytest.raises(IncompatibleError, match="repulsion"):
        parametric_cut(Pairwise(np.zeros((1, 2)), [[0, 1]], [-1.0]))


def test_breakpoints_that_differ_by_rounding_are_one():
    # In whole numbers the entries are exact; in tenths they are the same but for rounding.
    several = 0
    for seed in range(200):
        whole = oracle.problem(seed, "ties", n_samples=8, max_labels=7)
        tenths = Pairwise(0.1 * whole.unary, whole.edges, 0.1 * whole.couplings)
        expected, found = parametric_cut(whole), parametric_cut(tenths)
        for i in range(8):
            points = expected.breakpoints(i)
            assert len(found.breakpoints(i)) == len(points)
            np.testing.assert_allclose(found.breakpoints(i), 0.1 * points, atol=1e-14)
            np.testing.assert_array_equal(found.family(i), expected.family(i))
            several += len(points) > 2
    assert several > 500


def test_small_numbers_beside_large_ones_keep_their_breakpoints():
    unary = [[1e8, 3e-9, 5e-9, 6e-9]]
    points = parametric_cut(Pairwise(unary, [[1, 2]], [1e-9])).breakpoints(0)
    np.testing.assert_allclose(points, [-1e8, -6e-9, -5e-9, -4e-9], rtol=1e-6)


def test_negative_weights_are_named():
    with pytest.raises(ValueError, match="weights must not be negative"):
        total_variation([[0.0, 1.0]], [[0, 1]], [-1.0])
