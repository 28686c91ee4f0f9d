"""A proof, without a flow, that no more labels come on than turn each other on one by one.

Labels with a positive unary are on, and so are those whose gain ``low_i``, the unary with the
couplings to labels known to be on, is positive. Any set ``T`` of the others adds
``sum_T low_i + sum_{i<j in T} c_ij``. If every coupling is *shared out* between its two labels,
``c_ij = f_ij + f_ji`` with ``f >= 0``, and no label is charged more than it lacks,
``sum_j f_ij <= -low_i``, then no set adds anything: the labels that are on are the smallest
maximiser. Such shares exist if, and only if, it is (the flows of ``colabel._kernels.cut``), and
some of them have the form

    f_ij = c_ij clip(1/2 + d_i - d_j, 0, 1)

with a potential ``d_i`` for each label: those of the least sum of ``f_ij^2 / c_ij`` have. A label
that is charged too much lowers its potential; that takes one row of the couplings, and no matrix is
copied. The couplings are common to all rows, which begin with potentials that suit most of them.

Rows where labels come on together have no shares, and many of them are told at once. A label takes
no more than it lacks, and no more than its couplings to labels that are off, ``S_i``; all of these
couplings are to be shared out, ``sum_i S_i / 2``. So there are none if

    sum_i min(-low_i, S_i) < sum_i S_i / 2        (over labels that are off).

Numbers are floats in units of all couplings together. Shares must hold with a margin that is far
above the rounding, so that what is proved is true; where they do not, a flow decides.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import any_order, bare_kernel, plain_kernel

__all__ = ["Shares", "empty_shares", "prepare_shares", "proved"]

# Rows of ``vectors``: fixed for a graph, common to all rows, and of the row at hand.
UNIT, TOTAL, RATE, MARGIN, START, CHARGE, LOW, REST, EXCESS, POTENTIAL, STEP = range(11)
# The 60 bits of the integer graph; steps in units of those that would do if no share were clipped.
WHOLE, EAGER = 2.0**-60, 1.6
# Rounding is 1e-15 of a label's couplings in each of some thousand sums, and half an integer.
SAFE, HALF = 2.0**-30, 2.0**-56
# Potentials beyond this would round; those of labels that are on lie further out.
FAR, OUT = 2.0**10, 2.0**30
SWEEPS, FIRST_SWEEPS = 12, 5


class Shares(NamedTuple):
    """Couplings, and charges of the common potentials, (V, V); vectors of labels by their names."""

    couplings: NDArray[np.float64]
    charges: NDArray[np.float64]
    vectors: NDArray[np.float64]


def empty_shares(graph):
    """Allocate what `prepare_shares` fills, for a graph with a matrix."""
    V = graph.sums.size
    couplings, vectors = graph.matrix * WHOLE, np.zeros((11, V))
    vectors[UNIT] = graph.scale * WHOLE
    total = vectors[TOTAL]
    couplings.sum(axis=1, out=total)
    np.divide(EAGER, total, out=vectors[RATE], where=total > 0.0)
    vectors[MARGIN] = SAFE * total + HALF
    return Shares(couplings, np.empty((V, V)), vectors)


@plain_kernel
def prepare_shares(unary, shares):
    """Find potentials that suit a typical row, of ``unary`` (V,). O(V^2)."""
    couplings, charges, vectors = shares.couplings, shares.charges, shares.vectors
    lack, excess, d = vectors[LOW], vectors[EXCESS], vectors[START]
    needed, there = 0.0, 0.0
    for i in range(d.size):
        d[i], total = 0.0, vectors[TOTAL, i]
        # No label can be charged more than its couplings.
        lack[i] = min(max(-unary[i] * vectors[UNIT, i], 0.0), total)
        excess[i] = 0.5 * total
        needed += excess[i]
        there += lack[i]
    if there > 0.0:
        for i in range(d.size):
            excess[i] -= lack[i] * (needed / there)
        for _ in range(FIRST_SWEEPS):
            for i in range(d.size):
                to = d[i] - excess[i] * vectors[RATE, i] / EAGER
                to = min(max(to, -FAR), FAR)
                excess[i] -= _move(couplings[i], d, 0.5 + d[i], 0.5 + to, excess)
                d[i] = to
    for i in range(d.size):
        vectors[CHARGE, i] = _charge(couplings[i], d, 0.5 + d[i], charges[i])
        vectors[CHARGE, i] += vectors[MARGIN, i]


@any_order
def _move(row, d, before, after, excess):
    """Charge the others with what a label gives away; return minus that.

    ``before`` and ``after`` are one half more than its potentials.
    """
    total = 0.0
    for j in range(row.size):
        share = min(max(after - d[j], 0.0), 1.0) - min(max(before - d[j], 0.0), 1.0)
        excess[j] -= row[j] * share
        total -= row[j] * share
    return total


@any_order
def _charge(row, d, level, out):
    """Write the shares of a label; return their sum."""
    total = 0.0
    for j in range(row.size):
        out[j] = row[j] * min(max(level - d[j], 0.0), 1.0)
        total += out[j]
    return total


@bare_kernel
def proved(unary, shares, queue, labels):
    """Write the labels that are on one by one; tell whether they are proved to be all.

    O(V) for each of them and for each label that is charged too much, some times, and where the
    sums above refuse a proof O(V) in all; ``queue`` is working space.
    """
    couplings, charges, vectors = shares.couplings, shares.charges, shares.vectors
    low, excess, d = vectors[LOW], vectors[EXCESS], vectors[POTENTIAL]
    n_on = _begin(unary, vectors, labels)
    if n_on > 0:
        n_on = 0
        for i in range(labels.size):
            if labels[i] == 1:
                queue[n_on] = i
                n_on += 1
    at = 0
    while at < n_on:
        i = queue[at]
        at += 1
        if _turn_on(couplings[i], charges[i], vectors, labels):
            for j in range(labels.size):
                if labels[j] == 0 and low[j] > vectors[MARGIN, j]:
                    labels[j] = 1
                    queue[n_on] = j
                    n_on += 1
    if _lacking(vectors, labels):
        return False
    for i in range(labels.size):
        d[i] = vectors[START, i]
        vectors[STEP, i] = vectors[RATE, i]
    for q in range(n_on):
        excess[queue[q]], d[queue[q]] = -1.0, OUT
    return _share_out(couplings, vectors)


@bare_kernel
def _begin(unary, vectors, labels):
    """Charge every label as in a typical row; return how many are on by themselves."""
    unit, low, excess, charge = vectors[UNIT], vectors[LOW], vectors[EXCESS], vectors[CHARGE]
    total, rest, n_on = vectors[TOTAL], vectors[REST], 0
    for i in range(labels.size):
        rest[i] = total[i]
        low[i] = min(unary[i] * unit[i], 0.0)
        excess[i] = low[i] + charge[i]
        labels[i] = unary[i] > 0.0
    for i in range(labels.size):
        n_on += labels[i]
    return n_on


@bare_kernel
def _turn_on(row, charges, vectors, labels):
    """Give the others their couplings to a label that is on; tell whether that turns any on.

    They were charged with a part of them already; its own charges are what is left.
    """
    low, excess, margin, found = vectors[LOW], vectors[EXCESS], vectors[MARGIN], 0
    rest = vectors[REST]
    for j in range(row.size):
        rest[j] -= row[j]
        low[j] += row[j]
        excess[j] += charges[j]
        found |= (low[j] > margin[j]) & (labels[j] == 0)
    return found > 0


@any_order
def _lacking(vectors, labels):
    """Tell whether labels that are off lack less than their couplings; it takes no proof away.

    All couplings together are 1 here, and these sums round by far less than what is let pass.
    """
    low, rest, free = vectors[LOW], vectors[REST], 0.0
    for i in range(labels.size):
        takes = min(-low[i], rest[i]) - 0.5 * rest[i]
        free += takes if labels[i] == 0 else 0.0
    return free < -SAFE


@bare_kernel
def _share_out(couplings, vectors):
    """Lower potentials of labels that are charged too much; tell whether none is left."""
    excess, d, step = vectors[EXCESS], vectors[POTENTIAL], vectors[STEP]
    for _ in range(SWEEPS):
        left = 0
        for i in range(excess.size):
            if excess[i] > 0.0:
                to = d[i] - excess[i] * step[i]
                if to < -FAR:
                    return False
                excess[i] -= _move(couplings[i], d, 0.5 + d[i], 0.5 + to, excess)
                d[i] = to
                left += 1
                if excess[i] > 0.0:  # shares were clipped
                    step[i] *= 2.0
        if left == 0:
            return True
    return False
