"""Averaged mini-batches: near the optimum on easy problems, reproducible, of the right sign."""

from dataclasses import replace

import numpy as np
import pytest

from colabel.decoders import Exhaustive
from colabel.learners import AveragedDescent, MarginProblem
from colabel.learners.averaged import _Adam
from colabel.losses import FBeta, Hamming
from colabel.oracles import Sphere
from colabel.oracles.base import DecoderStage
from learners.oracles_margin import random_problem, slow_minimum, slow_risk, spin_problem


@pytest.mark.parametrize("sign", ["any", "attractive", "repulsive"])
@pytest.mark.parametrize("loss", [FBeta(), Hamming()], ids=str)
def test_a_long_descent_with_short_steps_comes_near_the_optimum(sign, loss):
    problem = spin_problem(3, n=8, sign=sign, loss=loss, penalty=0.3)
    expected, _ = slow_minimum(problem)
    learner = AveragedDescent(400, learning_rate=0.03, coupling_rate=0.01, batch_size=4)
    found = learner.solve(problem)
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    assert expected - 1e-9 <= value <= 1.1 * expected
    assert found.history[-1] == pytest.approx(value, rel=1e-9)
    assert found.lower.max() <= expected + 1e-9
    assert value - expected <= found.gap + 1e-9
    np.testing.assert_array_equal(found.coef, problem.model.project(found.coef))


def test_models_without_a_prior_and_relaxations_take_it_too():
    plain = random_problem(2, n=10, pairs=False, penalty=0.3)
    found = AveragedDescent(200, learning_rate=0.03).solve(plain)
    assert found.history[-1] <= 1.1 * slow_minimum(plain)[0]
    spins = spin_problem(3, n=8, penalty=0.3)
    data = (spins.X, spins.Y, spins.share)
    sphere = Sphere().stages(spins.model, spins.loss)
    relaxed = MarginProblem(spins.model, spins.loss, sphere, *data, spins.penalty)
    found = AveragedDescent(200, learning_rate=0.03).solve(relaxed)
    assert found.lower.max() <= found.history.min()
    assert found.history[-1] < relaxed.evaluate(np.zeros(spins.model.size))[0]


def test_the_seed_fixes_the_result_and_the_start_matters():
    problem = spin_problem(4, n=20)
    a, b, c = (AveragedDescent(5, random_state=s).solve(problem) for s in (0, 0, 1))
    np.testing.assert_array_equal(a.coef, b.coef)
    assert np.any(a.coef != c.coef)
    start = np.ones(problem.model.size)
    assert np.any(AveragedDescent(5).solve(problem, start).coef != a.coef)


def test_small_data_get_more_passes_and_progress_is_told(monkeypatch):
    monkeypatch.setattr("colabel.learners.averaged.VISITS", 400)
    problem, told = spin_problem(4, n=10), []
    found = AveragedDescent().solve(problem, None, lambda *row: told.append(row))
    assert found.n_iter == 40
    assert len(told) == len(found.history) == 4
    assert told[-1][0] == 40
    assert AveragedDescent(3).solve(problem).n_iter == 3
    assert len(AveragedDescent(1).solve(problem).history) == 1


def test_rows_of_zeros_have_no_unit():
    problem = random_problem(0, n=4, pairs=False)
    problem.norms = np.zeros(4)
    assert np.isfinite(AveragedDescent(2).solve(problem).coef).all()


class Loose(MarginProblem):
    """A problem whose quick oracle bounds the risk badly."""

    def violations(self, theta, oracle):
        found = super().violations(theta, oracle)
        return found if self.proves(oracle) else replace(found, upper=found.risk + 5.0)


def test_a_loose_bound_shortens_nothing():
    plain = spin_problem(3, n=30, V=4, penalty=0.02)
    oracles = replace(plain.oracles, proof=DecoderStage(Exhaustive()))
    data = (plain.X, plain.Y, plain.share)
    found = AveragedDescent(20).solve(Loose(plain.model, plain.loss, oracles, *data, plain.penalty))
    same = AveragedDescent(20).solve(plain)
    np.testing.assert_allclose(found.coef, same.coef, rtol=1e-9)
    # The last look is by the strongest oracle.
    assert found.history[0] > 5.0 > found.history[-1]
    assert found.gap + found.lower[-1] == pytest.approx(found.history[-1], rel=1e-12)
    assert found.history[-1] == pytest.approx(same.history[-1], rel=1e-9)


def test_more_steps_are_shorter_ones():
    problem = spin_problem(4, n=20)
    few, many = (AveragedDescent(n, batch_size=4) for n in (10, 20))
    steps = {"learning_rate": 2.25 / np.sqrt(50), "coupling_rate": 0.225 / np.sqrt(50)}
    same = AveragedDescent(10, **steps, batch_size=4)
    np.testing.assert_array_equal(few.solve(problem).coef, same.solve(problem).coef)
    rates = [learner._rates(problem, n)[[0, -1]] for learner, n in ((few, 50), (many, 100))]
    np.testing.assert_allclose(rates[0], np.sqrt(2.0) * rates[1])
    assert len(AveragedDescent(27).solve(problem).history) == 2, "a look is worth ten passes"


def test_steps_take_more_samples_where_there_are_many(monkeypatch):
    taken = []
    monkeypatch.setattr(_Adam, "step", lambda self, rows, n_steps: taken.append(len(rows)))
    for n, batch in ((10, 10), (2400, 100), (9000, 256)):
        AveragedDescent(1).solve(random_problem(0, n=n, pairs=False))
        assert max(taken) == batch
        taken.clear()
