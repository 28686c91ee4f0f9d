"""Candidates hold all of the nearest, and distances are those of differences."""

import numpy as np
import pytest

import oracles_neighbors as oracle
from colabel._kernels.nearest import _kth_bound, _square_of_difference, pair_squares, within_reach


def problem(seed):
    """Points on a coarse grid, so that many coincide or are equally far."""
    rng = np.random.default_rng(seed)
    d, n_points = rng.integers(1, 4), rng.integers(2, 12)
    points = rng.integers(-2, 3, (n_points, d)).astype(float)
    queries = rng.integers(-2, 3, (rng.integers(1, 6), d)).astype(float)
    return queries, points, int(rng.integers(1, n_points))


def candidates(queries, points, k, own):
    norms = np.einsum("nd,nd->n", queries, queries), np.einsum("nd,nd->n", points, points)
    count, columns = within_reach(queries @ points.T, *norms, k, 1e-14, own)
    return np.split(columns, np.cumsum(count)[:-1])


@pytest.mark.parametrize("leave_out", [False, True])
def test_no_point_among_the_nearest_is_missing(leave_out):
    for seed in range(150):
        queries, points, k = problem(seed)
        queries = points if leave_out else queries
        lists = candidates(queries, points, k, 0 if leave_out else -len(queries))
        expected, distance = oracle.nearest(queries, points, k, leave_out)
        for i, found in enumerate(lists):
            assert set(expected[i]) <= set(found)
            assert list(found) == sorted(set(found))
            assert not (leave_out and i in found)
            # On a grid nothing is rounded: what is listed is as near as the last one.
            far = np.linalg.norm(queries[i] - points[found], axis=1).max()
            assert far == pytest.approx(distance[i, -1])


def test_a_block_of_queries_starts_at_its_own_row():
    points = np.array([[0.0], [1.0], [2.0]])
    assert [list(c) for c in candidates(points[1:], points, 1, 1)] == [[0, 2], [1]]


def test_squares_come_from_differences():
    rng = np.random.default_rng(0)
    queries, points = rng.normal(size=(4, 5)) + 1e8, rng.normal(size=(3, 5)) + 1e8
    rows, columns = np.divmod(np.arange(12), 3)
    squares = pair_squares(queries, points, rows, columns)
    expected = ((queries[rows] - points[columns]) ** 2).sum(axis=1)
    np.testing.assert_allclose(squares, expected, rtol=1e-12)
    assert (pair_squares(points, points, rows[:3], rows[:3]) == 0).all()
    one = getattr(_square_of_difference, "py_func", _square_of_difference)
    assert one(np.array([1.0, 2.0]), np.array([4.0, 6.0])) == 25.0


def test_the_bound_is_the_kth_smallest():
    bound = getattr(_kth_bound, "py_func", _kth_bound)
    dots, norms = np.zeros(4), np.array([4.0, 1.0, 3.0, 2.0])
    assert bound(dots, 0.0, norms, 0.0, -1, np.empty(2)) == 2.0
    assert bound(dots, 0.0, norms, 0.0, 1, np.empty(2)) == 3.0
