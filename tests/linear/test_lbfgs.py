"""Batched L-BFGS: finds the minima that scipy finds."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from colabel._kernels.lbfgs import MEMORY
from colabel.linear.lbfgs import limits, minimise

TIGHT = limits(max_iter=2000, gap=1e-15, rounding=1e-15)


def quadratics(rng, n, d, spread=2.0):
    """Convex quadratics of many condition numbers, as a function and by their minima."""
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    eigen = 10.0 ** rng.uniform(-spread, spread, size=(n, d))
    H = (Q * eigen[:, None]) @ Q.transpose(0, 2, 1)
    best = rng.normal(size=(n, d))

    def evaluate(points, problems):
        away = points - best[problems]
        bent = np.einsum("aij,aj->ai", H[problems], away)
        return 1.0 + 0.5 * np.einsum("ai,ai->a", away, bent), bent

    return evaluate, best, H


@pytest.mark.parametrize("seed", range(20))
def test_quadratics(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 6), rng.integers(1, 25)
    evaluate, best, H = quadratics(rng, n, d)
    scale = 1.0 / np.einsum("nii->ni", H)
    stopping = limits(max_iter=2000, gap=1e-12, curvature=0.01, rounding=1e-15)
    found = minimise(evaluate, rng.normal(size=(n, d)), scale, stopping)
    assert found.converged.all()
    np.testing.assert_allclose(found.value, 1.0, rtol=1e-12)
    for p in range(n):
        error = found.point[p] - best[p]
        assert error @ H[p] @ error < 2e-12


@pytest.mark.parametrize("seed", range(20))
def test_curvature_proves_the_gap(seed):
    """However badly scaled a problem is, what is left is no more than was asked for."""
    rng = np.random.default_rng(seed)
    evaluate, _, _ = quadratics(rng, 3, 40, spread=3.0)
    for gap in (1e-2, 1e-4, 1e-6):
        stopping = limits(max_iter=10_000, gap=gap, curvature=1e-3)
        found = minimise(evaluate, rng.normal(size=(3, 40)), np.full(40, 1e-3), stopping)
        assert found.converged.all()
        assert np.all(found.value - 1.0 <= gap * found.value)
        assert np.all(found.value > 1.0)


@pytest.mark.parametrize("seed", range(10))
def test_log_sum_exp_as_scipy(seed):
    """A smooth convex function whose curvature varies."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(4, 30, 6)), rng.normal(size=(4, 30))

    def one(p, x):
        s = A[p] @ x + b[p]
        total = np.logaddexp.reduce(s)
        return total + 0.05 * x @ x, A[p].T @ np.exp(s - total) + 0.1 * x

    def evaluate(points, problems):
        values, gradients = zip(*map(one, problems, points), strict=True)
        return np.array(values), np.array(gradients)

    found = minimise(evaluate, rng.normal(size=(4, 6)), np.ones(6), TIGHT)
    assert found.converged.all()
    for p in range(4):
        options = {"gtol": 1e-12, "ftol": 1e-16, "maxiter": 5000}
        truth = minimize(
            lambda x, p=p: one(p, x), np.zeros(6), jac=True, method="L-BFGS-B", options=options
        )
        assert found.value[p] <= truth.fun + 1e-12
        np.testing.assert_allclose(found.point[p], truth.x, atol=1e-6)


def test_every_evaluation_serves_the_problems_still_running():
    rng = np.random.default_rng(0)
    evaluate, _, H = quadratics(rng, 8, 10)
    seen = []

    def watched(points, problems):
        assert points.shape == (len(problems), 10)
        assert points.flags.c_contiguous
        seen.append(problems.copy())
        return evaluate(points, problems)

    found = minimise(watched, np.zeros((8, 10)), 1.0 / np.einsum("nii->ni", H), TIGHT)
    for before, after in pairwise(seen):
        assert set(after) <= set(before)
        assert np.all(np.diff(after) > 0)
    assert len(seen[0]) == 8
    assert len(seen[-1]) < 8
    assert found.n_iter <= len(seen)


