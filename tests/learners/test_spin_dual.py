"""Dual ascent with a quadratic prior: the optimum of a generic solver, signs, a proved gap."""

import numpy as np
import pytest

from colabel.learners import BlockDual, CuttingPlane
from colabel.losses import FBeta, Hamming, Jaccard, Subset
from learners.oracles_margin import slow_minimum, slow_risk, spin_problem

SIGNS = ["any", "attractive", "repulsive"]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("loss", [FBeta(), Hamming(), Jaccard(), Subset()], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_objective_equals_that_of_a_generic_solver(seed, loss, sign):
    problem = spin_problem(seed, sign=sign, loss=loss)
    expected, _ = slow_minimum(problem)
    found = BlockDual(tol=1e-6, max_iter=5000).solve(problem)
    assert found.converged
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    assert value == pytest.approx(expected, rel=1e-5)
    A = problem.model.prior(found.coef)
    assert sign != "attractive" or A.max() <= 0.0
    assert sign != "repulsive" or A.min() >= 0.0
    assert found.lower.max() <= expected + 1e-9
    assert value - found.lower.max() <= found.gap + 1e-12


@pytest.mark.parametrize("sign", SIGNS)
def test_more_labels_than_a_byte_has_bits(sign):
    problem = spin_problem(3, n=6, d=3, V=9, sign=sign, penalty=0.05)
    found = BlockDual(tol=1e-4, max_iter=3000).solve(problem)
    bundle = CuttingPlane(tol=1e-3).solve(problem)
    assert found.converged
    assert found.lower.max() <= bundle.history.min() + 1e-9
    assert bundle.lower.max() <= found.history.min() + 1e-9


def test_the_lower_bound_rises():
    found = BlockDual(1e-6, 200).solve(spin_problem(4, n=30, d=3, V=5, sign="repulsive"))
    assert np.all(np.diff(found.lower) >= -1e-12)


def test_a_seed_fixes_the_result():
    problem = spin_problem(4, n=40, d=3, V=5)
    a, b = (BlockDual(random_state=3).solve(problem) for _ in range(2))
    np.testing.assert_array_equal(a.coef, b.coef)


def test_parameters_are_those_of_the_weights():
    problem = spin_problem(5, n=20, d=3, V=5, penalty=0.1)
    found = BlockDual(1e-5, 500).solve(problem)
    free = found.state.free(problem) / problem.penalty
    np.testing.assert_allclose(found.coef, free, atol=1e-9)


def test_few_remembered_labelings_are_enough():
    problem = spin_problem(6, n=20, d=3, V=5, penalty=0.1)
    few, many = (BlockDual(1e-4, 3000, n_planes=p).solve(problem) for p in (8, 60))
    assert few.history.min() == pytest.approx(many.history.min(), rel=1e-3)


def test_starting_from_a_larger_penalty_takes_fewer_passes():
    hard, easy = (spin_problem(4, n=40, d=3, V=5, penalty=p) for p in (0.02, 0.03))
    cold = BlockDual(1e-4, 3000).solve(hard)
    warm = BlockDual(1e-4, 3000).solve(hard, BlockDual(1e-4, 3000).solve(easy).state)
    assert warm.converged
    assert warm.n_iter < cold.n_iter
