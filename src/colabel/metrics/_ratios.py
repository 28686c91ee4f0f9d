"""Ratios of counts, and the ways to average them.

Where a denominator is zero the ratio is undefined; ``zero_division`` says what it counts as. By
default an example-based ratio counts 1 where both sets are empty (nothing was to be found, and
nothing was) and 0 where only one is; the other averages count 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colabel.metrics._counts import Counts, Tally

__all__ = [
    "average_ratio",
    "divided",
    "fbeta_ratio",
    "jaccard_ratio",
    "mean",
    "mean_hamming",
    "mean_subset",
    "precision_ratio",
    "recall_ratio",
]

Ratio = Callable[[Tally], tuple[np.ndarray, np.ndarray]]
AVERAGES = ("example", "samples", "micro", "macro", "weighted", None)


def precision_ratio(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return hits and what they are divided by."""
    return tally.hits, tally.predicted


def recall_ratio(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return hits and what they are divided by."""
    return tally.hits, tally.true


def jaccard_ratio(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return intersection and union."""
    return tally.hits, tally.true + tally.predicted - tally.hits


def fbeta_ratio(tally: Tally, beta: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return numerator and denominator of F-beta; its limit where ``beta`` is infinite."""
    if np.isinf(beta):
        return recall_ratio(tally)
    square = beta * beta
    return (1.0 + square) * tally.hits, square * tally.true + tally.predicted


def mean_subset(counts: Counts) -> float:
    """Return the subset accuracy of counts."""
    return mean(counts.differences() == 0, counts.weights)


def mean_hamming(counts: Counts) -> float:
    """Return the Hamming loss of counts."""
    return mean(counts.differences(), counts.weights) / counts.n_labels


def average_ratio(
    counts: Counts, ratio: Ratio, average: str | None, zero_division: float | None = None
) -> Any:
    """Divide, fill in what is undefined, and average."""
    if average not in AVERAGES:
        raise ValueError(
            f"average must be 'example', 'micro', 'macro', 'weighted' or None, not {average!r}"
        )
    by_example = average in ("example", "samples")
    tally = counts.samples if by_example else counts.labels
    if average == "micro":
        tally = tally.total()
    values = divided(*ratio(tally), _undefined(tally, by_example, zero_division))
    if average is None:
        return values
    if by_example:
        return _mean_of_samples(values, counts.weights)
    return _mean_of_defined(values, tally.true if average == "weighted" else None)


def mean(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the weighted mean over samples."""
    return float(np.average(values, weights=weights))


def _undefined(tally: Tally, by_example: bool, zero_division: float | None) -> Any:
    if zero_division is None:
        return (tally.true + tally.predicted == 0).astype(float) if by_example else 0.0
    if isinstance(zero_division, str) or not (zero_division in (0, 1) or np.isnan(zero_division)):
        raise ValueError(f"zero_division must be 0, 1, nan or None, not {zero_division!r}")
    return float(zero_division)


def divided(numerator: np.ndarray, denominator: np.ndarray, undefined: Any) -> np.ndarray:
    """Divide where that is defined."""
    values = np.empty(numerator.shape)
    values[:] = undefined
    return np.divide(numerator, denominator, out=values, where=denominator != 0)


def _mean_of_samples(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Mean of the defined values of the samples that count."""
    if weights is None:
        return _mean_of_defined(values, None)
    return _mean_of_defined(values[weights > 0], weights[weights > 0])


def _mean_of_defined(values: np.ndarray, weights: np.ndarray | None) -> float:
    """Mean without the NaN; plain where no defined value has weight, as scikit-learn has it."""
    defined = ~np.isnan(values)
    if not defined.any():
        return float("nan")
    if weights is not None:
        weights = weights[defined] if weights[defined].any() else None
    return float(np.average(values[defined], weights=weights))
