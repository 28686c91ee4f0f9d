"""Decoding by trying every labeling: the user's own oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel._parameters import check_whole
from colabel._rows import Span
from colabel.decoders.base import BaseDecoder, Floats, Labels, binary_rows
from colabel.decoders.support_mode import ordered_labelings
from colabel.exceptions import IncompatibleError
from colabel.results import Decoded
from colabel.scores import Mixture, Modular, Pairwise, ScoreTable, Support

__all__ = ["Exhaustive"]

# Labelings times rows (times components) scored at once.
CELLS = 4_000_000


class Exhaustive(BaseDecoder):
    """Score every labeling and keep the best. Exact, any table, O(2^n_labels) per sample.

    A ``Support`` table has only its own labelings to try.

    Parameters
    ----------
    max_labels : int, default=20
        More labels than this are refused.

    Examples
    --------
    >>> from colabel.scores import Pairwise
    >>> table = Pairwise([[-1.0, -1.0]], edges=[[0, 1]], couplings=[3.0])
    >>> Exhaustive().decode(table).labels
    array([[1, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular, Pairwise, Mixture, Support)
    exact: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ("modular", "counts")

    def __init__(self, max_labels: int = 20) -> None:
        self.max_labels = max_labels

    def _decode(self, scores: ScoreTable, nonempty: bool) -> Decoded:
        return self._search(
            scores, lambda rows, block: scores.take(rows).value_all(block), nonempty
        )

    def decode_counts(
        self,
        scores: ScoreTable,
        Y: Labels,
        counts_table: Callable[[int, int], Floats],
        *,
        nonempty: bool = False,
    ) -> Decoded:
        self._check(scores, nonempty)
        true = binary_rows(scores, Y, "Y").astype(np.float64)

        def augmented(rows: Span, block: Labels) -> Floats:
            hits = (true[rows] @ block.T).astype(np.int64)
            false = block.sum(axis=1, dtype=np.int64) - hits
            total = scores.take(rows).value_all(block)
            for i, n_true in enumerate(true[rows].sum(axis=1).astype(np.int64)):
                total[i] += counts_table(int(n_true), scores.n_labels)[hits[i], false[i]]
            return total

        return self._search(scores, augmented, nonempty)

    def _search(
        self, scores: ScoreTable, value: Callable[[Span, Labels], Floats], nonempty: bool
    ) -> Decoded:
        best = np.full(scores.n_samples, np.nan)
        labels = np.zeros((scores.n_samples, scores.n_labels), dtype=np.int8)
        for block in self._labelings(scores, nonempty):
            for rows in _row_blocks(scores, len(block)):
                found = value(rows, block)
                place = np.argmax(found, axis=1)
                top = found[np.arange(len(found)), place]
                # The first block is taken as it is, even at -inf.
                better = np.isnan(best[rows]) | (top > best[rows])
                labels[rows][better] = block[place[better]]
                best[rows] = np.where(better, top, best[rows])
        rest = scores.rest if isinstance(scores, Support) else None
        return Decoded(labels, best, best if rest is None else np.maximum(best, rest))

    def _labelings(self, scores: ScoreTable, nonempty: bool) -> Iterator[Labels]:
        """Yield blocks of labelings, fewest labels first so that ties go to the smaller set."""
        if isinstance(scores, Support):
            yield ordered_labelings(scores, nonempty)
            return
        check_whole(self.max_labels, "max_labels", least=0)
        if scores.n_labels > self.max_labels:
            raise IncompatibleError(
                f"Exhaustive(max_labels={self.max_labels}) cannot try all labelings of "
                f"{scores.n_labels} labels; choose another decoder"
            )
        codes = np.arange(2**scores.n_labels)
        codes = codes[np.argsort(_popcount(codes), kind="stable")][int(nonempty) :]
        for part in np.array_split(codes, max(1, len(codes) // 16384)):
            yield ((part[:, None] >> np.arange(scores.n_labels)) & 1).astype(np.int8)


def _row_blocks(scores: ScoreTable, n_labelings: int) -> Iterator[Span]:
    width = scores.n_components if isinstance(scores, Mixture) else 1
    step = max(1, CELLS // max(1, n_labelings * width))
    for start in range(0, scores.n_samples, step):
        yield slice(start, start + step)


def _popcount(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the bits of each code (``numpy.bitwise_count`` came with NumPy 2)."""
    return np.array([int(code).bit_count() for code in codes])