def test_running_out_of_steps_is_told():
    rng = np.random.default_rng(0)
    evaluate, _, _ = quadratics(rng, 3, 20)
    start = rng.normal(size=(3, 20))
    found = minimise(evaluate, start, np.ones(20), limits(max_iter=3, gap=1e-12))
    assert found.n_iter == 3
    assert not found.converged.any()
    assert np.all(found.value < evaluate(start, np.arange(3))[0])
    none = minimise(evaluate, start, np.ones(20), limits(max_iter=0, gap=1e-12))
    np.testing.assert_array_equal(none.point, start)
    np.testing.assert_allclose(none.value, evaluate(start, np.arange(3))[0])


def test_a_start_at_the_optimum_stays_there():
    rng = np.random.default_rng(0)
    evaluate, best, _ = quadratics(rng, 3, 5)
    found = minimise(evaluate, best, np.ones(5), limits(max_iter=100, gap=1e-12))
    np.testing.assert_array_equal(found.point, best)
    assert found.n_iter == 0
    assert found.converged.all()


def test_one_scale_or_one_a_problem():
    rng = np.random.default_rng(2)
    evaluate, _, _ = quadratics(rng, 3, 7)
    start, scale = rng.normal(size=(3, 7)), rng.random(7)
    shared = minimise(evaluate, start, scale, TIGHT)
    own = minimise(evaluate, start, np.tile(scale, (3, 1)), TIGHT)
    np.testing.assert_array_equal(shared.point, own.point)


def test_more_steps_than_are_remembered():
    rng = np.random.default_rng(5)
    evaluate, _, _ = quadratics(rng, 1, 60, spread=3.0)
    stopping = limits(max_iter=5000, gap=1e-9, curvature=1e-3)
    found = minimise(evaluate, np.zeros((1, 60)), np.ones(60), stopping)
    assert found.n_iter > 3 * MEMORY
    assert found.value[0] == pytest.approx(1.0, rel=1e-9)


def test_an_optimum_of_zero_is_measured_against_the_floor():
    """exp(-x) has no minimum: the search ends where what is left is small beside the floor."""

    def evaluate(points, problems):
        return np.exp(-points[:, 0]), -np.exp(-points)

    stopping = limits(max_iter=500, gap=1e-6, floor=1e-3)
    found = minimise(evaluate, np.zeros((1, 1)), np.ones(1), stopping)
    assert found.converged.all()
    assert 0.0 < found.value[0] < 1e-7


@pytest.mark.parametrize("seed", range(20))
def test_separable_quadratics_with_a_norm_are_shrunk(seed):
    """1/2 h (x - c)^2 + price |x| has its minimum at c, drawn to zero by price / h."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 5), rng.integers(1, 30)
    h, c = rng.uniform(0.1, 10.0, (n, d)), rng.normal(size=(n, d))
    price = rng.choice([0.0, 0.1, 1.0, 5.0], size=(n, d))

    def evaluate(points, problems):
        away = points - c[problems]
        return 1.0 + 0.5 * np.sum(h[problems] * away**2, axis=1), h[problems] * away

    start = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    found = minimise(evaluate, start, np.full(d, 0.3), TIGHT, price)
    expected = np.sign(c) * np.maximum(np.abs(c) - price / h, 0.0)
    assert found.converged.all()
    np.testing.assert_allclose(found.point, expected, atol=1e-6)
    np.testing.assert_array_equal(found.point[expected == 0.0], 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_quadratics_with_a_norm_meet_the_conditions_of_an_optimum(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 5), rng.integers(1, 20)
    evaluate, _, H = quadratics(rng, n, d, spread=1.0)
    price = rng.choice([0.0, 0.1, 1.0], size=d)
    scale, prices = 1.0 / np.einsum("nii->ni", H), np.tile(price, (n, 1))
    found = minimise(evaluate, np.zeros((n, d)), scale, TIGHT, prices)
    _, gradient = evaluate(found.point, np.arange(n))
    held = np.maximum(np.abs(gradient) - price, 0.0)
    slope = np.where(found.point == 0.0, held, gradient + price * np.sign(found.point))
    assert np.abs(slope).max() < 1e-5
