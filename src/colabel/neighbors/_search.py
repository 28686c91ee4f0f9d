"""Exact nearest neighbours by blocked matrix products, and any index of scikit-learn's kind.

Neighbours are ordered by Euclidean distance, those at the same distance by index. Distances are
computed from differences, so that equal rows are at distance 0 and equally near points tie. What a
row is near to does not depend on the rows it is asked with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from colabel.numerics.magnitude import squared_norms

__all__ = ["Neighbors", "fit_index", "nearest"]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# What scalar products of a block of queries, or differences of a block of pairs, take.
BLOCK_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest points of each query, nearest first.

    Parameters
    ----------
    index : ndarray of shape (n_queries, k), int
    distance : ndarray of shape (n_queries, k)
        Euclidean.
    """

    index: Index
    distance: Floats

    @property
    def k(self) -> int:
        """Number of neighbours."""
        return int(self.index.shape[1])

    def first(self, k: int) -> Neighbors:
        """Return the ``k`` nearest, or all there are."""
        return Neighbors(self.index[:, :k], self.distance[:, :k])

    def take(self, rows: Any) -> Neighbors:
        """Return those of some queries."""
        return Neighbors(self.index[rows], self.distance[rows])


def nearest(
    queries: Any, points: Any, k: int, *, index: Any = None, leave_own_out: bool = False
) -> Neighbors:
    """Find the nearest points of each query.

    Parameters
    ----------
    queries, points : arrays or CSR arrays of shape (n_queries, d) and (n_points, d)
    k : int
        Fewer are returned where there are no more.
    index : transformer or None
        Fitted to ``points`` by ``fit_index``; None is exact search.
    leave_own_out : bool, default=False
        Query ``i`` is point ``i``, and no neighbour of itself. Another point equal to it may be.

    Notes
    -----
    ``2 n_queries n_points d`` flops in one matrix product a block of queries, less where both are
    sparse; ``BLOCK_BYTES`` of memory. Exact.

    Examples
    --------
    >>> points = np.array([[0.0], [3.0], [1.0], [3.0]])
    >>> found = nearest(np.array([[2.0]]), points, 3)
    >>> found.index.tolist(), found.distance.tolist()
    ([[1, 2, 3]], [[1.0, 1.0, 1.0]])
    >>> nearest(points, points, 1, leave_own_out=True).index.ravel().tolist()
    [2, 3, 0, 1]
    """
    n_queries, n_points = queries.shape[0], points.shape[0]
    k = min(k, n_points - leave_own_out)
    if k == 0 or n_queries == 0:
        return Neighbors(np.empty((n_queries, k), np.int64), np.empty((n_queries, k)))
    queries = _in_form_of(points, queries)
    if index is not None:
        return _ask_index(index, queries, k, leave_own_out)
    squares = squared_norms(points)
    step = max(16, BLOCK_BYTES // (8 * n_points))
    parts = [
        _nearest_block(queries[i : i + step], points, squares, k, i if leave_own_out else None)
        for i in range(0, n_queries, step)
    ]
    return Neighbors(
        np.concatenate([part.index for part in parts]),
        np.concatenate([part.distance for part in parts]),
    )


def fit_index(index: Any, points: Any) -> Any:
    """Fit a clone of a ``KNeighborsTransformer``, or anything of its kind, to points."""
    return None if index is None else clone(index).fit(points)


def _nearest_block(
    queries: Any, points: Any, square_p: Floats, k: int, own: int | None
) -> Neighbors:
    from colabel._kernels.nearest import within_reach

    dots = queries @ points.T
    dots = dots.toarray() if sparse.issparse(dots) else dots
    # Each of the three sums of d products is off by at most d roundings; twice that to be sure.
    slack = 2.0 * (points.shape[1] + 8) * np.finfo(float).eps
    own = -len(dots) if own is None else own
    count, columns = within_reach(
        np.ascontiguousarray(dots), squared_norms(queries), square_p, k, slack, own
    )
    rows = np.repeat(np.arange(len(dots)), count)
    squares = _squared_distances(queries, points, rows, columns)
    order = np.lexsort((columns, squares, rows))
    first = np.cumsum(count) - count
    chosen = order[first[:, None] + np.arange(k)]
    return Neighbors(columns[chosen], np.sqrt(squares[chosen]))


def _squared_distances(queries: Any, points: Any, rows: Index, columns: Index) -> Floats:
    """Distances from differences, pair by pair."""
    from colabel._kernels.nearest import pair_squares

    if not sparse.issparse(points):
        return pair_squares(queries, points, rows, columns)
    entries = max(1, (queries.nnz + points.nnz) // (queries.shape[0] + points.shape[0]))
    parts = [
        squared_norms(queries[rows[part]] - points[columns[part]])
        for part in _blocks(len(rows), 32 * entries)
    ]
    return np.concatenate(parts)


def _blocks(n: int, bytes_each: int) -> Iterator[slice]:
    step = max(1, BLOCK_BYTES // bytes_each)
    yield from (slice(i, i + step) for i in range(0, n, step))


def _in_form_of(points: Any, queries: Any) -> Any:
    """Return queries sparse where the points are, dense where they are not."""
    if sparse.issparse(points):
        return sparse.csr_array(queries)
    return np.ascontiguousarray(queries.toarray() if sparse.issparse(queries) else queries)


def _ask_index(index: Any, queries: Any, k: int, leave_own_out: bool) -> Neighbors:
    """Read neighbours off the graph of distances that a transformer gives."""
    graph = sparse.csr_array(index.transform(queries))
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    columns, distance = graph.indices.astype(np.int64), graph.data.astype(np.float64)
    if leave_own_out:
        kept = rows != columns
        rows, columns, distance = rows[kept], columns[kept], distance[kept]
    count = np.bincount(rows, minlength=graph.shape[0])
    if count.min() < k:
        raise ValueError(
            f"index finds {count.min()} neighbours of a row where {k} are needed; raise its "
            "n_neighbors, by one more than that for the row itself in training"
        )
    order = np.lexsort((columns, distance, rows))
    chosen = order[(np.cumsum(count) - count)[:, None] + np.arange(k)]
    return Neighbors(columns[chosen], distance[chosen])
