"""Attracting labels with a loss that depends on counts: decode a batch.

Problem and shared arguments: ``colabel._kernels.f_cut``.
"""

import numpy as np

from colabel._kernels import kernel
from colabel._kernels.cut import cut_row, cut_workspace
from colabel._kernels.f_cut import (
    BEST,
    BOUND,
    MAX_CUTS,
    NONEMPTY,
    ROOT,
    TILTED,
    TOP,
    TRIAL,
    VALUE,
    begin,
    f_state,
    polish,
    tell,
    tilt,
)
from colabel._kernels.f_family import next_algorithm_2, next_nested
from colabel._kernels.f_search import next_search

__all__ = ["algorithm_2_rows", "augmented_rows", "augmented_workspace"]


def augmented_workspace(graph):
    """Allocate what one thread needs: state, ranges, nodes, and the workspace of the cuts."""
    V = graph[0].size - 1
    froms, stack = np.empty((2, V), np.int64), np.empty((2 * V + 4, 2), np.int64)
    nodes, tops = np.empty((V + 2, V), np.int8), np.empty((V + 2, V + 1))
    search = nodes, tops, np.empty(V + 1, np.int8)
    return f_state(V), froms, stack, search, cut_workspace(graph)


@kernel
def augmented_rows(rows, graph, level, options, space, labels, bounds):
    """Decode rows with the same number of true labels into labels (n, V) and bounds (n,).

    ``rows`` are unaries, truth and counted labels, (n, V) each. ``options = (prices, max_cuts,
    nonempty, size)``: without prices the nested family and a polish, with them bounds by prices
    and branching too, up to ``max_cuts`` cuts a row; ``size`` is the sum of all couplings. No
    labeling passes the bound; with prices it is met, but for rounding, unless the limit was. 6 to
    12 cuts for the family, some tens for the prices, exponentially many at worst for branching.
    """
    state, froms, stack, search, work = space
    sets, reals, box, pos = state
    box[MAX_CUTS], box[NONEMPTY] = options[1], options[2]
    for r in range(labels.shape[0]):
        row = (rows[0][r], rows[1][r], rows[2][r])
        begin(row[0], state, options[3])
        more = True
        while more:
            if pos[ROOT] < 0:
                more = next_nested(level, state, froms, stack)
                if not more:
                    polish(row, level, graph, state)
            if pos[ROOT] >= 0 or not more:
                more = options[0] > 0.0 and next_search(row, level, graph, state, search)
            if more:
                tilt(row, state)
                cut_row(reals[TILTED], graph, work, sets[TRIAL])
                tell(row, level, graph, state)
        bounds[r] = box[VALUE]
        for q in range(level[0].size):
            if options[0] == 0.0:
                bounds[r] = max(bounds[r], reals[BOUND, q])
            else:
                for t in range(pos[TOP] + 1):
                    bounds[r] = max(bounds[r], search[1][t, q])
        for i in range(labels.shape[1]):
            labels[r, i] = sets[BEST, i]


@kernel
def algorithm_2_rows(rows, graph, level, options, space, labels, bounds):
    """Do what `augmented_rows` does by Algorithm 2 of Petterson and Caetano (2011).

    Where it answers with the empty labeling though that is excluded, climb out of it.
    """
    state, work = space[0], space[4]
    sets, reals, box, _ = state
    box[NONEMPTY] = options[2]
    for r in range(labels.shape[0]):
        row = (rows[0][r], rows[1][r], rows[2][r])
        begin(row[0], state, options[3])
        while next_algorithm_2(level, state):
            tilt(row, state)
            cut_row(reals[TILTED], graph, work, sets[TRIAL])
            tell(row, level, graph, state)
        n_on = 0
        for i in range(labels.shape[1]):
            n_on += sets[BEST, i]
        if n_on == 0 and options[2] > 0.0:
            box[VALUE] = -np.inf
            polish(row, level, graph, state)
        for i in range(labels.shape[1]):
            labels[r, i] = sets[BEST, i]
        bounds[r] = -np.inf
        for q in range(level[0].size):
            bounds[r] = max(bounds[r], reals[BOUND, q])
