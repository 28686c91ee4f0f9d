"""The semidefinite relaxation against enumeration, SCS, and its own facts."""

import numba
import numpy as np
import pytest

import oracles
from colabel.decoders import mixing
from colabel.decoders.mixing import Mixing
from colabel.decoders.spectral import Spectral
from colabel.decoders.spins import Spins
from colabel.results import RelaxedSolution
from colabel.scores import Pairwise
from decoders import oracles_relaxations as slow

every_regime = pytest.mark.parametrize("regime", slow.REGIMES)


def size_of(scores):
    return np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum()


@every_regime
@pytest.mark.parametrize("nonempty", [False, True])
def test_optimum_lies_between_value_and_bound(regime, nonempty):
    hits = total = 0
    for scores in slow.tables(regime, max_labels=12):
        found = Mixing(tol=1e-6, n_roundings=8).decode(scores, nonempty=nonempty)
        best, size = slow.optimum(scores, nonempty=nonempty), size_of(scores)
        assert np.all(np.abs(found.value - scores.value(found.labels)) <= 1e-15 * size)
        assert not nonempty or found.labels.any(axis=1).all()
        assert np.all(found.value <= best + 1e-15 * size)
        assert np.all(found.upper_bound >= best - 1e-15 * size)
        hits += np.sum(found.value >= best - 1e-12 * size)
        total += len(best)
    assert total >= 2000
    assert hits >= 0.98 * total


@every_regime
def test_relaxation_is_tighter_than_the_sphere_and_nearly_certified(regime):
    for scores in slow.tables(regime, 16, 5):
        relaxed, size = Mixing(tol=1e-9).relax(scores), size_of(scores)
        assert np.all(relaxed.upper_bound - relaxed.value <= 1e-3 * size)
        assert np.mean(relaxed.upper_bound - relaxed.value) <= 1e-5 * np.mean(size)
        assert np.all(relaxed.value <= Spectral().relax(scores).upper_bound + 1e-12 * size)


@every_regime
@pytest.mark.parametrize("fixed", [False, True])
def test_relaxed_value_is_the_score_of_feasible_moments(regime, fixed):
    for seed, scores in enumerate(slow.tables(regime, 16, 5)):
        size = seed % (scores.n_labels + 1) if fixed else None
        relaxed = Mixing().relax(scores, size=size)
        value = np.einsum("il,il->i", scores.unary, relaxed.mean)
        value += relaxed.pairs(scores.edges) @ scores.couplings
        assert np.all(np.abs(value - relaxed.value) <= 1e-12 * size_of(scores))
        np.testing.assert_allclose(np.einsum("ill->il", relaxed.U), 1.0)
        if fixed:
            np.testing.assert_allclose(relaxed.mean.sum(axis=1), size, atol=1e-9)
        for u, U in zip(relaxed.u, relaxed.U, strict=True):
            assert np.linalg.eigvalsh(U - np.outer(u, u))[0] >= -1e-12


@every_regime
def test_a_fixed_number_of_labels_is_kept_and_bounded(regime):
    for seed, scores in enumerate(slow.tables(regime, 24, 10, 7)):
        size = seed % (scores.n_labels + 1)
        Z = oracles.all_labelings(scores.n_labels)
        best = scores.value_all(Z[Z.sum(axis=1) == size]).max(axis=1)
        found, scale = Mixing(n_roundings=5).decode_size(scores, size), size_of(scores)
        assert np.all(found.labels.sum(axis=1) == size)
        assert np.all(np.abs(found.value - scores.value(found.labels)) <= 1e-15 * scale)
        assert np.all(found.value <= best + 1e-15 * scale)
        assert np.all(found.upper_bound >= best - 1e-15 * scale)
        assert np.mean(found.value >= best - 1e-12 * scale) >= 0.8


@pytest.mark.parametrize("n_labels", [10, 30, 60])
@pytest.mark.parametrize("fixed", [False, True])
def test_optimum_agrees_with_scs(n_labels, fixed):
    pytest.importorskip("scs", reason="scs, an independent semidefinite solver, is not installed")
    scores = slow.table("mixed", np.random.default_rng(n_labels), 2, n_labels)
    size = n_labels // 3 if fixed else None
    relaxed, spins = Mixing(tol=1e-8).relax(scores, size=size), Spins.of(scores)
    for i in range(2):
        beta = 2.0 * size - n_labels if fixed else None
        other = slow.semidefinite_maximum(spins.linear[i], spins.matrix, beta, eps=1e-6)
        expected = spins.constant[i] + other
        assert relaxed.value[i] == pytest.approx(expected, abs=1e-4 * abs(other))
        assert relaxed.upper_bound[i] >= expected - 1e-5 * abs(other)
        assert relaxed.upper_bound[i] <= expected + 3e-4 * abs(other)


