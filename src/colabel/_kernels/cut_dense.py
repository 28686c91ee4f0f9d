"""The best labeling of attracting labels by a full matrix: shares, persistency, push-relabel.

Problem and ``graph``: ``colabel._kernels.cut``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel, inlined
from colabel._kernels.cut_shares import Shares, empty_shares, proved
from colabel._kernels.cut_start import start
from colabel._kernels.push_relabel import EXCESS, SIDE, Preflow, empty_preflow, push_relabel

__all__ = ["DenseWork", "cut_dense", "dense_work"]

# So few labels are decided by a flow before they are by shares.
FEW = 24


# Vectors of labels: rows of ``vectors``. What is on, off or open is marked by all bits of a number.
LOW, HIGH, QUEUE, IS_ON, IS_OFF, IS_OPEN, FREE = range(7)


class DenseWork(NamedTuple):
    """What one thread needs for cuts of a full matrix; ``vectors`` by the names above, int64."""

    shares: Shares
    vectors: NDArray[np.int64]
    flow: Preflow


def dense_work(graph):
    """Allocate for the labels of a graph with a matrix."""
    V = graph.sums.size
    return DenseWork(empty_shares(graph), np.empty((7, V), np.int64), empty_preflow(V))


@inlined
def cut_dense(unary, graph, work, labels):
    """Write the smallest maximiser for one row of unaries into ``labels``.

    A unary of ``inf`` or ``-inf`` forces its label.
    """
    if labels.size < FEW or not proved(unary, work.shares, work.vectors[QUEUE], labels):
        _flow(unary, graph, work.vectors, work.flow, labels)


@bare_kernel
def _flow(unary, graph, vectors, flow, labels):
    """Decide by persistency, and by a maximum flow on what that leaves open."""
    low, high, free = vectors[LOW], vectors[HIGH], vectors[FREE]
    excess, side = flow.nodes[EXCESS], flow.nodes[SIDE]
    _settle_dense(unary, graph, vectors, labels)
    m = np.int64(0)  # a plain 0 would be compiled for by itself
    for i in range(labels.size):
        if labels[i] == -1:
            free[m], excess[m] = i, low[i] + high[i]
            m += 1
    if m > 0:
        _compact_dense(graph.matrix, free, m, flow.residual)
        push_relabel(m, flow)
    for q in range(m):
        labels[free[q]] = side[q]


@bare_kernel
def _settle_dense(unary, graph, vectors, labels):
    """Fix labels by persistency: ``labels`` becomes 0, 1 or -1 (open), ``low``, ``high`` theirs.

    ``low`` and ``high`` of labels that are fixed go on changing, so that loops have no branches.
    """
    low, high, queue = vectors[LOW], vectors[HIGH], vectors[QUEUE]
    is_on, is_off, is_open = vectors[IS_ON], vectors[IS_OFF], vectors[IS_OPEN]
    V, tail, head = labels.size, 0, 0
    n_open = start(unary, graph, low, high, labels)
    if n_open == 0 or n_open == V:
        return
    for i in range(V):
        is_on[i] = 0 - (labels[i] == 1)
        is_off[i] = 0 - (labels[i] == 0)
        is_open[i] = labels[i] < 0
    for i in range(V):
        if labels[i] < 0:
            row, up, down = graph.matrix[i], 0, 0
            for j in range(V):
                up += row[j] & is_on[j]
                down += row[j] & is_off[j]
            low[i] += up
            high[i] -= down
            if low[i] > 0 or high[i] <= 0:
                queue[tail] = i
                tail += 1
    for q in range(tail):
        labels[queue[q]] = low[queue[q]] > 0
        is_open[queue[q]] = 0
    while head < tail:
        row, found = graph.matrix[queue[head]], 0
        on = 0 - (labels[queue[head]] == 1)
        head += 1
        for j in range(V):
            low[j] += row[j] & on
            high[j] -= row[j] & ~on
            found |= is_open[j] & ((low[j] > 0) | (high[j] <= 0))
        if found == 0:
            continue
        for j in range(V):
            if is_open[j] & ((low[j] > 0) | (high[j] <= 0)):
                labels[j], is_open[j] = low[j] > 0, 0
                queue[tail] = j
                tail += 1


@bare_kernel
def _compact_dense(matrix, free, m, residual):
    """Write the (m, m) couplings between open labels, row after row."""
    for a in range(m):
        row, target = matrix[free[a]], residual[a * m : (a + 1) * m]
        if m == row.size:
            for b in range(m):
                target[b] = row[b]
        else:
            for b in range(m):
                target[b] = row[free[b]]
