"""Attracting labels with a loss that depends on counts: what one cut says about them.

Maximise ``s(y) + alpha[k] + beta[k] h`` where ``s`` is the score of ``colabel._kernels.cut``, ``h``
the number of true labels that are on and ``k``, the *level*, the number of counted labels that are
on: all labels for F-beta, the false ones for Jaccard. The maximum is intractable (Section 3 of
Petterson and Caetano 2011); a cut with ``beta`` and a price ``mu`` on each counted label is not,

    g(beta, mu) = max_y s(y) + beta h(y) + mu k(y),

and it bounds every level ``q``: with ``h`` between ``least[q]`` and ``most[q]`` no labeling there
passes ``alpha[q] + g(beta, mu) - mu q + max_h (beta[q] - beta) h``.

Which cuts to solve is decided elsewhere (``f_family``, ``f_search``) by functions that ask for the
next one (BETA, MU, FIXED), so that the flow code is linked, and optimised by LLVM, once only.

"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._kernels import bare_kernel
from colabel._kernels.cut import row_value

__all__ = [
    "LevelArrays",
    "Row",
    "State",
    "begin",
    "copy",
    "empty_state",
    "measure",
    "polish",
    "tell",
    "tilt",
]

# Rows of sets, of reals; entries of box, of pos. A plain number would be a type of its own to
# functions that take a row.
FIXED, TRIAL, BEST, LEFT, RIGHT = np.arange(5)
TILTED, BOUND, FIELD, SCORE, HITS, COUNT, TRIED, LINE, LINE_AT = range(9)
VALUE, CUTS, LAST_SCORE, LAST_HITS, LAST_COUNT, LAST_G, TOL, BETA, MU, FLOOR, SIZE = range(11)
ONLY, PLACE, TOP, LEVEL, STAGE, LABEL, ROOT = range(7)


class Row(NamedTuple):
    """A row, or several: unaries, true labels and counted labels, ([n,] V) each."""

    unary: NDArray[np.float64]
    truth: NDArray[np.int8]
    counted: NDArray[np.int8]


class LevelArrays(NamedTuple):
    """What the loss adds at each level, and between which hits; ``order`` sorts ``beta``."""

    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    order: NDArray[np.int64]


class State(NamedTuple):
    """What is known about a row: labelings, vectors, numbers and places by the names above.

    FIXED is -1 where a label is free.
    """

    sets: NDArray[np.int8]
    reals: NDArray[np.float64]
    box: NDArray[np.float64]
    pos: NDArray[np.int64]


def empty_state(V):
    """Allocate the ``state`` of one thread."""
    reals = np.empty((9, V + 2))
    return State(np.empty((5, V), np.int8), reals, np.zeros(11), np.zeros(7, np.int64))


@bare_kernel
def begin(unary, state, size):
    """Set the state for a row and the rounding allowed.

    ``size`` is the sum of all couplings and the most that a loss can add. A unary below its
    negative keeps a label off for certain, and takes no part in any sum that matters.
    """
    sets, reals, box, pos = state.sets, state.reals, state.box, state.pos
    tol = 1e-13 * (1.0 + size)
    for i in range(unary.size):
        sets[FIXED, i] = -1
        sets[BEST, i] = 0
        tol += 1e-13 * (unary[i] if unary[i] > 0.0 else min(-unary[i], 1.0 + size))
    for q in range(reals.shape[1]):
        reals[BOUND, q] = np.inf
        reals[TRIED, q] = 0.0
    box[VALUE], box[CUTS], box[TOL] = -np.inf, 0.0, tol
    box[SIZE] = 0.0
    pos[PLACE] = pos[TOP] = pos[ROOT] = -1


@bare_kernel
def tilt(row, state):
    """Write the unaries of the cut asked for; FIXED labels are forced."""
    sets, tilted = state.sets, state.reals[TILTED]
    beta, mu = state.box[BETA], state.box[MU]
    for i in range(sets.shape[1]):
        tilted[i] = row.unary[i] + beta * row.truth[i] + mu * row.counted[i]
        if sets[FIXED, i] >= 0:
            tilted[i] = np.inf if sets[FIXED, i] > 0 else -np.inf


@bare_kernel
def copy(sets, source, target):
    """Copy a row of ``sets``."""
    for i in range(sets.shape[1]):
        sets[target, i] = sets[source, i]


@bare_kernel
def measure(row, graph, labels):
    """Return the score of a labeling, and how many true, counted and all labels are on."""
    hits, k, size = 0, 0, 0
    for i in range(labels.size):
        hits += labels[i] * row.truth[i]
        k += labels[i] * row.counted[i]
        size += labels[i]
    return row_value(row.unary, graph, labels), hits, k, size


@bare_kernel
def tell(row, levels, graph, state, nonempty):
    """Take in the labeling of a cut: keep it if it is the best so far, lower the bounds.

    Best by the true objective, of equals the one with fewer labels. Where labels were fixed on
    account of one level (ONLY), no other is lowered. O(V and arcs of labels on).
    """
    sets, bound, box = state.sets, state.reals[BOUND], state.box
    alpha, betas, only = levels.alpha, levels.beta, state.pos[ONLY]
    score, hits, k, size = measure(row, graph, sets[TRIAL])
    value = score + alpha[k] + betas[k] * hits
    better = value > box[VALUE] or (value == box[VALUE] and size < box[SIZE])
    if better and (size > 0 or not nonempty):
        box[VALUE], box[SIZE] = value, size
        copy(sets, TRIAL, BEST)
    beta, mu = box[BETA], box[MU]
    g = score + beta * hits + mu * k
    box[CUTS] += 1.0
    box[LAST_SCORE], box[LAST_HITS] = score, hits
    box[LAST_COUNT], box[LAST_G] = k, g
    for q in range(alpha.size):
        if only < 0 or only == q:
            rise = betas[q] - beta
            top = alpha[q] + g - mu * q + max(rise * levels.least[q], rise * levels.most[q])
            bound[q] = min(bound[q], top)


@bare_kernel
def polish(row, levels, graph, state, nonempty):
    """Flip the label that raises the true objective most, while one does. O(V) a flip."""
    truth, counted, heads, weights = row.truth, row.counted, graph.heads, graph.weights
    best, field, box = state.sets[BEST], state.reals[FIELD], state.box
    score, hits, on, size = measure(row, graph, best)
    for i in range(best.size):
        field[i] = row.unary[i]
        for e in range(graph.indptr[i], graph.indptr[i + 1]):
            field[i] += weights[e] * best[heads[e]]
    for _ in range(4 * best.size):
        top, flip = box[VALUE] + box[TOL], -1
        for i in range(best.size):
            sign = 1 - 2 * best[i]
            k = on + sign * counted[i]
            value = score + sign * field[i] + levels.alpha[k]
            value += levels.beta[k] * (hits + sign * truth[i])
            if value > top and (size + sign > 0 or not nonempty):
                top, flip = value, i
        if flip < 0:
            break
        sign = 1 - 2 * best[flip]
        score += sign * field[flip]
        hits, on, size = hits + sign * truth[flip], on + sign * counted[flip], size + sign
        best[flip] += sign
        box[VALUE] = top
        for e in range(graph.indptr[flip], graph.indptr[flip + 1]):
            field[heads[e]] += sign * weights[e]
    box[SIZE] = size
