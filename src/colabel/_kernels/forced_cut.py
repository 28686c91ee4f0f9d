"""The best labeling of attracting labels that differs from a given one, or is not empty.

A labeling differs from another in some label: force each label in turn to its other state and cut
what is left. The problem and ``graph`` are those of ``colabel._kernels.cut``.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel
from colabel._kernels.cut import DENSE, row_value
from colabel._kernels.cut_dense import cut_dense
from colabel._kernels.cut_sparse import cut_sparse

__all__ = ["other_rows"]


@kernel
def other_rows(unary, graph, work, avoid, nonempty, labels):
    """Write the best labeling other than ``avoid[r]`` of each row ``r`` into ``labels`` (n, V).

    With ``nonempty`` the empty labeling is left out too. A row with nothing to choose from keeps
    its ``avoid``. Exact; at most V cuts a row, V (V + 1) where both labelings have to be left out.
    """
    V = labels.shape[1]
    forced, trial = np.empty(V), np.empty(V, np.int8)
    for r in range(unary.shape[0]):
        best, top = -np.inf, np.inf
        # Two labels to force, the second only where the first leaves the empty labeling; the
        # first turn of all forces none, for the optimum that the bounds start from.
        first, second = -1, -1
        while first < V:
            for i in range(V):
                forced[i] = unary[r, i]
            if first >= 0:
                forced[first] = -np.inf if avoid[r, first] > 0 else np.inf
            if second >= 0:
                forced[second] = np.inf
            if len(graph) == DENSE:
                cut_dense(forced, graph, work, trial)
            else:
                cut_sparse(forced, graph, work, trial)
            count, value = 0, row_value(unary[r], graph, trial)
            for i in range(V):
                count += trial[i]
            if first < 0:
                top = value + 1e-12 * abs(value)
                _copy(avoid[r], labels[r])
            elif count > 0 or not nonempty:
                if _better(value, count, best, labels[r]):
                    best = value
                    _copy(trial, labels[r])
            elif second < 0:
                second = 0 if first > 0 else 1
                if second < V:
                    continue
            first, second = _next(unary[r], graph, avoid[r], top, best, first, second)


@bare_kernel
def _next(unary, graph, avoid, top, best, first, second):
    """Return the next labels to force that may lead to more than ``best``."""
    V = unary.size
    if second >= 0:
        second += 1
        while second < V and (second == first or top + _most(unary, graph, second, 0) < best):
            second += 1
        if second < V:
            return first, second
    first += 1
    while first < V and top + _most(unary, graph, first, avoid[first]) < best:
        first += 1
    return first, -1


@bare_kernel
def _most(unary, graph, i, state):
    """Bound what forcing label ``i`` away from ``state`` adds to the optimum.

    Without ``i`` a labeling that has it is worth at most the optimum, and the other way about.
    """
    if state > 0:
        return -unary[i]
    total = unary[i]
    for e in range(graph.indptr[i], graph.indptr[i + 1]):
        total += graph.weights[e]
    return total


@bare_kernel
def _better(value, count, best, labels):
    """Tell whether a labeling of ``count`` labels is better, or as good with fewer labels."""
    kept = 0
    for i in range(labels.size):
        kept += labels[i]
    return value > best or (value == best and count < kept)


@bare_kernel
def _copy(source, target):
    for i in range(target.size):
        target[i] = source[i]
