"""Dual ascent over remembered labelings, one sample at a time (block-coordinate, cached planes).

The dual of ``lambda/2 |theta|^2 + sum_n p_n max_z [loss_n(z) + <theta, phi(x_n, z) - phi(x_n,
y_n)>]`` gives sample ``n`` weights ``a_n(z) >= 0`` of sum ``p_n`` on labelings, and

    theta = (1 / lambda) sum_n sum_z a_n(z) [phi(x_n, y_n) - phi(x_n, z)].

Moving weight ``step`` from labeling ``a`` to ``b`` of one sample changes its own scores by
``-step |x_n|^2 / lambda`` on the labels in which they differ, so that many such steps cost vectors
of labels only; the features are touched once before and once after. Couplings must not be negative:
``free`` is their value without that demand, the model uses ``max(free, 0)``. The dual is concave
with curvature at most that of ``free``, so a step by that curvature never lowers it.

``rows = (indptr, indices, data, norms)``: features in CSR form and ``|x_n|^2``, with the constant.
``cache = (planes, weights, losses, counts)``: labelings in bits (n, P, B), the truth first, their
weights and losses (n, P), and how many there are. ``pairs = (start, heads, strength)``: pairs of
labels by their first label, and the value of their feature. ``theta = (W, free)``: (D + 1, V), the
constant's weights last, and (E,).
"""

import numpy as np

from colabel._kernels import inner_kernel, kernel
from colabel._kernels.linear_scores import score_row
from colabel._kernels.worst_labeling import worst_labeling

__all__ = [
    "activate",
    "ascend",
    "ascend_sorting",
    "ascent_workspace",
    "load_plane",
    "write_row",
]

LAMBDA, CONSTANT, STEPS, ENOUGH = 0, 1, 2, 3
# Most searches from one labeling to a better one.
ROUNDS = 4


