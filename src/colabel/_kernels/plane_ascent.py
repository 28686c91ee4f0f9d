"""Dual ascent over remembered labelings, one sample at a time (block-coordinate, cached planes).

The dual of ``lambda/2 |theta|^2 + sum_n p_n max_z [loss_n(z) + <theta, phi(x_n, z) - phi(x_n,
y_n)>]`` gives sample ``n`` weights ``a_n(z) >= 0`` of sum ``p_n`` on labelings, and

    theta = (1 / lambda) sum_n sum_z a_n(z) [phi(x_n, y_n) - phi(x_n, z)].

Moving weight ``step`` from labeling ``a`` to ``b`` of one sample changes its own scores by
``-step |x_n|^2 / lambda`` on the labels in which they differ, so that many such steps cost vectors
of labels only; the features are touched once before and once after. Couplings must not be negative:
``free`` is their value without that demand, the model uses ``max(free, 0)``. The dual is concave
with curvature at most that of ``free``, so a step by that curvature never lowers it.

``norms`` are ``|x_n|^2``, with the constant; ``W`` (D + 1, V) has the constant's weights last, and
``free`` is (E,).
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import bare_kernel, plain_kernel
from colabel._kernels.linear_scores import score_row, write_row
from colabel._kernels.planes import (
    Slots,
    activate,
    best_known,
    empty_slots,
    find_room,
    load_plane,
    remember,
    select_pair,
    shift_weight,
)
from colabel._kernels.worst_labeling import Sorting, empty_sorting, worst_labeling

__all__ = ["AscentWork", "Pairs", "ascend", "ascend_sorting", "ascent_workspace"]

# Most searches from one labeling to a better one.
ROUNDS = 4


class Pairs(NamedTuple):
    """Pairs of labels by their first label, and the value of their feature."""

    start: np.ndarray
    heads: np.ndarray
    strength: np.ndarray


class AscentWork(NamedTuple):
    """Scores and change of labels, marks of pairs, values of planes and which are active."""

    scores: np.ndarray
    change: np.ndarray
    marks: np.ndarray
    values: np.ndarray
    active: np.ndarray
    slots: Slots
    sorting: Sorting


def ascent_workspace(n_planes, n_labels, n_pairs):
    """Allocate an `AscentWork`; two slots more than planes."""
    return AscentWork(
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.zeros(n_pairs),
        np.zeros(n_planes),
        np.zeros(n_planes, np.int64),
        empty_slots(n_planes + 2, n_labels),
        empty_sorting(n_labels),
    )


@plain_kernel
def ascend(rows, norms, planes, fresh, W, free, pairs, settings, order, work):
    """Visit the samples ``order``; change planes and parameters; return the gap they had, summed.

    The gap is ``p_n max_z g(z) - sum_z a(z) g(z)`` over the planes known, on arrival. The dual
    never falls. O(V entries + planes (labels on) steps).
    """
    total, new = 0.0, work.values.size
    for r in range(order.size):
        n = order[r]
        _arrive(rows, n, planes, W, free, pairs, settings, work)
        moved = False
        if fresh.losses.size > 0:
            load_plane(fresh.bits[r], new, work.slots)
            moved = _admit(norms[n], n, planes, fresh.losses[r], free, pairs, settings, work)
        gap, stepped = _settle(norms[n], n, planes, free, pairs, settings, work)
        if moved or stepped:
            write_row(rows, W, settings.constant, n, work.change)
        total += gap
    return total


@plain_kernel
def ascend_sorting(rows, norms, planes, losses, W, free, pairs, settings, order, work):
    """Do what ``ascend`` does, with a labeling that is looked for on the spot.

    Without pairs it is the one that violates the margin most, found by sorting; with pairs the
    search starts from the best labeling known, and need not find it. ``losses`` are CountLosses.
    O(V log V + (true labels) V) more for a sample.
    """
    total = 0.0
    for r in range(order.size):
        n = order[r]
        _arrive(rows, n, planes, W, free, pairs, settings, work)
        loss = _search(planes.counts[n], losses, free, pairs, settings.enough, work)
        moved = False
        if loss >= 0.0:
            moved = _admit(norms[n], n, planes, loss, free, pairs, settings, work)
        gap, stepped = _settle(norms[n], n, planes, free, pairs, settings, work)
        if moved or stepped:
            write_row(rows, W, settings.constant, n, work.change)
        total += gap
    return total


@bare_kernel
def _search(count, losses, free, pairs, enough, work):
    """Write the worst labeling found to the slot after the planes; return its loss, -1 if known."""
    scores, slots, new = work.scores, work.slots, work.values.size
    at = best_known(work.values, count)
    value, found = work.values[at], -1.0
    for _ in range(ROUNDS if free.size > 0 else 1):
        loss = worst_labeling(at, new + 1, losses, scores, free, pairs, slots, work.sorting)
        other = _value(new + 1, loss, scores, free, pairs, slots)
        if other <= value + enough:
            break
        load_plane(slots.packed[new + 1], new, slots)
        at, value, found = new, other, loss
    return found


@bare_kernel
def _arrive(rows, n, planes, W, free, pairs, settings, work):
    """Score a sample and the labelings that it knows."""
    score_row(rows, W, settings.constant, n, work.scores)
    for v in range(work.change.size):
        work.change[v] = 0.0
    for p in range(planes.counts[n]):
        load_plane(planes.bits[n, p], p, work.slots)
    _value_all(planes.losses[n], planes.counts[n], free, pairs, work)


@bare_kernel
def _settle(norm, n, planes, free, pairs, settings, work):
    """Move weight between the labelings that a sample knows; return its gap, and whether any moved.

    Those without weight and of less than the mean value stay out of it until the next visit.
    """
    weights, values, active = planes.weights[n], work.values, work.active
    gap, size = activate(weights, planes.counts[n], values, active)
    stepped = False
    for _ in range(settings.steps):
        low, high = select_pair(weights, values, active, size)
        rise = values[high] - values[low]
        if rise <= settings.enough:
            break
        bend = _difference(low, high, norm, pairs, work.marks, work.slots)
        amount = shift_weight(weights, low, high, rise, bend, settings.penalty)
        _move(low, high, amount / settings.penalty, norm, free, pairs, work)
        stepped = True
        for k in range(size):
            p = active[k]
            values[p] = _value(p, planes.losses[n, p], work.scores, free, pairs, work.slots)
    return gap, stepped


@bare_kernel
def _value(p, loss, scores, free, pairs, slots):
    """Loss plus score of slot ``p``."""
    on, packed, value = slots.on[p], slots.packed[p], loss
    for k in range(slots.sizes[p]):
        i = on[k]
        value += scores[i]
        for e in range(pairs.start[i], pairs.start[i + 1]):
            j = pairs.heads[e]
            if packed[j >> 3] >> (j & 7) & 1 and free[e] > 0.0:
                value += pairs.strength[e] * free[e]
    return value


@bare_kernel
def _value_all(losses, count, free, pairs, work):
    for p in range(count):
        work.values[p] = _value(p, losses[p], work.scores, free, pairs, work.slots)


@bare_kernel
def _mark(p, sign, pairs, marks, slots):
    """Add the pair features of slot ``p`` to ``marks``."""
    on, packed = slots.on[p], slots.packed[p]
    for k in range(slots.sizes[p]):
        for e in range(pairs.start[on[k]], pairs.start[on[k] + 1]):
            j = pairs.heads[e]
            if packed[j >> 3] >> (j & 7) & 1:
                marks[e] += sign * pairs.strength[e]


@bare_kernel
def _difference(a, b, norm, pairs, marks, slots):
    """Squared distance of the features of slots ``a`` and ``b``."""
    packed, differ = slots.packed, 0
    for q in range(packed.shape[1]):
        differ += slots.table[packed[a, q] ^ packed[b, q], 0]
    total = norm * differ
    if marks.size > 0:
        for e in range(marks.size):
            marks[e] = 0.0
        _mark(b, 1.0, pairs, marks, slots)
        _mark(a, -1.0, pairs, marks, slots)
        for e in range(marks.size):
            total += marks[e] * marks[e]
    return total


@bare_kernel
def _move(a, b, amount, norm, free, pairs, work):
    """Move ``amount`` (weight over lambda) from slot ``a`` to ``b``: scores, change, couplings."""
    scores, change, on, sizes = work.scores, work.change, work.slots.on, work.slots.sizes
    for k in range(sizes[b]):
        scores[on[b, k]] -= amount * norm
        change[on[b, k]] -= amount
    for k in range(sizes[a]):
        scores[on[a, k]] += amount * norm
        change[on[a, k]] += amount
    if free.size > 0:
        _mark(b, -amount, pairs, free, work.slots)
        _mark(a, amount, pairs, free, work.slots)


@bare_kernel
def _admit(norm, n, planes, loss, free, pairs, settings, work):
    """Take up the labeling of the slot after the planes if its value passes all known ones.

    Where only planes with weight could be forgotten for it, it gets all the weight of one, if the
    dual rises by that; else it is forgotten itself. Return whether weight was moved.
    """
    values, slots, new, moved = work.values, work.slots, work.values.size, False
    value = _value(new, loss, work.scores, free, pairs, slots)
    slot = find_room(value, n, planes, values, settings.enough)
    if slot < 0:
        return False
    amount = planes.weights[n, slot]
    if amount > 0.0:
        bend = _difference(slot, new, norm, pairs, work.marks, slots)
        if amount * bend >= 2.0 * settings.penalty * (value - values[slot]):
            return False
        _move(slot, new, amount / settings.penalty, norm, free, pairs, work)
        moved = True
    remember(new, slot, n, loss, planes, slots)
    _value_all(planes.losses[n], planes.counts[n], free, pairs, work)
    return moved
