"""Branch and bound on tables of very different numbers, twins, and what its limits leave."""

import time

import numpy as np
import pytest

import oracles
from colabel.decoders import BranchAndBound, Mixing
from colabel.decoders import tree_search as module
from colabel.decoders._twins import Twins
from colabel.scores import Pairwise
from decoders import oracles_relaxations as slow

either = pytest.mark.parametrize("nonempty", [False, True])


def exact_optimum(scores, nonempty):
    """Optimum in extended precision, and the size of the numbers that it adds."""
    Z = oracles.all_labelings(scores.n_labels)[int(nonempty) :].astype(np.longdouble)
    C = np.triu(scores.dense()).astype(np.longdouble)
    values = scores.unary.astype(np.longdouble) @ Z.T + np.einsum("sl,lm,sm->s", Z, C, Z)
    best = Z[np.argmax(values, axis=1)]
    size = np.abs(scores.unary) * best + np.einsum("sl,lm,sm->sl", best, np.abs(C), best)
    return values.max(axis=1).astype(float), size.sum(axis=1).astype(float)


@either
def test_one_large_number_hides_nothing(nonempty):
    small = Pairwise([[-1e8, 1e-6, 1e-6]], [[1, 2]], [-5e-7])
    found = BranchAndBound().decode(small, nonempty=nonempty)
    np.testing.assert_array_equal(found.labels, [[0, 1, 1]])
    assert found.certified.all()
    excluded = Pairwise([[2.0, 1.0, 1.0, 1.0]], [[0, 1], [2, 3]], [-1e13, -0.5])
    found = BranchAndBound().decode(excluded, nonempty=nonempty)
    np.testing.assert_array_equal(found.labels, [[1, 0, 1, 1]])
    assert found.value[0] == 3.5
    assert found.certified.all()


@either
@pytest.mark.parametrize("large", [-1e12, -1e13, 1e13])
def test_one_large_unary_leaves_the_others_certified(large, nonempty):
    for seed in range(30):
        scores = slow.table("mixed", np.random.default_rng(seed), 10, 8)
        unary = scores.unary.copy()
        unary[:, seed % 8] = large
        scores = Pairwise(unary, scores.edges, scores.couplings)
        found = BranchAndBound().decode(scores, nonempty=nonempty)
        best, size = exact_optimum(scores, nonempty)
        assert np.all(np.abs(found.value - best) <= 1e-15 * size)
        assert found.certified.all()


@either
def test_exclusions_of_any_strength_are_certified(nonempty):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores = slow.table("mixed", rng, 10, 7)
        C = scores.dense()
        i, j = rng.permutation(7)[:2]
        C[i, j] = C[j, i] = -(10.0 ** rng.integers(3, 15))
        scores = Pairwise.from_dense(scores.unary - 2.0 * (seed % 3), C)
        found = BranchAndBound().decode(scores, nonempty=nonempty)
        best, size = exact_optimum(scores, nonempty)
        assert np.all(np.abs(found.value - best) <= 1e-14 * size)
        assert found.certified.all()


@either
@pytest.mark.parametrize("max_nodes", [2, 10_000])
def test_a_certificate_is_never_false_on_any_scales(max_nodes, nonempty):
    certified = total = 0
    for scores in slow.tables("scales", 200, 10, 9):
        found = BranchAndBound(max_nodes=max_nodes).decode(scores, nonempty=nonempty)
        best, size = exact_optimum(scores, nonempty)
        assert np.all(found.value <= best + 1e-14 * size)
        assert np.all(found.upper_bound >= best - 1e-14 * size)
        short = best - found.value
        assert np.all(
            short[found.certified]
            <= 2e-9 * np.abs(best[found.certified]) + 1e-14 * size[found.certified]
        )
        certified += found.certified.sum()
        total += len(best)
    assert total >= 2000
    assert certified >= (0.9 if max_nodes > 2 else 0.5) * total


