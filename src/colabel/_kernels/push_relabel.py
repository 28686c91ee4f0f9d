"""Maximum preflow on a dense graph with implicit terminals (Goldberg and Tarjan 1988)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel, inlined

__all__ = ["EXCESS", "SIDE", "Preflow", "empty_preflow", "push_relabel"]


# Vectors of nodes, but COUNT of distances: rows of ``nodes``.
EXCESS, SIDE, DIST, QUEUE, WAITS, COUNT, CURRENT, ORDER, REST = range(9)


class Preflow(NamedTuple):
    """A flow problem on at most ``V`` nodes, and what solving it needs; all int64.

    Residual capacities of ``m`` nodes, (m, m), lie row after row in ``residual``; ``nodes`` has
    rows by the names above.
    """

    residual: NDArray[np.int64]
    nodes: NDArray[np.int64]


def empty_preflow(V):
    """Allocate for ``V`` nodes."""
    return Preflow(np.empty(V * V, np.int64), np.empty((9, V + 2), np.int64))


@bare_kernel
def push_relabel(m, flow):
    """Mark in ``side`` the smallest source side of a minimum cut.

    As `dinic`, with a full matrix. Flow runs from the sink to the source: what then still reaches
    the source is the smallest source side, and no second phase is needed. First in, first out, with
    current arcs, gaps, and distances found anew every ``m`` relabels; O(m^3). Exact on integers.
    """
    residual, excess, dist = flow.residual, flow.nodes[EXCESS], flow.nodes[DIST]
    queue, waits = flow.nodes[QUEUE], flow.nodes[WAITS]
    count, current, side = flow.nodes[COUNT], flow.nodes[CURRENT], flow.nodes[SIDE]
    far, at, n_wait = m + 1, 0, _turn_round(m, excess, waits, queue)
    relabels = _distances(m, flow)
    while n_wait > 0:
        i = queue[at]
        at = (at + 1) * (at + 1 < m)
        n_wait -= 1
        waits[i] = 0
        left, row, j = excess[i], residual[i * m : (i + 1) * m], current[i]
        while left > 0 and dist[i] < far:
            goal = dist[i] - 1
            while j < m:
                if dist[j] == goal and row[j] > 0:
                    pushed = min(left, row[j])
                    row[j] -= pushed
                    residual[j * m + i] += pushed
                    excess[j] += pushed
                    left -= pushed
                    if excess[j] > 0 and waits[j] == 0:
                        waits[j] = 1
                        spot = at + n_wait
                        queue[spot if spot < m else spot - m] = j
                        n_wait += 1
                    if left == 0:
                        break
                j += 1
            if left > 0:
                relabels += 1
                j = 0
                _relabel(m, i, row, dist, count)
        current[i] = j
        excess[i] = left
        if relabels >= m:
            relabels = _distances(m, flow)
    _distances(m, flow)
    for i in range(m):
        side[i] = dist[i] < far


@inlined
def _turn_round(m, excess, waits, queue):
    """Exchange source and sink; list the nodes that hold something, and return how many."""
    n_wait = 0
    for i in range(m):
        excess[i] = -excess[i]
        waits[i] = excess[i] > 0
        if excess[i] > 0:
            queue[n_wait] = i
            n_wait += 1
    return n_wait


@inlined
def _relabel(m, i, row, dist, count):
    """Raise a node over the nearest one that it can push to."""
    before = dist[i]
    count[before] -= 1
    dist[i] = min(m + 1, 1 + _nearest(m, row, dist))
    count[dist[i]] += 1
    if count[before] == 0:
        _close_gap(m, before, dist, count)


@bare_kernel
def _nearest(m, row, dist):
    """Return the least distance of the labels to which arcs of a row lead. It vectorises."""
    nearest = m + 1
    for j in range(m):
        nearest = min(nearest, dist[j] if row[j] > 0 else m + 1)
    return nearest


@bare_kernel
def _close_gap(m, gap, dist, count):
    """Put labels beyond an empty distance out of reach of the sink."""
    for i in range(m):
        if gap < dist[i] <= m:
            count[dist[i]] -= 1
            dist[i] = m + 1
            count[m + 1] += 1


@bare_kernel
def _distances(m, flow):
    """Set ``dist`` to the exact distance from the sink, ``m + 1`` out of reach, and count them.

    All arcs of a label are to be looked at again. Return 0, the relabels since.
    """
    residual, excess, dist = flow.residual, flow.nodes[EXCESS], flow.nodes[DIST]
    count, current = flow.nodes[COUNT], flow.nodes[CURRENT]
    order, rest = flow.nodes[ORDER], flow.nodes[REST]
    tail, n_rest = 0, 0
    for i in range(m + 2):
        count[i] = 0
    for i in range(m):
        if excess[i] < 0:
            dist[i] = 1
            order[tail] = i
            tail += 1
        else:
            dist[i] = m + 1
            rest[n_rest] = i
            n_rest += 1
    at = 0
    while at < tail and n_rest > 0:
        i = order[at]
        at += 1
        kept = 0
        for q in range(n_rest):
            j = rest[q]
            if residual[j * m + i] > 0:
                dist[j] = dist[i] + 1
                order[tail] = j
                tail += 1
            else:
                rest[kept] = j
                kept += 1
        n_rest = kept
    for i in range(m):
        count[dist[i]] += 1
        current[i] = 0
    return 0
