"""All cuts of a family: attracting labels with one price added to every unary."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel, plain_kernel
from colabel._kernels.cut import DENSE
from colabel._kernels.cut_dense import cut_dense
from colabel._kernels.cut_sparse import cut_sparse

__all__ = ["Blocks", "empty_blocks", "parametric_rows"]


class Blocks(NamedTuple):
    """Labels by time of entry, their places, labels to be moved; and a stack of blocks to do.

    A block has a first place, a last, and bounds on its price. Then unaries and labels of a cut.
    """

    order: NDArray[np.int64]
    place: NDArray[np.int64]
    moved: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    tilted: NDArray[np.float64]
    trial: NDArray[np.int8]


def empty_blocks(V):
    """Allocate for one thread."""
    order, place, moved = np.empty((3, V), np.int64)
    first, last = np.empty((2, V + 2), np.int64)
    low, high = np.empty((2, V + 2))
    tilted, trial = np.empty(V), np.empty(V, np.int8)
    return Blocks(order, place, moved, first, last, low, high, tilted, trial)


@plain_kernel
def parametric_rows(unary, graph, work, blocks, entry):
    """Write the price from which on each label is on: (n, V).

    The smallest maximisers of ``s(y) + mu |y|``, with ``s`` the score of ``colabel._kernels.cut``,
    grow with ``mu``; label ``i`` is on for ``mu > entry[r, i]``. Divide and conquer (Section 5.5
    of Lajugie et al. 2015, corrected; Chambolle and Darbon 2009): a block of labels enters at once,
    at minus its mean gain, unless a cut at that price takes a part of it; then the part enters
    before the rest. At most 2 V cuts on shrinking blocks. Exact but for rounding.
    """
    V, order, place = unary.shape[1], blocks.order, blocks.place
    tilted, trial = blocks.tilted, blocks.trial
    for r in range(unary.shape[0]):
        for i in range(V):
            order[i] = place[i] = i
        top = 0
        blocks.first[0], blocks.last[0], blocks.low[0], blocks.high[0] = 0, V, -np.inf, np.inf
        while top >= 0:
            first, last = blocks.first[top], blocks.last[top]
            price = -_gain(unary[r], graph, order, place, first, last) / (last - first)
            price = min(max(price, blocks.low[top]), blocks.high[top])
            n_part = 0
            if last - first > 1:
                for p in range(V):
                    i = order[p]
                    tilted[i] = unary[r, i] + price
                    if p < first or p >= last:
                        tilted[i] = np.inf if p < first else -np.inf
                if len(graph) == DENSE:
                    cut_dense(tilted, graph, work, trial)
                else:
                    cut_sparse(tilted, graph, work, trial)
                n_part = _part(order, place, blocks.moved, trial, first, last)
            if n_part == 0 or n_part == last - first:
                for p in range(first, last):
                    entry[r, order[p]] = price
                top -= 1
                continue
            blocks.first[top + 1], blocks.last[top + 1] = first, first + n_part
            blocks.low[top + 1], blocks.high[top + 1] = blocks.low[top], price
            blocks.first[top], blocks.low[top] = first + n_part, price
            top += 1


@bare_kernel
def _gain(unary, graph, order, place, first, last):
    """Return what turning on the labels of a block adds, those before it being on."""
    total = 0.0
    for p in range(first, last):
        i = order[p]
        total += unary[i]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            there = place[graph.heads[e]]
            if there < first:
                total += graph.weights[e]
            elif there < last:
                total += 0.5 * graph.weights[e]
    return total


@bare_kernel
def _part(order, place, moved, trial, first, last):
    """Move the labels of a block that are on in ``trial`` to its front; return how many."""
    n_on, n_off = 0, 0
    for p in range(first, last):
        i = order[p]
        if trial[i] > 0:
            order[first + n_on] = i
            n_on += 1
        else:
            moved[n_off] = i
            n_off += 1
    for q in range(n_off):
        order[first + n_on + q] = moved[q]
    for p in range(first, last):
        place[order[p]] = p
    return n_on