@either
@pytest.mark.parametrize("n_labels", [30, 40])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_uniform_repulsion_is_certified(n_labels, noise, nonempty):
    rng = np.random.default_rng(n_labels)
    unary = np.full((2, n_labels), 7.8) + noise * rng.normal(size=(2, n_labels))
    scores = Pairwise.from_dense(unary, -1.1 * (1.0 - np.eye(n_labels)))
    found = BranchAndBound().decode(scores, nonempty=nonempty)
    sums = np.cumsum(-np.sort(-unary, axis=1), axis=1)
    k = np.arange(1, n_labels + 1)
    np.testing.assert_allclose(found.value, (sums - 0.55 * k * (k - 1)).max(axis=1), rtol=1e-12)
    assert found.certified.all()


@either
def test_twins_equal_enumeration(nonempty):
    used = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, size=rng.integers(1, 4))
        kind = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
        W = (
            rng.normal(size=(len(sizes), len(sizes)))
            if seed % 2
            else rng.integers(-2, 3, (len(sizes), len(sizes)))
        )
        C = (W + W.T)[np.ix_(kind, kind)] * (1.0 - np.eye(len(kind)))
        unary = rng.normal(size=(20, len(kind))) - 1.0
        if seed % 4 == 0:
            unary = np.rint(2.0 * unary)
        scores = Pairwise.from_dense(unary, C)
        used += Twins.of(C) is not None
        found = BranchAndBound().decode(scores, nonempty=nonempty)
        best, size = exact_optimum(scores, nonempty)
        assert np.all(np.abs(found.value - best) <= 1e-13 * size)
        np.testing.assert_array_equal(found.upper_bound, found.value)
        if seed % 4 == 0:
            Z = oracles.all_labelings(len(kind))[int(nonempty) :]
            values = scores.value_all(Z)
            equal = values == values.max(axis=1, keepdims=True)
            fewest = np.where(equal, Z.sum(axis=1), 99).min(axis=1)
            np.testing.assert_array_equal(found.labels.sum(axis=1), fewest)
    assert used >= 30


def test_twins_that_are_none_are_kept_apart():
    # A ring: every row holds the same numbers, and no two labels have the same neighbours.
    ring = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
    assert Twins.of(ring) is None
    assert Twins.of(np.zeros((1, 1))) is None
    pairs = np.kron(np.array([[0.0, -1.0], [-1.0, 2.0]]), np.ones((3, 3))) * (1.0 - np.eye(6))
    assert [list(part) for part in Twins.of(pairs).classes] in (
        [[0, 1, 2], [3, 4, 5]],
        [[3, 4, 5], [0, 1, 2]],
    )


def hard(n_samples, n_labels, seed=1):
    return slow.table("repulsive", np.random.default_rng(seed), n_samples, n_labels)


@pytest.mark.parametrize("time_limit", [0.0, 0.3])
def test_a_time_limit_leaves_no_row_behind_the_relaxation(time_limit):
    scores = hard(30, 60)
    relaxed = Mixing().decode(scores)
    found = BranchAndBound(max_nodes=10**9, time_limit=time_limit).decode(scores)
    # Its own rounding and its own tolerance, so not equal: but no row is left without either.
    assert found.value.mean() >= relaxed.value.mean() - 0.002 * np.abs(relaxed.value).mean()
    assert np.all(found.value >= relaxed.value - 0.03 * np.abs(relaxed.value))
    assert np.all(found.gap <= 1.3 * relaxed.gap + 0.03 * np.abs(relaxed.value))
    assert not found.certified.all()


def test_rows_take_turns(monkeypatch):
    # A clock that moves by the nodes made, so that the machine's load plays no part.
    from colabel._kernels import branch_bound

    clock, nodes, run = [0.0], np.zeros(12, np.int64), branch_bound.search_rows
    scores = hard(12, 60)

    def counted(unary, matrix, start, count, slack, labels, best, bounds, state):
        run(unary, matrix, start, count, slack, labels, best, bounds, state)
        clock[0] += count * len(unary)
        for row, steps in zip(unary, state, strict=True):
            nodes[np.argmin(np.abs(scores.unary - row).sum(axis=1))] = steps[0, 2]

    monkeypatch.setattr(branch_bound, "search_rows", counted)
    monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    BranchAndBound(max_nodes=10**9, time_limit=1000.0).decode(scores)
    assert nodes.min() >= 20
    assert nodes.max() <= 4 * nodes.min()
    assert nodes.sum() <= 2000


