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

Shared arguments: ``row = (unary, truth, counted)``; ``level = (alpha, beta, least, most, order)``
with ``order`` sorting ``beta``; ``state = (sets, reals, box, pos)`` with the labelings FIXED (-1
where free), TRIAL, BEST, LEFT, RIGHT in ``sets``, vectors in ``reals``, numbers in ``box`` and
places in ``pos``, all by the names below.
"""

import numpy as np

from colabel._kernels import bare_kernel
from colabel._kernels.forced_cut import row_value

__all__ = ["begin", "copy", "f_state", "measure", "polish", "tell", "tilt"]

# Rows of sets, of reals; entries of box, of pos. A plain number would be a type of its own to
# functions that take a row.
FIXED, TRIAL, BEST, LEFT, RIGHT = np.arange(5)
TILTED, BOUND, FIELD, SCORE, HITS, COUNT, LINE, TRIED = 0, 1, 2, 3, 4, 5, 6, 7
VALUE, CUTS, LAST_SCORE, LAST_HITS, LAST_COUNT, LAST_G = 0, 1, 2, 3, 4, 5
TOL, NONEMPTY, MAX_CUTS, BETA, MU, FLOOR, SIZE = 6, 7, 8, 9, 10, 11, 12
ONLY, PLACE, TOP, LEVEL, STAGE, LABEL, ROOT = 0, 1, 2, 3, 4, 5, 6


def f_state(V):
    """Allocate the ``state`` of one thread."""
    return np.empty((5, V), np.int8), np.empty((8, V + 4)), np.zeros(13), np.zeros(7, np.int64)


@bare_kernel
def begin(unary, state, size):
    """Set the state for a row and the rounding allowed.

    ``size`` is the sum of all couplings and the most that a loss can add. A unary below its
    negative keeps a label off for certain, and takes no part in any sum that matters.
    """
    sets, reals, box = state[0], state[1], state[2]
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
    state[3][PLACE] = state[3][TOP] = state[3][ROOT] = -1


@bare_kernel
def tilt(row, state):
    """Write the unaries of the cut asked for; FIXED labels are forced."""
    sets, tilted = state[0], state[1][TILTED]
    beta, mu = state[2][BETA], state[2][MU]
    for i in range(sets.shape[1]):
        tilted[i] = row[0][i] + beta * row[1][i] + mu * row[2][i]
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
        hits += labels[i] * row[1][i]
        k += labels[i] * row[2][i]
        size += labels[i]
    return row_value(row[0], graph, labels), hits, k, size


@bare_kernel
def tell(row, level, graph, state):
    """Take in the labeling of a cut: keep it if it is the best so far, lower the bounds.

    Best by the true objective, of equals the one with fewer labels. Where labels were fixed on
    account of one level (ONLY), no other is lowered. O(V and arcs of labels on).
    """
    sets, bound, box = state[0], state[1][BOUND], state[2]
    alpha, betas, only = level[0], level[1], state[3][ONLY]
    score, hits, k, size = measure(row, graph, sets[TRIAL])
    value = score + alpha[k] + betas[k] * hits
    better = value > box[VALUE] or (value == box[VALUE] and size < box[SIZE])
    if better and (size > 0 or box[NONEMPTY] == 0.0):
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
            top = alpha[q] + g - mu * q + max(rise * level[2][q], rise * level[3][q])
            bound[q] = min(bound[q], top)


@bare_kernel
def polish(row, level, graph, state):
    """Flip the label that raises the true objective most, while one does. O(V) a flip."""
    unary, truth, counted = row[0], row[1], row[2]
    best, field, box = state[0][BEST], state[1][FIELD], state[2]
    score, hits, on, size = measure(row, graph, best)
    for i in range(best.size):
        field[i] = unary[i]
        for e in range(graph[0][i], graph[0][i + 1]):
            field[i] += graph[6][e] * best[graph[1][e]]
    for _ in range(4 * best.size):
        top, flip = box[VALUE] + box[TOL], -1
        for i in range(best.size):
            sign = 1 - 2 * best[i]
            k = on + sign * counted[i]
            value = score + sign * field[i] + level[0][k] + level[1][k] * (hits + sign * truth[i])
            if value > top and (size + sign > 0 or box[NONEMPTY] == 0.0):
                top, flip = value, i
        if flip < 0:
            break
        sign = 1 - 2 * best[flip]
        score += sign * field[flip]
        hits, on, size = hits + sign * truth[flip], on + sign * counted[flip], size + sign
        best[flip] += sign
        box[VALUE] = top
        for e in range(graph[0][flip], graph[0][flip + 1]):
            field[graph[1][e]] += sign * graph[6][e]
    box[SIZE] = size
