"""The cuts of all ``unary + price`` at once, and total variation denoising on a label graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from colabel._rows import Span
from colabel.decoders._label_graph import label_graph
from colabel.decoders.base import Floats, Labels
from colabel.numerics.threads import in_threads, per_thread
from colabel.scores import Pairwise

if TYPE_CHECKING:
    from colabel._kernels.cut import Graph
    from colabel._kernels.cut_dense import DenseWork
    from colabel._kernels.cut_sparse import SparseWork
    from colabel._kernels.parametric_cut import Blocks

__all__ = ["ParametricCut", "parametric_cut", "total_variation"]

# Prices closer than this share of the numbers that make them are equal but for rounding.
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class ParametricCut:
    """The best labelings of ``score(y) + price * |y|`` for every price, sample by sample.

    They are nested: a label that is on stays on as the price rises.

    Parameters
    ----------
    entry : ndarray of shape (n_samples, n_labels)
        Label ``l`` is on in the smallest best labeling for prices above ``entry[i, l]``, in the
        largest from ``entry[i, l]`` on.
    """

    entry: Floats

    def labels_at(self, price: ArrayLike) -> Labels:
        """Return the smallest best labelings for a price, or for one of each sample."""
        return (self.entry < np.reshape(price, (-1, 1))).astype(np.int8)

    def breakpoints(self, sample: int) -> Floats:
        """Return the prices at which the best labeling of a sample changes, rising."""
        return np.unique(self.entry[sample])

    def family(self, sample: int) -> Labels:
        """Return the distinct best labelings of a sample, from none to all labels on.

        Row ``t`` is the best from breakpoint ``t - 1`` to breakpoint ``t``.
        """
        after = np.append(self.breakpoints(sample), np.inf)
        return (self.entry[sample] < after[:, None]).astype(np.int8)


def parametric_cut(scores: Pairwise) -> ParametricCut:
    """Cut for all prices in one divide and conquer, at most ``2 n_labels`` cuts a sample. Exact.

    Parameters
    ----------
    scores : Pairwise
        Without repulsion.

    Returns
    -------
    ParametricCut

    Examples
    --------
    >>> table = Pairwise([[0.0, -4.0, -2.0]], edges=[[1, 2]], couplings=[4.0])
    >>> parametric_cut(table).family(0)
    array([[0, 0, 0],
           [1, 0, 0],
           [1, 1, 1]], dtype=int8)
    """
    graph = label_graph(scores)
    V = scores.n_labels
    entry = np.empty(scores.unary.shape)
    work = per_thread(partial(_workspace, graph))

    def solve(rows: Span) -> None:
        from colabel._kernels.parametric_cut import parametric_rows

        parametric_rows(scores.unary[rows], graph, *work(), entry[rows])

    in_threads(solve, scores.n_samples if V else 0)
    _merge_close(entry, scores)
    return ParametricCut(entry)


def _workspace(graph: Graph) -> tuple[SparseWork | DenseWork, Blocks]:
    """Allocate what one thread needs."""
    from colabel._kernels.cut import cut_workspace
    from colabel._kernels.parametric_cut import empty_blocks

    return cut_workspace(graph), empty_blocks(len(graph.sums))


def _merge_close(entry: Floats, scores: Pairwise) -> None:
    """Make entries equal, in place, that differ by no more than the rounding of their sums."""
    pairs = np.zeros(scores.n_labels)
    np.add.at(pairs, scores.edges.ravel(), np.repeat(np.abs(scores.couplings), 2))
    size = np.abs(scores.unary) + pairs
    part = connected_components(_graph_of(scores), directed=False)[1]
    for members in (np.flatnonzero(part == p) for p in np.unique(part)):
        size[:, members] = size[:, members].max(axis=1, keepdims=True)
    order = np.argsort(entry, axis=1, kind="stable")
    ranked = np.take_along_axis(entry, order, axis=1)
    slack = ROUNDING * np.take_along_axis(size, order, axis=1)
    near = np.diff(ranked, axis=1) <= np.maximum(slack[:, 1:], slack[:, :-1])
    for i in np.flatnonzero(np.any(near & (np.diff(ranked, axis=1) > 0), axis=1)):
        for run in np.split(np.arange(len(near[i]) + 1), np.flatnonzero(~near[i]) + 1):
            # The labels of the smallest numbers know best where the change is.
            entry[i, order[i, run]] = ranked[i, run[np.argmin(slack[i, run])]]


def _graph_of(scores: Pairwise) -> coo_array:
    first, second = scores.edges.T
    shape = (scores.n_labels, scores.n_labels)
    return coo_array((np.ones(len(first)), (first, second)), shape=shape)


def total_variation(values: ArrayLike, edges: ArrayLike, weights: ArrayLike) -> Floats:
    """Minimise ``1/2 |x - values|^2 + sum_e weights_e |x_i - x_j|`` over ``x``, row by row. Exact.

    The proximal problem whose level sets are the cuts of `parametric_cut` (Section 5.5 of [1]_).

    Parameters
    ----------
    values : array-like of shape (n_samples, n_nodes)
    edges : array-like of shape (n_edges, 2)
    weights : array-like of shape (n_edges,), >= 0

    Returns
    -------
    ndarray of shape (n_samples, n_nodes)

    References
    ----------
    .. [1] Lajugie et al. (2015), Semidefinite and spectral relaxations for multi-label
       classification, Section 5.5.

    Examples
    --------
    >>> total_variation([[0.0, 1.0, 5.0]], [[0, 1], [1, 2]], [1.0, 1.0])
    array([[1., 1., 4.]])
    """
    # x is minus the entry price when twice the weights couple and half their sums is taken off.
    unary = np.array(values, dtype=np.float64)
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    weight = np.asarray(weights, dtype=np.float64)
    if np.any(weight < 0):
        raise ValueError("weights must not be negative: the problem is then not convex")
    total = np.zeros(unary.shape[1])
    np.add.at(total, pairs.ravel(), np.repeat(weight, 2))
    return -parametric_cut(Pairwise(unary - total, pairs, 2.0 * weight)).entry
