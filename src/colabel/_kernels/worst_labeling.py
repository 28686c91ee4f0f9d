"""The labeling of greatest loss plus score, for losses that depend on counts: by sorting.

For given numbers of hits and false alarms the best labels are those of the highest scores. With
pairs of labels the same is done with the pairs linearised at a labeling that is already good, which
may or may not lead to a better one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel
from colabel._kernels.planes import load_plane

__all__ = ["CountLosses", "Sorting", "empty_sorting", "worst_labeling"]


class CountLosses(NamedTuple):
    """Loss at ``[hits, false]`` for every number of true labels, and how steep it is.

    Tables are flat, one after the other from ``starts[n_true]``; ``steps`` has by how much one
    false alarm can raise the loss.
    """

    tables: NDArray[np.float64]
    starts: NDArray[np.int64]
    steps: NDArray[np.float64]


class Sorting(NamedTuple):
    """Scores of labels, sums of the best of true and false ones, and their orders."""

    scores: NDArray[np.float64]
    hit: NDArray[np.float64]
    false: NDArray[np.float64]
    true_order: NDArray[np.int64]
    false_order: NDArray[np.int64]


def empty_sorting(n_labels):
    """Allocate what `worst_labeling` works in."""
    return Sorting(*np.zeros((3, n_labels + 1)), *np.zeros((2, n_labels), np.int64))


@bare_kernel
def worst_labeling(at, slot, losses, scores, free, pairs, slots, sorting):
    """Write the labeling to ``slot``, with pairs linearised at the one of ``at``; return its loss.

    The truth is in slot 0. O(V log V + (true labels) V + pairs).
    """
    score, hit, false = sorting.scores, sorting.hit, sorting.false
    true_order, false_order = sorting.true_order, sorting.false_order
    _linearise(slots.packed[at], scores, free, pairs, score)
    n_labels, n_true, truth = scores.size, slots.sizes[0], slots.packed[0]
    for k in range(n_true):
        true_order[k] = slots.on[0, k]
    # A false alarm is no use where its score takes more than its loss can give.
    n_false = 0
    for v in range(n_labels):
        alarm = not (truth[v >> 3] >> (v & 7) & 1)
        if alarm and score[v] + losses.steps[n_true] >= 0.0:
            false_order[n_false] = v
            n_false += 1
    _sort(score, true_order, n_true, hit)
    _sort(score, false_order, n_false, false)
    best, width, start = -1.0, n_labels - n_true + 1, losses.starts[n_true]
    n_hits, n_alarms = 0, 0
    for h in range(n_true + 1):
        for f in range(n_false + 1):
            value = hit[h] + false[f] + losses.tables[start + h * width + f]
            if value > best or (h == 0 and f == 0):
                best, n_hits, n_alarms = value, h, f
    _write_labels(slot, true_order[:n_hits], false_order[:n_alarms], slots)
    return losses.tables[start + n_hits * width + n_alarms]


@bare_kernel
def _linearise(packed, scores, free, pairs, out):
    """Add to each label's score what its pairs with the labels of a labeling are worth."""
    for v in range(scores.size):
        out[v] = scores[v]
    if free.size == 0:
        return
    for i in range(scores.size):
        on = packed[i >> 3] >> (i & 7) & 1
        for e in range(pairs.start[i], pairs.start[i + 1]):
            j = pairs.heads[e]
            if free[e] > 0.0:
                if on:
                    out[j] += pairs.strength[e] * free[e]
                if packed[j >> 3] >> (j & 7) & 1:
                    out[i] += pairs.strength[e] * free[e]


@bare_kernel
def _sort(score, order, size, sums):
    """Sort labels by falling score, equal ones as they come; sum up their scores.

    Gaps of Knuth: few labels come close to being on, so that there is little to sort.
    """
    step = 1
    while step < size // 3:
        step = 3 * step + 1
    while step > 0:
        for k in range(step, size):
            v, j = order[k], k
            while j >= step and (
                score[order[j - step]] < score[v]
                or (score[order[j - step]] == score[v] and order[j - step] > v)
            ):
                order[j] = order[j - step]
                j -= step
            order[j] = v
        step //= 3
    sums[0] = 0.0
    for k in range(size):
        sums[k + 1] = sums[k] + score[order[k]]


@bare_kernel
def _write_labels(slot, hits, alarms, slots):
    """Write the labels of both lists to ``slot``."""
    packed = slots.packed[slot]
    for b in range(packed.size):
        packed[b] = 0
    for k in range(hits.size):
        packed[hits[k] >> 3] |= 1 << (hits[k] & 7)
    for k in range(alarms.size):
        packed[alarms[k] >> 3] |= 1 << (alarms[k] & 7)
    load_plane(packed, slot, slots)
