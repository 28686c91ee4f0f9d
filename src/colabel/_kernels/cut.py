"""The best labeling of attracting labels: one row of unary scores, couplings shared by all rows.

Maximise ``sum_i u_i y_i + sum_{i<j} c_ij y_i y_j`` over ``y in {0, 1}^V`` with ``c >= 0``. Twice
the objective is ``sum_i a_i y_i - sum_{i<j} c_ij |y_i - y_j|`` with ``a_i = 2 u_i + sum_j c_ij``: a
minimum cut between a source joined to every label with ``a_i > 0`` and a sink joined to the others.

Couplings are integers: each connected part of the label graph is scaled by a power of two that
leaves sixty bits for its sum, so that flows are exact, the order of additions does not matter and
dyadic inputs keep their ties. Of the best labelings every path returns the smallest, which is
contained in all others.

``graph`` is a tuple ``(indptr, heads, mates, caps, sums, scale, weights)``: the symmetric couplings
in CSR form with the position of each reverse arc, their integers, row sums, the scale of each
label, and the couplings as they were. An eighth member, the integers as a (V, V) matrix, asks for
the dense path; Numba prunes the other one, so that only what is used is compiled.
"""

import numpy as np

from colabel._kernels import kernel
from colabel._kernels.cut_dense import cut_dense
from colabel._kernels.cut_shares import empty_shares, prepare_shares
from colabel._kernels.cut_sparse import cut_sparse

__all__ = ["best_rows", "cut_workspace"]


@kernel
def best_rows(unary, graph, work, labels):
    """Write the smallest maximiser of each row of ``unary`` (n, V) into ``labels`` (n, V) int8.

    ``work`` comes from `cut_workspace`. Exact. Labels settled by themselves cost O(degree); the
    rest is a maximum flow, O(V^3) on the dense path and O(V^2 E) on the sparse one at worst, near
    linear in practice.
    """
    for i in range(unary.shape[0]):
        if len(graph) == 8:
            cut_dense(unary[i], graph, work, labels[i])
        else:
            cut_sparse(unary[i], graph, work, labels[i])


def cut_workspace(graph, typical=None):
    """Allocate what one thread needs: vectors of labels (14, V + 2), and arcs.

    These are the residuals of a full matrix, or heads, residuals, mates and places of sparse arcs.
    A matrix has shares besides, which suit a ``typical`` row of unaries (V,). Plain Python: Numba
    takes half a second to compile an allocation.
    """
    V, size = graph[0].size - 1, graph[1].size
    vectors = np.empty((14, V + 2), np.int64)
    if len(graph) == 8:
        shares = empty_shares(graph)
        prepare_shares(np.zeros(V) if typical is None else typical, shares)
        return vectors, (np.empty(V * V, np.int64),), shares
    return vectors, tuple(np.empty(size, np.int64) for _ in range(4))
