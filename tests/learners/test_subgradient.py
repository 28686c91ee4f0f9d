"""The published descent: its steps one by one, its projection, and where it ends."""

from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from colabel.learners.subgradient import SubgradientDescent

LIMITS = {"any": (-np.inf, np.inf), "attractive": (-np.inf, 0.0), "repulsive": (0.0, np.inf)}


def hamming(y, Z):
    return (y != Z).mean(axis=1)


def f1(y, Z):
    both = 2 * ((y > 0) & (Z > 0)).sum(axis=1)
    total = (y > 0).sum() + (Z > 0).sum(axis=1)
    return np.where(total == 0, 0.0, 1 - both / np.maximum(total, 1))


class Enumerated:
    """Equation 12 with ``theta = (W, sqrt(2) A_ij for i < j)``: all labelings are looked at."""

    def __init__(self, X, Y, penalty, loss=hamming, sign="any"):
        (self.n_samples, d), V = X.shape, Y.shape[1]
        self.X, self.Y, self.penalty, self.n_unary = X, Y, penalty, d * V
        pairs = list(combinations(range(V), 2))
        self.limits = LIMITS[sign]
        size = self.n_unary + len(pairs)
        self.model = SimpleNamespace(size=size, n_unary=self.n_unary, project=self.project)
        every = np.array(list(product([-1, 1], repeat=V)))

        def phi(x, Z):
            unary = (x[:, None] * Z[:, None, :]).reshape(len(Z), -1)
            both = [-np.sqrt(2) * Z[:, i] * Z[:, j] for i, j in pairs]
            return np.column_stack([unary, *both])

        self.slopes = [phi(x, every) - phi(x, y[None]) for x, y in zip(X, Y, strict=True)]
        self.losses = [loss(y, every) for y in Y]

    def project(self, theta):
        pairs = np.clip(theta[self.n_unary :], *self.limits)
        return np.concatenate([theta[: self.n_unary], pairs])

    def start(self):
        d = self.X.shape[1]
        W = np.linalg.solve(self.X.T @ self.X + self.penalty * np.eye(d), self.X.T @ self.Y)
        return np.concatenate([W.ravel(), np.full(self.model.size - self.n_unary, 1e-6)])

    def sample_subgradient(self, theta, n):
        return self.hinge(theta, n)

    def hinge(self, theta, n):
        values = self.losses[n] + self.slopes[n] @ theta
        worst = values.argmax()
        return values[worst], self.slopes[n][worst]

    def risk(self, theta):
        """Return the mean hinge and its subgradient."""
        found = [self.hinge(theta, n) for n in range(self.n_samples)]
        values, slopes = zip(*found, strict=True)
        return np.mean(values), np.mean(slopes, axis=0)

    def objective(self, theta):
        return 0.5 * self.penalty * theta @ theta + self.risk(theta)[0]

    def lower_bound(self, theta):
        """Minimise the plane that touches the risk at ``theta``, with the ridge."""
        risk, a = self.risk(theta)
        at = self.project(-a / self.penalty)
        return risk + a @ (at - theta) + 0.5 * self.penalty * at @ at

    def minimum(self):
        """Minimise with a slack for each sample and a constraint for each of its labelings."""
        size, n = self.model.size, self.n_samples
        slack = np.repeat(np.eye(n), len(self.losses[0]), axis=0)
        A, b = np.column_stack([-np.vstack(self.slopes), slack]), np.concatenate(self.losses)
        found = minimize(
            lambda v: 0.5 * self.penalty * v[:size] @ v[:size] + v[size:].mean(),
            np.concatenate([np.zeros(size), np.ones(n)]),
            jac=lambda v: np.concatenate([self.penalty * v[:size], np.full(n, 1 / n)]),
            constraints=[{"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A}],
            bounds=[(None, None)] * self.n_unary
            + [self.limits] * (size - self.n_unary)
            + [(0, None)] * n,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-13},
        )
        return self.objective(self.project(found.x[:size]))


def random_problem(seed, n=6, d=2, V=3, penalty=0.1, empty=False, **kwargs):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)) * (not empty), np.ones(n)])
    Y = np.where(X @ rng.normal(size=(d + 1, V)) + 0.5 * rng.normal(size=(n, V)) > 0, 1, -1)
    if seed % 3 == 0:
        Y[:, 0], Y[0] = 1, -1
    return Enumerated(X, Y, penalty, **kwargs)


