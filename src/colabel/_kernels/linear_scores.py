"""Scores of labels by a linear model, for samples in CSR form.

``rows = (indptr, indices, data, ...)``; ``W`` (d + 1, V), of which the last row is that of the
constant feature.
"""

from colabel._kernels import inner_kernel, kernel

__all__ = ["score_row", "score_rows"]


@kernel
def score_rows(rows, W, constant, order, out):
    """Write the unary scores of the samples ``order`` into ``out`` (m, V). O(V) an entry of X."""
    for r in range(order.size):
        score_row(rows, W, constant, order[r], out[r])


@inner_kernel
def score_row(rows, W, constant, n, scores):
    """Write the unary scores of sample ``n``."""
    for v in range(scores.size):
        scores[v] = constant * W[W.shape[0] - 1, v]
    e, end = rows[0][n], rows[0][n + 1]
    # Four entries between reading a score and writing it, added in the same order.
    while e + 3 < end:
        x, y, z, t = rows[2][e], rows[2][e + 1], rows[2][e + 2], rows[2][e + 3]
        a, b = W[rows[1][e]], W[rows[1][e + 1]]
        c, d = W[rows[1][e + 2]], W[rows[1][e + 3]]
        for v in range(scores.size):
            scores[v] = scores[v] + x * a[v] + y * b[v] + z * c[v] + t * d[v]
        e += 4
    while e < end:
        x, a = rows[2][e], W[rows[1][e]]
        for v in range(scores.size):
            scores[v] += x * a[v]
        e += 1
