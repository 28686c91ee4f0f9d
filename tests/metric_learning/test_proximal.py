"""Accelerated proximal gradients reach the minimum that a slow search finds, and never rise."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from colabel.metric_learning.proximal import proximal_gradient, shrink
from colabel.neighbors._codeword_maps import Codewords
from colabel.neighbors._margin_problem import MarginProblem


class Quadratic:
    """``f = |Q - A|^2 / 2``, whose margins are the entries of ``Q``."""

    def __init__(self, A):
        self.A, self.n_tried = A, 0

    def margins(self, Q):
        self.n_tried += 1
        return Q

    def loss(self, margins):
        return 0.5 * float(np.sum((margins - self.A) ** 2))

    def gradient(self, margins):
        return margins - self.A


def metric_problem(seed, k):
    """Margins to ``k`` neighbours; with one there are no kinks."""
    rng = np.random.default_rng(seed)
    n, q = 9, 3
    Y = (rng.random((n, q)) < 0.5).astype(float)
    Z = Y + 0.5 * rng.normal(size=(n, q))
    near = np.array([rng.permutation(np.delete(np.arange(n), i))[:k] for i in range(n)])
    words = Codewords(Z, np.eye(q), np.zeros(q), np.ones(n), np.zeros(n))
    return MarginProblem(words, sparse.csr_array(Y), near, 2.0)


def symmetric(rng, q):
    G = rng.normal(size=(q, q))
    return 0.5 * (G + G.T)


@pytest.mark.parametrize("rank", [0, 100])
def test_the_step_is_the_best_of_all_positive_matrices(rank):
    rng = np.random.default_rng(0)
    for _ in range(30):
        G, by = symmetric(rng, 4), rng.random()
        Q, factor = shrink(G, by, rank)
        np.testing.assert_allclose(Q, factor @ factor.T)

        def value(candidate, G=G, by=by):
            return 0.5 * np.sum((candidate - G) ** 2) + by * np.trace(candidate)

        for _ in range(30):
            half = rng.normal(size=(4, 4))
            assert value(Q) <= value(half @ half.T) + 1e-12
            near = factor + 1e-3 * rng.normal(size=factor.shape)
            assert value(Q) <= value(near @ near.T) + 1e-12


def test_only_the_symmetric_part_counts():
    rng = np.random.default_rng(1)
    G = rng.normal(size=(5, 5))
    np.testing.assert_allclose(shrink(G, 0.1, 9)[0], shrink(G.T, 0.1, 9)[0], atol=1e-12)


def test_a_quadratic_is_minimised_in_closed_form():
    rng = np.random.default_rng(2)
    for _ in range(20):
        A = symmetric(rng, 4)
        found = proximal_gradient(Quadratic(A), np.eye(4), tau=1.0, tol=1e-12)
        expected, _ = shrink(A, 0.5, 4)
        assert found.converged
        np.testing.assert_allclose(found.coef @ found.coef.T, expected, atol=1e-5)


def start_too_short(seed, tau, tol):
    """Minimise a quadratic, of curvature 1, from steps of ``1 / tau``."""
    problem = Quadratic(4.0 * symmetric(np.random.default_rng(seed), 4))
    found = proximal_gradient(problem, np.eye(4), tau=tau, tol=tol)
    Q, _ = shrink(problem.A, 0.5, 4)
    return problem, found, found.history[-1] / (problem.loss(Q) + 0.5 * np.trace(Q))


def test_steps_that_are_much_too_short_grow():
    for seed in range(10):
        _, found, ratio = start_too_short(seed, 1e4, 1e-9)
        assert ratio == pytest.approx(1.0, rel=1e-8)
        assert found.n_iter < 40  # more than 400 with steps of 1e-4 throughout


def test_small_changes_of_short_steps_are_no_convergence():
    for seed in range(10):
        _, found, ratio = start_too_short(seed, 1e5, 1e-3)
        assert found.converged
        assert abs(np.diff(found.history[:4])).max() < 1e-3 * found.history[0]
        assert ratio == pytest.approx(1.0, rel=1e-4)


def test_longer_steps_are_tried_only_where_the_loss_is_flat():
    for seed in range(10):
        problem, found, _ = start_too_short(seed, 1.0, 1e-12)
        assert problem.n_tried <= found.n_iter + 3  # every one fits; two each if all were tried


def slow_minimum(problem, seed, method):
    """Search over factors of ``Q``, from random ones."""

    def objective(flat):
        V = flat.reshape(3, 3)
        return problem.loss(problem.margins(V @ V.T)) + 0.5 * np.sum(V * V)

    start = minimize(objective, np.random.default_rng(seed).normal(size=9)).x
    return minimize(objective, start, method=method, options={"maxiter": 200}).fun


@pytest.mark.parametrize("tau", [1e-3, 0.09, 10.0])
def test_smooth_metrics_reach_the_minimum_of_a_slow_search(tau):
    for seed in range(5):
        problem = metric_problem(seed, 1)
        found = proximal_gradient(problem, np.eye(3), tau=tau, tol=1e-9, max_iter=3000)
        assert found.converged
        assert found.history[-1] == pytest.approx(slow_minimum(problem, seed, "BFGS"), rel=1e-4)
        Q = found.coef @ found.coef.T
        value = problem.loss(problem.margins(Q)) + 0.5 * np.trace(Q)
        assert value == pytest.approx(found.history[-1])


def test_metrics_with_kinks_come_close_to_it():
    ratios = []
    for seed in range(4):
        problem = metric_problem(seed, 3)
        found = proximal_gradient(problem, np.eye(3), tau=0.2, tol=1e-6, max_iter=3000)
        ratios.append(found.history[-1] / slow_minimum(problem, seed, "Powell"))
    assert np.median(ratios) < 1.01
    assert max(ratios) < 1.06


def test_the_objective_never_rises():
    for seed in range(12):
        problem = metric_problem(seed, 3)
        told = []
        found = proximal_gradient(
            problem, np.eye(3), tau=0.1, report=lambda n, value, told=told: told.append(value)
        )
        assert (np.diff(found.history) <= 0).all()
        assert told == list(found.history[1:])


def test_too_few_iterations_are_told():
    problem = metric_problem(0, True)
    found = proximal_gradient(problem, np.eye(3), tau=10.0, tol=1e-12, max_iter=2)
    assert not found.converged
    assert found.n_iter == 2


class Kink:
    """``f = 5 |Q|`` of a number: at 0 no step is short enough for a wrong gradient."""

    def margins(self, Q):
        return Q

    def loss(self, margins):
        return 5.0 * abs(float(margins[0, 0] - 1.0))

    def gradient(self, margins):
        return np.array([[5.0 if margins[0, 0] >= 1.0 else -5.0]])


def test_a_kink_at_the_start_ends_the_search_and_says_so():
    found = proximal_gradient(Kink(), np.eye(1), tau=1.0)
    assert not found.converged
    assert found.history.tolist() == [0.5]
    np.testing.assert_array_equal(found.coef, np.eye(1))


def test_a_kink_on_the_way_is_where_it_ends():
    found = proximal_gradient(Kink(), 3.0 * np.eye(1), tau=1.0)
    assert found.converged
    assert found.history[-1] < 0.6
