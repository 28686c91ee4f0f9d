"""The best labeling of attracting labels by sparse arcs: persistency, leaves, then Dinic.

Problem and ``graph``: ``colabel._kernels.cut``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel, inlined
from colabel._kernels.cut_start import start
from colabel._kernels.dinic import (
    EXCESS,
    HEAD,
    MATE,
    RESIDUAL,
    SIDE,
    START,
    Flow,
    dinic,
    empty_flow,
)

__all__ = ["SparseWork", "cut_sparse", "sparse_work"]


# Vectors of labels: rows of ``vectors``. WAITING are labels just fixed, DEGREE counts open
# neighbours, LEAVES have one, which stands in STEM once the leaf is taken off; PEELED has the order
# in which they were. FREE are the labels of the flow, PLACE has the place of a label among them.
LOW, HIGH, WAITING, DEGREE, LEAVES, STEM, PEELED, FREE, PLACE = range(9)


class SparseWork(NamedTuple):
    """What one thread needs for cuts of sparse arcs, int64: vectors, and the places of arcs."""

    vectors: NDArray[np.int64]
    position: NDArray[np.int64]
    flow: Flow


def sparse_work(graph):
    """Allocate for the labels and arcs of a graph."""
    V, n_arcs = graph.sums.size, graph.heads.size
    vectors, position = np.empty((9, V), np.int64), np.empty(n_arcs, np.int64)
    return SparseWork(vectors, position, empty_flow(V, n_arcs))


@inlined
def cut_sparse(unary, graph, work, labels):
    """Write the smallest maximiser for one row of unaries into ``labels``.

    A unary of ``inf`` or ``-inf`` forces its label.
    """
    vectors, excess, side = work.vectors, work.flow.nodes[EXCESS], work.flow.nodes[SIDE]
    low, high, free, place = vectors[LOW], vectors[HIGH], vectors[FREE], vectors[PLACE]
    n_peeled = _peel(graph, vectors, labels, _settle_sparse(unary, graph, vectors, labels))
    m = np.int64(0)  # a plain 0 would be compiled for by itself
    for i in range(labels.size):
        if labels[i] == -1:
            free[m], place[i], excess[m] = i, m, low[i] + high[i]
            m += 1
    if m > 0:
        _compact_sparse(graph, labels, work, m)
        dinic(m, work.flow)
    for q in range(m):
        labels[free[q]] = side[q]
    for q in range(n_peeled - 1, -1, -1):
        leaf = vectors[PEELED, q]
        labels[leaf] = labels[vectors[STEM, leaf]]


@bare_kernel
def _settle_sparse(unary, graph, vectors, labels):
    """Fix labels by persistency: ``labels`` becomes 0, 1 or -1 (open), ``low``, ``high`` theirs.

    ``low_i`` is the gain of label ``i`` when only labels known to be on are on, ``high_i`` when
    all that are not known to be off are. ``low > 0`` fixes 1, ``high <= 0`` fixes 0; both hold
    for the smallest maximiser. O(arcs of the labels not fixed at once). Return the number of open
    labels that have one open neighbour.
    """
    indptr, heads, caps = graph.indptr, graph.heads, graph.caps
    low, high, waiting = vectors[LOW], vectors[HIGH], vectors[WAITING]
    degree, leaves = vectors[DEGREE], vectors[LEAVES]
    tail, n_leaves = np.int64(0), np.int64(0)
    if start(unary, graph, low, high, labels) == 0:
        return n_leaves
    for i in range(labels.size):
        if labels[i] == -1:
            degree[i] = 0
            for e in range(indptr[i], indptr[i + 1]):
                state = labels[heads[e]]
                if state == 1:
                    low[i] += caps[e]
                elif state == 0:
                    high[i] -= caps[e]
                else:
                    degree[i] += 1
            if low[i] > 0 or high[i] <= 0:
                waiting[tail] = i
                tail += 1
            elif degree[i] == 1:
                leaves[n_leaves] = i
                n_leaves += 1
    for q in range(tail):
        labels[waiting[q]] = low[waiting[q]] > 0
    return _spread(graph, vectors, labels, tail, n_leaves)


@bare_kernel
def _spread(graph, vectors, labels, tail, n_leaves):
    """Tell open labels of the ``tail`` labels just fixed, and of those that this fixes.

    A label left with one open neighbour joins the ``leaves``; return how many they are.
    """
    indptr, heads, caps = graph.indptr, graph.heads, graph.caps
    low, high, waiting = vectors[LOW], vectors[HIGH], vectors[WAITING]
    degree, leaves = vectors[DEGREE], vectors[LEAVES]
    at = 0
    while at < tail:
        i = waiting[at]
        at += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = heads[e]
            if labels[j] == -1:
                degree[j] -= 1
                if labels[i] == 1:
                    low[j] += caps[e]
                else:
                    high[j] -= caps[e]
                if low[j] > 0 or high[j] <= 0:
                    labels[j] = low[j] > 0
                    waiting[tail] = j
                    tail += 1
                elif degree[j] == 1:
                    leaves[n_leaves] = j
                    n_leaves += 1
    return n_leaves


@bare_kernel
def _peel(graph, vectors, labels, n_leaves):
    """Take off labels with one open neighbour, again and again; return how many.

    Such a leaf, of ``low <= 0 < high``, is on exactly when its neighbour is, and then adds
    ``high``: the neighbour takes that over. Leaves get -2. Forests vanish, of other graphs the
    cycles are left. A leaf whose neighbour was fixed meanwhile has been fixed too. O(arcs of open
    labels).
    """
    indptr, heads = graph.indptr, graph.heads
    low, high, waiting = vectors[LOW], vectors[HIGH], vectors[WAITING]
    degree, leaves = vectors[DEGREE], vectors[LEAVES]
    n_peeled = 0
    while n_leaves > 0:
        n_leaves -= 1
        i = leaves[n_leaves]
        if labels[i] != -1:
            continue
        e = indptr[i]
        while labels[heads[e]] != -1:
            e += 1
        j = heads[e]
        vectors[STEM, i], vectors[PEELED, n_peeled], labels[i] = j, i, -2
        n_peeled += 1
        low[j] += high[i]
        high[j] += low[i]
        degree[j] -= 1
        if low[j] > 0 or high[j] <= 0:
            labels[j] = low[j] > 0
            waiting[0] = j
            n_leaves = _spread(graph, vectors, labels, np.int64(1), n_leaves)
        elif degree[j] == 1:
            leaves[n_leaves] = j
            n_leaves += 1
    return n_peeled


@bare_kernel
def _compact_sparse(graph, labels, work, m):
    """Write the arcs between open labels: starts, heads, mates and residuals."""
    indptr, heads, mates, caps = graph.indptr, graph.heads, graph.mates, graph.caps
    free, place, position = work.vectors[FREE], work.vectors[PLACE], work.position
    start, arcs = work.flow.nodes[START], work.flow.arcs
    head, residual, mate = arcs[HEAD], arcs[RESIDUAL], arcs[MATE]
    p = 0
    for q in range(m):
        start[q] = p
        for e in range(indptr[free[q]], indptr[free[q] + 1]):
            if labels[heads[e]] == -1:
                head[p] = place[heads[e]]
                residual[p] = caps[e]
                mate[p] = e
                position[e] = p
                p += 1
    start[m] = p
    for a in range(p):
        mate[a] = position[mates[mate[a]]]
