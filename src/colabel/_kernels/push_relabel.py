"""Maximum preflow on a dense graph with implicit terminals (Goldberg and Tarjan 1988)."""

import numpy as np

from colabel._kernels import kernel

__all__ = ["push_relabel"]


@kernel
def push_relabel(m, excess, residual, vectors, side):
    """Mark in ``side`` the smallest source side of a minimum cut.

    As `dinic`, with the (m, m) residual capacities in ``residual`` row after row. Flow runs from
    the sink to the source: what then still reaches the source is the smallest source side, and no
    second phase is needed. First in, first out, with gaps and distances found anew every ``m``
    relabels; O(m^3). Exact on integers.
    """
    dist, queue, waits, count = vectors[0], vectors[1], vectors[2], vectors[3]
    far = m + 1
    n_wait = np.int64(0)
    for i in range(m):
        excess[i] = -excess[i]
        waits[i] = excess[i] > 0
        if excess[i] > 0:
            queue[n_wait] = i
            n_wait += 1
    _distances(m, excess, residual, vectors)
    at, relabels = np.int64(0), 0
    while n_wait > 0:
        i = queue[at]
        at += 1
        if at == m:
            at -= m
        n_wait -= 1
        waits[i] = 0
        while excess[i] > 0 and dist[i] < far:
            n_wait, nearest = _discharge(m, i, excess, residual, vectors, at, n_wait)
            if excess[i] > 0:
                relabels += 1
                old = dist[i]
                dist[i] = min(far, nearest + 1)
                count[old] -= 1
                count[dist[i]] += 1
                if count[old] == 0:
                    _close_gap(m, old, dist, count)
        if relabels >= m:
            relabels = 0
            _distances(m, excess, residual, vectors)
    _distances(m, excess, residual, vectors)
    for i in range(m):
        side[i] = dist[i] < far


@kernel
def _discharge(m, i, excess, residual, vectors, at, n_wait):
    """Push from ``i`` to labels one step nearer; return the queue's length and nearest label."""
    dist, queue, waits = vectors[0], vectors[1], vectors[2]
    goal, nearest, left = dist[i] - 1, m + 1, excess[i]
    row = residual[i * m : (i + 1) * m]
    for j in range(m):
        if row[j] <= 0 or dist[j] > nearest:
            continue
        if dist[j] != goal:
            nearest = dist[j]
            continue
        flow = min(left, row[j])
        row[j] -= flow
        residual[j * m + i] += flow
        excess[j] += flow
        left -= flow
        if excess[j] > 0 and waits[j] == 0:
            waits[j] = 1
            spot = at + n_wait
            queue[spot if spot < m else spot - m] = j
            n_wait += 1
        if left == 0:
            break
    excess[i] = left
    return n_wait, nearest


@kernel
def _close_gap(m, gap, dist, count):
    """Put labels beyond an empty distance out of reach of the sink."""
    for i in range(m):
        if gap < dist[i] <= m:
            count[dist[i]] -= 1
            dist[i] = m + 1
            count[m + 1] += 1


@kernel
def _distances(m, excess, residual, vectors):
    """Set ``dist`` to the exact distance from the sink, ``m + 1`` out of reach, and count them."""
    dist, count, order, rest = vectors[0], vectors[3], vectors[4], vectors[5]
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
