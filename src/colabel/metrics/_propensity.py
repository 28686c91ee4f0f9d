"""Propensity-scored precision@k and nDCG@k: what finding rare labels is worth.

Jain, Prabhu and Varma (2016) model the chance that a true label was recorded at all, and weigh a
found label by its inverse. Reported values are divided by those of the best possible ranking,
each averaged over the samples first; this is what the tables of the field hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from colabel.metrics._inputs import as_labels, as_weights
from colabel.metrics._order import Order, by_rows, scored_pair
from colabel.metrics._ratios import mean
from colabel.metrics._top_k import checked_k, discounted

__all__ = ["propensities", "propensity_scored_ndcg_at_k", "propensity_scored_precision_at_k"]


def propensities(Y_train: Any, a: float = 0.55, b: float = 1.5) -> np.ndarray:
    """Estimate how likely each label is to be recorded where it is true.

    Parameters
    ----------
    Y_train : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The training label sets.
    a, b : float, default=0.55 and 1.5
        The constants of Jain et al.; theirs are 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Returns
    -------
    ndarray of shape (n_labels,)
        In (0, 1], rising with a label's frequency.

    Notes
    -----
    1 / (1 + C (N_l + b)^-a) with C = (log n - 1)(b + 1)^a. With fewer than three samples C would
    be negative and the propensity above 1; it is 1 then.

    Examples
    --------
    >>> from colabel.metrics import propensities
    >>> propensities([[1, 0], [1, 0], [1, 1], [1, 0]]).round(2)
    array([0.8 , 0.72])
    """
    if not (np.isfinite(a) and a >= 0 and np.isfinite(b) and b > 0):
        raise ValueError(f"propensities need a >= 0 and b > 0, not a={a!r} and b={b!r}")
    labels = as_labels(Y_train, "Y_train")
    frequency = np.asarray(labels.sum(axis=0, dtype=np.int64)).ravel()
    scale = max(np.log(labels.shape[0]) - 1.0, 0.0) * (b + 1.0) ** a
    return 1.0 / (1.0 + scale * (frequency + b) ** -a)


def propensity_scored_precision_at_k(
    Y: Any,
    scores: Any,
    propensity: Any,
    k: int = 5,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
) -> float:
    """Precision@k with each found label weighted by its inverse propensity.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    propensity : array-like of shape (n_labels,), in (0, 1]
        As :func:`propensities` gives them for the training data.
    k : int, default=5
        How many places to look at; at most the number of labels is used.
    normalize : bool, default=True
        Divide by the value of the best possible ranking, as the field reports it.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Higher is better; between 0 and 1 where normalised, and 0 with no true label anywhere.

    Examples
    --------
    >>> from colabel.metrics import propensity_scored_precision_at_k
    >>> scores = [[0.9, 0.1]]
    >>> round(propensity_scored_precision_at_k([[1, 1]], scores, [0.8, 0.2], k=1), 3)
    0.25
    """
    return _propensity_scored(Y, scores, propensity, k, normalize, sample_weight, _mean_gain)


def propensity_scored_ndcg_at_k(
    Y: Any,
    scores: Any,
    propensity: Any,
    k: int = 5,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
) -> float:
    """Compute nDCG@k with each found label weighted by its inverse propensity.

    Parameters
    ----------
    Y : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true label sets.
    scores : array or data frame of shape (n_samples, n_labels)
        The higher, the more likely; dense.
    propensity : array-like of shape (n_labels,), in (0, 1]
        As :func:`propensities` gives them for the training data.
    k : int, default=5
        How many places to look at; at most the number of labels is used.
    normalize : bool, default=True
        Divide by the value of the best possible ranking, as the field reports it.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Higher is better; between 0 and 1 where normalised, and 0 with no true label anywhere.

    Examples
    --------
    >>> from colabel.metrics import propensity_scored_ndcg_at_k
    >>> scores = [[0.9, 0.1]]
    >>> round(propensity_scored_ndcg_at_k([[1, 1]], scores, [0.8, 0.2], k=2), 3)
    0.761
    """
    return _propensity_scored(Y, scores, propensity, k, normalize, sample_weight, discounted)


def _propensity_scored(
    Y: Any, scores: Any, propensity: Any, k: int, normalize: bool, sample_weight: Any, value: Any
) -> float:
    labels, values = scored_pair(Y, scores)
    weights = as_weights(sample_weight, len(values))
    worth = _inverse(propensity, labels.shape[1])
    k = checked_k(k, labels.shape[1])

    def reached_and_best(relevant: np.ndarray, order: Order) -> np.ndarray:
        gains, n_true = relevant * worth, relevant.sum(axis=1)
        best = -np.sort(-gains, axis=1)[:, :k]
        reached = order.expected_gains(gains, k)
        return np.column_stack([value(reached, n_true), value(best, n_true)])

    reached, best = by_rows(labels, values, reached_and_best).T
    if not normalize:
        return mean(reached, weights)
    ideal = mean(best, weights)
    return mean(reached, weights) / ideal if ideal else 0.0


def _mean_gain(gains: np.ndarray, n_true: np.ndarray) -> np.ndarray:
    return gains.mean(axis=1)


def _inverse(propensity: Any, n_labels: int) -> np.ndarray:
    values = np.asarray(propensity, dtype=np.float64)
    if values.shape != (n_labels,):
        raise ValueError(f"propensity has shape {values.shape}, but there are {n_labels} labels")
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError("propensity must lie above 0 and not above 1")
    return 1.0 / values
