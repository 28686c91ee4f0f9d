"""The graph cut equals enumeration, on both of its paths, with one tie rule."""

import numba
import numpy as np
import pytest

from colabel.decoders import _label_graph, graph_cut
from colabel.decoders.graph_cut import GraphCut
from colabel.exceptions import IncompatibleError
from colabel.scores import Modular, Pairwise
from decoders import oracles_cut as oracle

# 8 rows of each: at least 2 000 problems a regime.
SEEDS = range(250)


@pytest.fixture(params=[False, True], ids=["sparse", "dense"])
def path(request, monkeypatch):
    """Take one of the two paths whatever the density."""
    monkeypatch.setattr(_label_graph, "DENSE", -1.0 if request.param else 2.0)
    monkeypatch.setattr(_label_graph, "FEW", 0)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("regime", oracle.REGIMES)
def test_value_equals_enumeration(regime):
    for seed in SEEDS:
        scores = oracle.problem(seed, regime)
        found = GraphCut().decode(scores)
        _, values = oracle.values(scores)
        np.testing.assert_array_equal(found.value, scores.value(found.labels))
        np.testing.assert_array_equal(found.value, found.upper_bound)
        assert np.all(np.abs(found.value - values.max(axis=1)) <= oracle.tolerance(scores))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("regime", ["ties", "equal", "twins"])
def test_of_equal_labelings_the_smallest_is_returned(regime):
    several = 0
    for seed in SEEDS:
        scores = oracle.problem(seed, regime)
        np.testing.assert_array_equal(
            GraphCut().decode(scores).labels, oracle.smallest_maximisers(scores)
        )
        _, values = oracle.values(scores)
        several += np.sum((values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    assert several > 200


@pytest.mark.parametrize("regime", oracle.REGIMES)
def test_best_labeling_that_is_not_empty(regime):
    for seed in range(80):
        scores = oracle.problem(seed, regime)
        found = GraphCut().decode(scores, nonempty=True)
        Z, values = oracle.values(scores)
        best = values[:, Z.any(axis=1)].max(axis=1)
        assert found.labels.any(axis=1).all()
        assert np.all(np.abs(found.value - best) <= oracle.tolerance(scores))


def large(V, density, n_samples=70, integers=False, seed=0):
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(V, 1)
    kept = rng.random(len(i)) < density
    edges = np.stack([i[kept], j[kept]], axis=1)
    couplings = rng.integers(1, 4, len(edges)) if integers else rng.exponential(1.0, len(edges))
    half = np.zeros(V)
    np.add.at(half, edges.ravel(), np.repeat(couplings, 2) / 2)
    unary = rng.normal(size=(n_samples, V)) * half.mean() / 3 - half
    return Pairwise(np.rint(unary) if integers else unary, edges, couplings)


@pytest.mark.parametrize(("V", "density"), [(40, 0.1), (40, 1.0), (90, 0.05), (90, 0.6)])
def test_sparse_and_dense_paths_agree_on_larger_problems(V, density, monkeypatch):
    for integers in (False, True):
        scores = large(V, density, integers=integers)
        found = []
        for share in (2.0, -1.0):
            monkeypatch.setattr(_label_graph, "DENSE", share)
            found.append(GraphCut().decode(scores).labels)
        np.testing.assert_array_equal(found[0], found[1])
        assert 0.02 < found[0].mean() < 0.98


@pytest.mark.parametrize("density", [0.1, 1.0])
def test_no_single_change_of_label_helps_at_a_size_no_one_enumerates(density):
    scores = large(200, density, n_samples=5)
    found = GraphCut().decode(scores)
    gain = scores.unary + found.labels @ scores.dense()
    assert np.all(np.where(found.labels, gain, -gain) >= -1e-9)


def test_results_do_not_depend_on_threads_or_on_the_batch():
    scores = large(30, 0.3, n_samples=200)
    whole = GraphCut().decode(scores)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = GraphCut().decode(scores)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(one.labels, whole.labels)
    rows = [GraphCut().decode(scores.take([i])).labels[0] for i in range(200)]
    np.testing.assert_array_equal(rows, whole.labels)


def test_repeated_edges_add_up():
    scores = Pairwise([[-3.0, -3.0]], [[0, 1], [1, 0], [0, 1]], [3.0, 3.0, 1.0])
    assert GraphCut().decode(scores).value[0] == 1.0
    # A repulsion that another edge outweighs is none.
    scores = Pairwise([[-3.0, -3.0]], [[0, 1], [1, 0]], [8.0, -1.0])
    assert GraphCut().decode(scores).value[0] == 1.0


def test_a_repulsion_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(graph_cut, "cut_rows", None)
    scores = Pairwise(np.zeros((2, 3)), [[0, 1], [1, 2]], [1.0, -0.5])
    for call in (GraphCut().decode, lambda s: GraphCut().decode(s, nonempty=True)):
        with pytest.raises(IncompatibleError, match="repulsion"):
            call(scores)
    with pytest.raises(IncompatibleError, match="not Modular"):
        GraphCut().decode(Modular(np.zeros((2, 3))))


def test_no_rows_no_edges_and_numbers_out_of_proportion():
    none = Pairwise(np.zeros((0, 3)), [[0, 1]], [1.0])
    assert GraphCut().decode(none).labels.shape == (0, 3)
    assert GraphCut().decode(none, nonempty=True).labels.shape == (0, 3)
    bare = Pairwise([[1.0, 0.0, -1.0], [-2.0, -1.0, -3.0]], np.zeros((0, 2), int), [])
    np.testing.assert_array_equal(GraphCut().decode(bare).labels, [[1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(
        GraphCut().decode(bare, nonempty=True).labels, [[1, 0, 0], [0, 1, 0]]
    )
    forbidden = Pairwise([[-1e300, -1.0, -1.0, 1e300]], [[0, 1], [1, 2], [2, 3]], [1.0, 1.5, 0.6])
    np.testing.assert_array_equal(GraphCut().decode(forbidden).labels, [[0, 1, 1, 1]])
    # Two parts sixteen orders of magnitude apart: each is solved to its own precision.
    apart = Pairwise([[-1e8, -1e8, -6e-9, -3e-9]], [[0, 1], [2, 3]], [1e8, 1e-8])
    np.testing.assert_array_equal(GraphCut().decode(apart).labels, [[0, 0, 1, 1]])
    small = Pairwise([[-2e-290, -2e-290]], [[0, 1]], [5e-290])
    np.testing.assert_array_equal(GraphCut().decode(small).labels, [[1, 1]])
