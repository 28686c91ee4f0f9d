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

        def feature(x, Z):
            both = [-np.sqrt(2) * Z[:, i] * Z[:, j] for i, j in pairs]
            return np.column_stack([(x[:, None] * z).ravel() for z in Z], *[]).T, both

        def phi(x, Z):
            unary, both = feature(x, Z)
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
        values = self.losses[n] + self.slopes[n] @ theta
        worst = values.argmax()
        return values[worst], self.slopes[n][worst]

    def risk(self, theta):
        """Return the mean hinge and its subgradient."""
        found = [self.sample_subgradient(theta, n) for n in range(self.n_samples)]
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


def random_problem(seed, n=6, d=2, V=3, penalty=0.1, **kwargs):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    Y = np.where(X @ rng.normal(size=(d + 1, V)) + 0.5 * rng.normal(size=(n, V)) > 0, 1, -1)
    if seed % 3 == 0:
        Y[:, 0], Y[0] = 1, -1
    return Enumerated(X, Y, penalty, **kwargs)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sign", LIMITS)
@pytest.mark.parametrize("loss", [hamming, f1])
@pytest.mark.parametrize("seed", range(4))
def test_ends_near_the_minimum_of_a_generic_solver_and_within_the_gap(seed, loss, sign, average):
    problem = random_problem(seed, loss=loss, sign=sign)
    least = problem.minimum()
    found = SubgradientDescent(10_000, average=average, random_state=seed).solve(problem)
    value = problem.objective(found.coef)
    assert value == found.history[-1]
    assert least - 1e-9 <= value <= least + found.gap
    assert value <= 1.1 * least
    assert np.all(found.lower <= least + 1e-9)
    assert np.array_equal(problem.project(found.coef), found.coef)
