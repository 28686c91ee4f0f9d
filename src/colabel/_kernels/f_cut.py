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

from colabel._kernels import kernel
from colabel._kernels.forced_cut import row_value

__all__ = ["begin", "f_state", "polish", "tell", "tilt"]

# Rows of sets, of reals; entries of box, of pos.
FIXED, TRIAL, BEST, LEFT, RIGHT = 0, 1, 2, 3, 4
TILTED, BOUND, FIELD, SCORE, HITS, COUNT, LINE = 0, 1, 2, 3, 4, 5, 6
VALUE, CUTS, LAST_SCORE, LAST_HITS, LAST_COUNT, LAST_G = 0, 1, 2, 3, 4, 5
TOL, NONEMPTY, MAX_CUTS, BETA, MU, FLOOR = 6, 7, 8, 9, 10, 11
ONLY, PLACE, TOP, LEVEL, STAGE, LABEL, ROOT = 0, 1, 2, 3, 4, 5, 6


def f_state(V):
    """Allocate the ``state`` of one thread."""
    return np.empty((5, V), np.int8), np.empty((7, V + 4)), np.zeros(12), np.zeros(7, np.int64)


@kernel
def begin(unary, state, size):
    """Set the state for a row; ``size`` is the sum of all couplings, for the rounding allowed."""
    sets, reals, box, pos = state
    box[VALUE], box[CUTS], box[TOL] = -np.inf, 0.0, 1e-13 * (1.0 + size)
    for i in range(unary.size):
        sets[FIXED, i], sets[BEST, i] = -1, 0
        box[TOL] += 1e-13 * abs(unary[i])
    for q in range(reals.shape[1]):
        reals[BOUND, q] = np.inf
    for p in range(pos.size):
        pos[p] = -1


@kernel
def tilt(row, state):
    """Write the unaries of the cut asked for; FIXED labels are forced."""
    sets, reals, box, _ = state
    for i in range(sets.shape[1]):
        reals[TILTED, i] = row[0][i] + box[BETA] * row[1][i] + box[MU] * row[2][i]
        if sets[FIXED, i] >= 0:
            reals[TILTED, i] = np.inf if sets[FIXED, i] > 0 else -np.inf


@kernel
def tell(row, level, graph, state):
    """Take in the labeling of a cut: keep it if it is the best so far, lower the bounds.

    Best by the true objective, of equals the one with fewer labels. Where labels were fixed on
    account of one level (ONLY), no other is lowered. O(V and arcs of labels on).
    """
    sets, reals, box, pos = state
    alpha, betas, least, most, _ = level
    hits, k, n_new, n_old = 0, 0, 0, 0
    for i in range(sets.shape[1]):
        hits += sets[TRIAL, i] * row[1][i]
        k += sets[TRIAL, i] * row[2][i]
        n_new += sets[TRIAL, i]
        n_old += sets[BEST, i]
    score = row_value(row[0], graph, sets[TRIAL])
    value = score + alpha[k] + betas[k] * hits
    better = value > box[VALUE] or (value == box[VALUE] and n_new < n_old)
    if better and (n_new > 0 or box[NONEMPTY] == 0.0):
        box[VALUE] = value
        for i in range(sets.shape[1]):
            sets[BEST, i] = sets[TRIAL, i]
    g = score + box[BETA] * hits + box[MU] * k
    box[CUTS] += 1.0
    box[LAST_SCORE], box[LAST_HITS], box[LAST_COUNT], box[LAST_G] = score, hits, k, g
    for q in range(alpha.size):
        if pos[ONLY] < 0 or pos[ONLY] == q:
            rise = betas[q] - box[BETA]
            top = alpha[q] + g - box[MU] * q + max(rise * least[q], rise * most[q])
            reals[BOUND, q] = min(reals[BOUND, q], top)


@kernel
def polish(row, level, graph, state):
    """Flip the label that raises the true objective most, while one does. O(V) a flip."""
    unary, truth, counted = row
    sets, reals, box, _ = state
    field, best = reals[FIELD], sets[BEST]
    hits, on, n_on = 0, 0, 0
    score = row_value(unary, graph, best)
    for i in range(best.size):
        hits += best[i] * truth[i]
        on += best[i] * counted[i]
        n_on += best[i]
        field[i] = unary[i]
        for e in range(graph[0][i], graph[0][i + 1]):
            field[i] += graph[6][e] * best[graph[1][e]]
    for _ in range(4 * best.size):
        top, flip = box[VALUE] + box[TOL], -1
        for i in range(best.size):
            sign = 1 - 2 * best[i]
            k = on + sign * counted[i]
            value = score + sign * field[i] + level[0][k] + level[1][k] * (hits + sign * truth[i])
            if value > top and (n_on + sign > 0 or box[NONEMPTY] == 0.0):
                top, flip = value, i
        if flip < 0:
            return
        sign = 1 - 2 * best[flip]
        score += sign * field[flip]
        hits, on, n_on = hits + sign * truth[flip], on + sign * counted[flip], n_on + sign
        best[flip] += sign
        box[VALUE] = top
        for e in range(graph[0][flip], graph[0][flip + 1]):
            field[graph[1][e]] += sign * graph[6][e]
