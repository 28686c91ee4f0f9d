"""Programs over boxes are solved to the gap that they prove."""

import numpy as np

from colabel._kernels.box_qp import box_rows
from embedding.oracles_embedding import box_maximum


def solve(linear, Q, tol=1e-9, max_sweeps=5000, start=0.5):
    points = np.full(linear.shape, start)
    slopes = linear - 2.0 * points @ Q
    gaps = np.empty(len(linear))
    box_rows(Q, points, slopes, tol, max_sweeps, gaps)
    np.testing.assert_allclose(slopes, linear - 2.0 * points @ Q, atol=1e-9)
    return points, gaps


def value(points, linear, Q):
    return np.einsum("il,il->i", points, linear) - np.einsum("il,lm,im->i", points, Q, points)


def problem(seed):
    rng = np.random.default_rng(seed)
    q, rank = 1 + seed % 6, seed % 4
    factor = rng.normal(size=(q, rank))
    if seed % 3 == 0:
        factor[rng.integers(q)] = 0.0
    return 2.0 * rng.normal(size=(3, q)), factor @ factor.T + (seed % 2) * np.eye(q)


def test_maximum_is_that_of_a_general_solver():
    for seed in range(100):
        linear, Q = problem(seed)
        points, gaps = solve(linear, Q)
        assert np.all((points >= 0.0) & (points <= 1.0))
        assert np.all(gaps <= 1e-9)
        expected = [box_maximum(row, Q) for row in linear]
        np.testing.assert_allclose(value(points, linear, Q), expected, atol=1e-6)


def test_gap_bounds_what_is_left_after_any_number_of_sweeps():
    for seed in range(60):
        linear, Q = problem(seed)
        points, gaps = solve(linear, Q, max_sweeps=seed % 3)
        best = value(solve(linear, Q)[0], linear, Q)
        found = value(points, linear, Q)
        assert np.all(found <= best + 1e-8)
        assert np.all(found + gaps >= best - 1e-8)


def test_sweeps_never_lower_the_value():
    for seed in range(40):
        linear, Q = problem(seed)
        values = [value(solve(linear, Q, max_sweeps=k)[0], linear, Q) for k in range(6)]
        assert np.diff(values, axis=0).min() >= -1e-12


def test_without_a_matrix_labels_go_where_their_slope_says():
    points, gaps = solve(np.array([[1.0, -2.0, 0.0]]), np.zeros((3, 3)))
    np.testing.assert_array_equal(points, [[1.0, 0.0, 0.5]])
    assert gaps[0] == 0.0
