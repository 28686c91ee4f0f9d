"""Decoders of independent labels: a cut at zero, with and without a price on the number of labels.

Both are exact. Adding a loss that depends on counts only (F-beta, Jaccard, subset) stays exact:
for given numbers of hits and false alarms the best labels are the highest-scoring ones, so it is
enough to sort and to try every pair of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.decoders.base import BaseDecoder, Floats, Labels, binary_rows
from colabel.results import Decoded
from colabel.scores import Modular, ScoreTable

__all__ = ["CardinalityThreshold", "Threshold"]

# Rows are sorted and searched in groups of about this many table cells, to bound memory.
CELLS = 4_000_000


class Threshold(BaseDecoder):
    """Turn on every label with a positive score. Exact, O(n_labels) per sample.

    With a counts loss added: O(n_labels log n_labels + n_true (n_labels - n_true)), exact.

    Examples
    --------
    >>> from colabel.scores import Modular
    >>> Threshold().decode(Modular([[0.5, -1.0, 2.0]])).labels
    array([[1, 0, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular,)
    exact: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ("modular", "counts")

    def _decode(self, scores: Modular, nonempty: bool) -> Decoded:  # type: ignore[override]
        labels = (scores.unary > 0).astype(np.int8)
        if nonempty:
            empty = np.flatnonzero(~labels.any(axis=1))
            labels[empty, np.argmax(scores.unary[empty], axis=1)] = 1
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
        assert isinstance(scores, Modular)
        true = binary_rows(scores, Y, "Y") > 0
        n_true = true.sum(axis=1)
        labels = np.zeros(true.shape, dtype=np.int8)
        loss = np.zeros(len(labels))
        for count in np.unique(n_true):
            table = counts_table(int(count), scores.n_labels)
            rows = np.flatnonzero(n_true == count)
            for part in _split(rows, table.size):
                found = _best_counts(scores.unary[part], true[part], table, nonempty)
                labels[part], loss[part] = found
        return Decoded.exact(labels, scores.value(labels) + loss)


class CardinalityThreshold(BaseDecoder):
    """Maximise ``score(y) - penalty * |y|^2``: a cut that rises with each label turned on.

    The same as every two labels repelling each other equally. Exact, by sorting:
    O(n_labels log n_labels) per sample.

    Parameters
    ----------
    penalty : float, default=0.0
        At least 0.

    Examples
    --------
    >>> from colabel.scores import Modular
    >>> CardinalityThreshold(penalty=0.5).decode(Modular([[3.0, 1.4, 2.0]])).labels
    array([[1, 0, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular,)
    exact: ClassVar[bool] = True

    def __init__(self, penalty: float = 0.0) -> None:
        self.penalty = penalty

    def _objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        return scores.value(Z) - self.penalty * np.sum(Z, axis=1, dtype=np.float64) ** 2

    def _decode(self, scores: Modular, nonempty: bool) -> Decoded:  # type: ignore[override]
        if not 0.0 <= self.penalty < np.inf:
            raise ValueError(f"penalty must be a number of at least 0, not {self.penalty}")
        order = np.argsort(-scores.unary, axis=1, kind="stable")
        ranked = np.take_along_axis(scores.unary, order, axis=1)
        # The k-th label adds its score less penalty * (k^2 - (k - 1)^2), which falls with k.
        rank = np.arange(1, scores.n_labels + 1)
        keep = ranked > self.penalty * (2 * rank - 1)
        if nonempty:
            keep[:, 0] = True
        labels = np.zeros(keep.shape, dtype=np.int8)
        np.put_along_axis(labels, order, keep.astype(np.int8), axis=1)
        return Decoded.exact(labels, self.objective(scores, labels))


def _split(rows: NDArray[np.int64], cells_per_row: int) -> list[NDArray[np.int64]]:
    step = max(1, CELLS // cells_per_row)
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def _best_counts(
    unary: Floats, true: NDArray[np.bool_], loss: Floats, nonempty: bool
) -> tuple[Labels, Floats]:
    """Best labelings of rows with the same number of true labels, and their losses."""
    n_hits, n_false = loss.shape[0], loss.shape[1]
    # True labels first, then by falling score: the first n_hits - 1 columns are the true ones.
    order = np.lexsort((-unary, ~true), axis=1)
    ranked = np.take_along_axis(unary, order, axis=1)
    hit_gain = _prefix_sums(ranked[:, : n_hits - 1])
    false_gain = _prefix_sums(ranked[:, n_hits - 1 :])
    total = hit_gain[:, :, None] + false_gain[:, None, :] + loss
    if nonempty:
        total[:, 0, 0] = -np.inf
    best = np.argmax(total.reshape(len(unary), -1), axis=1)
    hits, false = np.divmod(best, n_false)
    column = np.arange(unary.shape[1])
    is_true = column < n_hits - 1
    rank = np.where(is_true, column, column - (n_hits - 1))
    on = rank < np.where(is_true, hits[:, None], false[:, None])
    labels = np.zeros(unary.shape, dtype=np.int8)
    np.put_along_axis(labels, order, on.astype(np.int8), axis=1)
    return labels, loss[hits, false]


def _prefix_sums(ranked: Floats) -> Floats:
    sums = np.zeros((ranked.shape[0], ranked.shape[1] + 1))
    np.cumsum(ranked, axis=1, out=sums[:, 1:])
    return sums
