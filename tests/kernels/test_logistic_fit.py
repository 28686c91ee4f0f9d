"""Whole fits in one call against fits that come back to Python at every evaluation."""

import numpy as np
import pytest

from colabel._kernels import lbfgs, logistic, logistic_fit
from colabel.linear.logistic import Known, Prior

dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])
MEMORY = 5


def limits(penalty, max_steps, rounding=1e-14, gap=0.0):
    """No limit but those given."""
    estimate = 0.0 if gap == 0.0 else rounding
    return lbfgs.Limits(gap, estimate, rounding, 1e-9, 1.0 / penalty, max_steps)


def by_columns(rows, step):
    return np.concatenate([rows[i : i + step].T.ravel() for i in range(0, len(rows), step)])


def problem(rng, n, d, C, dtype):
    rows = np.column_stack([rng.normal(size=(n, d)), np.ones(n)]).astype(dtype)
    targets = rng.integers(2, size=(C, n)).astype(dtype)
    return rows, targets, rng.random(n) + 0.1


def step_by_step(rows, targets, weight, penalty, origin, mask, price, memory, limits):
    """Return what ``solve`` does, one evaluation at a time."""
    D = rows.shape[1]
    active, trial = np.arange(len(targets)), memory.vectors[:, lbfgs.POINT].copy()
    ridge = np.append(np.full(D - 1, penalty), 0.0)
    evaluated = 0
    while len(active):
        evaluated += len(active)
        scores = (trial + origin[active]).astype(rows.dtype) @ rows.T
        value = 0.5 * np.sum(ridge * trial**2, axis=1)
        logistic.binary_loss(scores, targets, weight, active, 0, value)
        gradient = (scores @ rows + ridge * trial) * mask[active]
        left = lbfgs.advance(memory, price, active, trial, value, gradient, limits)
        active, trial = active[:left], trial[:left]
    return evaluated


