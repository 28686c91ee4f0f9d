"""Attracting labels with a loss that depends on counts: decode a batch.

Problem and shared arguments: ``colabel._kernels.f_cut``.
"""

import numpy as np

from colabel._kernels import kernel
from colabel._kernels.cut import cut_workspace
from colabel._kernels.cut_dense import cut_dense
from colabel._kernels.cut_sparse import cut_sparse
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
    return f_state(V), froms, stack, (nodes, tops), cut_workspace(graph)


@kernel
def augmented_rows(rows, graph, level, options, space, labels, bounds):
    """Decode rows with the same number of true labels into labels (n, V) and bounds (n,).

    ``rows`` are unaries, truth and counted labels, (n, V) each. ``options = (max_cuts, nonempty,
    size)``: after the nested family and a polish come bounds by prices, and branching, while a row
    has had fewer than ``max_cuts`` cuts; ``size`` is the sum of all couplings. No labeling passes
    the bound; it is met, but for rounding, unless the limit was. 6 to 12 cuts for the family, some
    tens for the prices, exponentially many at worst for branching.
    """
    state, froms, stack = space[0], space[1], space[2]
    sets, reals, box = state[0], state[1], state[2]
    pos, search = state[3], space[3]
    box[MAX_CUTS], box[NONEMPTY] = options[0], options[1]
    for r in range(labels.shape[0]):
        row = (rows[0][r], rows[1][r], rows[2][r])
        begin(row[0], state, options[2])
        more = True
        while more:
            if pos[ROOT] < 0:
                more = next_nested(level, state, froms, stack)
                if not more:
                    polish(row, level, graph, state)
            if pos[ROOT] >= 0 or not more:
                more = next_search(row, level, graph, state, search)
            if more:
                tilt(row, state)
                if len(graph) == 8:
                    cut_dense(reals[TILTED], graph, space[4], sets[TRIAL])
                else:
                    cut_sparse(reals[TILTED], graph, space[4], sets[TRIAL])
                tell(row, level, graph, state)
        bounds[r] = box[VALUE]
        for t in range(pos[TOP] + 1):
            for q in range(level[0].size):
                bounds[r] = max(bounds[r], search[1][t, q])
        for i in range(labels.shape[1]):
            labels[r, i] = sets[BEST, i]


@kernel
def algorithm_2_rows(rows, graph, level, options, space, labels, bounds):
    """Do what `augmented_rows` does by Algorithm 2 of Petterson and Caetano (2011).

    Where it answers with the empty labeling though that is excluded, climb out of it.
    """
    state, work = space[0], space[4]
    sets, reals, box = state[0], state[1], state[2]
    box[NONEMPTY] = options[1]
    for r in range(labels.shape[0]):
        row = (rows[0][r], rows[1][r], rows[2][r])
        begin(row[0], state, options[2])
        while next_algorithm_2(level, state):
            tilt(row, state)
            if len(graph) == 8:
                cut_dense(reals[TILTED], graph, work, sets[TRIAL])
            else:
                cut_sparse(reals[TILTED], graph, work, sets[TRIAL])
            tell(row, level, graph, state)
        n_on = 0
        for i in range(labels.shape[1]):
            n_on += sets[BEST, i]
        if n_on == 0 and options[1] > 0.0:
            box[VALUE] = -np.inf
            polish(row, level, graph, state)
        for i in range(labels.shape[1]):
            labels[r, i] = sets[BEST, i]
        bounds[r] = -np.inf
        for q in range(level[0].size):
            bounds[r] = max(bounds[r], reals[BOUND, q])
