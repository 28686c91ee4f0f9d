"""Attracting labels with a loss that depends on counts: the search that closes the gap.

Problem and shared arguments: ``colabel._kernels.f_cut``. Levels whose bound passes the best
labeling found are *open*. Each is bounded with the best price on its counted labels (the
Lagrangian of Section 5.5 of Lajugie et al. 2015, corrected); a node that keeps open levels is split
by fixing a label off and on. ``search = (nodes, tops)``: FIXED labels and bounds of the nodes to
do; TRIED are the levels tried in this one.
"""

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
    MAX_CUTS,
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

__all__ = ["next_search"]

NEW, PRICED, ENDED = 0, 1, 2


@inlined
def next_search(row, level, graph, state, search):
    """Ask for the next cut and return True; False when all is closed or the limit is reached.

    In a node the open level with the largest bound comes first: what its cuts say often closes
    others. Nodes are done depth first, a label on before it is off.
    """
    reals, box, pos = state[1], state[2], state[3]
    if pos[ROOT] < 0:
        pos[ROOT] = 1
        pos[TOP] = 0
        pos[LEVEL] = pos[LABEL] = -1
    while pos[TOP] >= 0 and box[CUTS] < box[MAX_CUTS]:
        if pos[LEVEL] >= 0 and _price(row, level, graph, state):
            return True
        pos[LEVEL], pos[STAGE] = -1, NEW
        top = box[VALUE] + box[TOL]
        for q in range(level[0].size):
            if reals[TRIED, q] == 0.0 and reals[BOUND, q] > top:
                pos[LEVEL], top = q, reals[BOUND, q]
        if pos[LEVEL] >= 0:
            reals[TRIED, pos[LEVEL]] = 1.0
        else:
            _branch(level, state, search)
    if pos[TOP] >= 0:
        for q in range(level[0].size):
            search[1][pos[TOP], q] = reals[BOUND, q]
    return False


@bare_kernel
def _price(row, level, graph, state):
    """Go on lowering the bound of the current level over the price; False when that is done.

    ``g(beta[q], mu) - mu q`` is convex in ``mu`` and every labeling a line below it; the next
    price is where the lines of a labeling with fewer counted labels and of one with more cross.
    A level that needs all or none of the free counted labels is one cut with these fixed.
    """
    sets, box, pos = state[0], state[2], state[3]
    reals = state[1]
    q, line, stage = pos[LEVEL], reals[LINE], pos[STAGE]
    enough = box[VALUE] + box[TOL]
    if stage == ENDED:
        copy(sets, LEFT, FIXED)
    if reals[BOUND, q] <= enough:
        return False
    stuck = stage == ENDED
    if stage == PRICED:
        stuck = box[LAST_G] - box[MU] * q <= box[FLOOR] + box[TOL] or box[LAST_COUNT] == q
        side = 0 if box[LAST_COUNT] < q else 1
        line[2 * side] = box[LAST_SCORE] + level[1][q] * box[LAST_HITS]
        line[2 * side + 1] = box[LAST_COUNT]
        copy(sets, TRIAL, LEFT + side)
    elif stage == NEW:
        _ends(row, level, graph, state)
        if line[1] > q or line[3] < q:
            reals[BOUND, q] = -np.inf
            return False
    box[BETA], box[MU], pos[ONLY], pos[STAGE] = level[1][q], 0.0, q, ENDED
    if stage == NEW and (line[1] == q or line[3] == q):
        for i in range(sets.shape[1]):
            sets[LEFT, i] = sets[FIXED, i]
            if sets[FIXED, i] < 0 and row[2][i] > 0:
                sets[FIXED, i] = 0 if line[1] == q else 1
        return True
    if not stuck:
        box[MU], pos[ONLY], pos[STAGE] = (line[0] - line[2]) / (line[3] - line[1]), -1, PRICED
        box[FLOOR] = line[0] + box[MU] * (line[1] - q)
        stuck = level[0][q] + box[FLOOR] > enough
    if stuck and pos[LABEL] < 0:
        pos[LABEL] = _splitter(graph, sets, stage == ENDED)
    return not stuck


@bare_kernel
def _ends(row, level, graph, state):
    """Set the lines to begin with: value and level of the fewest and of the most labels.

    At the root the labeling that the nested family holds for this level replaces one of them.
    """
    sets, reals, pos = state[0], state[1], state[3]
    q, line = pos[LEVEL], reals[LINE]
    for side in range(2):
        for i in range(sets.shape[1]):
            sets[LEFT + side, i] = sets[FIXED, i] if sets[FIXED, i] >= 0 else side
        score, hits, on, _ = measure(row, graph, sets[LEFT + side])
        line[2 * side], line[2 * side + 1] = score + level[1][q] * hits, on
    if pos[ROOT] > 0 and line[1] < q < line[3] and reals[COUNT, q] != q:
        side = 0 if reals[COUNT, q] < q else 2
        line[side] = reals[SCORE, q] + level[1][q] * reals[HITS, q]
        line[side + 1] = reals[COUNT, q]


@bare_kernel
def _splitter(graph, sets, any_free):
    """Return the free label of largest coupling in which LEFT and RIGHT differ, or any free one."""
    best, label = -1.0, -1
    for i in range(sets.shape[1]):
        if sets[FIXED, i] < 0 and (any_free or sets[LEFT, i] != sets[RIGHT, i]):
            size = graph[4][i] / graph[5][i]
            if size > best:
                best, label = size, i
    return label


@bare_kernel
def _branch(level, state, search):
    """Split the node if a level is open, else drop it; take up the next one."""
    sets, reals, pos = state[0], state[1], state[3]
    nodes, tops, enough = search[0], search[1], state[2][VALUE] + state[2][TOL]
    top, label, n_open = pos[TOP], pos[LABEL], 0
    for q in range(level[0].size):
        n_open += reals[BOUND, q] > enough
    if n_open > 0 and label >= 0:
        for i in range(nodes.shape[1]):
            nodes[top, i] = nodes[top + 1, i] = sets[FIXED, i]
        for q in range(level[0].size):
            tops[top, q] = tops[top + 1, q] = reals[BOUND, q]
        nodes[top, label], nodes[top + 1, label] = 0, 1
        top += 1
    else:
        top -= 1
    pos[TOP], pos[LEVEL], pos[LABEL], pos[ROOT] = top, -1, -1, 0
    if top >= 0:
        for i in range(nodes.shape[1]):
            sets[FIXED, i] = nodes[top, i]
        for q in range(level[0].size):
            reals[BOUND, q], reals[TRIED, q] = tops[top, q], 0.0
