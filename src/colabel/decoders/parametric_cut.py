"""The cuts of all ``unary + price`` at once, and total variation denoising on a label graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from colabel.decoders._label_graph import label_graph
from colabel.decoders._threads import in_threads
from colabel.decoders.base import Floats, Labels
from colabel.scores import Pairwise

__all__ = ["ParametricCut", "parametric_cut", "total_variation"]


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

    def solve(rows: slice) -> None:
        from colabel._kernels.cut import cut_workspace
        from colabel._kernels.parametric_cut import parametric_rows

        order, spans = np.empty((3, V), dtype=np.int64), np.empty((V + 2, 4))
        work = cut_workspace(graph)
        parametric_rows(scores.unary[rows], graph, work, order, spans, entry[rows])

    in_threads(solve, scores.n_samples if V else 0)
    return ParametricCut(entry)


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
    total = np.zeros(unary.shape[1])
    np.add.at(total, pairs.ravel(), np.repeat(weight, 2))
    return -parametric_cut(Pairwise(unary - total, pairs, 2.0 * weight)).entry
