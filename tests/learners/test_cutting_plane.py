"""BMRM: the optimum of a generic solver, a rising lower bound, planes below the risk."""

import numpy as np
import pytest

from colabel.learners import CuttingPlane
from learners.oracles_margin import random_problem, slow_minimum, slow_risk


@pytest.mark.parametrize("line_search", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_objective_equals_that_of_a_generic_solver(seed, line_search):
    problem = random_problem(seed, pairs=seed % 3 > 0)
    expected, _ = slow_minimum(problem)
    found = CuttingPlane(1e-6, line_search=line_search).solve(problem)
    assert found.converged
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    assert value == pytest.approx(expected, rel=1e-5)
    assert np.all(problem.model.split(found.coef)[1] >= 0.0)
    assert np.all(np.diff(found.lower) >= -1e-12)
    assert found.lower.max() <= expected + 1e-9


def test_the_corrected_plane_lies_below_the_risk_and_touches_it():
    problem = random_problem(2, V=4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta, other = (
            problem.model.project(rng.normal(size=problem.model.size)) for _ in range(2)
        )
        found = problem.violations(theta, problem.oracles.learning)
        a = problem.subgradient(found)
        b = found.risk - a @ theta
        assert a @ theta + b == pytest.approx(slow_risk(problem, theta))
        assert a @ other + b <= slow_risk(problem, other) + 1e-10


def test_line_search_takes_fewer_iterations():
    problem = random_problem(4, n=40, d=5, V=5, penalty=0.01)
    plain = CuttingPlane(1e-3).solve(problem)
    searched = CuttingPlane(1e-3, line_search=True).solve(problem)
    assert searched.converged
    assert searched.n_iter < plain.n_iter


def test_planes_serve_the_next_penalty():
    easy, hard = (random_problem(4, n=60, d=5, V=6, penalty=p) for p in (0.02, 0.015))
    cold = CuttingPlane(1e-3).solve(hard)
    warm = CuttingPlane(1e-3).solve(hard, CuttingPlane(1e-3).solve(easy).state)
    assert warm.converged
    assert warm.n_iter < cold.n_iter


def test_few_planes_are_enough_to_converge(monkeypatch):
    monkeypatch.setattr("colabel.learners.cutting_plane.MOST_PLANES", 12)
    problem = random_problem(4, n=30, V=4, penalty=0.1)
    found = CuttingPlane(1e-3).solve(problem)
    assert found.converged
    assert len(found.state) <= 12


def test_few_iterations_are_reported_as_not_converged():
    seen = []
    problem = random_problem(4, n=60, d=5, V=6, penalty=0.003)
    found = CuttingPlane(1e-6, max_iter=4).solve(problem, None, lambda *a: seen.append(a))
    assert not found.converged
    assert len(seen) == 4
