"""Nearest points, from scalar products to exact distances.

``|q - p|^2 = |q|^2 + |p|^2 - 2 q'p`` is quick, as a matrix product, and inexact where ``q`` and
``p`` are close together. So the product only says which points *may* be among the nearest, and
their distances are then computed from differences, in which equal points tie to the last bit.
"""

import numpy as np

from colabel._kernels import any_order, bare_kernel, kernel

__all__ = ["pair_squares", "within_reach"]


@kernel
def within_reach(dots, square_q, square_p, k, slack, own):
    """List the points that may be among the ``k`` nearest of each query.

    Parameters
    ----------
    dots : float64 array of shape (n_queries, n_points)
        Scalar products.
    square_q, square_p : float64 arrays of shape (n_queries,) and (n_points,)
        Squared norms.
    k : int
        From 1 to the number of points that are left.
    slack : float
        ``slack * (|q|^2 + |p|^2)`` bounds the rounding error of a squared distance.
    own : int
        Query ``i`` is point ``own + i``, which is left out; where no point is to be, -n_queries.

    Returns
    -------
    count : int64 array of shape (n_queries,)
        At least ``k`` each.
    columns : int64 array
        Points of the first query in order, then those of the second, and so on.

    Notes
    -----
    Exact: no point among the nearest is missing. O(n_points) a query where few are near.
    """
    n_queries, n_points = dots.shape
    limit = np.empty(n_queries)
    count = np.zeros(n_queries, np.int64)
    best = np.empty(k)
    for i in range(n_queries):
        limit[i] = _kth_bound(dots[i], square_q[i], square_p, slack, own + i, best)
        for j in range(n_points):
            low = (1.0 - slack) * (square_q[i] + square_p[j]) - 2.0 * dots[i, j]
            count[i] += low <= limit[i] and j != own + i
    columns = np.empty(count.sum(), np.int64)
    place = 0
    for i in range(n_queries):
        for j in range(n_points):
            low = (1.0 - slack) * (square_q[i] + square_p[j]) - 2.0 * dots[i, j]
            if low <= limit[i] and j != own + i:
                columns[place] = j
                place += 1
    return count, columns


@bare_kernel
def _kth_bound(dots, square, square_p, slack, own, best):
    """Return the ``len(best)``-th smallest upper bound of a squared distance."""
    k = len(best)
    for s in range(k):
        best[s] = np.inf
    for j in range(len(dots)):
        high = (1.0 + slack) * (square + square_p[j]) - 2.0 * dots[j]
        if high < best[k - 1] and j != own:
            s = k - 1
            while s > 0 and best[s - 1] > high:
                best[s] = best[s - 1]
                s -= 1
            best[s] = high
    return best[k - 1]


@kernel
def pair_squares(queries, points, rows, columns):
    """Return ``|queries[rows[s]] - points[columns[s]]|^2`` of each pair ``s``, from differences.

    Parameters
    ----------
    queries, points : float64 arrays of shape (n_queries, d) and (n_points, d)
    rows, columns : int64 arrays of shape (n_pairs,)

    Returns
    -------
    float64 array of shape (n_pairs,)
    """
    squares = np.empty(len(rows))
    for s in range(len(rows)):
        squares[s] = _square_of_difference(queries[rows[s]], points[columns[s]])
    return squares


@any_order
def _square_of_difference(a, b):
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total
