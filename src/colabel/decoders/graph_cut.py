"""Decoding labels that attract each other, exactly, as a minimum cut."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from colabel._parameters import check_whole
from colabel._rows import Span
from colabel.decoders._count_levels import Levels, Singled, count_form
from colabel.decoders._label_graph import label_graph
from colabel.decoders.base import BaseDecoder, Floats, Labels, binary_rows
from colabel.exceptions import IncompatibleError
from colabel.numerics.threads import in_threads, per_thread
from colabel.results import Decoded
from colabel.roles import Loss
from colabel.scores import Pairwise, ScoreTable

if TYPE_CHECKING:
    from colabel._kernels.cut import Graph

__all__ = ["GraphCut", "cut_rows"]

MODES = ("alg2", "nested", "certified")
# Rows that tell what the others are like.
SAMPLE = 64
# Labels for which the form of a loss is looked at.
FEW = 6


class GraphCut(BaseDecoder):
    """Best labeling of a pairwise table without repulsion. Exact.

    Of equal labelings ``decode`` returns the smallest, which is contained in all others. Labels
    that their neighbours cannot move are settled first; what remains is a maximum flow, by
    shortest paths where few pairs are coupled and by push-relabel where many are.

    A loss that depends on counts can be added if, for every number of labels on, or of false
    alarms, it is affine in the hits (F-beta, Jaccard), or if it singles out the truth (subset).

    Parameters
    ----------
    augmentation : {"certified", "nested", "alg2"}, default="certified"
        How to decode with F-beta or Jaccard added. "nested" takes the best labeling, by the true
        objective, of a family of cuts and improves it label by label; "certified" goes on with
        prices on the number of labels and branches on labels until the answer is proved, or
        ``max_cuts`` is reached; "alg2" is Algorithm 2 of [1]_ (F-beta only). The upper bound
        tells how far each may be from the best; subset loss is exact in all three. Of equally
        good labelings the first found is kept, which need not have the fewest labels.
    max_cuts : int, default=20000
        Most cuts for one sample in "certified".

    References
    ----------
    .. [1] Petterson and Caetano, Submodular multi-label learning, NIPS 2011.

    Examples
    --------
    >>> table = Pairwise([[-1.0, -1.0, -4.0]], edges=[[0, 1], [1, 2]], couplings=[3.0, 3.0])
    >>> GraphCut().decode(table).labels
    array([[1, 1, 0]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)
    exact: ClassVar[bool] = True
    needs_attractive: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ("modular", "counts")

    def __init__(self, augmentation: str = "certified", max_cuts: int = 20_000) -> None:
        self.augmentation = augmentation
        self.max_cuts = max_cuts

    def cannot_add(self, loss: Loss) -> str:
        """Say why the loss cannot be added to a table, in one sentence; empty where it can.

        The form of a loss shows with few labels already.
        """
        if loss.structure != "counts":
            return ""
        try:
            for n_true in range(FEW + 1):
                self._form(loss.counts_table(n_true, FEW))
        except IncompatibleError as error:
            return f"{type(loss).__name__} does not fit: {error}"
        return ""

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        graph = label_graph(scores)
        labels = cut_rows(scores.unary, graph)
        if nonempty:
            empty = np.flatnonzero(~labels.any(axis=1))
            labels[empty] = _other(scores.unary[empty], graph, labels[empty], False)
        return Decoded.exact(labels, scores.value(labels))

    def decode_counts(
        self,
        scores: ScoreTable,
        Y: Labels,
        counts_table: Callable[[int, int], Floats],
        *,
        nonempty: bool = False,
    ) -> Decoded:
        self._check(scores, nonempty)
        assert isinstance(scores, Pairwise)
        check_whole(self.max_cuts, "max_cuts", least=0)
        if self.augmentation not in MODES:
            raise ValueError(
                f"augmentation must be one of {', '.join(MODES)}; got {self.augmentation!r}"
            )
        graph = label_graph(scores)
        true = binary_rows(scores, Y, "Y")
        n_true = true.sum(axis=1, dtype=np.int64)
        tables = {int(n): counts_table(int(n), scores.n_labels) for n in np.unique(n_true)}
        forms = {n: self._form(table) for n, table in tables.items()}
        labels = np.zeros(true.shape, dtype=np.int8)
        bound = np.full(len(true), -np.inf)
        for n, form in forms.items():
            rows = np.flatnonzero(n_true == n)
            unary = scores.unary[rows]
            if isinstance(form, Singled):
                labels[rows] = _decode_singled(unary, graph, scores, true[rows], form, nonempty)
            else:
                options = (MODES.index(self.augmentation), self.max_cuts, nonempty)
                labels[rows], bound[rows] = _decode_levels(unary, graph, true[rows], form, options)
        hits = (labels & true).sum(axis=1)
        false = labels.sum(axis=1) - hits
        loss = [tables[n][h, f] for n, h, f in zip(n_true.tolist(), hits, false, strict=True)]
        value = scores.value(labels) + np.array(loss, dtype=np.float64)
        return Decoded(labels, value, np.maximum(bound, value))

    def _form(self, table: Floats) -> Singled | Levels:
        form = count_form(table)
        if form is None:
            raise IncompatibleError(
                "GraphCut can add a loss of counts only if it is affine in the hits for each "
                "number of labels or of false alarms, as F-beta and Jaccard are"
            )
        if self.augmentation == "alg2" and isinstance(form, Levels) and not form.counts_all:
            raise IncompatibleError(
                'GraphCut(augmentation="alg2") adds F-beta only; "nested" and "certified" add more'
            )
        return form


def cut_rows(unary: Floats, graph: Graph) -> Labels:
    """Cut every row."""
    from colabel._kernels.cut import best_rows, cut_workspace

    labels = np.empty(unary.shape, dtype=np.int8)
    typical = _typical(unary) if len(unary) else None
    work = per_thread(partial(cut_workspace, graph, typical))

    def solve(rows: Span) -> None:
        best_rows(unary[rows], graph, work(), labels[rows])

    in_threads(solve, len(unary))
    return labels


def _typical(unary: Floats) -> Floats:
    """Return scores that three rows of four, of a sample, are below, label by label."""
    some = unary[:: max(1, len(unary) // SAMPLE)]
    place = 3 * len(some) // 4
    return np.ascontiguousarray(np.partition(some, place, axis=0)[place])


def _other(unary: Floats, graph: Graph, avoid: Labels, nonempty: bool) -> Labels:
    """Return the best labelings other than ``avoid``."""
    from colabel._kernels.cut import cut_workspace
    from colabel._kernels.forced_cut import other_rows

    labels = np.empty(avoid.shape, dtype=np.int8)
    work = per_thread(partial(cut_workspace, graph))

    def solve(rows: Span) -> None:
        other_rows(unary[rows], graph, work(), avoid[rows], nonempty, labels[rows])

    in_threads(solve, len(unary))
    return labels


def _decode_singled(
    unary: Floats,
    graph: Graph,
    scores: Pairwise,
    true: Labels,
    form: Singled,
    nonempty: bool,
) -> Labels:
    """Compare the truth, where it may be predicted, with the best of all other labelings."""
    table = Pairwise(unary, scores.edges, scores.couplings)
    labels = cut_rows(unary, graph)
    again = np.all(labels == true, axis=1)
    if nonempty:
        again |= ~labels.any(axis=1)
    rows = np.flatnonzero(again)
    labels[rows] = _other(unary[rows], graph, true[rows], nonempty)
    # Fewer labels win a tie; a row with one labeling only has nothing but the truth.
    value, of_truth = table.value(labels) + form.loss, table.value(true) + form.loss_of_truth
    tie = (of_truth == value) & (true.sum(axis=1) < labels.sum(axis=1))
    truth_wins = ((of_truth > value) | tie) & (true.any(axis=1) | (not nonempty))
    return np.where(truth_wins[:, None], true, labels)


def _decode_levels(
    unary: Floats,
    graph: Graph,
    true: Labels,
    form: Levels,
    options: tuple[int, int, bool],
) -> tuple[Labels, Floats]:
    """Decode rows with equally many true labels; return labelings and bounds."""
    from colabel._kernels.augmented_cut import (
        Limits,
        algorithm_2_rows,
        augmented_rows,
        augmented_workspace,
    )
    from colabel._kernels.f_cut import Row

    mode, limit, nonempty = options
    run = augmented_rows if mode else algorithm_2_rows
    counted = np.ones_like(true) if form.counts_all else 1 - true
    levels = form.arrays(nonempty)
    limit = limit if mode == 2 else 0  # without prices the nested family is all
    steps = np.abs(levels.alpha) + np.abs(levels.beta) * true.shape[1]
    size = graph.weights.sum() + steps[np.isfinite(steps)].max()
    limits = Limits(limit, nonempty, float(size))
    labels, bound = np.empty(true.shape, dtype=np.int8), np.empty(len(true))
    work = per_thread(partial(augmented_workspace, graph))

    def solve(rows: Span) -> None:
        table = Row(unary[rows], true[rows], counted[rows])
        run(table, graph, levels, limits, work(), labels[rows], bound[rows])

    in_threads(solve, len(labels))
    return labels, bound
