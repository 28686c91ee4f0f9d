"""Quasi-Newton descent: the optimum of generic solvers, bounds that hold, and where it stops."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from colabel.decoders import Mixing, Spectral
from colabel.learners import CuttingPlane, QuasiNewton
from colabel.learners.quasi_newton import Start
from colabel.losses import FBeta, Hamming
from learners.oracles_margin import slow_minimum, slow_risk, spin_problem
from learners.test_relaxed import SIGNS, TIGHT, with_oracle

LOSSES = [Hamming(), FBeta()]


def spectral(seed, **kwargs):
    return with_oracle(spin_problem(seed, **kwargs), Spectral())


def generic_minimum(problem):
    """Minimise by another method, from several starts; the best is within 1e-5 or so."""
    size, n_free = problem.model.size, problem.model.n_free
    bounds = [(None, None)] * n_free + [(0, None)] * (size - n_free)
    rng = np.random.default_rng(0)
    starts = [np.zeros(size), problem.model.project(rng.normal(size=size))]

    def function(theta):
        return problem.evaluate(theta)[:2]

    options = {"maxiter": 1000, "ftol": 1e-14}
    found = [
        minimize(function, x, jac=True, bounds=bounds, method="SLSQP", options=options).fun
        for x in starts
    ]
    return min(found)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_that_of_generic_solvers(seed, sign, loss):
    problem = spectral(seed, sign=sign, loss=loss)
    found = QuasiNewton(1e-5, 2000).solve(problem)
    assert found.converged
    assert found.gap <= 1e-5 * found.history[-1]
    value = problem.evaluate(found.coef)[0]
    np.testing.assert_array_equal(problem.model.project(found.coef), found.coef)
    slow = generic_minimum(problem)
    bundle = CuttingPlane(1e-6).solve(problem)
    assert bundle.converged
    # Nobody is below the lower bound, and no upper bound is below anybody's lower one.
    assert found.lower.max() <= min(slow, bundle.history.min()) + 1e-9
    assert bundle.lower.max() <= value + 1e-9
    assert value <= slow * (1.0 + 1e-5) + 1e-9
    assert value - found.lower.max() <= found.gap + 1e-9


def test_bounds_rise_and_the_best_value_falls():
    problem = spectral(1, V=4, penalty=0.1)
    least = CuttingPlane(1e-6).solve(problem).history.min()
    for tol in (1e-2, 1e-4):
        found = QuasiNewton(tol, 2000).solve(problem)
        assert found.converged
        assert np.all(np.diff(found.lower) >= 0.0)
        assert len(found.history) == len(found.lower) == len(found.certified) == found.n_iter
        assert len(found.proved) == 0
        best = problem.evaluate(found.coef)[0]
        assert best == pytest.approx(found.history.min(), rel=1e-12)
        assert found.gap == pytest.approx(best - found.lower.max(), abs=1e-9)
        assert found.lower.max() <= least


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_gap_of_the_semidefinite_relaxation_is_proved(loss):
    """What training calls the objective is a value below it; the gap has the bound above it."""
    exact = spin_problem(0, V=4, loss=loss, penalty=0.1)
    rough, fine = with_oracle(exact, Mixing(tol=1e-3)), with_oracle(exact, TIGHT)
    found = QuasiNewton(1e-2, 100).solve(rough)
    true = fine.evaluate(found.coef)[0]
    objective = found.lower.max() + found.gap
    assert objective >= true - 1e-9
    assert objective >= exact.ridge(found.coef) + slow_risk(exact, found.coef) - 1e-9
    assert found.lower.max() <= CuttingPlane(1e-4).solve(fine).history.min() + 1e-9
    assert found.converged == (found.gap <= 1e-2 * objective)


def test_a_stall_at_a_kink_is_finished_by_the_bundle(monkeypatch):
    """An exact objective is all kinks: one plane never proves it, L-BFGS gains nothing more."""
    problem = spin_problem(2, n=8, V=4, penalty=0.1)
    expected, _ = slow_minimum(problem)
    budgets, plain = [], CuttingPlane.solve

    def spy(self, problem, state=None, report=None):
        budgets.append((self.max_iter, len(state)))
        return plain(self, problem, state, report)

    monkeypatch.setattr(CuttingPlane, "solve", spy)
    seen = []
    found = QuasiNewton(1e-4, 1000).solve(problem, None, lambda *line: seen.append(line))
    assert found.converged
    assert problem.ridge(found.coef) + slow_risk(problem, found.coef) == pytest.approx(
        expected, rel=2e-4
    )
    assert found.lower.max() <= expected + 1e-9
    ((left, n_planes),) = budgets
    assert 0 < n_planes <= 100
    assert left < 1000
    assert 1000 - left < found.n_iter <= 1000
    # Every evaluation was reported, those of the bundle too; lower bounds rise through both.
    assert len(seen) == found.n_iter
    assert np.all(np.diff(found.lower) >= 0.0)


def test_the_semidefinite_relaxation_stalls_and_is_finished():
    exact = spin_problem(1, V=4, sign="attractive", loss=Hamming())
    problem = with_oracle(exact, TIGHT)
    found = QuasiNewton(1e-4, 1000).solve(problem)
    assert found.converged
    other = CuttingPlane(1e-5).solve(problem)
    assert found.lower.max() + found.gap == pytest.approx(other.history.min(), rel=3e-4)
    # The relaxation is never below the exact objective, so neither are their minima.
    assert found.history.min() >= slow_minimum(exact)[0] - 1e-6


def test_a_known_lower_bound_is_used():
    problem = spectral(3, n=12, V=4, penalty=0.05)
    plain = QuasiNewton(1e-3, 1000).solve(problem)
    least = QuasiNewton(1e-7, 3000).solve(problem).lower.max()
    zeros = np.zeros(problem.model.size)
    told = QuasiNewton(1e-3, 1000).solve(problem, Start(zeros, least))
    assert told.converged
    assert told.n_iter < plain.n_iter
    assert told.lower.min() >= least
    # One that is above what is reached ends the search at once: there is no gap.
    high = QuasiNewton(1e-3, 1000).solve(problem, Start(zeros, 10.0))
    assert high.n_iter <= 3


@pytest.mark.parametrize("max_iter", [1, 2, 5, 21, 40])
def test_no_more_evaluations_than_asked_for(max_iter, monkeypatch):
    problem = spin_problem(2, n=8, V=4, penalty=0.02)
    calls, plain = [], problem.violations
    monkeypatch.setattr(
        problem, "violations", lambda theta, oracle: calls.append(oracle) or plain(theta, oracle)
    )
    found = QuasiNewton(1e-9, max_iter).solve(problem)
    assert not found.converged
    assert found.n_iter == max_iter
    # One more may look at the bundle's point.
    assert max_iter <= len(calls) <= max_iter + 1
    assert found.gap > 0.0
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    assert found.lower.max() + found.gap == pytest.approx(value, rel=1e-9)


def test_a_warm_start_takes_fewer_evaluations():
    hard, easy = (spectral(4, n=20, d=3, V=5, penalty=p) for p in (0.02, 0.025))
    learner = QuasiNewton(1e-4, 2000)
    start = learner.solve(easy)
    kept = start.state.coef.copy()
    cold, warm = learner.solve(hard), learner.solve(hard, start.state)
    np.testing.assert_array_equal(start.state.coef, kept)
    assert warm.converged
    assert warm.n_iter < cold.n_iter
    assert warm.history.min() == pytest.approx(cold.history.min(), rel=2e-4)


def test_a_start_of_the_wrong_sign_is_clipped():
    problem = spectral(5, V=4, sign="repulsive")
    found = QuasiNewton(1e-3, 1000).solve(problem, Start(-np.ones(problem.model.size)))
    assert found.converged
    assert problem.model.prior(found.coef).min() >= 0.0


def test_nothing_to_learn():
    """Without features and constant, the truth of all rows the same: pairs alone, or nothing."""
    for V in (2, 3):
        problem = spectral(1, n=3, d=0, V=V, penalty=1.0)
        found = QuasiNewton().solve(problem)
        assert found.converged
        assert np.isfinite(found.coef).all()


def test_parameters_can_be_cloned():
    learner = QuasiNewton(1e-4, 7, memory=3)
    assert clone(learner).get_params() == learner.get_params()
    few = clone(learner).set_params(max_iter=500).solve(spectral(1))
    assert few.converged
