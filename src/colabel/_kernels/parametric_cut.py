"""All cuts of a family: attracting labels with one price added to every unary."""

import numpy as np

from colabel._kernels import bare_kernel, kernel
from colabel._kernels.cut_dense import cut_dense
from colabel._kernels.cut_sparse import cut_sparse

__all__ = ["parametric_rows"]


@kernel
def parametric_rows(unary, graph, work, order, spans, entry):
    """Write the price from which on each label is on: (n, V).

    The smallest maximisers of ``s(y) + mu |y|``, with ``s`` the score of ``colabel._kernels.cut``,
    grow with ``mu``; label ``i`` is on for ``mu > entry[r, i]``. Divide and conquer (Section 5.5
    of Lajugie et al. 2015, corrected; Chambolle and Darbon 2009): a block of labels enters at once,
    at minus its mean gain, unless a cut at that price takes a part of it; then the part enters
    before the rest. At most 2 V cuts on shrinking blocks. Exact but for rounding.

    ``order`` (3, V) int64 and ``spans`` (V + 2, 4) are workspaces: labels by time of entry, their
    places, labels to be moved; blocks to do, as first and last place and bounds on the price.
    """
    V = unary.shape[1]
    tilted, trial = np.empty(V), np.empty(V, np.int8)
    for r in range(unary.shape[0]):
        for i in range(V):
            order[0, i] = order[1, i] = i
        top = 0
        spans[0, 0], spans[0, 1], spans[0, 2], spans[0, 3] = 0, V, -np.inf, np.inf
        while top >= 0:
            first, last = int(spans[top, 0]), int(spans[top, 1])
            price = -_gain(unary[r], graph, order, first, last) / (last - first)
            price = min(max(price, spans[top, 2]), spans[top, 3])
            n_part = 0
            if last - first > 1:
                for p in range(V):
                    i = order[0, p]
                    tilted[i] = unary[r, i] + price
                    if p < first or p >= last:
                        tilted[i] = np.inf if p < first else -np.inf
                if len(graph) == 8:
                    cut_dense(tilted, graph, work, trial)
                else:
                    cut_sparse(tilted, graph, work, trial)
                n_part = _part(order, trial, first, last)
            if n_part == 0 or n_part == last - first:
                for p in range(first, last):
                    entry[r, order[0, p]] = price
                top -= 1
                continue
            spans[top + 1, 0], spans[top + 1, 1] = first, first + n_part
            spans[top + 1, 2], spans[top + 1, 3] = spans[top, 2], price
            spans[top, 0], spans[top, 2] = first + n_part, price
            top += 1


@bare_kernel
def _gain(unary, graph, order, first, last):
    """Return what turning on the labels of a block adds, those before it being on."""
    total = 0.0
    for p in range(first, last):
        i = order[0, p]
        total += unary[i]
        for e in range(graph[0][i], graph[0][i + 1]):
            place = order[1, graph[1][e]]
            if place < first:
                total += graph[6][e]
            elif place < last:
                total += 0.5 * graph[6][e]
    return total


@bare_kernel
def _part(order, trial, first, last):
    """Move the labels of a block that are on in ``trial`` to its front; return how many."""
    n_on, n_off = 0, 0
    for p in range(first, last):
        i = order[0, p]
        if trial[i] > 0:
            order[0, first + n_on] = i
            n_on += 1
        else:
            order[2, n_off] = i
            n_off += 1
    for q in range(n_off):
        order[0, first + n_on + q] = order[2, q]
    for p in range(first, last):
        order[1, order[0, p]] = p
    return n_on
