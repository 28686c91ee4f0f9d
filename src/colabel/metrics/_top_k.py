"""Measures of the top of a ranking: precision@k and nDCG@k.

Labels tied around the k-th place are counted in expectation over all ways to break the tie, so
the result is the same for any order of the labels. With fewer than ``k`` labels the top ``k`` are
all of them: ``k`` is then the number of labels.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from colabel.metrics._inputs import as_weights
from colabel.metrics._order import Order, by_rows, discounts, scored_pair
from colabel.metrics._ratios import mean

__all__ = ["checked_k", "discounted", "ideal_discount", "ndcg_at_k", "precision_at_k"]


def precision_at_k(Y: Any, scores: Any, k: int = 1, *, sample_weight: Any = None) -> float:
    """Share of true labels among the ``k`` with the highest scores.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    k : int, default=1
        How many places to look at; at most the number of labels is used.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, higher is better; 0 for a sample with no true label.

    Examples
    --------
    >>> from colabel.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 1]], [[0.5, 0.7, 0.1]], k=2)
    0.5
    """
    labels, values = scored_pair(Y, scores)
    weights = as_weights(sample_weight, len(values))
    k = checked_k(k, labels.shape[1])

    def precision(relevant: np.ndarray, order: Order) -> np.ndarray:
        return order.expected_gains(relevant, k).mean(axis=1)

    return mean(by_rows(labels, values, precision), weights)


def ndcg_at_k(Y: Any, scores: Any, k: int = 5, *, sample_weight: Any = None) -> float:
    """Discounted gain of the ``k`` highest scores, divided by that of the best ranking.

    A true label at place j (from 1) gains 1 / log2(j + 1). Equal to scikit-learn's ``ndcg_score``.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    k : int, default=5
        How many places to look at; at most the number of labels is used.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, higher is better; 0 for a sample with no true label.

    Examples
    --------
    >>> from colabel.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[1, 0, 0]], [[0.5, 0.7, 0.1]], k=2), 3)
    0.631
    """
    labels, values = scored_pair(Y, scores)
    weights = as_weights(sample_weight, len(values))
    k = checked_k(k, labels.shape[1])

    def ndcg(relevant: np.ndarray, order: Order) -> np.ndarray:
        return discounted(order.expected_gains(relevant, k), relevant.sum(axis=1))

    return mean(by_rows(labels, values, ndcg), weights)


def checked_k(k: int, n_labels: int) -> int:
    """Return ``k`` as a place that exists."""
    try:
        places = operator.index(k)
    except TypeError:
        places = 0
    if places < 1:
        raise ValueError(f"k must be a whole number of at least 1, not {k!r}")
    return min(places, n_labels)


def discounted(gains: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    """Return the discounted sum of each row's gains over the best that ``n_true`` ones allow."""
    k = gains.shape[1]
    return gains @ discounts(k) / ideal_discount(n_true, k)


def ideal_discount(n_true: np.ndarray, k: int) -> np.ndarray:
    """Return the sum of the discounts of the first ``min(n_true, k)`` places; 1 for none."""
    sums = np.concatenate([[1.0], np.cumsum(discounts(k))])
    return sums[np.minimum(n_true, k)]
