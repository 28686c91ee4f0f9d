"""Dual ascent over remembered labelings where every pair of labels is coupled, by either sign.

As in ``colabel._kernels.plane_ascent``, with the model of ``colabel.models.spin_pairwise``: the
couplings are a dense matrix ``C = -4 A``, and a unary score is that of the features less half of
the couplings of its label. The feature of a pair tells whether its labels differ, so the inner
product of two labelings' features depends on the number of labels in which they differ alone: a
step between labelings costs a count of bits for each labeling known. Features and couplings are
touched once before and once after.

``theta = (W, C, degree)``: (D + 1, V), (V, V) and the sums of the rows of ``C``. ``numbers =
(lambda, constant, steps, enough, kappa^2)``. Signs are not looked after here.
"""

import numpy as np

from colabel._kernels import inner_kernel, kernel
from colabel._kernels.linear_scores import score_row
from colabel._kernels.plane_ascent import (
    CONSTANT,
    ENOUGH,
    LAMBDA,
    STEPS,
    activate,
    ascent_workspace,
    load_plane,
    write_row,
)
from colabel._kernels.rounding import climb

__all__ = ["ascend_spins", "spin_workspace"]

KAPPA2 = 4


def spin_workspace(n_planes, n_labels):
    """Allocate what ``ascent_workspace`` does, and labels, truth, and moved weights."""
    labels = np.zeros((2, n_labels), np.int8)
    return (*ascent_workspace(n_planes, n_labels, 0), labels, np.zeros(n_planes))


@kernel
def ascend_spins(rows, cache, fresh, losses, theta, numbers, order, work):
    """Visit the samples ``order``; change cache and theta; return the gap they had, summed.

    ``fresh = (planes, losses)``: a new labeling for each sample of ``order``; or none at all, and
    each climbs, label by label, from the best one that it knows. ``losses``: see
    ``colabel._kernels.worst_labeling``. The dual never falls. O(V entries + V^2) a sample.
    """
    total, last = 0.0, work[3].size - 1
    for r in range(order.size):
        n = order[r]
        _arrive(rows, n, cache, theta, numbers, work)
        if fresh[1].size > 0:
            load_plane(fresh[0][r], last, work)
            _admit(n, cache, fresh[1][r], theta, numbers, work)
        else:
            loss = _climb(cache[3][n], losses, theta[1], work)
            _admit(n, cache, loss, theta, numbers, work)
        total += _settle(n, cache, rows[3][n], numbers, work)
        _depart(rows, n, cache[3][n], theta, numbers, work)
    return total


@inner_kernel
def _arrive(rows, n, cache, theta, numbers, work):
    """Score a sample and the labelings that it knows."""
    score_row(rows, theta[0], numbers[CONSTANT], n, work[0])
    for v in range(work[0].size):
        work[0][v] -= 0.5 * theta[2][v]
    for p in range(cache[3][n]):
        load_plane(cache[0][n, p], p, work)
        work[3][p] = _value(p, cache[2][n, p], theta[1], work)
        work[12][p] = 0.0


@inner_kernel
def _value(p, loss, C, work):
    """Loss plus score of slot ``p``. O((labels on)^2)."""
    on, value = work[4][p], loss
    for k in range(work[5][p]):
        value += work[0][on[k]]
        for m in range(k):
            value += C[on[k], on[m]]
    return value


@inner_kernel
def _climb(count, losses, C, work):
    """Climb from the best labeling known to one that no flip improves, in the last slot."""
    best, last = 0, work[3].size - 1
    for p in range(count):
        if work[3][p] > work[3][best]:
            best = p
    labels, truth, field, n_true = work[11][0], work[11][1], work[1], work[5][0]
    for v in range(labels.size):
        labels[v] = work[6][best, v >> 3] >> (v & 7) & 1
        truth[v] = work[6][0, v >> 3] >> (v & 7) & 1
        field[v] = work[0][v]
    for k in range(work[5][best]):
        for v in range(labels.size):
            field[v] += C[work[4][best, k], v]
    start, width = losses[1][n_true], labels.size - n_true + 1
    size = (n_true + 1) * width
    table = losses[0][start : start + size].reshape((n_true + 1, width))
    climb(work[0], C, truth, table, False, labels, field)
    return _pack(labels, truth, table, last, work)