@dtypes
@pytest.mark.parametrize("with_norm", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_solve_takes_the_steps_of_the_loop_in_python(seed, with_norm, dtype):
    rng = np.random.default_rng(seed)
    n, d, C = (int(rng.integers(1, high)) for high in (60, 9, 5))
    rows, targets, weight = problem(rng, n, d, C, dtype)
    origin = rng.normal(size=(C, d + 1)) if seed % 2 else np.zeros((0, d + 1))
    mask = rng.integers(2, size=(C, d + 1)) * 1.0 if seed % 3 else np.zeros((0, d + 1))
    price = rng.random((C, d + 1)) if with_norm else None
    memories = [lbfgs.empty_memory(C, d + 1, MEMORY, with_norm) for _ in range(2)]
    start = rng.random(memories[0].vectors.shape) + 0.1
    for memory in memories:
        memory.vectors[:] = start
    given, step = limits(0.5, 4, rounding=8 * np.finfo(dtype).eps), int(rng.integers(1, n + 1))
    batch = logistic_fit.Batch(rows, by_columns(rows, step), step, targets, weight)
    evaluated = logistic_fit.solve(batch, 0.5, origin, mask, price, memories[0], given)
    full = origin if len(origin) else np.zeros((C, d + 1))
    free = mask if len(mask) else np.ones((C, d + 1))
    expected = step_by_step(rows, targets, weight, 0.5, full, free, price, memories[1], given)
    tol = 1e-9 if dtype == np.float64 else 2e-3
    found, others = memories
    np.testing.assert_allclose(
        found.vectors[:, lbfgs.POINT], others.vectors[:, lbfgs.POINT], atol=tol
    )
    np.testing.assert_allclose(
        found.numbers[:, lbfgs.VALUE],
        others.numbers[:, lbfgs.VALUE],
        rtol=100 * np.finfo(dtype).eps,
    )
    if dtype == np.float64:
        np.testing.assert_array_equal(found.counts, others.counts)
        assert evaluated == expected


@dtypes
@pytest.mark.parametrize("step", [1, 7, 40])
def test_softmax_rows_add_up(step, dtype):
    rng = np.random.default_rng(step)
    rows, _, weight = problem(rng, 40, 4, 1, dtype)
    points = rng.normal(size=(3, 5)).astype(dtype)
    targets = rng.dirichlet(np.ones(3), size=40).T.astype(dtype).copy()
    scores = points @ rows.T
    loss = logistic.softmax_loss(scores, targets, weight, 0)
    batch = logistic_fit.Batch(rows, by_columns(rows, step), step, targets, weight)
    ends = [0, step, min(3 * step, 40), 40]
    parts = [logistic_fit.softmax_rows(points, batch, *ends[i : i + 2]) for i in range(3)]
    tol = 1e-12 if dtype == np.float64 else 1e-4
    assert sum(part for part, _ in parts) == pytest.approx(loss, rel=tol)
    np.testing.assert_allclose(sum(part for _, part in parts), scores @ rows, atol=tol)


def gradient(X, y, weight, point, center, penalty):
    p = 1.0 / (1.0 + np.exp(-(X @ point[:-1] + point[-1])))
    residual = weight * (p - y)
    return np.append(residual @ X + penalty * (point[:-1] - center), residual.sum())


@dtypes
@pytest.mark.parametrize("seed", range(6))
def test_a_component_is_fitted_to_the_rows_that_count(seed, dtype):
    rng = np.random.default_rng(seed)
    n, d, L = 80, 5, 6
    X, Y = (rng.normal(size=(n, d)) + 4.0).astype(dtype), rng.integers(2, size=(L, n))
    weight = rng.random(n) * rng.choice([0.0, 1e-5, 1.0], size=n)
    labels, known = np.array([0, 2, 3, 5]), np.array([1, 2, 5])
    before = rng.normal(size=(3, d + 1))
    center = rng.normal(size=(L, d + 1)) if seed % 2 else np.zeros((0, d + 1))
    given = limits(2.0, 200, rounding=8 * np.finfo(dtype).eps, gap=1e-12)
    prior, start = Prior(2.0, 0.0, center), Known(known, before)
    found = logistic_fit.fit_component(
        X, Y.astype(np.float32), weight, labels, 1e-3, prior, start, given
    )
    kept = weight >= 1e-3
    for c, label in enumerate(labels):
        at = center[label, :-1] if len(center) else np.zeros(d)
        slope = gradient(X[kept], Y[label, kept], weight[kept], found[c], at, 2.0)
        np.testing.assert_allclose(slope, 0.0, atol=1e-4 if dtype == np.float64 else 2e-2)


def test_components_start_where_they_are_told():
    """No step is allowed, so that the start comes back."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 3)) + 2.0, rng.integers(2, size=(4, 50)).astype(np.float32)
    weight, labels, known = rng.random(50), np.array([0, 1, 3]), np.array([1, 2])
    before, given = rng.normal(size=(2, 4)), limits(1.0, 0)
    data = X, Y, weight, labels, 1e-300
    prior, start = Prior(1.0, 0.0, np.zeros((0, 4))), Known(known, before)
    found = logistic_fit.fit_component(*data, prior, start, given)
    np.testing.assert_allclose(found[1], before[0])
    rate = (Y[[0, 3]] @ weight + 0.5) / (weight.sum() + 1.0)
    np.testing.assert_allclose(found[[0, 2], :-1], 0.0)
    np.testing.assert_allclose(found[[0, 2], -1], np.log(rate / (1.0 - rate)))
    center = rng.normal(size=(4, 4))
    prior = prior._replace(center=center)
    found = logistic_fit.fit_component(*data, prior, start, given)
    np.testing.assert_allclose(found, [center[0], before[0], center[3]])


def test_a_component_of_one_row_and_a_constant_feature():
    X, Y = np.ones((3, 2)), np.array([[1, 0, 1]], dtype=np.float32)
    prior, new = Prior(1.0, 0.0, np.zeros((0, 3))), Known(np.zeros(0, np.int64), np.zeros((0, 3)))
    for weight in ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]):
        found = logistic_fit.fit_component(
            X, Y, np.array(weight), np.zeros(1, np.int64), 1e-300, prior, new, limits(1.0, 50)
        )
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found[0, :-1], 0.0, atol=1e-12)
