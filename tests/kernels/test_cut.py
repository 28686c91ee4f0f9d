"""The cut kernels equal enumeration; small enough to run interpreted."""

import numpy as np
import pytest

from colabel._kernels import cut
from colabel._kernels.augmented_cut import (
    Limits,
    algorithm_2_rows,
    augmented_rows,
    augmented_workspace,
)
from colabel._kernels.cut import best_rows, cut_workspace
from colabel._kernels.f_cut import Row
from colabel._kernels.forced_cut import other_rows
from colabel._kernels.parametric_cut import empty_blocks, parametric_rows
from colabel.decoders._count_levels import count_form
from colabel.decoders._label_graph import label_graph
from colabel.losses import FBeta, Jaccard
from decoders import oracles_cut as oracle
from kernels.outside import outside

row_value = outside(cut.row_value)

both_paths = pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
KINDS = ["normal", "ties", "equal", "parts", "single", "twins"]


def problems(n_seeds, max_labels=6, n_samples=4):
    for regime in KINDS:
        for seed in range(n_seeds):
            yield oracle.problem(seed, regime, n_samples, max_labels)


@both_paths
def test_rows_are_the_smallest_maximisers(dense):
    for scores in problems(25):
        graph = label_graph(scores, dense)
        labels = np.empty(scores.unary.shape, np.int8)
        best_rows(scores.unary, graph, cut_workspace(graph), labels)
        expected = oracle.smallest_maximisers(scores)
        slack = oracle.tolerance(scores)
        assert np.all(scores.value(labels) >= scores.value(expected) - slack)
        if np.array_equal(scores.couplings, np.rint(scores.couplings)):
            np.testing.assert_array_equal(labels, expected)
        for r in range(len(labels)):
            value = row_value(scores.unary[r], graph, labels[r])
            np.testing.assert_allclose(value, scores.value(labels)[r], atol=1e-12)


@both_paths
def test_larger_hard_problems_agree_with_a_local_certificate(dense):
    """Unaries at the balance point leave nothing to persistency: the flow does the work."""
    rng = np.random.default_rng(3)
    V = 24
    i, j = np.triu_indices(V, 1)
    kept = rng.random(len(i)) < 0.3
    edges, couplings = np.stack([i, j], 1)[kept], rng.integers(1, 6, kept.sum()).astype(float)
    half = np.zeros(V)
    np.add.at(half, edges.ravel(), np.repeat(couplings, 2) / 2)
    unary = np.rint(rng.normal(size=(6, V)) * 4 - half)
    scores = oracle.Pairwise(unary, edges, couplings)
    found = []
    for path in (dense, not dense):
        graph = label_graph(scores, path)
        labels = np.empty(unary.shape, np.int8)
        best_rows(unary, graph, cut_workspace(graph), labels)
        found.append(labels)
    np.testing.assert_array_equal(found[0], found[1])
    gain = unary + found[0] @ scores.dense()
    assert np.all(np.where(found[0], gain, -gain) >= 0)
    assert np.all(gain[found[0] > 0] > 0)


@both_paths
def test_infinite_unaries_force_labels(dense):
    for scores in problems(12):
        graph = label_graph(scores, dense)
        Z, values = oracle.values(scores)
        rng = np.random.default_rng(0)
        force = rng.integers(-1, 2, scores.n_labels)
        unary = np.where(force > 0, np.inf, np.where(force < 0, -np.inf, scores.unary[:1]))
        labels = np.empty((1, scores.n_labels), np.int8)
        best_rows(unary, graph, cut_workspace(graph), labels)
        allowed = np.all((force == 0) | ((force > 0) == Z), axis=1)
        reached = row_value(scores.unary[0], graph, labels[0])
        assert np.all(labels[0, force > 0] == 1)
        assert np.all(labels[0, force < 0] == 0)
        assert abs(reached - values[0, allowed].max()) <= oracle.tolerance(scores)[0]


@both_paths
@pytest.mark.parametrize("nonempty", [False, True])
def test_the_best_other_labeling(dense, nonempty):
    for scores in problems(8):
        graph = label_graph(scores, dense)
        rng = np.random.default_rng(1)
        avoid = oracle.smallest_maximisers(scores)
        avoid[::2] = rng.integers(0, 2, avoid[::2].shape)
        labels = np.empty(avoid.shape, np.int8)
        other_rows(scores.unary, graph, cut_workspace(graph), avoid, nonempty, labels)
        Z, values = oracle.values(scores)
        for r in range(len(avoid)):
            allowed = np.any(avoid[r] != Z, axis=1) & (Z.any(axis=1) | (not nonempty))
            if not allowed.any():
                np.testing.assert_array_equal(labels[r], avoid[r])
                continue
            assert np.any(labels[r] != avoid[r])
            assert labels[r].any() or not nonempty
            reached = row_value(scores.unary[r], graph, labels[r])
            assert abs(reached - values[r, allowed].max()) <= oracle.tolerance(scores)[r]


@both_paths
@pytest.mark.parametrize("loss", [FBeta(), Jaccard()], ids=str)
def test_augmented_rows_equal_enumeration(dense, loss):
    for scores in problems(8):
        V = scores.n_labels
        form = count_form(loss.counts_table(V // 2, V))
        if V < 2 or not hasattr(form, "beta"):
            continue
        graph = label_graph(scores, dense)
        true = np.zeros(scores.unary.shape, np.int8)
        true[:, : V // 2] = 1
        counted = np.ones_like(true) if form.counts_all else 1 - true
        Z, values = oracle.values(scores)
        best = (values + oracle.losses(true, Z, loss)).max(axis=1)
        for run, limit in ((augmented_rows, 10_000), (augmented_rows, 0), (algorithm_2_rows, 0)):
            labels, bounds = np.empty(true.shape, np.int8), np.empty(len(true))
            limits = Limits(limit, False, graph.weights.sum())
            rows = Row(scores.unary, true, counted)
            space = augmented_workspace(graph)
            run(rows, graph, form.arrays(False), limits, space, labels, bounds)
            value = scores.value(labels) + loss.value(true, labels)
            slack = 1e-12 + 10 * oracle.tolerance(scores)
            assert np.all(value <= best + slack)
            assert np.all(bounds >= best - slack)
            if limit:
                assert np.all(bounds - value <= 2 * slack)


@both_paths
def test_entries_of_the_parametric_family(dense):
    for scores in problems(8):
        graph = label_graph(scores, dense)
        entry, blocks = np.empty(scores.unary.shape), empty_blocks(scores.n_labels)
        parametric_rows(scores.unary, graph, cut_workspace(graph), blocks, entry)
        Z, values = oracle.values(scores)
        for price in (-2.0, -0.25, 0.0, 1.5):
            on = (entry < price).astype(np.int8)
            best = np.max(values + price * Z.sum(axis=1), axis=1)
            reached = scores.value(on) + price * on.sum(axis=1)
            np.testing.assert_allclose(reached, best, atol=1e-10)
