"""Measures of how a ranking separates the true labels from the others.

A tie counts against the ranking in :func:`ranking_loss`, :func:`coverage` and :func:`lrap`, as in
scikit-learn; :func:`one_error` takes the expected value over all ways to break it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colabel.metrics._inputs import as_weights
from colabel.metrics._order import RankStatistics, by_rows, scored_pair
from colabel.metrics._ratios import mean
from colabel.metrics._top_k import precision_at_k

__all__ = ["coverage", "lrap", "one_error", "ranking_loss"]


def ranking_loss(Y: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """Share of pairs of a true and another label that are in the wrong order.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, lower is better; 0 for a sample with no pair.

    Examples
    --------
    >>> from colabel.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0]], [[0.5, 0.7, 0.1]])
    0.5
    """
    return _mean_statistic(Y, scores, sample_weight, "misordered")


def coverage(Y: Any, scores: Any, *, start: int = 1, sample_weight: Any = None) -> float:
    """How far down the ranking one must go to meet every true label.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    start : {0, 1}, default=1
        The number of the first place. 1 counts labels, as scikit-learn does; 0 counts steps, as
        Mulan and Schapire and Singer (2000) do, and is lower by one.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and n_labels, lower is better; 0 for a sample with no true label.

    Examples
    --------
    >>> from colabel.metrics import coverage
    >>> coverage([[1, 0, 0]], [[0.5, 0.7, 0.1]])
    2.0
    """
    if start not in (0, 1):
        raise ValueError(f"start must be 0 or 1, not {start!r}")
    labels, values = scored_pair(Y, scores)
    weights = as_weights(sample_weight, len(values))
    depth = by_rows(labels, values, lambda relevant, order: order.statistics(relevant).depth)
    return mean(np.maximum(depth - (1 - start), 0), weights)


def one_error(Y: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """Share of samples whose top label is not a true one.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, lower is better; 1 for a sample with no true label.

    Examples
    --------
    >>> from colabel.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 0]], [[0.5, 0.7, 0.1], [0.4, 0.4, 0.2]])
    0.75
    """
    return 1.0 - precision_at_k(Y, scores, 1, sample_weight=sample_weight)


def lrap(Y: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """Label ranking average precision: of the labels down to each true one, the share of true.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, higher is better; 1 for a sample with no true label.

    Examples
    --------
    >>> from colabel.metrics import lrap
    >>> lrap([[1, 0, 0]], [[0.5, 0.7, 0.1]])
    0.5
    """
    return _mean_statistic(Y, scores, sample_weight, "average_precision")


def _mean_statistic(Y: Any, scores: Any, sample_weight: Any, name: str) -> float:
    labels, values = scored_pair(Y, scores)
    weights = as_weights(sample_weight, len(values))

    def statistic(relevant: np.ndarray, order: Any) -> np.ndarray:
        statistics: RankStatistics = order.statistics(relevant)
        return np.asarray(getattr(statistics, name))

    return mean(by_rows(labels, values, statistic), weights)
