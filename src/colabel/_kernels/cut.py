"""The best labeling of attracting labels: one row of unary scores, couplings shared by all rows.

Maximise ``sum_i u_i y_i + sum_{i<j} c_ij y_i y_j`` over ``y in {0, 1}^V`` with ``c >= 0``. Twice
the objective is ``sum_i a_i y_i - sum_{i<j} c_ij |y_i - y_j|`` with ``a_i = 2 u_i + sum_j c_ij``: a
minimum cut between a source joined to every label with ``a_i > 0`` and a sink joined to the others.

Couplings are integers: each connected part of the label graph is scaled by a power of two that
leaves sixty bits for its sum, so that flows are exact, the order of additions does not matter and
dyadic inputs keep their ties. Of the best labelings every path returns the smallest, which is
contained in all others.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel, plain_kernel
from colabel._kernels.cut_dense import cut_dense, dense_work
from colabel._kernels.cut_shares import prepare_shares
from colabel._kernels.cut_sparse import cut_sparse, sparse_work

__all__ = [
    "DENSE",
    "DenseGraph",
    "Graph",
    "SparseGraph",
    "best_rows",
    "cut_workspace",
    "row_value",
]


class SparseGraph(NamedTuple):
    """Symmetric couplings in CSR form, with the place of each reverse arc, for the sparse path.

    ``caps`` are the couplings as integers, ``sums`` those of each label, ``scale`` what each label
    was scaled by, and ``weights`` the couplings as they were.
    """

    indptr: NDArray[np.int64]
    heads: NDArray[np.int64]
    mates: NDArray[np.int64]
    caps: NDArray[np.int64]
    sums: NDArray[np.int64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]


class DenseGraph(NamedTuple):
    """The same for the dense path, with ``caps`` as a (V, V) matrix besides."""

    indptr: NDArray[np.int64]
    heads: NDArray[np.int64]
    mates: NDArray[np.int64]
    caps: NDArray[np.int64]
    sums: NDArray[np.int64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    matrix: NDArray[np.int64]


Graph = SparseGraph | DenseGraph
# The number of fields tells the two apart: Numba knows it, and compiles only the path taken.
# Kernels ask for themselves: a function that did it would take a tenth longer to compile.
DENSE = len(DenseGraph._fields)


@plain_kernel
def best_rows(unary, graph, work, labels):
    """Write the smallest maximiser of each row of ``unary`` (n, V) into ``labels`` (n, V) int8.

    ``work`` comes from `cut_workspace`. Exact. Labels settled by themselves cost O(degree); the
    rest is a maximum flow, O(V^3) on the dense path and O(V^2 E) on the sparse one at worst, near
    linear in practice.
    """
    for i in range(unary.shape[0]):
        if len(graph) == DENSE:
            cut_dense(unary[i], graph, work, labels[i])
        else:
            cut_sparse(unary[i], graph, work, labels[i])


@bare_kernel
def row_value(unary, graph, labels):
    """Return ``sum_i u_i y_i + sum_{i<j} c_ij y_i y_j``. O(arcs of the labels that are on)."""
    indptr, heads, weights = graph.indptr, graph.heads, graph.weights
    total = 0.0
    for i in range(labels.size):
        if labels[i] > 0:
            total += unary[i]
            for e in range(indptr[i], indptr[i + 1]):
                if heads[e] > i and labels[heads[e]] > 0:
                    total += weights[e]
    return total


def cut_workspace(graph, typical=None):
    """Allocate what one thread needs; shares that suit a ``typical`` row of unaries (V,).

    Plain Python: Numba takes half a second to compile an allocation.
    """
    if len(graph) != DENSE:
        return sparse_work(graph)
    work = dense_work(graph)
    prepare_shares(np.zeros(graph.sums.size) if typical is None else typical, work.shares)
    return work
