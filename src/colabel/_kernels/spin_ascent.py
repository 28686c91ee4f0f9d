"""Dual ascent over remembered labelings where every pair of labels is coupled, by either sign.

As in ``colabel._kernels.plane_ascent``, with the model of ``colabel.models.spin_pairwise``: the
couplings are a dense matrix ``C = -4 A``, and a unary score is that of the features less half of
the couplings of its label. The feature of a pair tells whether its labels differ, so the inner
product of two labelings' features depends on the number of labels in which they differ alone: a
step between labelings costs a count of bits for each labeling known. Features and couplings are
touched once before and once after. Signs are not looked after here.
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
from colabel._kernels.rounding import climb

__all__ = ["SpinTheta", "SpinWork", "ascend_spins", "spin_workspace"]


class SpinTheta(NamedTuple):
    """Weights (D + 1, V), couplings (V, V), sums of their rows, and the square of kappa."""

    W: np.ndarray
    C: np.ndarray
    degree: np.ndarray
    kappa2: float


class SpinWork(NamedTuple):
    """Vectors of labels; then of planes: values, which are active, what weight has moved."""

    scores: np.ndarray
    change: np.ndarray
    field: np.ndarray
    spins: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    values: np.ndarray
    moved: np.ndarray
    active: np.ndarray
    slots: Slots


def spin_workspace(n_planes, n_labels):
    """Allocate a `SpinWork`; one slot more than planes."""
    scores, change, field, spins = np.zeros((4, n_labels))
    labels, truth = np.zeros((2, n_labels), np.int8)
    values, moved = np.zeros((2, n_planes))
    active, slots = np.zeros(n_planes, np.int64), empty_slots(n_planes + 1, n_labels)
    return SpinWork(scores, change, field, spins, labels, truth, values, moved, active, slots)


@plain_kernel
def ascend_spins(rows, norms, planes, fresh, losses, theta, settings, order, work):
    """Visit the samples ``order``; change planes and theta; return the gap they had, summed.

    Without ``fresh`` labelings each sample climbs, label by label, from the best one that it knows.
    ``losses`` are CountLosses. The dual never falls. O(V entries + V^2) a sample.
    """
    total, new = 0.0, work.values.size
    for r in range(order.size):
        n = order[r]
        _arrive(rows, n, planes, theta, settings.constant, work)
        if fresh.losses.size > 0:
            load_plane(fresh.bits[r], new, work.slots)
            _admit(n, planes, fresh.losses[r], theta.C, settings.enough, work)
        else:
            loss = _climb(planes.counts[n], losses, theta.C, work)
            _admit(n, planes, loss, theta.C, settings.enough, work)
        total += _settle(n, planes, norms[n], theta.kappa2, settings, work)
        if _depart(planes.counts[n], theta, settings.penalty, work):
            write_row(rows, theta.W, settings.constant, n, work.change)
    return total


@bare_kernel
def _arrive(rows, n, planes, theta, constant, work):
    """Score a sample and the labelings that it knows."""
    score_row(rows, theta.W, constant, n, work.scores)
    for v in range(work.scores.size):
        work.scores[v] -= 0.5 * theta.degree[v]
    for p in range(planes.counts[n]):
        load_plane(planes.bits[n, p], p, work.slots)
        work.values[p] = _value(p, planes.losses[n, p], work.scores, theta.C, work.slots)
        work.moved[p] = 0.0


@bare_kernel
def _value(p, loss, scores, C, slots):
    """Loss plus score of slot ``p``. O((labels on)^2)."""
    on, value = slots.on[p], loss
    for k in range(slots.sizes[p]):
        value += scores[on[k]]
        for m in range(k):
            value += C[on[k], on[m]]
    return value


@bare_kernel
def _climb(count, losses, C, work):
    """Climb from the best labeling known to one that no flip improves; return its loss."""
    labels, truth, field, slots = work.labels, work.truth, work.field, work.slots
    best, n_true = best_known(work.values, count), slots.sizes[0]
    for v in range(labels.size):
        labels[v] = slots.packed[best, v >> 3] >> (v & 7) & 1
        truth[v] = slots.packed[0, v >> 3] >> (v & 7) & 1
        field[v] = work.scores[v]
    for k in range(slots.sizes[best]):
        for v in range(labels.size):
            field[v] += C[slots.on[best, k], v]
    start, width = losses.starts[n_true], labels.size - n_true + 1
    size = (n_true + 1) * width
    table = losses.tables[start : start + size].reshape((n_true + 1, width))
    climb(work.scores, C, truth, table, False, labels, field)
    return _pack(labels, truth, table, work.values.size, slots)


@bare_kernel
def _pack(labels, truth, table, slot, slots):
    """Write labels to a slot; return their loss."""
    packed, size, hits = slots.packed[slot], 0, 0
    for b in range(packed.size):
        packed[b] = 0
    for v in range(labels.size):
        if labels[v]:
            packed[v >> 3] |= 1 << (v & 7)
            slots.on[slot, size] = v
            size += 1
            hits += truth[v]
    slots.sizes[slot] = size
    return table[hits, size - hits]


@bare_kernel
def _admit(n, planes, loss, C, enough, work):
    """Take up the labeling of the slot after the planes, if its value passes all known ones.

    Planes with weight are not forgotten for it.
    """
    new = work.values.size
    value = _value(new, loss, work.scores, C, work.slots)
    slot = find_room(value, n, planes, work.values, enough)
    if slot >= 0 and planes.weights[n, slot] == 0.0:
        remember(new, slot, n, loss, planes, work.slots)
        work.values[slot], work.moved[slot] = value, 0.0


@bare_kernel
def _settle(n, planes, norm, kappa2, settings, work):
    """Move weight between the labelings that a sample knows; return the gap that it had."""
    weights, values, active, slots = planes.weights[n], work.values, work.active, work.slots
    gap, size = activate(weights, planes.counts[n], values, active)
    for _ in range(settings.steps):
        low, high = select_pair(weights, values, active, size)
        rise = values[high] - values[low]
        if rise <= settings.enough:
            break
        bend = _product(high, high, norm, kappa2, slots) + _product(low, low, norm, kappa2, slots)
        bend -= 2.0 * _product(low, high, norm, kappa2, slots)
        amount = shift_weight(weights, low, high, rise, bend, settings.penalty)
        work.moved[high] += amount
        work.moved[low] -= amount
        for k in range(size):
            p = active[k]
            change = _product(p, high, norm, kappa2, slots) - _product(p, low, norm, kappa2, slots)
            values[p] -= amount / settings.penalty * change
    return gap


@bare_kernel
def _product(a, b, norm, kappa2, slots):
    """Inner product of the features of two labelings, up to what all labelings share.

    Labels: how many are on in both. Pairs: ``kappa^2 sum_{i<j} y_i y_j z_i z_j``, which is half the
    square of ``y'z`` but for a constant.
    """
    both, differ, packed, table = 0, 0, slots.packed, slots.table
    for q in range(packed.shape[1]):
        both += table[packed[a, q] & packed[b, q], 0]
        differ += table[packed[a, q] ^ packed[b, q], 0]
    alike = float(slots.on.shape[1] - 2 * differ)
    return norm * both + 0.5 * kappa2 * alike * alike


@bare_kernel
def _depart(count, theta, penalty, work):
    """Write what has moved into couplings and ``change``; tell whether anything has."""
    change, moved, spins, slots = work.change, work.moved, work.spins, work.slots
    C, V, any_moved = theta.C, work.change.size, False
    for v in range(V):
        change[v] = 0.0
    for p in range(count):
        if moved[p] == 0.0:
            continue
        any_moved = True
        for k in range(slots.sizes[p]):
            change[slots.on[p, k]] -= moved[p] / penalty
        step = -4.0 * theta.kappa2 * moved[p] / penalty
        total = 2.0 * slots.sizes[p] - V
        for v in range(V):
            spins[v] = 1.0 if slots.packed[p, v >> 3] >> (v & 7) & 1 else -1.0
        for i in range(V):
            s = step * spins[i]
            for j in range(V):
                C[i, j] += s * spins[j]
            C[i, i] = 0.0
            theta.degree[i] += s * total - step
    return any_moved
