"""Gibbs sampling of labels whose log-odds are linear in one another, and counts of what was drawn.

Given all others, label ``l`` is on with log-odds ``base[l] + sum_m couplings[l, m] y_m``. A label
is on where its log-odds exceed ``logit(u)`` for a uniform ``u``: those cuts are drawn beforehand,
and every sample uses the same ones, so that its draws do not depend on its neighbours.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel

__all__ = ["gibbs", "tally"]

# Hashes are taken modulo this prime.
PRIME = 2147483647


@kernel
def gibbs(base, effects, cuts, n_burn, draws, means):
    """Sample the labels of each row, label after label, sweep after sweep.

    Parameters
    ----------
    base : float64 array of shape (n, L)
    effects : float64 array of shape (L, L)
        ``couplings`` transposed: what label ``m`` adds to all others, at ``[m]``; zero diagonal.
    cuts : float64 array of shape (C, 1 + S, L)
        For each of ``C`` chains: cuts of its start, which ignores the couplings, and of its ``S``
        sweeps.
    n_burn : int
        Sweeps left out at the beginning of each chain.
    draws : int8 array of shape (n, C (S - n_burn), L)
        The labels after each sweep that counts; filled.
    means : float64 array of shape (n, L)
        Mean of the probabilities with which the labels were drawn; filled.

    Notes
    -----
    O(C S L (1 + f L)) per row, with ``f`` the share of labels that change in a sweep.
    """
    n_samples, n_labels = base.shape
    n_chains, n_sweeps = cuts.shape[0], cuts.shape[1] - 1
    field, y = np.empty(n_labels), np.empty(n_labels, np.int8)
    for i in range(n_samples):
        for v in range(n_labels):
            means[i, v] = 0.0
        drawn = 0
        for c in range(n_chains):
            for v in range(n_labels):
                field[v] = base[i, v]
                y[v] = 0
            for v in range(n_labels):
                if base[i, v] > cuts[c, 0, v]:
                    _flip(y, field, effects, v)
            for s in range(n_sweeps):
                for v in range(n_labels):
                    if s >= n_burn:
                        means[i, v] += 1.0 / (1.0 + np.exp(-field[v]))
                    if (field[v] > cuts[c, s + 1, v]) != (y[v] == 1):
                        _flip(y, field, effects, v)
                if s >= n_burn:
                    for v in range(n_labels):
                        draws[i, drawn, v] = y[v]
                    drawn += 1
        for v in range(n_labels):
            means[i, v] /= drawn


@bare_kernel
def _flip(y, field, effects, label):
    """Change one label, and what it adds to the others."""
    sign = 1.0 - 2.0 * y[label]
    y[label] = 1 - y[label]
    for v in range(field.size):
        field[v] += sign * effects[label, v]


@kernel
def tally(draws, counts, sizes):
    """Move the distinct draws of each row to its front, in order of appearance, and count them.

    Parameters
    ----------
    draws : int8 array of shape (n, T, L)
        Changed in place.
    counts : int64 array of shape (n, T), zeros
        How often each distinct labeling was drawn; filled.
    sizes : int64 array of shape (n,)
        How many are distinct; filled.

    Notes
    -----
    O(T L) per row, by a hash table.
    """
    n_draws = draws.shape[1]
    n_slots = 2
    while n_slots < 2 * n_draws:
        n_slots *= 2
    slots = np.empty(n_slots, np.int64)
    for i in range(draws.shape[0]):
        slots[:] = -1
        size = 0
        for j in range(n_draws):
            slot = _slot_of(draws[i], j, slots)
            if slots[slot] < 0:
                slots[slot] = size
                for v in range(draws.shape[2]):
                    draws[i, size, v] = draws[i, j, v]
                size += 1
            counts[i, slots[slot]] += 1
        sizes[i] = size


@bare_kernel
def _slot_of(draws, j, slots):
    """Return the slot of draw ``j``: that of an equal one before it, else an empty one."""
    code = 0
    for v in range(draws.shape[1]):
        code = (131 * code + int(draws[j, v])) % PRIME
    slot = code % slots.size
    while slots[slot] >= 0:
        same = True
        for v in range(draws.shape[1]):
            if draws[slots[slot], v] != draws[j, v]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) % slots.size
    return slot
