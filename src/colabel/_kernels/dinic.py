"""Maximum flow on a sparse graph with implicit terminals (Dinic 1970)."""

import numpy as np

from colabel._kernels import bare_kernel

__all__ = ["dinic"]


@bare_kernel
def dinic(m, excess, arcs, vectors, side):
    """Mark in ``side`` the smallest source side of a minimum cut.

    Node ``i`` may take ``excess[i]`` from the source where positive, give ``-excess[i]`` to the
    sink where negative. Arcs of ``i`` are ``start[i] .. start[i + 1]``, ``start`` being row 6 of
    ``vectors``, with heads, residual capacities and places of the reverse arcs in ``arcs``; rows 7
    to 10 are working space. Shortest augmenting paths, a blocking flow per distance; O(m^2 arcs)
    at worst. Exact on integers.
    """
    head, residual, mate = arcs[0], arcs[1], arcs[2]
    start, level, current = vectors[6], vectors[7], vectors[8]
    path, queue = vectors[9], vectors[10]
    _push_across(m, excess, start, head, residual, mate)
    while _levels(m, excess, start, head, residual, level, queue):
        for i in range(m):
            current[i] = start[i]
        for i in range(m):
            if excess[i] > 0:
                _augment(i, excess, start, arcs, level, current, path)
    for i in range(m):
        side[i] = level[i] >= 0


@bare_kernel
def _push_across(m, excess, start, head, residual, mate):
    """Saturate the paths source, label, label, sink: the first distance without a search."""
    for i in range(m):
        if excess[i] <= 0:
            continue
        for p in range(start[i], start[i + 1]):
            j = head[p]
            if excess[j] < 0:
                flow = min(excess[i], residual[p], -excess[j])
                residual[p] -= flow
                residual[mate[p]] += flow
                excess[j] += flow
                excess[i] -= flow
                if excess[i] == 0:
                    break


@bare_kernel
def _levels(m, excess, start, head, residual, level, queue):
    """Set the distance of labels from the source, -1 out of reach; tell whether the sink is near.

    The search stops at the nearest distance from which the sink can be reached.
    """
    tail = 0
    for i in range(m):
        level[i] = -1
        if excess[i] > 0:
            level[i] = 0
            queue[tail] = i
            tail += 1
    found, at = m + 1, 0
    while at < tail:
        i = queue[at]
        at += 1
        if level[i] >= found:
            break
        for p in range(start[i], start[i + 1]):
            j = head[p]
            if level[j] < 0 and residual[p] > 0:
                level[j] = level[i] + 1
                queue[tail] = j
                tail += 1
                if excess[j] < 0:
                    found = level[j]
    return found <= m


@bare_kernel
def _augment(source, excess, start, arcs, level, current, path):
    """Send what ``source`` still holds along shortest paths, until blocked.

    ``path`` holds arcs; dead ends lose their level.
    """
    head, residual, mate = arcs[0], arcs[1], arcs[2]
    # Typed here, or Numba compiles `_send` a second time for the literal.
    depth, i = np.int64(0), source
    while True:
        if excess[i] < 0:
            depth = _send(source, i, depth, excess, head, residual, mate, path)
            if excess[source] == 0:
                return
            i = source if depth == 0 else head[path[depth - 1]]
        p, end = current[i], start[i + 1]
        while p < end and not (residual[p] > 0 and level[head[p]] == level[i] + 1):
            p += 1
        current[i] = p
        if p < end:
            path[depth] = p
            depth += 1
            i = head[p]
            continue
        level[i] = -1
        if depth == 0:
            return
        depth -= 1
        i = head[mate[path[depth]]]


@bare_kernel
def _send(source, sink, depth, excess, head, residual, mate, path):
    """Push the bottleneck of a path; return the depth of its first saturated arc."""
    flow = min(excess[source], -excess[sink])
    for q in range(depth):
        flow = min(flow, residual[path[q]])
    keep = depth
    for q in range(depth - 1, -1, -1):
        p = path[q]
        residual[p] -= flow
        residual[mate[p]] += flow
        if residual[p] == 0:
            keep = q
    excess[source] -= flow
    excess[sink] += flow
    return keep
