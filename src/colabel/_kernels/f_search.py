"""Attracting labels with a loss that depends on counts: the search that closes the gap.

Problem and shared arguments: ``colabel._kernels.f_cut``. Levels whose bound passes the best
labeling found are *open*. Each is bounded with the best price on its counted labels (the
Lagrangian of Section 5.5 of Lajugie et al. 2015, corrected); a node that keeps open levels is split
by fixing a label off and on. TRIED are the levels tried in a node.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import bare_kernel, inlined
from colabel._kernels.f_cut import (
    BETA,
    BOUND,
    COUNT,
    CUTS,
    FIXED,
    FLOOR,
    HITS,
    LABEL,
    LAST_COUNT,
    LAST_G,
    LAST_HITS,
    LAST_SCORE,
    LEFT,
    LEVEL,
    LINE,
    LINE_AT,
    MU,
    ONLY,
    RIGHT,
    ROOT,
    SCORE,
    STAGE,
    TOL,
    TOP,
    TRIAL,
    TRIED,
    VALUE,
    copy,
    measure,
)

__all__ = ["Nodes", "empty_nodes", "next_search"]

NEW, PRICED, ENDED = range(3)
# Sides of LINE, values, and LINE_AT, the levels where they are: fewer counted labels, and more.
FEW, MANY = np.arange(2)


class Nodes(NamedTuple):
    """Nodes to do: their FIXED labels and the bounds of levels."""

    fixed: np.ndarray
    tops: np.ndarray


def empty_nodes(V):
    """Allocate for as many nodes as a path can leave behind."""
    return Nodes(np.empty((V + 2, V), np.int8), np.empty((V + 2, V + 1)))


@inlined
def next_search(row, levels, graph, state, nodes, max_cuts):
    """Ask for the next cut and return True; False when all is closed or the limit is reached.

    In a node the open level with the largest bound comes first: what its cuts say often closes
    others. Nodes are done depth first, a label on before it is off.
    """
    reals, box, pos = state.reals, state.box, state.pos
    if pos[ROOT] < 0:
        pos[ROOT] = 1
        pos[TOP] = 0
        pos[LEVEL] = pos[LABEL] = -1
    while pos[TOP] >= 0 and box[CUTS] < max_cuts:
        if pos[LEVEL] >= 0 and _price(row, levels, graph, state):
            return True
        pos[LEVEL], pos[STAGE] = -1, NEW
        top = box[VALUE] + box[TOL]
        for q in range(levels.beta.size):
            if reals[TRIED, q] == 0.0 and reals[BOUND, q] > top:
                pos[LEVEL], top = q, reals[BOUND, q]
        if pos[LEVEL] >= 0:
            reals[TRIED, pos[LEVEL]] = 1.0
        else:
            _branch(levels, state, nodes)
    if pos[TOP] >= 0:
        for q in range(levels.beta.size):
            nodes.tops[pos[TOP], q] = reals[BOUND, q]
    return False


@bare_kernel
def _price(row, levels, graph, state):
    """Go on lowering the bound of the current level over the price; False when that is done.

    ``g(beta[q], mu) - mu q`` is convex in ``mu`` and every labeling a line below it; the next
    price is where the lines of a labeling with fewer counted labels and of one with more cross.
    A level that needs all or none of the free counted labels is one cut with these fixed.
    """
    sets, reals, box, pos = state.sets, state.reals, state.box, state.pos
    line, at = reals[LINE], reals[LINE_AT]
    q, stage = pos[LEVEL], pos[STAGE]
    enough = box[VALUE] + box[TOL]
    if stage == ENDED:
        copy(sets, LEFT, FIXED)
    if reals[BOUND, q] <= enough:
        return False
    stuck = stage == ENDED
    if stage == PRICED:
        stuck = box[LAST_G] - box[MU] * q <= box[FLOOR] + box[TOL] or box[LAST_COUNT] == q
        side = FEW if box[LAST_COUNT] < q else MANY
        line[side] = box[LAST_SCORE] + levels.beta[q] * box[LAST_HITS]
        at[side] = box[LAST_COUNT]
        copy(sets, TRIAL, LEFT + side)
    elif stage == NEW:
        _ends(row, levels, graph, state)
        if at[FEW] > q or at[MANY] < q:
            reals[BOUND, q] = -np.inf
            return False
    box[BETA], box[MU], pos[ONLY], pos[STAGE] = levels.beta[q], 0.0, q, ENDED
    if stage == NEW and (at[FEW] == q or at[MANY] == q):
        for i in range(sets.shape[1]):
            sets[LEFT, i] = sets[FIXED, i]
            if sets[FIXED, i] < 0 and row.counted[i] > 0:
                sets[FIXED, i] = 0 if at[FEW] == q else 1
        return True
    if not stuck:
        box[MU] = (line[FEW] - line[MANY]) / (at[MANY] - at[FEW])
        box[FLOOR] = line[FEW] + box[MU] * (at[FEW] - q)
        pos[ONLY], pos[STAGE] = -1, PRICED
        stuck = levels.alpha[q] + box[FLOOR] > enough
    if stuck and pos[LABEL] < 0:
        pos[LABEL] = _splitter(graph, sets, stage == ENDED)
    return not stuck


@bare_kernel
def _ends(row, levels, graph, state):
    """Set the lines to begin with: value and level of the fewest and of the most labels.

    At the root the labeling that the nested family holds for this level replaces one of them.
    """
    sets, reals, pos = state.sets, state.reals, state.pos
    q, line, at = pos[LEVEL], reals[LINE], reals[LINE_AT]
    for side in (FEW, MANY):
        for i in range(sets.shape[1]):
            sets[LEFT + side, i] = sets[FIXED, i] if sets[FIXED, i] >= 0 else side
        score, hits, on, _ = measure(row, graph, sets[LEFT + side])
        line[side], at[side] = score + levels.beta[q] * hits, on
    if pos[ROOT] > 0 and at[FEW] < q < at[MANY] and reals[COUNT, q] != q:
        side = FEW if reals[COUNT, q] < q else MANY
        line[side] = reals[SCORE, q] + levels.beta[q] * reals[HITS, q]
        at[side] = reals[COUNT, q]


@bare_kernel
def _splitter(graph, sets, any_free):
    """Return the free label of largest coupling in which LEFT and RIGHT differ, or any free one."""
    best, label = -1.0, -1
    for i in range(sets.shape[1]):
        if sets[FIXED, i] < 0 and (any_free or sets[LEFT, i] != sets[RIGHT, i]):
            size = graph.sums[i] / graph.scale[i]
            if size > best:
                best, label = size, i
    return label


@bare_kernel
def _branch(levels, state, nodes):
    """Split the node if a level is open, else drop it; take up the next one."""
    sets, reals, pos, fixed, tops = state.sets, state.reals, state.pos, nodes.fixed, nodes.tops
    enough = state.box[VALUE] + state.box[TOL]
    top, label, n_open = pos[TOP], pos[LABEL], 0
    for q in range(levels.beta.size):
        n_open += reals[BOUND, q] > enough
    if n_open > 0 and label >= 0:
        for i in range(fixed.shape[1]):
            fixed[top, i] = fixed[top + 1, i] = sets[FIXED, i]
        for q in range(levels.beta.size):
            tops[top, q] = tops[top + 1, q] = reals[BOUND, q]
        fixed[top, label], fixed[top + 1, label] = 0, 1
        top += 1
    else:
        top -= 1
    pos[TOP], pos[LEVEL], pos[LABEL], pos[ROOT] = top, -1, -1, 0
    if top >= 0:
        for i in range(fixed.shape[1]):
            sets[FIXED, i] = fixed[top, i]
        for q in range(levels.beta.size):
            reals[BOUND, q], reals[TRIED, q] = tops[top, q], 0.0
