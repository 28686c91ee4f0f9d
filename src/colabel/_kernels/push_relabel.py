"""Maximum preflow on a dense graph with implicit terminals (Goldberg and Tarjan 1988)."""

from colabel._kernels import bare_kernel

__all__ = ["push_relabel"]


@bare_kernel
def push_relabel(m, excess, residual, vectors, side):
    """Mark in ``side`` the smallest source side of a minimum cut.

    As `dinic`, with the (m, m) residual capacities in ``residual`` row after row. Flow runs from
    the sink to the source: what then still reaches the source is the smallest source side, and no
    second phase is needed. First in, first out, with current arcs, gaps, and distances found anew
    every ``m`` relabels; O(m^3). Exact on integers. Rows 6 to 12 of ``vectors`` are working space.
    """
    dist, queue, waits = vectors[6], vectors[7], vectors[8]
    count, current = vectors[9], vectors[12]
    far, at, n_wait = m + 1, 0, 0
    for i in range(m):
        excess[i] = -excess[i]
        waits[i] = excess[i] > 0
        if excess[i] > 0:
            queue[n_wait] = i
            n_wait += 1
    relabels = _distances(m, excess, residual, vectors)
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
                j += 1
            if left > 0:
                relabels += 1
                j = 0
                count[goal + 1] -= 1
                dist[i] = min(far, 1 + _nearest(m, row, dist))
                count[dist[i]] += 1
                if count[goal + 1] == 0:
                    _close_gap(m, goal + 1, dist, count)
        current[i] = j
        excess[i] = left
        if relabels >= m:
            relabels = _distances(m, excess, residual, vectors)
    _distances(m, excess, residual, vectors)
    for i in range(m):
        side[i] = dist[i] < far


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
def _distances(m, excess, residual, vectors):
    """Set ``dist`` to the exact distance from the sink, ``m + 1`` out of reach, and count them.

    All arcs of a label are to be looked at again. Return 0, the relabels since.
    """
    dist, count, current = vectors[6], vectors[9], vectors[12]
    order, rest = vectors[10], vectors[11]
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
