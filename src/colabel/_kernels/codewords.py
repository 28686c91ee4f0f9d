"""Margins between a row's own labels and those of its neighbours, without any label that is off.

A label set is a row of a CSR matrix of ones: ``indices[indptr[i]:indptr[i + 1]]``. The codeword of
row ``i`` is ``z_i = scale_i (P'x_i + b) + own_i y_i``, and

    margins[i, j] = |z_i - y_b|_Q^2 - |z_i - y_i|_Q^2
                  = 2 z_i'Q (y_i - y_b) + y_b'Q y_b - y_i'Q y_i,   b = near[i, j],

the left-hand side of the constraints of Eq. (4), Liu and Tsang 2015: ``z_i'Q z_i`` cancels.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel

__all__ = ["dense_margins", "dense_slopes", "sparse_margins", "sparse_slopes"]


@kernel
def dense_margins(A, first, scale, own, Q, near, indptr, indices, margins, square):
    """Write ``2 z_i'Q (y_i - y_b)`` and ``y_i'Q y_i`` of some rows.

    Parameters
    ----------
    A : float64 array of shape (n_rows, q)
        ``(P'x_i + b)'Q`` of rows ``first``, ``first + 1``, ...; is overwritten.
    first : int
    scale, own : float64 arrays of shape (n,)
    Q : float64 array of shape (q, q), symmetric
    near : int64 array of shape (n, k)
    indptr, indices : int64 arrays
        Label sets of all rows.
    margins : float64 array of shape (n, k)
    square : float64 array of shape (n,)
        Of these two, rows from ``first`` on are written.

    Notes
    -----
    O(labels on times q) a row, or labels on squared where ``own`` is 0, and O(labels on) a margin.
    """
    sums = np.empty(len(Q))
    for r in range(len(A)):
        i = first + r
        for m in range(len(sums)):
            A[r, m] *= scale[i]
        square[i] = _add_own(A[r], own[i], Q, indptr, indices, i, sums)
        _compare(A[r], i, near, indptr, indices, margins)


@kernel
def sparse_margins(
    starts, columns, values, B, b, scale, own, Q, near, indptr, indices, margins, square
):
    """Write what ``dense_margins`` does, of all rows of sparse features.

    Parameters
    ----------
    starts, columns, values : int64, int64 and float64 arrays
        Rows ``x_i`` of a CSR matrix.
    B : float64 array of shape (d, q)
        ``P Q``.
    b : float64 array of shape (q,)
        ``b'Q``.

    Notes
    -----
    O(features on times q) more a row than ``dense_margins``; a row is worked on while it is cached.
    """
    sums, row = np.empty(len(Q)), np.empty(len(Q))
    for i in range(len(near)):
        for m in range(len(row)):
            row[m] = scale[i] * b[m]
        for s in range(starts[i], starts[i + 1]):
            _add_multiple(row, scale[i] * values[s], B[columns[s]])
        square[i] = _add_own(row, own[i], Q, indptr, indices, i, sums)
        _compare(row, i, near, indptr, indices, margins)


@kernel
def dense_slopes(first, scale, own, weight, surplus, near, indptr, indices, D, H):
    """Write what the gradient needs of some rows, but for the product with their features.

    With ``d_i = sum_j weight_ij (y_b - y_i)``, ``b = near[i, j]``, adds to ``H`` the sum over rows
    of ``own_i y_i d_i' + surplus_i / 2 y_i y_i'``.

    Parameters
    ----------
    first : int
    scale, own : float64 arrays of shape (n,)
    weight : float64 array of shape (n, k)
    surplus : float64 array of shape (n,)
        By how much the weights of a row's own constraints exceed those of constraints that have it
        as the neighbour.
    near : int64 array of shape (n, k)
    indptr, indices : int64 arrays
        Label sets.
    D : float64 array of shape (n_rows, q)
        ``scale_i d_i`` of rows ``first``, ``first + 1``, ... is written.
    H : float64 array of shape (q, q)

    Notes
    -----
    O(labels on squared) a row, and what filling ``D`` with zeros takes.
    """
    q = D.shape[1]
    d, seen, on = np.zeros(q), np.zeros(q, np.bool_), np.empty(q, np.int64)
    for r in range(len(D)):
        i = first + r
        count = _difference(i, weight, near, indptr, indices, d, seen, on)
        _add_labels(i, own[i], surplus[i], indptr, indices, d, on[:count], H)
        D[r] = 0.0
        for s in range(count):
            D[r, on[s]] = scale[i] * d[on[s]]
        _clear(d, seen, on[:count])


@kernel
def sparse_slopes(
    starts, columns, values, scale, own, weight, surplus, near, indptr, indices, XD, total, H
):
    """Write what ``dense_slopes`` does, of all rows, and their product with sparse features.

    Parameters
    ----------
    starts, columns, values : int64, int64 and float64 arrays
        Rows ``x_i`` of a CSR matrix.
    XD : float64 array of shape (d, q)
        The sum of ``x_i (scale_i d_i)'`` is added.
    total : float64 array of shape (q,)
        The sum of ``scale_i d_i`` is added.

    Notes
    -----
    O(features on times labels on) more a row than ``dense_slopes``, and no ``D``.
    """
    q = len(H)
    d, seen, on = np.zeros(q), np.zeros(q, np.bool_), np.empty(q, np.int64)
    for i in range(len(near)):
        count = _difference(i, weight, near, indptr, indices, d, seen, on)
        _add_labels(i, own[i], surplus[i], indptr, indices, d, on[:count], H)
        for s in range(count):
            total[on[s]] += scale[i] * d[on[s]]
        for t in range(starts[i], starts[i + 1]):
            x = scale[i] * values[t]
            for s in range(count):
                XD[columns[t], on[s]] += x * d[on[s]]
        _clear(d, seen, on[:count])


@bare_kernel
def _add_multiple(row, by, other):
    for m in range(len(row)):
        row[m] += by * other[m]


@bare_kernel
def _add_own(row, own, Q, indptr, indices, i, sums):
    """Add ``own Q y_i`` to a row; return ``y_i'Q y_i``."""
    square = 0.0
    if own == 0.0:
        for s in range(indptr[i], indptr[i + 1]):
            for t in range(indptr[i], indptr[i + 1]):
                square += Q[indices[s], indices[t]]
        return square
    sums[:] = 0.0
    for s in range(indptr[i], indptr[i + 1]):
        _add_multiple(sums, 1.0, Q[indices[s]])
    for s in range(indptr[i], indptr[i + 1]):
        square += sums[indices[s]]
    _add_multiple(row, own, sums)
    return square


@bare_kernel
def _compare(row, i, near, indptr, indices, margins):
    """Write twice the sum of a row's entries at its own labels less that at its neighbours'."""
    here = 0.0
    for s in range(indptr[i], indptr[i + 1]):
        here += row[indices[s]]
    for j in range(near.shape[1]):
        b = near[i, j]
        there = 0.0
        for s in range(indptr[b], indptr[b + 1]):
            there += row[indices[s]]
        margins[i, j] = 2.0 * (here - there)


@bare_kernel
def _difference(i, weight, near, indptr, indices, d, seen, on):
    """Write ``sum_j weight_ij (y_b - y_i)`` into zeros; list where it may differ from 0."""
    count, sent = 0, 0.0
    for j in range(near.shape[1]):
        if weight[i, j] == 0.0:
            continue
        sent += weight[i, j]
        b = near[i, j]
        for s in range(indptr[b], indptr[b + 1]):
            d[indices[s]] += weight[i, j]
            if not seen[indices[s]]:
                seen[indices[s]] = True
                on[count] = indices[s]
                count += 1
    if sent > 0.0:
        for s in range(indptr[i], indptr[i + 1]):
            d[indices[s]] -= sent
            if not seen[indices[s]]:
                seen[indices[s]] = True
                on[count] = indices[s]
                count += 1
    return count


@bare_kernel
def _add_labels(i, own, surplus, indptr, indices, d, on, H):
    """Add ``own y_i d' + surplus / 2 y_i y_i'``."""
    for s in range(indptr[i], indptr[i + 1]):
        row = H[indices[s]]
        if own != 0.0:
            for m in on:
                row[m] += own * d[m]
        if surplus != 0.0:
            for t in range(indptr[i], indptr[i + 1]):
                row[indices[t]] += 0.5 * surplus


@bare_kernel
def _clear(d, seen, on):
    for m in on:
        d[m], seen[m] = 0.0, False
