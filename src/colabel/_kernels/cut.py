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
from colabel._kernels.dinic import dinic
from colabel._kernels.push_relabel import push_relabel

__all__ = ["best_rows", "cut_row", "cut_workspace"]


@kernel
def best_rows(unary, graph, work, labels):
    """Write the smallest maximiser of each row of ``unary`` (n, V) into ``labels`` (n, V) int8.

    ``work`` comes from `cut_workspace`. Exact. Labels settled by themselves cost O(degree); the
    rest is a maximum flow, O(V^3) on the dense path and O(V^2 E) on the sparse one at worst, near
    linear in practice.
    """
    for i in range(unary.shape[0]):
        cut_row(unary[i], graph, work, labels[i])


def cut_workspace(graph):
    """Allocate what one thread needs: vectors of labels (14, V + 2) and two pairs of arcs.

    Plain Python: Numba takes half a second to compile an allocation.
    """
    V, size = graph[0].size - 1, graph[1].size
    arcs = np.empty((2, V * V if len(graph) == 8 else size), np.int64)
    return np.empty((14, V + 2), np.int64), arcs, arcs.copy()


@kernel
def cut_row(unary, graph, work, labels):
    """Write the smallest maximiser for one row of unaries into ``labels``.

    A unary of ``inf`` or ``-inf`` forces its label.
    """
    if len(graph) == 8:
        _settle_dense(unary, graph, work[0], labels)
    else:
        _settle_sparse(unary, graph, work[0], labels)
        n_peeled = _peel(graph, work[0], labels)
    low, high, free, place = work[0][0], work[0][1], work[0][2], work[0][3]
    excess, side = work[0][4], work[0][5]
    m = _list_open(labels, free, place)
    for q in range(m):
        excess[q] = low[free[q]] + high[free[q]]
    if len(graph) == 8:
        if m > 0:
            _compact_dense(graph[7], free, m, work[1][0])
            push_relabel(m, excess, work[1][0], work[0][6:], side)
    elif m > 0:
        _compact_sparse(graph, labels, work, m)
        dinic(m, excess, work[0][6], work[1], work[2], work[0][7:], side)
    for q in range(m):
        labels[free[q]] = side[q]
    if len(graph) == 7:
        for q in range(n_peeled - 1, -1, -1):
            leaf = work[0][13, q]
            labels[leaf] = labels[work[0][12, leaf]]


@kernel
def _list_open(labels, free, place):
    """List the open labels and the place of each in the list; return how many there are."""
    m = 0
    for i in range(labels.size):
        if labels[i] == -1:
            free[m] = i
            place[i] = m
            m += 1
    return m


@kernel
def _start(unary, graph, low, high, labels):
    """Fix what a label's own score decides (-1 elsewhere); return the number left open.

    A positive unary turns a label on in every maximiser; one that all its couplings together
    cannot outweigh keeps it out of the smallest maximiser.
    """
    sums, scale = graph[4], graph[5]
    n_open = 0
    for i in range(labels.size):
        x = unary[i] * scale[i]
        if unary[i] > 0.0:
            labels[i] = 1
        elif x <= -4e18:
            labels[i] = 0
        else:
            low[i] = np.int64(np.rint(x))
            high[i] = low[i] + sums[i]
            labels[i] = 0 if high[i] <= 0 else -1
            n_open += high[i] > 0
    return n_open


@kernel
def _settle_sparse(unary, graph, vectors, labels):
    """Fix labels by persistency: ``labels`` becomes 0, 1 or -1 (open), ``low``, ``high`` theirs.

    ``low_i`` is the gain of label ``i`` when only labels known to be on are on, ``high_i`` when
    all that are not known to be off are. ``low > 0`` fixes 1, ``high <= 0`` fixes 0; both hold
    for the smallest maximiser. O(arcs of the labels not fixed at once).
    """
    indptr, heads, caps = graph[0], graph[1], graph[3]
    low, high, queue, waiting = vectors[0], vectors[1], vectors[2], vectors[3]
    n_open = _start(unary, graph, low, high, labels)
    if n_open == 0 or n_open == labels.size:
        return
    tail = 0
    for i in range(labels.size):
        if labels[i] < 0:
            queue[tail] = i
            tail += 1
    for q in range(n_open):
        i = queue[q]
        for e in range(indptr[i], indptr[i + 1]):
            state = labels[heads[e]]
            if state == 1:
                low[i] += caps[e]
            elif state == 0:
                high[i] -= caps[e]
    tail = 0
    for q in range(n_open):
        i = queue[q]
        if low[i] > 0 or high[i] <= 0:
            waiting[tail] = i
            tail += 1
    for q in range(tail):
        labels[waiting[q]] = low[waiting[q]] > 0
    head = 0
    while head < tail:
        i = waiting[head]
        head += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = heads[e]
            if labels[j] < 0 and _shift(low, high, labels, j, labels[i], caps[e]):
                waiting[tail] = j
                tail += 1


