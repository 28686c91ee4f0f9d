"""Attracting labels with a loss that depends on counts: decode a batch.

Problem and shared arguments: ``colabel._kernels.f_cut``.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import plain_kernel
from colabel._kernels.cut import DENSE, cut_workspace
from colabel._kernels.cut_dense import DenseWork, cut_dense
from colabel._kernels.cut_sparse import SparseWork, cut_sparse
from colabel._kernels.f_cut import (
    BEST,
    BOUND,
    ROOT,
    TILTED,
    TOP,
    TRIAL,
    VALUE,
    Row,
    State,
    begin,
    empty_state,
    polish,
    tell,
    tilt,
)
from colabel._kernels.f_family import next_algorithm_2, next_nested
from colabel._kernels.f_search import Nodes, empty_nodes, next_search

__all__ = ["Limits", "algorithm_2_rows", "augmented_rows", "augmented_workspace"]


class Limits(NamedTuple):
    """Most cuts of a row, whether it must not be empty, and the sum of couplings and losses."""

    max_cuts: int
    nonempty: bool
    size: float


class AugmentedWork(NamedTuple):
    """What one thread needs: state, ranges of levels, nodes, and the workspace of the cuts."""

    state: State
    froms: np.ndarray
    stack: np.ndarray
    nodes: Nodes
    cut: SparseWork | DenseWork


def augmented_workspace(graph):
    """Allocate an `AugmentedWork`."""
    V = graph.sums.size
    froms, stack = np.empty((2, V), np.int64), np.empty((2 * V + 4, 2), np.int64)
    return AugmentedWork(empty_state(V), froms, stack, empty_nodes(V), cut_workspace(graph))


@plain_kernel
def augmented_rows(rows, graph, levels, limits, work, labels, bounds):
    """Decode rows with the same number of true labels into labels (n, V) and bounds (n,).

    After the nested family and a polish come bounds by prices, and branching, while a row has had
    fewer than ``max_cuts`` cuts. No labeling passes the bound; it is met, but for rounding, unless
    the limit was. 6 to 12 cuts for the family, some tens for the prices, exponentially many at
    worst for branching.
    """
    state, nodes, pos, nonempty = work.state, work.nodes, work.state.pos, limits.nonempty
    for r in range(labels.shape[0]):
        row = Row(rows.unary[r], rows.truth[r], rows.counted[r])
        begin(row.unary, state, limits.size)
        more = True
        while more:
            if pos[ROOT] < 0:
                more = next_nested(levels, state, work.froms, work.stack)
                if not more:
                    polish(row, levels, graph, state, nonempty)
            if pos[ROOT] >= 0 or not more:
                more = next_search(row, levels, graph, state, nodes, limits.max_cuts)
            if more:
                tilt(row, state)
                if len(graph) == DENSE:
                    cut_dense(state.reals[TILTED], graph, work.cut, state.sets[TRIAL])
                else:
                    cut_sparse(state.reals[TILTED], graph, work.cut, state.sets[TRIAL])
                tell(row, levels, graph, state, nonempty)
        bounds[r] = state.box[VALUE]
        for t in range(pos[TOP] + 1):
            for q in range(levels.beta.size):
                bounds[r] = max(bounds[r], nodes.tops[t, q])
        for i in range(labels.shape[1]):
            labels[r, i] = state.sets[BEST, i]


@plain_kernel
def algorithm_2_rows(rows, graph, levels, limits, work, labels, bounds):
    """Do what `augmented_rows` does by Algorithm 2 of Petterson and Caetano (2011).

    Where it answers with the empty labeling though that is excluded, climb out of it.
    """
    state, nonempty = work.state, limits.nonempty
    best = state.sets[BEST]
    for r in range(labels.shape[0]):
        row = Row(rows.unary[r], rows.truth[r], rows.counted[r])
        begin(row.unary, state, limits.size)
        while next_algorithm_2(levels, state):
            tilt(row, state)
            if len(graph) == DENSE:
                cut_dense(state.reals[TILTED], graph, work.cut, state.sets[TRIAL])
            else:
                cut_sparse(state.reals[TILTED], graph, work.cut, state.sets[TRIAL])
            tell(row, levels, graph, state, nonempty)
        n_on = 0
        for i in range(labels.shape[1]):
            n_on += best[i]
        if n_on == 0 and nonempty:
            state.box[VALUE] = -np.inf
            polish(row, levels, graph, state, nonempty)
        for i in range(labels.shape[1]):
            labels[r, i] = best[i]
        bounds[r] = -np.inf
        for q in range(levels.beta.size):
            bounds[r] = max(bounds[r], state.reals[BOUND, q])