def test_warm_start_equals_cold_start_even_from_one_line():
    rng = np.random.default_rng(2)
    scores = slow.table("repulsive", rng, 6, 12)
    solver = Mixing(tol=1e-9)
    cold = solver.relax(scores)
    other = solver.relax(scores.plus_unary(rng.normal(size=scores.unary.shape)))
    signs = np.sign(cold.u) + (cold.u == 0)
    line = np.zeros_like(cold.factors)
    line[:, 0] = signs
    flat = RelaxedSolution(signs, line, cold.value, cold.upper_bound)
    for start in (other, flat, cold):
        warm = solver.relax(scores, start=start)
        np.testing.assert_allclose(warm.value, cold.value, rtol=1e-6)


def test_a_triangle_that_repels_is_relaxed_to_its_known_value():
    # Three labels that want to differ: 3 vectors at 120 degrees, 3/2 instead of 1 (times 1/4).
    C = np.eye(3) - 1.0
    scores = Pairwise.from_dense(-0.5 * C.sum(axis=1)[None], C)
    relaxed = Mixing(tol=1e-10).relax(scores)
    constant = Spins.of(scores).constant[0]
    assert relaxed.value[0] - constant == pytest.approx(1.5 / 4, rel=1e-5)
    np.testing.assert_allclose(relaxed.U[0][~np.eye(3, dtype=bool)], -0.5, atol=1e-2)


def test_the_seed_fixes_the_answer_and_blocks_change_nothing(monkeypatch):
    scores = slow.table("mixed", np.random.default_rng(4), 7, 9)
    whole = Mixing(random_state=3).decode(scores)
    monkeypatch.setattr(mixing, "CELLS", 250)
    parts = Mixing(random_state=3).decode(scores)
    np.testing.assert_array_equal(whole.labels, parts.labels)
    np.testing.assert_allclose(whole.upper_bound, parts.upper_bound, rtol=1e-12)
    for i in range(7):
        row = Mixing(random_state=3).decode(scores.take([i]))
        np.testing.assert_array_equal(row.labels[0], whole.labels[i])


def test_results_do_not_depend_on_the_number_of_threads():
    scores = slow.table("mixed", np.random.default_rng(8), 40, 15)
    most = numba.get_num_threads()
    found = []
    try:
        for threads in {1, most}:
            numba.set_num_threads(threads)
            found.append(Mixing().relax(scores))
    finally:
        numba.set_num_threads(most)
    np.testing.assert_array_equal(found[0].factors, found[-1].factors)
    np.testing.assert_array_equal(found[0].upper_bound, found[-1].upper_bound)


def test_sizes_outside_the_labels_are_refused():
    scores = slow.table("mixed", np.random.default_rng(4), 1, 3)
    with pytest.raises(ValueError, match="from 0 to 3; got 4"):
        Mixing().relax(scores, size=4)


@pytest.mark.parametrize("n_labels", [1, 4])
def test_no_samples_give_empty_results(n_labels):
    scores = Pairwise.from_dense(np.zeros((0, n_labels)), np.zeros((n_labels, n_labels)))
    assert Mixing().decode(scores).labels.shape == (0, n_labels)
    assert Mixing().decode_size(scores, 1).labels.shape == (0, n_labels)


def test_a_start_of_another_shape_is_refused():
    scores = slow.table("mixed", np.random.default_rng(0), 12, 20)
    fewer, other = Mixing().relax(scores.take(slice(0, 3))), Pairwise(scores.unary[:, :5], [], [])
    for start in (fewer, Mixing().relax(other)):
        with pytest.raises(ValueError, match=r"this table needs \(12, rank, 20\)"):
            Mixing().relax(scores, start=start)


def test_a_start_of_rank_one_does_not_stay_on_its_line():
    for seed in range(5):
        scores = slow.table("mixed", np.random.default_rng(seed), 10, 25)
        cold = Mixing().relax(scores)
        warm = Mixing().relax(scores, start=Spectral().relax(scores))
        assert warm.factors.shape == cold.factors.shape
        np.testing.assert_allclose(warm.value, cold.value, rtol=1e-4)
