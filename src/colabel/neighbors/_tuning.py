"""Choosing neighbours, weights and threshold on rows held out, all thresholds at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._label_scores import log_odds

__all__ = ["MEASURES", "THRESHOLDS", "Cut", "best_cut"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

MEASURES = ("micro_f1", "example_f1")
THRESHOLDS = np.arange(1, 100) / 100.0
# Rows scored at a time are those of about so many entries.
ENTRIES = 2**22


@dataclass(frozen=True)
class Cut:
    """A threshold, and what the measure comes to with it."""

    threshold: float
    value: float


def best_cut(
    score: Callable[[slice], Floats | sparse.csr_array],
    Y: sparse.csr_array,
    thresholds: Floats,
    measure: str,
) -> Cut:
    """Find the best of some thresholds on probabilities.

    Parameters
    ----------
    score : callable
        Log-odds of a slice of the rows: (n_rows, n_labels). Those that a CSR array does not store
        are below all thresholds.
    Y : CSR array of shape (n_samples, n_labels)
    thresholds : ndarray of shape (n_thresholds,), rising, in (0, 1)
    measure : {"micro_f1", "example_f1"}

    Returns
    -------
    Cut
        Of equally good thresholds the highest: a label is on where its probability is above.

    Notes
    -----
    An entry is put into the interval of thresholds that it lies in, and counts are summed up from
    above: O(1) an entry for all thresholds together.
    """
    cuts = log_odds(1.0 - thresholds, thresholds)
    n, n_labels = Y.shape
    step = max(1, ENTRIES // n_labels)
    hits, found, f1 = np.zeros((3, len(cuts)))
    for i in range(0, n, step):
        rows = slice(i, min(i + step, n))
        truth = Y[rows].toarray() > 0
        n_true = truth.sum(axis=1)[:, None]
        hit, on = _counts_above(score(rows), truth, cuts)
        hits, found = hits + hit.sum(axis=0), found + on.sum(axis=0)
        total = n_true + on
        f1 += np.where(total > 0, 2.0 * hit / np.maximum(total, 1.0), 1.0).sum(axis=0)
    value = 2.0 * hits / np.maximum(found + Y.nnz, 1.0) if measure == "micro_f1" else f1 / n
    best = len(value) - 1 - int(np.argmax(value[::-1]))
    return Cut(float(thresholds[best]), float(value[best]))


def _counts_above(scores: Any, truth: NDArray[np.bool_], cuts: Floats) -> tuple[Floats, Floats]:
    """Count, for each row and cut, the true labels above it and all labels above it."""
    n_rows, n_cuts = truth.shape[0], len(cuts)
    row, column, value = _entries_above(scores, cuts[0])
    above = np.searchsorted(cuts, value, side="left")
    cell = row * n_cuts + above - 1
    is_hit = truth[row, column]

    def from_above(cells: NDArray[np.intp]) -> Floats:
        count = np.bincount(cells, minlength=n_rows * n_cuts).reshape(n_rows, n_cuts)
        return np.cumsum(count[:, ::-1], axis=1)[:, ::-1].astype(np.float64)

    return from_above(cell[is_hit]), from_above(cell)


def _entries_above(scores: Any, cut: float) -> tuple[Index, Index, Floats]:
    if not sparse.issparse(scores):
        row, column = np.nonzero(scores > cut)
        return row, column, scores[row, column]
    kept = np.flatnonzero(scores.data > cut)
    row = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))[kept]
    return row, scores.indices[kept], scores.data[kept]
