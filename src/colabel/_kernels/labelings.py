"""Sums over labelings in which few labels are on: each label that is on is visited, no other."""

from colabel._kernels import bare_kernel, plain_kernel

__all__ = ["label_sums"]


@plain_kernel
def label_sums(rows, Z, weight, queue, first, second):
    """Add ``X' diag(weight) Z`` to ``first`` (d, V) and ``Z' diag(weight) Z`` to ``second`` (V, V).

    ``rows`` is ``X`` as SparseRows, ``Z`` (n, V) in {0, 1}; ``queue`` (V,) int64 is working
    space. O(n V + sum over samples of on (entries + on)), where ``on`` counts the labels that are
    on.
    """
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    for n in range(Z.shape[0]):
        n_on = _list_on(Z[n], queue)
        for a in range(n_on):
            i = queue[a]
            for e in range(indptr[n], indptr[n + 1]):
                first[indices[e], i] += weight[n] * data[e]
            for b in range(n_on):
                second[i, queue[b]] += weight[n]


@bare_kernel
def _list_on(z, queue):
    """List the labels that are not 0; return their number. No branch depends on a label."""
    n_on = 0
    for i in range(z.size):
        queue[n_on] = i
        n_on += z[i] != 0
    return n_on