def ascent_workspace(n_planes, n_labels, n_pairs):
    """Allocate scores, change, marks of pairs, plane values; labels on, their number; bytes, bits.

    Then a table of the bits in a byte, how many and which; what sorting needs; active planes.
    """
    bits = np.zeros((256, 9), np.int64)
    for byte in range(256):
        on = [k for k in range(8) if byte >> k & 1]
        bits[byte, 0] = len(on)
        bits[byte, 1 : 1 + len(on)] = on
    n_bytes = -(-n_labels // 8)
    return (
        np.zeros(n_labels),
        np.zeros(n_labels),
        np.zeros(n_pairs),
        np.zeros(n_planes + 1),
        np.zeros((n_planes + 2, n_labels), np.int64),
        np.zeros(n_planes + 2, np.int64),
        np.zeros((n_planes + 2, n_bytes), np.uint8),
        bits,
        np.zeros((3, n_labels + 1)),
        np.zeros((2, n_labels), np.int64),
        np.zeros(n_planes, np.int64),
    )


@kernel
def ascend(rows, cache, fresh, theta, pairs, numbers, order, work):
    """Visit the samples ``order``; change cache and theta; return the gap they had, summed.

    ``fresh = (planes, losses)``: a new labeling for each sample of ``order``, or none at all.
    ``numbers = (lambda, constant, steps, enough)``: at most ``steps`` steps a visit, none where
    values differ by less than ``enough``. The gap is ``p_n max_z g(z) - sum_z a(z) g(z)`` over the
    planes known, on arrival. The dual never falls. O(V entries + planes (labels on) steps).
    """
    total = 0.0
    for r in range(order.size):
        n = order[r]
        _arrive(rows, n, cache, theta, pairs, numbers, work)
        moved = False
        if fresh[1].size > 0:
            new = (fresh[0][r], fresh[1][r])
            moved = _admit(rows[3][n], n, cache, new, theta[1], pairs, numbers, work)
        total += _settle(rows, n, cache, theta, pairs, numbers, moved, work)
    return total


@kernel
def ascend_sorting(rows, cache, losses, theta, pairs, numbers, order, work):
    """Do what ``ascend`` does, with a labeling that is looked for on the spot.

    Without pairs it is the one that violates the margin most, found by sorting; with pairs the
    search starts from the best labeling known, and need not find it. ``losses``: see
    ``colabel._kernels.worst_labeling``. O(V log V + (true labels) V) more for a sample.
    """
    total = 0.0
    for r in range(order.size):
        n = order[r]
        _arrive(rows, n, cache, theta, pairs, numbers, work)
        last = work[3].size - 1
        loss = _search(cache[3][n], losses, theta[1], pairs, numbers[ENOUGH], work)
        moved = False
        if loss >= 0.0:
            new = (work[6][last], loss)
            moved = _admit(rows[3][n], n, cache, new, theta[1], pairs, numbers, work)
        total += _settle(rows, n, cache, theta, pairs, numbers, moved, work)
    return total


@inner_kernel
def _search(count, losses, free, pairs, enough, work):
    """Write the worst labeling found to the last slot; return its loss, -1 if all are known."""
    values, last, best = work[3], work[3].size - 1, 0
    for p in range(count):
        if values[p] > values[best]:
            best = p
    at, value, found = best, values[best], -1.0
    for _ in range(ROUNDS if free.size > 0 else 1):
        loss = worst_labeling(at, last + 1, losses, free, pairs, work)
        other = _value(last + 1, loss, free, pairs, work)
        if other <= value + enough:
            break
        load_plane(work[6][last + 1], last, work)
        at, value, found = last, other, loss
    return found


@inner_kernel
def _arrive(rows, n, cache, theta, pairs, numbers, work):
    """Score a sample and the labelings that it knows."""
    score_row(rows, theta[0], numbers[CONSTANT], n, work[0])
    for v in range(work[1].size):
        work[1][v] = 0.0
    for p in range(cache[3][n]):
        load_plane(cache[0][n, p], p, work)
    _value_all(cache[2][n], cache[3][n], theta[1], pairs, work)


@inner_kernel
def _settle(rows, n, cache, theta, pairs, numbers, moved, work):
    """Move weight between the labelings that a sample knows; return the gap that it had.

    Those without weight and of less than the mean value stay out of it until the next visit.
    """
    weights, values, active = cache[1][n], work[3], work[10]
    gap, size = activate(weights, cache[3][n], values, active)
    for step in range(int(numbers[STEPS]) + 1):
        low, high = -1, active[0]
        for k in range(size):
            p = active[k]
            if values[p] > values[high]:
                high = p
            if weights[p] > 0.0 and (low < 0 or values[p] < values[low]):
                low = p
        rise = values[high] - values[low]
        if step == int(numbers[STEPS]) or rise <= numbers[ENOUGH]:
            break
        bend = _difference(low, high, rows[3][n], pairs, work)
        full = bend * weights[low] <= numbers[LAMBDA] * rise
        amount = weights[low] if full else numbers[LAMBDA] * rise / bend
        _move(low, high, amount / numbers[LAMBDA], rows[3][n], theta[1], pairs, work)
        weights[high] += amount
        weights[low] = 0.0 if full else weights[low] - amount
        for k in range(size):
            values[active[k]] = _value(active[k], cache[2][n, active[k]], theta[1], pairs, work)
    if step > 0 or moved:
        write_row(rows, theta[0], numbers[CONSTANT], n, work[1])
    return gap


@inner_kernel
def activate(weights, count, values, active):
    """List the planes with weight or of more than the mean value; return the gap and how many."""
    mass, mean, high, size = 0.0, 0.0, values[0], 0
    for p in range(count):
        mass += weights[p]
        mean += weights[p] * values[p]
        high = max(high, values[p])
    for p in range(count):
        if weights[p] > 0.0 or mass * values[p] > mean:
            active[size] = p
            size += 1
    return mass * high - mean, size


@inner_kernel
def load_plane(plane, p, work):
    """List the labels of a plane in slot ``p`` of the workspace."""
    on, packed, bits, size = work[4][p], work[6][p], work[7], 0
    for b in range(plane.size):
        packed[b] = plane[b]
        for k in range(bits[plane[b], 0]):
            on[size] = 8 * b + bits[plane[b], 1 + k]
            size += 1
    work[5][p] = size


@inner_kernel
def _value(p, loss, free, pairs, work):
    """Loss plus score of slot ``p``."""
    on, packed, value = work[4][p], work[6][p], loss
    for k in range(work[5][p]):
        i = on[k]
        value += work[0][i]
        for e in range(pairs[0][i], pairs[0][i + 1]):
            j = pairs[1][e]
            if packed[j >> 3] >> (j & 7) & 1 and free[e] > 0.0:
                value += pairs[2][e] * free[e]
    return value


@inner_kernel
def _value_all(losses, count, free, pairs, work):
    for p in range(count):
        work[3][p] = _value(p, losses[p], free, pairs, work)


@inner_kernel
def _mark(p, sign, pairs, marks, work):
    """Add the pair features of slot ``p`` to ``marks``."""
    on, packed = work[4][p], work[6][p]
    for k in range(work[5][p]):
        for e in range(pairs[0][on[k]], pairs[0][on[k] + 1]):
            j = pairs[1][e]
            if packed[j >> 3] >> (j & 7) & 1:
                marks[e] += sign * pairs[2][e]


@inner_kernel
def _difference(a, b, norm, pairs, work):
    """Squared distance of the features of slots ``a`` and ``b``."""
    differ = 0
    for q in range(work[6].shape[1]):
        differ += work[7][work[6][a, q] ^ work[6][b, q], 0]
    total, marks = norm * differ, work[2]
    if marks.size > 0:
        for e in range(marks.size):
            marks[e] = 0.0
        _mark(b, 1.0, pairs, marks, work)
        _mark(a, -1.0, pairs, marks, work)
        for e in range(marks.size):
            total += marks[e] * marks[e]
    return total


@inner_kernel
def _move(a, b, amount, norm, free, pairs, work):
    """Move ``amount`` (weight over lambda) from slot ``a`` to ``b``: scores, change, couplings."""
    scores, change = work[0], work[1]
    for k in range(work[5][b]):
        scores[work[4][b, k]] -= amount * norm
        change[work[4][b, k]] -= amount
    for k in range(work[5][a]):
        scores[work[4][a, k]] += amount * norm
        change[work[4][a, k]] += amount
    if free.size > 0:
        _mark(b, -amount, pairs, free, work)
        _mark(a, amount, pairs, free, work)


@inner_kernel
def _admit(norm, n, cache, new, free, pairs, numbers, work):
    """Take up a new plane if its value passes all known ones.

    It gets a free slot, else that of the plane without weight and of least value, else all the
    weight of the plane with the least, if the dual rises by it; else it is forgotten. Return
    whether weight was moved.
    """
    plane, loss, moved = new[0], new[1], False
    weights, values, count, last = cache[1][n], work[3], cache[3][n], work[3].size - 1
    load_plane(plane, last, work)
    value, slot = _value(last, loss, free, pairs, work), -1
    for p in range(count):
        if values[p] + numbers[ENOUGH] >= value:
            return False
    if count < last:
        slot = count
        cache[3][n] += 1
        weights[slot] = 0.0
    else:
        for p in range(1, count):
            if (
                slot < 0
                or weights[p] < weights[slot]
                or (weights[p] == 0.0 and weights[slot] == 0.0 and values[p] < values[slot])
            ):
                slot = p
        if slot < 0:
            return False
        amount = weights[slot]
        if amount > 0.0:
            bend = _difference(slot, last, norm, pairs, work)
            if amount * bend >= 2.0 * numbers[LAMBDA] * (value - values[slot]):
                return False
            _move(slot, last, amount / numbers[LAMBDA], norm, free, pairs, work)
            moved = True
    for b in range(plane.size):
        cache[0][n, slot, b] = plane[b]
    cache[2][n, slot] = loss
    load_plane(plane, slot, work)
    _value_all(cache[2][n], cache[3][n], free, pairs, work)
    return moved


@inner_kernel
def write_row(rows, W, constant, n, change):
    """Add ``x_n change'`` to ``W``."""
    for v in range(change.size):
        W[W.shape[0] - 1, v] += constant * change[v]
    for e in range(rows[0][n], rows[0][n + 1]):
        x, d = rows[2][e], rows[1][e]
        for v in range(change.size):
            W[d, v] += x * change[v]
