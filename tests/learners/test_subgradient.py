"""The published descent: its steps one by one, its projection, and where it ends."""

import numpy as np
import pytest
from sklearn.base import clone

from colabel.decoders import Spectral
from colabel.learners import QuasiNewton, SubgradientDescent
from colabel.losses import FBeta, Hamming
from learners.oracles_margin import slow_minimum, slow_risk, spin_problem
from learners.test_relaxed import SIGNS, with_oracle


def objective(problem, theta):
    return problem.ridge(theta) + slow_risk(problem, theta)


def visited(learner, problem, state=None):
    """Return the samples drawn and the iterates they are looked at from, with the solution."""
    seen, plain = [], problem.sample_subgradient
    problem.sample_subgradient = lambda theta, n: seen.append((n, theta.copy())) or plain(theta, n)
    found = learner.solve(problem, state)
    problem.sample_subgradient = plain
    rows, iterates = zip(*seen, strict=True)
    return np.array(rows), np.array(iterates), found


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("loss", [Hamming(), FBeta()], ids=str)
def test_ends_at_the_minimum_of_a_generic_solver_and_within_the_gap(loss, sign, average):
    problem = spin_problem(SIGNS.index(sign), penalty=1.0, loss=loss, sign=sign)
    least, _ = slow_minimum(problem)
    # Steps of 1 / (lambda (t + 1)), which suit a strongly convex objective.
    learner = SubgradientDescent(1000, exponent=1.0, average=average, random_state=1)
    found = learner.solve(problem)
    value = objective(problem, found.coef)
    assert value == pytest.approx(found.history[-1], rel=1e-12)
    assert least - 1e-9 <= value <= least + found.gap + 1e-12
    assert value <= 1.03 * least
    assert np.all(found.lower <= least + 1e-9)
    assert np.all(np.diff(found.lower) >= 0.0)
    assert found.gap == pytest.approx(value - found.lower.max(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_published_steps_come_nearer_slowly(seed):
    problem = spin_problem(seed, penalty=0.1, V=4)
    least, _ = slow_minimum(problem)
    start = np.random.default_rng(seed).normal(size=problem.model.size)
    found = SubgradientDescent(1000, random_state=seed).solve(problem, start)
    assert found.history[-1] - least < 0.1 * (objective(problem, start) - least)
    assert not found.converged


def test_a_relaxed_risk_is_descended_too():
    for loss in (Hamming(), FBeta()):
        problem = with_oracle(spin_problem(1, penalty=1.0, loss=loss), Spectral())
        least = QuasiNewton(1e-5, 1000).solve(problem).history.min()
        found = SubgradientDescent(1000, exponent=1.0, average=True).solve(problem)
        assert found.history[-1] == pytest.approx(problem.evaluate(found.coef)[0], rel=1e-9)
        assert least - 1e-9 <= found.history[-1] <= 1.03 * least
        assert found.lower.max() <= least + 1e-9


def test_a_minimum_without_a_kink_is_proved():
    problem = spin_problem(1, penalty=100.0)
    learner = SubgradientDescent(2000, 0.01, 0.01, exponent=1.0)
    found = learner.solve(problem)
    assert found.converged
    assert 0.0 <= found.gap <= 1e-3 * found.history[-1]
    assert found.history[-1] <= slow_minimum(problem)[0] + found.gap
    strict = clone(learner).set_params(tol=1e-15).solve(problem)
    assert not strict.converged


@pytest.mark.parametrize("exponent", [0.5, 0.75, 1.0])
def test_steps_are_those_of_the_formula(exponent):
    problem = spin_problem(2, penalty=0.2)
    learner = SubgradientDescent(40, step_w=0.5, step_a=3.0, exponent=exponent)
    rows, iterates, found = visited(learner, problem)
    after = np.vstack([iterates[1:], found.coef])
    assert not iterates[0].any()
    for t, n in enumerate(rows, 1):
        theta = iterates[t - 1]
        slope = problem.penalty * theta + problem.sample_subgradient(theta, n)[1]
        n_unary = problem.model.n_unary
        for part, g in ((slice(None, n_unary), 0.5), (slice(n_unary, None), 3.0)):
            gamma = g * 0.2 * (g * 0.2 + 0.2 * t) ** -exponent
            expected = theta[part] - gamma * slope[part]
            np.testing.assert_allclose(after[t - 1][part], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sign", ["attractive", "repulsive"])
def test_every_iterate_has_the_right_sign(sign):
    problem = spin_problem(5, V=4, sign=sign, penalty=0.1)
    _, iterates, found = visited(SubgradientDescent(300), problem)
    priors = [problem.model.prior(theta) for theta in (*iterates, found.coef)]
    turned = np.array(priors) * (-1.0 if sign == "attractive" else 1.0)
    assert turned.min() >= 0.0
    pairs = np.vstack([iterates, found.coef])[1:, problem.model.n_unary :]
    assert np.any(pairs == 0.0)
    assert np.any(pairs != 0.0)


def test_samples_are_drawn_alike(monkeypatch):
    problem = spin_problem(1, n=6)
    flat = np.zeros(problem.model.size)
    monkeypatch.setattr(problem, "sample_subgradient", lambda theta, n: (0.0, flat))
    rows, _, _ = visited(SubgradientDescent(6000), problem)
    assert np.bincount(rows, minlength=6) == pytest.approx(np.full(6, 1000), rel=0.15)


def test_weighted_samples_have_longer_slopes():
    """Samples are drawn alike, whatever their weight: the mean slope is that of the risk."""
    problem = spin_problem(3, V=4)
    theta = np.random.default_rng(0).normal(size=problem.model.size)
    parts = [problem.sample_subgradient(theta, n) for n in range(problem.n_samples)]
    hinges, slopes = zip(*parts, strict=True)
    assert np.ptp(problem.share) > 0.0
    assert np.mean(hinges) == pytest.approx(slow_risk(problem, theta), rel=1e-9)
    expected = problem.evaluate(theta)[1] - problem.penalty * theta
    np.testing.assert_allclose(np.mean(slopes, axis=0), expected, atol=1e-12)


def test_the_seed_fixes_the_result():
    problem = spin_problem(4)
    first, again = (SubgradientDescent(200, random_state=3).solve(problem) for _ in range(2))
    other = SubgradientDescent(200, random_state=4).solve(problem)
    np.testing.assert_array_equal(first.coef, again.coef)
    np.testing.assert_array_equal(first.history, again.history)
    assert not np.array_equal(first.coef, other.coef)


@pytest.mark.parametrize("max_iter", [1, 2, 7, 100])
def test_average_is_the_mean_of_the_last_half(max_iter):
    problem = spin_problem(4, sign="repulsive")
    _, iterates, last = visited(SubgradientDescent(max_iter), problem)
    after = np.vstack([iterates[1:], last.coef])
    mean = SubgradientDescent(max_iter, average=True).solve(problem)
    np.testing.assert_allclose(mean.coef, after[max_iter // 2 :].mean(axis=0), atol=1e-13)
    assert mean.history[-1] == pytest.approx(objective(problem, mean.coef), rel=1e-12)


@pytest.mark.parametrize(("max_iter", "n_checkpoints"), [(1, 1), (7, 7), (33, 20), (1000, 20)])
def test_checkpoints_are_reported(max_iter, n_checkpoints):
    seen = []
    problem = spin_problem(1)
    found = SubgradientDescent(max_iter).solve(problem, None, lambda *line: seen.append(line))
    steps, values, gaps = zip(*seen, strict=True)
    assert len(steps) == n_checkpoints
    assert np.all(np.diff(steps) > 0)
    assert steps[-1] == found.n_iter == max_iter
    np.testing.assert_array_equal(values, found.history)
    np.testing.assert_array_equal(gaps, found.history - found.lower)
    assert gaps[-1] == found.gap


def test_starts_from_a_state_of_any_sign():
    problem = spin_problem(2, sign="attractive")
    state = -np.ones(problem.model.size)
    kept = state.copy()
    start = problem.model.project(state)
    found = SubgradientDescent(1, 1e-12, 1e-12).solve(problem, state)
    np.testing.assert_allclose(found.coef, start, atol=1e-5)
    np.testing.assert_array_equal(state, kept)
    np.testing.assert_array_equal(found.state, found.coef)


@pytest.mark.parametrize("average", [False, True])
def test_a_descent_that_blows_up_ends_there(average):
    problem = spin_problem(1, penalty=50.0)
    found = SubgradientDescent(10_000, average=average).solve(problem)
    assert found.n_iter < 100
    assert np.linalg.norm(found.coef) > 1e15
    assert np.isfinite(found.coef).all()
    assert not found.converged
    assert found.lower.max() <= slow_minimum(problem)[0]


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 2, 3), (2, 0, 2), (4, 2, 2), (3, 6, 1), (5, 1, 5)]
)
def test_degenerate_sizes(shape):
    n, d, V = shape
    problem = spin_problem(0, n=n, d=d, V=V, penalty=1.0)
    found = SubgradientDescent(400, exponent=1.0).solve(problem)
    assert found.coef.shape == (problem.model.size,)
    assert found.history[-1] <= 1.05 * slow_minimum(problem)[0]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"step_w": 0.0}, "step_w must be a positive number"),
        ({"step_a": -1.0}, "step_a must be a positive number"),
        ({"exponent": np.nan}, "exponent must be a number of at least 0"),
    ],
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        SubgradientDescent(**wrong).solve(spin_problem(0))
    with pytest.raises(ValueError, match="penalty must be a positive number"):
        SubgradientDescent().solve(spin_problem(0, penalty=0.0))


def test_parameters_can_be_cloned():
    learner = SubgradientDescent(7, step_a=0.1, average=True, random_state=2)
    assert clone(learner).get_params() == learner.get_params()
