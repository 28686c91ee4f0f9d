"""Scores of labels by a linear model, for samples in CSR form.

``W`` is (d + 1, V), the last row being that of the constant feature.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel

__all__ = ["SparseRows", "score_row", "write_row"]


class SparseRows(NamedTuple):
    """Samples in CSR form."""

    indptr: NDArray[np.int32] | NDArray[np.int64]
    indices: NDArray[np.int32] | NDArray[np.int64]
    data: NDArray[np.float64] | NDArray[np.float32]


@bare_kernel
def score_row(rows, W, constant, n, scores):
    """Write the unary scores of sample ``n``, (V,). O(V) per entry of the row."""
    indices, data = rows.indices, rows.data
    for v in range(scores.size):
        scores[v] = constant * W[W.shape[0] - 1, v]
    e, end = rows.indptr[n], rows.indptr[n + 1]
    # Four entries between reading a score and writing it, added in the same order.
    while e + 3 < end:
        x, y, z, t = data[e], data[e + 1], data[e + 2], data[e + 3]
        a, b, c, d = W[indices[e]], W[indices[e + 1]], W[indices[e + 2]], W[indices[e + 3]]
        for v in range(scores.size):
            scores[v] = scores[v] + x * a[v] + y * b[v] + z * c[v] + t * d[v]
        e += 4
    while e < end:
        x, a = data[e], W[indices[e]]
        for v in range(scores.size):
            scores[v] += x * a[v]
        e += 1


@bare_kernel
def write_row(rows, W, constant, n, change):
    """Add ``x_n change'`` to ``W``."""
    for v in range(change.size):
        W[W.shape[0] - 1, v] += constant * change[v]
    for e in range(rows.indptr[n], rows.indptr[n + 1]):
        x, d = rows.data[e], rows.indices[e]
        for v in range(change.size):
            W[d, v] += x * change[v]
