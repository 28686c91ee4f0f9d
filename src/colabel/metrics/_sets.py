"""Measures of a predicted label set against the true one.

Each is a ratio of counts, taken per sample (``average="example"``), per label, or over all cells,
and averaged.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colabel.metrics._counts import count
from colabel.metrics._ratios import (
    average_ratio,
    fbeta_ratio,
    jaccard_ratio,
    mean_hamming,
    mean_subset,
    precision_ratio,
    recall_ratio,
)

__all__ = [
    "f1_score",
    "fbeta_score",
    "hamming_loss",
    "jaccard_score",
    "precision_score",
    "recall_score",
    "subset_accuracy",
]


def subset_accuracy(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of samples whose whole label set is right.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> from colabel.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return mean_subset(count(Y_true, Y_pred, sample_weight))


def hamming_loss(Y_true: Any, Y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of the cells of the label matrix that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    float
        Between 0 and 1, lower is better.

    Examples
    --------
    >>> from colabel.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return mean_hamming(count(Y_true, Y_pred, sample_weight))


def fbeta_score(
    Y_true: Any,
    Y_pred: Any,
    *,
    beta: float = 1.0,
    average: str | None = "example",
    sample_weight: Any = None,
    zero_division: float | None = None,
) -> Any:
    """Weighted harmonic mean of precision and recall.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    beta : float, default=1.0
        How many times as much recall matters as precision; 0 gives precision, infinity recall.
    average : {"example", "micro", "macro", "weighted", None}, default="example"
        Mean over samples, one ratio over all cells, mean over labels, the same weighted by how
        often each label is true, or the labels' values. ``"samples"`` is ``"example"``.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.
    zero_division : {0, 1, nan} or None, default=None
        What an undefined ratio counts as; nan leaves it out of the mean. None: for
        ``average="example"`` 1 where truth and prediction are both empty, else 0.

    Returns
    -------
    float, or ndarray of shape (n_labels,) for ``average=None``
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> from colabel.metrics import fbeta_score
    >>> round(fbeta_score([[1, 1], [0, 0]], [[1, 0], [0, 0]], beta=2), 3)
    0.778
    """
    ratio = partial(fbeta_ratio, beta=_checked_beta(beta))
    return average_ratio(count(Y_true, Y_pred, sample_weight), ratio, average, zero_division)


def f1_score(
    Y_true: Any,
    Y_pred: Any,
    *,
    average: str | None = "example",
    sample_weight: Any = None,
    zero_division: float | None = None,
) -> Any:
    """Harmonic mean of precision and recall: :func:`fbeta_score` with ``beta=1``.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    average, sample_weight, zero_division
        As for :func:`fbeta_score`.

    Returns
    -------
    float, or ndarray of shape (n_labels,) for ``average=None``
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> from colabel.metrics import f1_score
    >>> round(f1_score([[1, 1], [0, 0]], [[1, 0], [0, 0]]), 3)
    0.833
    """
    counts = count(Y_true, Y_pred, sample_weight)
    return average_ratio(counts, fbeta_ratio, average, zero_division)


def precision_score(
    Y_true: Any,
    Y_pred: Any,
    *,
    average: str | None = "example",
    sample_weight: Any = None,
    zero_division: float | None = None,
) -> Any:
    """Share of the predicted labels that are true.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    average, sample_weight, zero_division
        As for :func:`fbeta_score`.

    Returns
    -------
    float, or ndarray of shape (n_labels,) for ``average=None``
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> from colabel.metrics import precision_score
    >>> precision_score([[1, 1], [0, 1]], [[1, 0], [1, 1]])
    0.75
    """
    counts = count(Y_true, Y_pred, sample_weight)
    return average_ratio(counts, precision_ratio, average, zero_division)


def recall_score(
    Y_true: Any,
    Y_pred: Any,
    *,
    average: str | None = "example",
    sample_weight: Any = None,
    zero_division: float | None = None,
) -> Any:
    """Share of the true labels that are predicted.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    average, sample_weight, zero_division
        As for :func:`fbeta_score`.

    Returns
    -------
    float, or ndarray of shape (n_labels,) for ``average=None``
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> from colabel.metrics import recall_score
    >>> recall_score([[1, 1], [0, 1]], [[1, 0], [1, 1]])
    0.75
    """
    counts = count(Y_true, Y_pred, sample_weight)
    return average_ratio(counts, recall_ratio, average, zero_division)


def jaccard_score(
    Y_true: Any,
    Y_pred: Any,
    *,
    average: str | None = "example",
    sample_weight: Any = None,
    zero_division: float | None = None,
) -> Any:
    """Labels both true and predicted, among those that are either.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    average, sample_weight, zero_division
        As for :func:`fbeta_score`.

    Returns
    -------
    float, or ndarray of shape (n_labels,) for ``average=None``
        Between 0 and 1, higher is better.

    Examples
    --------
    >>> from colabel.metrics import jaccard_score
    >>> jaccard_score([[1, 1], [0, 1]], [[1, 0], [1, 1]])
    0.5
    """
    counts = count(Y_true, Y_pred, sample_weight)
    return average_ratio(counts, jaccard_ratio, average, zero_division)


def _checked_beta(beta: float) -> float:
    if isinstance(beta, str) or not beta >= 0:
        raise ValueError(f"beta must be a number that is not negative, not {beta!r}")
    return float(beta)
