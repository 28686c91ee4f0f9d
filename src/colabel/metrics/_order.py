"""Labels in descending order of their scores, with ties, one block of rows at a time.

Ties have one rule each for two kinds of measure, and neither depends on the order of the labels.
What looks at the top of the ranking takes its expected value over all ways to break the ties:
every label of a tied group then carries the group's mean gain. What counts how far down a label
stands counts a tied label as standing above it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colabel.metrics._inputs import (
    as_labels,
    as_scores,
    check_same_columns,
    check_same_shape,
    dense_rows,
    row_blocks,
)

__all__ = ["Order", "RankStatistics", "by_rows", "discounts", "scored_pair"]


@dataclass(frozen=True)
class RankStatistics:
    """Per sample: share of misordered pairs, depth of the last true label, average precision."""

    misordered: np.ndarray
    depth: np.ndarray
    average_precision: np.ndarray


class Order:
    """The descending order of each row of scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_labels)
        No NaN among them.
    """

    def __init__(self, scores: np.ndarray) -> None:
        keys = np.negative(scores)
        self.columns = np.argsort(keys, axis=1)
        keys = np.take_along_axis(keys, self.columns, axis=1)
        self.tied = keys[:, 1:] == keys[:, :-1]

    def expected_gains(self, gains: np.ndarray, k: int) -> np.ndarray:
        """Return the expected gain at each of the first ``k`` places, (n_rows, k)."""
        expected = np.take_along_axis(gains, self.columns[:, :k], axis=1).astype(np.float64)
        rows = self.tied[:, :k].any(axis=1)
        if rows.any():
            expected[rows] = self._mean_of_groups(gains, rows)[:, :k]
        return expected

    def statistics(self, relevant: np.ndarray) -> RankStatistics:
        """Return what the true labels' depths say; ties count against them."""
        n_rows, n_labels = relevant.shape
        n_true = relevant.sum(axis=1)
        hit = np.take_along_axis(relevant, self.columns, axis=1)
        rows, places = np.nonzero(hit)
        last = np.cumsum(n_true)
        if self.tied.any():
            depths = _ends(self.tied)[rows, places]
            hits = np.cumsum(hit, axis=1)[rows, depths - 1]
        else:
            depths, hits = places + 1, np.arange(1, len(rows) + 1) - (last - n_true)[rows]
        above = np.bincount(rows, weights=depths - hits, minlength=n_rows)
        precision = np.bincount(rows, weights=hits / depths, minlength=n_rows)
        some = n_true > 0
        depth = np.zeros(n_rows)
        depth[some] = depths[last[some] - 1]
        return RankStatistics(
            misordered=above / np.maximum(n_true * (n_labels - n_true), 1),
            depth=depth,
            average_precision=np.where(some, precision / np.maximum(n_true, 1), 1.0),
        )

    def _mean_of_groups(self, gains: np.ndarray, rows: np.ndarray) -> np.ndarray:
        ordered = np.take_along_axis(gains[rows], self.columns[rows], axis=1)
        total = np.zeros((len(ordered), ordered.shape[1] + 1))
        np.cumsum(ordered, axis=1, out=total[:, 1:])
        starts, ends = _starts(self.tied[rows]), _ends(self.tied[rows])
        sums = np.take_along_axis(total, ends, axis=1) - np.take_along_axis(total, starts, axis=1)
        return sums / (ends - starts)


def scored_pair(Y: Any, scores: Any) -> tuple[Any, np.ndarray]:
    """Validate labels and the scores that rank them."""
    check_same_columns(Y, scores, "Y", "scores")
    labels, values = as_labels(Y), as_scores(scores)
    check_same_shape(labels, values, "Y", "scores")
    return labels, values


def by_rows(
    Y: Any, scores: np.ndarray, measure: Callable[[np.ndarray, Order], np.ndarray]
) -> np.ndarray:
    """Stack ``measure(relevant, order)`` over blocks of rows of a validated pair."""
    blocks = row_blocks(*scores.shape)
    return np.concatenate([measure(dense_rows(Y, rows), Order(scores[rows])) for rows in blocks])


def discounts(k: int) -> np.ndarray:
    """Return the discount of each of the first ``k`` places: 1 / log2(place + 1)."""
    return 1.0 / np.log2(np.arange(2, k + 2))


def _starts(tied: np.ndarray) -> np.ndarray:
    """Return how many labels stand above the group of each place."""
    places = np.zeros((len(tied), tied.shape[1] + 1), dtype=np.intp)
    places[:, 1:] = np.where(tied, 0, np.arange(1, tied.shape[1] + 1))
    return np.maximum.accumulate(places, axis=1)


def _ends(tied: np.ndarray) -> np.ndarray:
    """Return how many labels stand in or above the group of each place."""
    n_labels = tied.shape[1] + 1
    places = np.full((len(tied), n_labels), n_labels, dtype=np.intp)
    places[:, :-1] = np.where(tied, n_labels, np.arange(1, n_labels))
    return np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]
