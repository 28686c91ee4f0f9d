"""Maximum flow on a sparse graph with implicit terminals (Dinic 1970)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel

__all__ = ["EXCESS", "HEAD", "MATE", "RESIDUAL", "SIDE", "START", "Flow", "dinic", "empty_flow"]


# Heads, residual capacities and places of the reverse arcs: rows of ``arcs``.
HEAD, RESIDUAL, MATE = range(3)
# Rows of ``nodes``; arcs of node ``i`` are ``start[i] .. start[i + 1]``, and PATH lists arcs.
START, EXCESS, SIDE, LEVEL, CURRENT, PATH, QUEUE = range(7)


class Flow(NamedTuple):
    """A flow problem and what solving it needs: rows by the names above, int64."""

    arcs: NDArray[np.int64]
    nodes: NDArray[np.int64]


def empty_flow(V, n_arcs):
    """Allocate for ``V`` nodes."""
    return Flow(np.empty((3, n_arcs), np.int64), np.empty((7, V + 1), np.int64))


@bare_kernel
def dinic(m, flow):
    """Mark in ``side`` the smallest source side of a minimum cut.

    Node ``i`` may take ``excess[i]`` from the source where positive, give ``-excess[i]`` to the
    sink where negative. Shortest augmenting paths, a blocking flow per distance; O(m^2 arcs) at
    worst. Exact on integers.
    """
    nodes = flow.nodes
    start, excess, side = nodes[START], nodes[EXCESS], nodes[SIDE]
    level, current = nodes[LEVEL], nodes[CURRENT]
    _push_across(m, flow)
    while _levels(m, flow):
        for i in range(m):
            current[i] = start[i]
        for i in range(m):
            if excess[i] > 0:
                _augment(i, flow)
    for i in range(m):
        side[i] = level[i] >= 0


@bare_kernel
def _push_across(m, flow):
    """Saturate the paths source, label, label, sink: the first distance without a search."""
    start, excess = flow.nodes[START], flow.nodes[EXCESS]
    head, residual, mate = flow.arcs[HEAD], flow.arcs[RESIDUAL], flow.arcs[MATE]
    for i in range(m):
        if excess[i] <= 0:
            continue
        for p in range(start[i], start[i + 1]):
            j = head[p]
            if excess[j] < 0:
                pushed = min(excess[i], residual[p], -excess[j])
                residual[p] -= pushed
                residual[mate[p]] += pushed
                excess[j] += pushed
                excess[i] -= pushed
                if excess[i] == 0:
                    break


@bare_kernel
def _levels(m, flow):
    """Set the distance of labels from the source, -1 out of reach; tell whether the sink is near.

    The search stops at the nearest distance from which the sink can be reached.
    """
    start, excess, level = flow.nodes[START], flow.nodes[EXCESS], flow.nodes[LEVEL]
    queue, head, residual = flow.nodes[QUEUE], flow.arcs[HEAD], flow.arcs[RESIDUAL]
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
def _augment(source, flow):
    """Send what ``source`` still holds along shortest paths, until blocked.

    Dead ends lose their level.
    """
    head, residual, mate = flow.arcs[HEAD], flow.arcs[RESIDUAL], flow.arcs[MATE]
    start, excess, level = flow.nodes[START], flow.nodes[EXCESS], flow.nodes[LEVEL]
    current, path = flow.nodes[CURRENT], flow.nodes[PATH]
    # Typed here, or Numba compiles `_send` a second time for the literal.
    depth, i = np.int64(0), source
    while True:
        if excess[i] < 0:
            depth = _send(source, i, depth, flow)
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
def _send(source, sink, depth, flow):
    """Push the bottleneck of a path; return the depth of its first saturated arc."""
    residual, mate = flow.arcs[RESIDUAL], flow.arcs[MATE]
    excess, path = flow.nodes[EXCESS], flow.nodes[PATH]
    pushed = min(excess[source], -excess[sink])
    for q in range(depth):
        pushed = min(pushed, residual[path[q]])
    keep = depth
    for q in range(depth - 1, -1, -1):
        p = path[q]
        residual[p] -= pushed
        residual[mate[p]] += pushed
        if residual[p] == 0:
            keep = q
    excess[source] -= pushed
    excess[sink] += pushed
    return keep
