"""When Algorithm 2 of Petterson and Caetano (2011) is known to have found the best labeling."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colabel.decoders._count_levels import Levels, Singled, count_form
from colabel.decoders._label_graph import label_graph
from colabel.decoders.base import Floats, Labels, binary_rows
from colabel.decoders.graph_cut import cut_rows
from colabel.exceptions import IncompatibleError
from colabel.scores import Pairwise

if TYPE_CHECKING:
    from colabel._kernels.cut import Graph

__all__ = ["algorithm_3"]


def algorithm_3(
    scores: Pairwise, Y: Labels, labels: Labels, counts_table: Callable[[int, int], Floats]
) -> NDArray[np.bool_]:
    """Tell which answers of Algorithm 2 are proved optimal (Algorithm 3, Theorem 2 of [1]_).

    Sufficient, not necessary, and weak in practice: ``GraphCut``'s own bound proves far more. For
    an empty truth ``GraphCut`` is exact, and the answer is yes.

    Parameters
    ----------
    scores : Pairwise
        Without repulsion.
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
        True labelings.
    labels : ndarray of shape (n_samples, n_labels), in {0, 1}
        What ``GraphCut(augmentation="alg2").decode_counts`` gave, the empty labeling allowed.
    counts_table : callable
        ``FBeta().counts_table``.

    Returns
    -------
    ndarray of shape (n_samples,), bool

    References
    ----------
    .. [1] Petterson and Caetano, Submodular multi-label learning, NIPS 2011.
    """
    graph = label_graph(scores)
    true, on = binary_rows(scores, Y, "Y") > 0, binary_rows(scores, labels, "labels") > 0
    proved = np.ones(len(true), dtype=bool)
    forms: dict[int, Singled | Levels | None] = {}
    for i, n_true in enumerate(true.sum(axis=1).tolist()):
        if n_true not in forms:
            forms[n_true] = count_form(counts_table(n_true, scores.n_labels))
        form = forms[n_true]
        if isinstance(form, Singled):
            continue
        if form is None or not form.counts_all:
            raise IncompatibleError("Algorithm 3 is about F-beta, affine in the hits for each size")
        beta = form.beta[on[i].sum()]
        rise = (form.beta[-1] - beta) * n_true
        tilted = scores.unary[i] + beta * true[i]
        table = Pairwise(tilted[None], scores.edges, scores.couplings)
        proved[i] = _room(table, graph, on[i]) + rise <= 0.0
    return proved


def _room(table: Pairwise, graph: Graph, on: NDArray[np.bool_]) -> float:
    """Return by how much the best labeling with one more label than ``on`` stays behind."""
    off = np.flatnonzero(~on)
    forced = np.tile(np.where(on, np.inf, table.unary[0]), (len(off), 1))
    forced[np.arange(len(off)), off] = np.inf
    rest = cut_rows(forced, graph)
    best = cut_rows(table.unary, graph)
    values = table.take(np.zeros(len(off) + 1, dtype=int)).value(np.concatenate([rest, best]))
    return float(np.max(values[:-1], initial=-np.inf) - values[-1])