@inner_kernel
def _pack(labels, truth, table, slot, work):
    """List labels in ``slot``, as bits and one by one; return their loss."""
    packed, size, hits = work[6][slot], 0, 0
    for b in range(packed.size):
        packed[b] = 0
    for v in range(labels.size):
        if labels[v]:
            packed[v >> 3] |= 1 << (v & 7)
            work[4][slot, size] = v
            size += 1
            hits += truth[v]
    work[5][slot] = size
    return table[hits, size - hits]


@inner_kernel
def _admit(n, cache, loss, theta, numbers, work):
    """Take up the labeling of the last slot, if its value passes all known ones and there is room.

    It gets a free slot, else that of the plane without weight and of least value.
    """
    weights, values, count, last = cache[1][n], work[3], cache[3][n], work[3].size - 1
    value, slot = _value(last, loss, theta[1], work), -1
    for p in range(count):
        if values[p] + numbers[ENOUGH] >= value:
            return
    if count < last:
        slot = count
        cache[3][n] += 1
    else:
        for p in range(1, count):
            if weights[p] == 0.0 and (slot < 0 or values[p] < values[slot]):
                slot = p
    if slot < 0:
        return
    for b in range(work[6].shape[1]):
        cache[0][n, slot, b] = work[6][last, b]
    weights[slot], cache[2][n, slot] = 0.0, loss
    load_plane(cache[0][n, slot], slot, work)
    values[slot], work[12][slot] = value, 0.0


@inner_kernel
def _settle(n, cache, norm, numbers, work):
    """Move weight between the labelings that a sample knows; return the gap that it had."""
    weights, values, active, moved = cache[1][n], work[3], work[10], work[12]
    gap, size = activate(weights, cache[3][n], values, active)
    for _ in range(int(numbers[STEPS])):
        low, high = -1, active[0]
        for k in range(size):
            p = active[k]
            if values[p] > values[high]:
                high = p
            if weights[p] > 0.0 and (low < 0 or values[p] < values[low]):
                low = p
        rise = values[high] - values[low]
        if rise <= numbers[ENOUGH]:
            break
        bend = _product(high, high, norm, numbers, work) + _product(low, low, norm, numbers, work)
        bend -= 2.0 * _product(low, high, norm, numbers, work)
        full = bend * weights[low] <= numbers[LAMBDA] * rise
        amount = weights[low] if full else numbers[LAMBDA] * rise / bend
        weights[high] += amount
        weights[low] = 0.0 if full else weights[low] - amount
        moved[high] += amount
        moved[low] -= amount
        for k in range(size):
            p = active[k]
            change = _product(p, high, norm, numbers, work) - _product(p, low, norm, numbers, work)
            values[p] -= amount / numbers[LAMBDA] * change
    return gap


@inner_kernel
def _product(a, b, norm, numbers, work):
    """Inner product of the features of two labelings, up to what all labelings share.

    Labels: how many are on in both. Pairs: ``kappa^2 sum_{i<j} y_i y_j z_i z_j``, which is half the
    square of ``y'z`` but for a constant.
    """
    both, differ, bits = 0, 0, work[7]
    for q in range(work[6].shape[1]):
        both += bits[work[6][a, q] & work[6][b, q], 0]
        differ += bits[work[6][a, q] ^ work[6][b, q], 0]
    alike = float(work[0].size - 2 * differ)
    return norm * both + 0.5 * numbers[KAPPA2] * alike * alike


@inner_kernel
def _depart(rows, n, count, theta, numbers, work):
    """Write what has moved into the parameters."""
    change, moved, C, degree = work[1], work[12], theta[1], theta[2]
    V, any_moved = change.size, False
    for v in range(V):
        change[v] = 0.0
    for p in range(count):
        if moved[p] == 0.0:
            continue
        any_moved = True
        for k in range(work[5][p]):
            change[work[4][p, k]] -= moved[p] / numbers[LAMBDA]
        step = -4.0 * numbers[KAPPA2] * moved[p] / numbers[LAMBDA]
        total, spins = 2.0 * work[5][p] - V, work[8][0]
        for v in range(V):
            spins[v] = 1.0 if work[6][p, v >> 3] >> (v & 7) & 1 else -1.0
        for i in range(V):
            s = step * spins[i]
            for j in range(V):
                C[i, j] += s * spins[j]
            C[i, i] = 0.0
            degree[i] += s * total - step
    if any_moved:
        write_row(rows, theta[0], numbers[CONSTANT], n, change)
