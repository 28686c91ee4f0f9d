"""Quadratic forms of label sets, without any label that is off.

A label set is a row of a CSR matrix of ones: ``indices[indptr[i]:indptr[i + 1]]``.
"""

import numpy as np

from colabel._kernels import kernel

__all__ = ["label_quadratics", "neighbor_margins"]


@kernel
def label_quadratics(Q, indptr, indices):
    """Return ``y_i' Q y_i`` of each label set: float64 (n,). O(labels on squared) each.

    Parameters
    ----------
    Q : float64 array of shape (q, q)
    indptr, indices : int64 arrays
        Label sets.
    """
    out = np.zeros(len(indptr) - 1)
    for i in range(len(out)):
        for s in range(indptr[i], indptr[i + 1]):
            for t in range(indptr[i], indptr[i + 1]):
                out[i] += Q[indices[s], indices[t]]
    return out


@kernel
def neighbor_margins(A, first, near, indptr, indices, square, margins):
    """Write how much nearer an embedded row is to its own labels than to its neighbours'.

    ``margins[i, j] = |z_i - y_b|_Q^2 - |z_i - y_i|_Q^2 = -2 z_i'Q (y_b - y_i) + y_b'Q y_b -
    y_i'Q y_i`` with ``b = near[i, j]``: the left-hand side of the constraints of Eq. (4), Liu and
    Tsang 2015, in which ``z_i'Q z_i`` cancels. O(labels on) each.

    Parameters
    ----------
    A : float64 array of shape (n_rows, q)
        ``z_i'Q`` of rows ``first``, ``first + 1``, ...
    first : int
    near : int64 array of shape (n, k)
    indptr, indices : int64 arrays
        Label sets of all rows.
    square : float64 array of shape (n,)
        ``y_i'Q y_i``.
    margins : float64 array of shape (n, k)
        Rows from ``first`` on are written.
    """
    for r in range(A.shape[0]):
        i = first + r
        own = 0.0
        for s in range(indptr[i], indptr[i + 1]):
            own += A[r, indices[s]]
        for j in range(near.shape[1]):
            b = near[i, j]
            other = 0.0
            for s in range(indptr[b], indptr[b + 1]):
                other += A[r, indices[s]]
            margins[i, j] = 2.0 * (own - other) + square[b] - square[i]
