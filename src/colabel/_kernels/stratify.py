"""Distribute units (rows, or groups of rows) over parts so that each part gets its share of labels.

A *unit* is what may not be torn apart. Units come as a CSR table of counts: ``counts`` of unit
``u`` for the labels ``indices[indptr[u]:indptr[u + 1]]``, sorted, where label 0 is "a row at all",
so that its count is the unit's number of rows and the size of a part is the count of one more
label. Units earlier in the table are placed earlier; randomness enters as that order and as
``ties``, never in here.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel, plain_kernel

__all__ = ["place_units", "swap_units"]


@kernel
def place_units(indptr, indices, counts, label_ptr, label_units, shares, room, ties):
    """Place units by iterative stratification (Sechidis et al. 2011, Algorithm 1).

    The label with the fewest rows left is dealt out next; each of its units goes to the part that
    still wants most rows of that label, ties to the part that wants most rows, further ties by
    ``ties[u]``. Parts with no room for the unit are passed over while another has room, and when
    no more units are left than parts are empty, only empty parts are filled. All comparisons are
    between integers (wants are scaled by ``shares.sum()``), so equal wants are equal.

    Parameters
    ----------
    indptr, indices, counts : int64 arrays
        Units by labels, CSR.
    label_ptr, label_units : int64 arrays
        The units of each label, in table order (the CSC pattern of the same table).
    shares : int64 array of shape (n_parts,)
        Relative sizes wanted.
    room : int64 array of shape (n_parts,)
        Rows each part may hold; used up in place.
    ties : int64 array of shape (n_units,), >= 0
        ``ties[u] % m`` picks among ``m`` equal parts.

    Returns
    -------
    part : int64 array of shape (n_units,)

    Notes
    -----
    O(nnz + n_units * n_parts + n_labels ** 2). Greedy, not optimal.
    """
    n_units, n_labels, n_parts = indptr.size - 1, label_ptr.size - 1, shares.size
    scale = shares.sum()
    left = np.zeros(n_labels, np.int64)
    for q in range(indices.size):
        left[indices[q]] += counts[q]
    wants = left.reshape(-1, 1) * shares.reshape(1, -1)
    filled = np.zeros(n_parts, np.int64)
    allowed = np.ones(n_parts, np.bool_)
    part = np.full(n_units, -1, np.int64)
    n_left, n_empty = n_units, n_parts
    while n_left > 0:
        label = _rarest(left)
        for p in range(label_ptr[label], label_ptr[label + 1]):
            u = label_units[p]
            if part[u] >= 0:
                continue
            size = counts[indptr[u]]
            _allow(allowed, room, filled, size, n_left <= n_empty)
            best = _neediest(wants[label], wants[0], allowed, ties[u])
            part[u] = best
            n_left -= 1
            if filled[best] == 0:
                n_empty -= 1
            filled[best] += size
            room[best] -= size
            for q in range(indptr[u], indptr[u + 1]):
                wants[indices[q], best] -= scale * counts[q]
                left[indices[q]] -= counts[q]
    return part


@bare_kernel
def _rarest(left):
    """Return the first label with the fewest, but some, rows left."""
    best = 0
    for label in range(1, left.size):
        if left[label] > 0 and left[label] < left[best]:
            best = label
    return best


@bare_kernel
def _allow(allowed, room, filled, size, only_empty):
    """Mark the parts a unit of ``size`` rows may go to; see `place_units`."""
    for j in range(room.size):
        allowed[j] = room[j] >= size and not (only_empty and filled[j] > 0)
    if not allowed.any():
        for j in range(room.size):
            allowed[j] = not (only_empty and filled[j] > 0)


@bare_kernel
def _neediest(wants_label, wants_rows, allowed, tie):
    """Return the allowed part that wants the label most, then rows most, then by ``tie``."""
    best, n_equal = -1, 0
    for j in range(allowed.size):
        if not allowed[j]:
            continue
        more = 1
        if best >= 0:
            more = wants_label[j] - wants_label[best]
            if more == 0:
                more = wants_rows[j] - wants_rows[best]
        if more > 0:
            best, n_equal = j, 1
        elif more == 0:
            n_equal += 1
    skip, j = tie % n_equal, best
    while skip > 0:
        j += 1
        if allowed[j] and wants_label[j] == wants_label[best] and wants_rows[j] == wants_rows[best]:
            skip -= 1
    return j


@plain_kernel
def swap_units(indptr, indices, counts, part, surplus, weights, first, second):
    """Swap the units ``first[t]`` and ``second[t]`` of different parts wherever that helps.

    What is lowered is ``sum(weights * surplus ** 2)``; with weights of one over the expected
    counts it is Pearson's chi-square statistic of the labels-by-parts table. A unit with no rows
    is a legal partner (the swap is then a move). No swap takes the last row of a label, or the
    last row at all, from a part in which one or more are expected.

    Parameters
    ----------
    indptr, indices, counts : int64 arrays
        Units by labels, CSR, indices sorted.
    part : int64 array of shape (n_units,)
        Changed in place.
    surplus : float64 array of shape (n_labels, n_parts)
        Counts minus expected counts; changed in place.
    weights : float64 array of shape (n_labels, n_parts)
        One over the expected counts.
    first, second : int64 arrays of shape (n_trials,)
        Pairs to try, in turn.

    Returns
    -------
    n_swaps : int
        Pairs swapped.
    """
    n_swaps = 0
    for t in range(first.size):
        a, b = first[t], second[t]
        if part[a] == part[b]:
            continue
        if _swap_gain(indptr, indices, counts, surplus, weights, (a, part[a]), (b, part[b])) > 1e-9:
            part[a], part[b] = part[b], part[a]
            _shift(indptr, indices, counts, surplus, a, part[b], part[a])
            _shift(indptr, indices, counts, surplus, b, part[a], part[b])
            n_swaps += 1
    return n_swaps


@bare_kernel
def _swap_gain(indptr, indices, counts, surplus, weights, here, there):
    """Return by how much the objective falls if two (unit, part) change places; -1 if forbidden."""
    (a, i), (b, j) = here, there
    p, p_end, q, q_end = indptr[a], indptr[a + 1], indptr[b], indptr[b + 1]
    gain = 0.0
    while p < p_end or q < q_end:
        label = min(
            indices[p] if p < p_end else surplus.shape[0],
            indices[q] if q < q_end else surplus.shape[0],
        )
        change = 0
        if p < p_end and indices[p] == label:
            change -= counts[p]
            p += 1
        if q < q_end and indices[q] == label:
            change += counts[q]
            q += 1
        up, down = surplus[label, i] + change, surplus[label, j] - change
        if _robs(up, weights[label, i]) or _robs(down, weights[label, j]):
            return -1.0
        gain += weights[label, i] * (surplus[label, i] ** 2 - up**2)
        gain += weights[label, j] * (surplus[label, j] ** 2 - down**2)
    return gain


@bare_kernel
def _robs(surplus, weight):
    """Tell whether a part would hold no row of a label of which one or more are expected."""
    return weight < 1.0 + 1e-9 and surplus * weight + 1.0 < 0.5 * weight


@bare_kernel
def _shift(indptr, indices, counts, surplus, unit, old, new):
    """Book a unit's counts from the part ``old`` to the part ``new``."""
    for q in range(indptr[unit], indptr[unit + 1]):
        surplus[indices[q], old] -= counts[q]
        surplus[indices[q], new] += counts[q]
