"""The best labeling of attracting labels by a full matrix: shares, persistency, push-relabel.

Problem and ``graph``: ``colabel._kernels.cut``.
"""

import numpy as np

from colabel._kernels import bare_kernel, inlined
from colabel._kernels.cut_shares import proved
from colabel._kernels.cut_start import start
from colabel._kernels.push_relabel import push_relabel

__all__ = ["cut_dense"]

# So few labels are decided by a flow before they are by shares.
FEW = 24


@inlined
def cut_dense(unary, graph, work, labels):
    """Write the smallest maximiser for one row of unaries into ``labels``.

    A unary of ``inf`` or ``-inf`` forces its label.
    """
    if labels.size < FEW or not proved(unary, work[2], work[0][2], labels):
        _flow(unary, graph, work[0], work[1][0], labels)


@bare_kernel
def _flow(unary, graph, vectors, residual, labels):
    """Decide by persistency, and by a maximum flow on what that leaves open."""
    low, high, excess = vectors[0], vectors[1], vectors[4]
    free, side = vectors[2], vectors[5]
    _settle_dense(unary, graph, vectors, labels)
    m = np.int64(0)  # a plain 0 would be compiled for by itself
    for i in range(labels.size):
        if labels[i] == -1:
            free[m], excess[m] = i, low[i] + high[i]
            m += 1
    if m > 0:
        _compact_dense(graph[7], free, m, residual)
        push_relabel(m, excess, residual, vectors, side)
    for q in range(m):
        labels[free[q]] = side[q]


@bare_kernel
def _settle_dense(unary, graph, vectors, labels):
    """Fix labels by persistency: ``labels`` becomes 0, 1 or -1 (open), ``low``, ``high`` theirs.

    ``low`` and ``high`` of labels that are fixed go on changing, so that loops have no branches.
    """
    low, high, queue = vectors[0], vectors[1], vectors[2]
    is_on, is_off, is_open = vectors[3], vectors[4], vectors[5]
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
            row, up, down = graph[7][i], 0, 0
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
        row, found = graph[7][queue[head]], 0
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