def test_a_time_limit_is_kept_with_nonempty():
    # The empty labeling is the best here and no bound proves it: a search for every first label.
    rng = np.random.default_rng(0)
    C = np.triu(0.12 * rng.normal(size=(150, 150)), 1)
    scores = Pairwise.from_dense(-1.0 - rng.random((40, 150)), C + C.T)
    decoder, took = BranchAndBound(max_nodes=10**9, time_limit=0.1), {}
    decoder.decode(scores.take([0]), nonempty=True)
    for nonempty in (False, True):
        # Work done, not time passed: others may be using the machine.
        begin = time.process_time()
        found = decoder.decode(scores, nonempty=nonempty)
        took[nonempty] = time.process_time() - begin
    assert found.labels.any(axis=1).all()
    assert not found.certified.any()
    assert took[True] <= 2.0 * took[False] + 0.3
    relaxed = Mixing().decode(scores, nonempty=True)
    assert np.all(found.gap <= 1.3 * relaxed.gap + 0.3)


@either
@pytest.mark.parametrize("max_nodes", [0, 1, 5, 40])
def test_max_nodes_holds_for_each_sample_and_part(max_nodes, nonempty, monkeypatch):
    from colabel._kernels import branch_bound

    used, run = [0], branch_bound.search_rows

    def counted(unary, matrix, start, count, slack, labels, best, bounds, state):
        before = state[:, 0, 2].sum()
        run(unary, matrix, start, count, slack, labels, best, bounds, state)
        used[0] += state[:, 0, 2].sum() - before

    monkeypatch.setattr(branch_bound, "search_rows", counted)
    most = 0
    for regime in ("mixed", "repulsive", "ties", "scales"):
        for seed in range(8):
            scores = slow.table(regime, np.random.default_rng(seed), 1, 14)
            scores = Pairwise(
                scores.unary - 2.0 * np.abs(scores.unary), scores.edges, scores.couplings
            )
            n_parts = 1 if regime != "scales" else 14
            used[0] = 0
            BranchAndBound(max_nodes=max_nodes).decode(scores, nonempty=nonempty)
            assert used[0] <= max_nodes * n_parts
            most = max(most, used[0])
    assert (most > 0) == (max_nodes > 0)


def test_no_nodes_at_all_give_labels_and_a_bound():
    scores = slow.table("mixed", np.random.default_rng(0), 20, 8)
    for nonempty in (False, True):
        found = BranchAndBound(max_nodes=0).decode(scores, nonempty=nonempty)
        best = slow.optimum(scores, nonempty=nonempty)
        assert np.all(found.value <= best + 1e-12)
        assert np.all(found.upper_bound >= best - 1e-12)


@either
@pytest.mark.parametrize("time_limit", [None, 0.0])
def test_without_the_relaxation_labels_and_bounds_hold(time_limit, nonempty, monkeypatch):
    scores = slow.table("repulsive", np.random.default_rng(3), 30, 10)
    best = slow.optimum(scores, nonempty=nonempty)
    usual = BranchAndBound(1, time_limit).decode(scores, nonempty=nonempty)
    monkeypatch.delattr(module._Trees, "_relax_block")
    found = BranchAndBound(1, time_limit, relax=False).decode(scores, nonempty=nonempty)
    assert np.all(found.value <= best + 1e-12)
    assert np.all(found.upper_bound >= best - 1e-12)
    assert np.all(found.gap >= usual.gap - 1e-9)
    assert not found.certified.all()
    with pytest.raises(ValueError, match="relax must be"):
        BranchAndBound(relax="no").decode(scores)
