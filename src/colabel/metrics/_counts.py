"""The counts that every set measure is a function of, taken once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from colabel.metrics._inputs import as_weights, label_pair, row_blocks

__all__ = ["Counts", "Tally", "count", "count_labels"]


@dataclass(frozen=True)
class Tally:
    """How many labels were hit, true and predicted; one entry per sample or per label."""

    hits: np.ndarray
    true: np.ndarray
    predicted: np.ndarray

    def total(self) -> Tally:
        """Return the tally of everything, as arrays of one entry."""
        return Tally(*(part.sum(keepdims=True) for part in self._parts()))

    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.hits, self.true, self.predicted


@dataclass(frozen=True)
class Counts:
    """Tallies of one truth and prediction.

    Parameters
    ----------
    samples : Tally
        Whole numbers, one entry per sample.
    labels : Tally
        One entry per label, samples weighted.
    weights : ndarray of shape (n_samples,) or None
        The weights of the samples.
    """

    samples: Tally
    labels: Tally
    weights: np.ndarray | None

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.labels.true)

    def differences(self) -> np.ndarray:
        """Return the number of wrong labels of each sample."""
        return self.samples.true + self.samples.predicted - 2 * self.samples.hits


def count(Y_true: Any, Y_pred: Any, sample_weight: Any = None) -> Counts:
    """Validate truth and prediction, and count them."""
    Y, Z = label_pair(Y_true, Y_pred)
    return count_labels(Y, Z, as_weights(sample_weight, Y.shape[0]))


def count_labels(Y: Any, Z: Any, weights: np.ndarray | None) -> Counts:
    """Count a validated pair without densifying what is sparse."""
    if sparse.issparse(Y):
        sums = [_sparse_sums(part, weights) for part in (Y.multiply(Z).tocsr(), Y, Z)]
    else:
        sums = [_dense_sums(part, weights) for part in (Y & Z, Y, Z)]
    samples, labels = zip(*sums, strict=True)
    return Counts(Tally(*samples), Tally(*labels), weights)


def _sparse_sums(part: Any, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    per_sample = np.diff(part.indptr).astype(np.int64)
    spread = None if weights is None else np.repeat(weights, per_sample)
    return per_sample, np.bincount(part.indices, weights=spread, minlength=part.shape[1])


def _dense_sums(part: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    per_sample = part.sum(axis=1, dtype=np.int64)
    if weights is None:
        return per_sample, part.sum(axis=0, dtype=np.int64)
    blocks = row_blocks(*part.shape)
    return per_sample, np.sum([weights[rows] @ part[rows] for rows in blocks], axis=0)
