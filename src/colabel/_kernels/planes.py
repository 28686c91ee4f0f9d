"""Labelings that samples remember, with dual weights, and a step between two of them.

What the ascents of ``plane_ascent`` and ``spin_ascent`` share. A labeling with its loss is a
cutting plane of the risk; the *value* of a plane is its loss plus the score of its labeling. While
a sample is visited, its labelings stand in *slots*: the p-th plane in slot ``p``, one that is
looked at in the slot after those.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel

__all__ = [
    "Fresh",
    "Planes",
    "Settings",
    "Slots",
    "activate",
    "best_known",
    "empty_slots",
    "find_room",
    "load_plane",
    "remember",
    "select_pair",
    "shift_weight",
]


class Planes(NamedTuple):
    """Labelings in bits (n, P, B), the truth first, their weights and losses (n, P), how many."""

    bits: NDArray[np.uint8]
    weights: NDArray[np.float64]
    losses: NDArray[np.float64]
    counts: NDArray[np.int64]


class Fresh(NamedTuple):
    """A new labeling in bits, and its loss, for each sample to be visited; or none at all."""

    bits: NDArray[np.uint8]
    losses: NDArray[np.float64]


class Settings(NamedTuple):
    """At most ``steps`` steps a visit, none where values differ by less than ``enough``."""

    penalty: float
    constant: float
    steps: int
    enough: float


class Slots(NamedTuple):
    """Labelings written out: the labels that are on, how many, and all labels in bits.

    ``table`` has for each byte how many bits are on, and then which.
    """

    on: NDArray[np.int64]
    sizes: NDArray[np.int64]
    packed: NDArray[np.uint8]
    table: NDArray[np.int64]


def empty_slots(n_slots, n_labels):
    """Allocate labelings of ``n_labels`` labels."""
    table = np.zeros((256, 9), np.int64)
    for byte in range(256):
        bits = [k for k in range(8) if byte >> k & 1]
        table[byte, 0] = len(bits)
        table[byte, 1 : 1 + len(bits)] = bits
    packed = np.zeros((n_slots, -(-n_labels // 8)), np.uint8)
    on, sizes = np.zeros((n_slots, n_labels), np.int64), np.zeros(n_slots, np.int64)
    return Slots(on, sizes, packed, table)


@bare_kernel
def load_plane(plane, p, slots):
    """Write a labeling in bits to slot ``p``."""
    on, packed, table, size = slots.on[p], slots.packed[p], slots.table, 0
    for b in range(plane.size):
        packed[b] = plane[b]
        for k in range(table[plane[b], 0]):
            on[size] = 8 * b + table[plane[b], 1 + k]
            size += 1
    slots.sizes[p] = size


@bare_kernel
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


@bare_kernel
def select_pair(weights, values, active, size):
    """Return the plane of least value that has weight, and that of most value."""
    low, high = -1, active[0]
    for k in range(size):
        p = active[k]
        if values[p] > values[high]:
            high = p
        if weights[p] > 0.0 and (low < 0 or values[p] < values[low]):
            low = p
    return low, high


@bare_kernel
def shift_weight(weights, low, high, rise, bend, penalty):
    """Move as much weight as is best, or all there is, from ``low`` to ``high``; return how much.

    ``rise`` is by how much values differ, ``bend`` the squared distance of the features.
    """
    full = bend * weights[low] <= penalty * rise
    amount = weights[low] if full else penalty * rise / bend
    weights[high] += amount
    weights[low] = 0.0 if full else weights[low] - amount
    return amount


@bare_kernel
def best_known(values, count):
    """Return the plane of most value."""
    best = 0
    for p in range(count):
        if values[p] > values[best]:
            best = p
    return best


@bare_kernel
def find_room(value, n, planes, values, enough):
    """Return where to remember a plane of this value; -1 if a known one is about as good.

    A free slot, else that of the plane without weight and of least value, else that of the least
    weight; never that of the truth.
    """
    weights, count = planes.weights[n], planes.counts[n]
    for p in range(count):
        if values[p] + enough >= value:
            return -1
    if count < weights.size:
        planes.counts[n] += 1
        weights[count] = 0.0
        return count
    slot = -1
    for p in range(1, count):
        if (
            slot < 0
            or weights[p] < weights[slot]
            or (weights[p] == 0.0 and weights[slot] == 0.0 and values[p] < values[slot])
        ):
            slot = p
    return slot


@bare_kernel
def remember(source, slot, n, loss, planes, slots):
    """Make the labeling of slot ``source`` the plane ``slot`` of a sample."""
    for b in range(slots.packed.shape[1]):
        planes.bits[n, slot, b] = slots.packed[source, b]
    planes.losses[n, slot] = loss
    load_plane(slots.packed[source], slot, slots)
