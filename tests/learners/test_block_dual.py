"""Dual ascent: the optimum of a generic solver, a proved gap, and warm starts."""

import numpy as np
import pytest

from colabel.learners import BlockDual, CuttingPlane
from colabel.learners.ascent import PlaneCache
from colabel.losses import FBeta, Hamming, Jaccard, Subset
from colabel.oracles import Algorithm2
from learners.oracles_margin import random_problem, slow_minimum, slow_risk


@pytest.mark.parametrize("seed", range(18))
def test_objective_equals_that_of_a_generic_solver(seed):
    problem = random_problem(seed, pairs=seed % 3 > 0)
    expected, _ = slow_minimum(problem)
    found = BlockDual(tol=1e-6, max_iter=3000).solve(problem)
    assert found.converged
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    assert value == pytest.approx(expected, rel=1e-5)
    assert np.all(problem.model.split(found.coef)[1] >= 0.0)
    assert found.lower.max() <= expected + 1e-9
    assert value - found.lower.max() <= found.gap + 1e-12


@pytest.mark.parametrize("loss", [FBeta(0.5), Jaccard(), Hamming(), Subset()], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_other_losses_drop_in(seed, loss):
    problem = random_problem(seed, loss=loss, V=4)
    expected, _ = slow_minimum(problem)
    for learner in (BlockDual(1e-5, 2000), CuttingPlane(1e-5)):
        found = learner.solve(problem)
        assert found.converged
        assert found.history.min() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_both_learners_reach_the_same_objective(seed):
    problem = random_problem(seed, n=30, d=4, V=5)
    dual, bundle = BlockDual(1e-4, 2000).solve(problem), CuttingPlane(1e-4).solve(problem)
    assert dual.converged
    assert bundle.converged
    assert dual.history.min() == pytest.approx(bundle.history.min(), rel=2e-4)
    assert dual.lower.max() <= bundle.history.min() + 1e-12
    assert bundle.lower.max() <= dual.history.min() + 1e-12


def test_the_lower_bound_rises():
    found = BlockDual(1e-6, 500).solve(random_problem(4, n=40, d=5, V=6))
    assert np.all(np.diff(found.lower) >= -1e-12)


def test_a_seed_fixes_the_result():
    problem = random_problem(4, n=40, d=5, V=6)
    a, b = (BlockDual(random_state=3).solve(problem) for _ in range(2))
    np.testing.assert_array_equal(a.coef, b.coef)


def test_starting_from_a_larger_penalty_takes_fewer_passes():
    hard, easy = (random_problem(4, n=40, d=5, V=5, penalty=p) for p in (0.02, 0.03))
    cold = BlockDual(1e-3).solve(hard)
    state = BlockDual(1e-3).solve(easy).state
    warm = BlockDual(1e-3).solve(hard, state)
    assert warm.converged
    assert warm.n_iter < cold.n_iter
    assert warm.history.min() == pytest.approx(cold.history.min(), rel=2e-3)


def test_shrinking_never_lowers_the_dual():
    for penalty in (1.0, 1e-3):
        problem = random_problem(4, n=30, penalty=0.03)
        cache = BlockDual(1e-3).solve(problem).state
        problem.penalty = penalty
        model = problem.model

        def dual(cache=cache, problem=problem, model=model):
            theta = model.project(cache.free(problem) / problem.penalty)
            return cache.loss() - problem.ridge(theta)

        before = dual()
        cache.shrink(problem)
        assert dual() >= before - 1e-12
        np.testing.assert_allclose(cache.weights.sum(axis=1), problem.share)


def test_few_passes_are_reported_as_not_converged():
    problem = random_problem(4, n=40, d=5, V=6, penalty=1e-3)
    found = BlockDual(1e-6, max_iter=3).solve(problem)
    assert not found.converged
    assert found.n_iter <= 3
    assert found.gap > 1e-6


def test_memory_is_bounded(monkeypatch):
    problem = random_problem(4, n=40, d=5, V=6)
    monkeypatch.setattr("colabel.learners.ascent.CACHE_BYTES", 1)
    assert PlaneCache(problem, 60).planes.shape == (40, 8, 1)
    found = BlockDual(1e-3).solve(problem)
    assert found.converged


@pytest.mark.parametrize("learner", [BlockDual(1e-3), CuttingPlane(1e-3)], ids=str)
def test_the_gap_of_a_weak_oracle_is_verified_by_the_strongest(learner):
    """Learning with Algorithm 2 closes its own gap, falsely; the one reported is true."""
    problem = random_problem(7, n=60, d=4, V=8, penalty=0.01)
    problem.oracles = Algorithm2(20_000).stages(problem.model, problem.loss)
    found = learner.solve(problem)
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    assert found.gap >= value - found.lower.max() - 1e-9


def test_progress_is_reported():
    seen = []
    BlockDual(1e-3).solve(random_problem(1), None, lambda *a: seen.append(a))
    assert [a[0] for a in seen] == sorted(a[0] for a in seen)
    assert seen[-1][2] <= 1e-3 * seen[-1][1]


def test_one_sample_and_one_label():
    found = BlockDual(1e-6).solve(random_problem(1, n=1, d=1, V=1))
    assert found.converged