@kernel
def _shift(low, high, labels, j, state, cap):
    """Tell open label ``j`` of a neighbour fixed to ``state``; return whether that fixes it."""
    if state == 1:
        low[j] += cap
        if low[j] > 0:
            labels[j] = 1
    else:
        high[j] -= cap
        if high[j] <= 0:
            labels[j] = 0
    return labels[j] >= 0


@kernel
def _peel(graph, vectors, labels):
    """Take off labels with one open neighbour, again and again; return how many.

    Such a leaf, of ``low <= 0 < high``, is on exactly when its neighbour is, and then adds
    ``high``: the neighbour takes that over. Leaves get -2, their neighbours stand in row 12 and
    their order in row 13 of ``vectors``. Forests vanish, of other graphs the cycles are left.
    O(arcs of open labels).
    """
    indptr, heads, caps = graph[0], graph[1], graph[3]
    low, high, waiting, degree, leaves = vectors[0], vectors[1], vectors[3], vectors[4], vectors[5]
    n_leaves, n_peeled = 0, 0
    for i in range(labels.size):
        if labels[i] == -1:
            degree[i] = 0
            for e in range(indptr[i], indptr[i + 1]):
                degree[i] += labels[heads[e]] == -1
            if degree[i] == 1:
                leaves[n_leaves] = i
                n_leaves += 1
    while n_leaves > 0:
        n_leaves -= 1
        i = leaves[n_leaves]
        if labels[i] != -1:
            continue
        e = indptr[i]
        while labels[heads[e]] != -1:
            e += 1
        j = heads[e]
        vectors[12, i], vectors[13, n_peeled], labels[i] = j, i, -2
        n_peeled += 1
        low[j] += high[i]
        high[j] += low[i]
        degree[j] -= 1
        if low[j] > 0 or high[j] <= 0:
            labels[j] = low[j] > 0
            waiting[0], tail, at = j, 1, 0
            while at < tail:
                i = waiting[at]
                at += 1
                for e in range(indptr[i], indptr[i + 1]):
                    j = heads[e]
                    if labels[j] == -1:
                        degree[j] -= 1
                        if _shift(low, high, labels, j, labels[i], caps[e]):
                            waiting[tail] = j
                            tail += 1
                        elif degree[j] == 1:
                            leaves[n_leaves] = j
                            n_leaves += 1
        elif degree[j] == 1:
            leaves[n_leaves] = j
            n_leaves += 1
    return n_peeled


@kernel
def _settle_dense(unary, graph, vectors, labels):
    """Do what `_settle_sparse` does on the rows of a full matrix."""
    matrix = graph[7]
    low, high, queue, is_on, is_off = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    V = labels.size
    n_open = _start(unary, graph, low, high, labels)
    if n_open == 0 or n_open == V:
        return
    for i in range(V):
        is_on[i] = -1 if labels[i] == 1 else 0
        is_off[i] = -1 if labels[i] == 0 else 0
    tail = 0
    for i in range(V):
        if labels[i] < 0:
            row = matrix[i]
            up, down = 0, 0
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
    head = 0
    while head < tail:
        i = queue[head]
        head += 1
        row = matrix[i]
        for j in range(V):
            if labels[j] < 0 and _shift(low, high, labels, j, labels[i], row[j]):
                queue[tail] = j
                tail += 1


@kernel
def _compact_sparse(graph, labels, work, m):
    """Write the arcs between open labels: starts, heads, mates and residuals."""
    indptr, heads, mates, caps = graph[0], graph[1], graph[2], graph[3]
    free, place, start = work[0][2], work[0][3], work[0][6]
    head, residual, mate, position = work[1][0], work[1][1], work[2][0], work[2][1]
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


@kernel
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