def visited(learner, problem):
    """Return the samples drawn and the iterates they are looked at from, with the solution."""
    seen, plain = [], problem.sample_subgradient
    problem.sample_subgradient = lambda theta, n: seen.append((n, theta.copy())) or plain(theta, n)
    found = learner.solve(problem)
    problem.sample_subgradient = plain
    rows, iterates = zip(*seen, strict=True)
    return np.array(rows), np.array(iterates), found


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sign", LIMITS)
@pytest.mark.parametrize("loss", [hamming, f1])
@pytest.mark.parametrize("seed", range(3))
def test_ends_at_the_minimum_of_a_generic_solver_and_within_the_gap(seed, loss, sign, average):
    problem = random_problem(seed, penalty=1.0, loss=loss, sign=sign)
    least = problem.minimum()
    # Steps of 1 / (lambda (t + 1)), which suit a strongly convex objective.
    learner = SubgradientDescent(10_000, exponent=1.0, average=average, random_state=seed)
    found = learner.solve(problem)
    value = problem.objective(found.coef)
    assert value == found.history[-1]
    assert least - 1e-9 <= value <= least + found.gap
    assert value <= 1.01 * least
    assert np.all(found.lower <= least + 1e-9)
    assert found.gap == pytest.approx(value - found.lower.max(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_published_steps_come_nearer_slowly(seed):
    problem = random_problem(seed, penalty=0.1, V=4)
    least = problem.minimum()
    found = SubgradientDescent(20_000, random_state=seed).solve(problem)
    assert found.history[-1] - least < 0.1 * (problem.objective(problem.start()) - least)
    assert not found.converged


def test_a_minimum_without_a_kink_is_proved():
    problem = random_problem(1, penalty=100.0)
    found = SubgradientDescent(4000, 0.01, 0.01, exponent=1.0).solve(problem)
    assert found.converged
    assert 0.0 <= found.gap <= 1e-3 * found.history[-1]
    assert found.history[-1] <= problem.minimum() + found.gap
    strict = SubgradientDescent(4000, 0.01, 0.01, exponent=1.0, tol=1e-15).solve(problem)
    assert not strict.converged


@pytest.mark.parametrize("exponent", [0.5, 0.75, 1.0])
def test_steps_are_those_of_the_formula(exponent):
    problem = random_problem(2, penalty=0.2)
    learner = SubgradientDescent(40, step_w=0.5, step_a=3.0, exponent=exponent)
    rows, iterates, found = visited(learner, problem)
    after = np.vstack([iterates[1:], found.coef])
    np.testing.assert_array_equal(iterates[0], problem.start())
    for t, n in enumerate(rows, 1):
        theta = iterates[t - 1]
        slope = problem.penalty * theta + problem.sample_subgradient(theta, n)[1]
        w, a = slice(None, problem.n_unary), slice(problem.n_unary, None)
        for part, g in ((w, 0.5), (a, 3.0)):
            gamma = g * 0.2 * (g * 0.2 + 0.2 * t) ** -exponent
            expected = theta[part] - gamma * slope[part]
            np.testing.assert_allclose(after[t - 1][part], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sign", ["attractive", "repulsive"])
def test_every_iterate_has_the_right_sign(sign):
    low, high = LIMITS[sign]
    problem = random_problem(5, V=4, sign=sign)
    _, iterates, found = visited(SubgradientDescent(300), problem)
    pairs = np.vstack([iterates, found.coef])[:, problem.n_unary :]
    assert pairs.min() >= low
    assert pairs.max() <= high
    assert np.any(pairs == 0.0)
    assert np.any(pairs != 0.0)


def test_samples_are_drawn_alike():
    rows, _, _ = visited(SubgradientDescent(6000), random_problem(1, n=6))
    assert np.bincount(rows, minlength=6) == pytest.approx(np.full(6, 1000), rel=0.15)


def test_the_seed_fixes_the_result():
    problem = random_problem(4)
    first, again = (SubgradientDescent(200, random_state=3).solve(problem) for _ in range(2))
    other = SubgradientDescent(200, random_state=4).solve(problem)
    np.testing.assert_array_equal(first.coef, again.coef)
    np.testing.assert_array_equal(first.history, again.history)
    assert not np.array_equal(first.coef, other.coef)


@pytest.mark.parametrize("n_steps", [1, 2, 7, 100])
def test_average_is_the_mean_of_the_last_half(n_steps):
    problem = random_problem(4, sign="repulsive")
    _, iterates, last = visited(SubgradientDescent(n_steps), problem)
    after = np.vstack([iterates[1:], last.coef])
    mean = SubgradientDescent(n_steps, average=True).solve(problem)
    np.testing.assert_allclose(mean.coef, after[n_steps // 2 :].mean(axis=0), atol=1e-13)
    assert mean.history[-1] == problem.objective(mean.coef)


@pytest.mark.parametrize(("n_steps", "n_checkpoints"), [(1, 1), (7, 7), (33, 20), (1000, 20)])
def test_checkpoints_are_reported(n_steps, n_checkpoints):
    seen = []
    problem = random_problem(1)
    found = SubgradientDescent(n_steps).solve(problem, None, lambda *line: seen.append(line))
    steps, values, gaps = zip(*seen, strict=True)
    assert len(steps) == n_checkpoints
    assert np.all(np.diff(steps) > 0)
    assert steps[-1] == found.n_iter == n_steps
    np.testing.assert_array_equal(values, found.history)
    np.testing.assert_array_equal(gaps, found.history - found.lower)
    assert gaps[-1] == found.gap


def test_starts_from_a_state_of_any_sign():
    problem = random_problem(2, sign="attractive")
    state = np.ones(problem.model.size)
    kept = state.copy()
    start = problem.project(state)
    found = SubgradientDescent(1, 1e-12, 1e-12).solve(problem, state)
    np.testing.assert_allclose(found.coef, start, atol=1e-5)
    np.testing.assert_array_equal(state, kept)
    np.testing.assert_array_equal(found.state, found.coef)


def test_a_problem_without_a_bound_has_no_gap():
    problem = random_problem(1)
    names = ("n_samples", "penalty", "model", "start", "objective", "sample_subgradient")
    bare = SimpleNamespace(**{name: getattr(problem, name) for name in names})
    found = SubgradientDescent(50).solve(bare)
    assert np.isnan(found.gap)
    assert np.isnan(found.lower).all()
    assert not found.converged


@pytest.mark.parametrize("average", [False, True])
def test_a_descent_that_blows_up_ends_there(average):
    problem = random_problem(1, penalty=50.0)
    found = SubgradientDescent(10_000, average=average).solve(problem)
    assert found.n_iter < 100
    assert np.linalg.norm(found.coef) > 1e15
    assert np.isfinite(found.coef).all()
    assert not found.converged
    assert found.lower.max() <= problem.minimum()


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 2, 3), (2, 0, 2), (4, 2, 2), (3, 6, 1), (5, 1, 5)]
)
def test_degenerate_sizes(shape):
    n, d, V = shape
    problem = random_problem(0, n=n, d=d, V=V, penalty=1.0, empty=n == 4)
    found = SubgradientDescent(3000, exponent=1.0).solve(problem)
    assert found.coef.shape == (problem.model.size,)
    assert found.history[-1] <= 1.03 * problem.minimum()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_steps": 0}, "n_steps must be a whole number of at least 1"),
        ({"step_w": 0.0}, "step_w must be a positive number"),
        ({"step_a": -1.0}, "step_a must be a positive number"),
        ({"exponent": np.nan}, "exponent must be a number of at least 0"),
    ],
)
def test_wrong_parameters_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        SubgradientDescent(**wrong).solve(random_problem(0))
    with pytest.raises(ValueError, match="penalty must be a positive number"):
        SubgradientDescent().solve(random_problem(0, penalty=0.0))


def test_parameters_can_be_cloned():
    learner = SubgradientDescent(7, step_a=0.1, average=True, random_state=2)
    assert clone(learner).get_params() == learner.get_params()
