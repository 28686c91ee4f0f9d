"""The whole table of measures at once: one validation, one count, one sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colabel._measure_names import LABEL_MEASURES, RANKING_MEASURES
from colabel._old_keywords import takes_old_keywords
from colabel.metrics._counts import Counts, count_labels
from colabel.metrics._facets import facet_accuracies, facet_columns
from colabel.metrics._inputs import (
    as_scores,
    as_weights,
    check_same_columns,
    check_same_shape,
    column_names,
    label_pair,
)
from colabel.metrics._order import Order, by_rows
from colabel.metrics._ratios import (
    average_ratio,
    fbeta_ratio,
    jaccard_ratio,
    mean,
    mean_hamming,
    mean_subset,
    precision_ratio,
    recall_ratio,
)
from colabel.metrics._top_k import discounted

__all__ = ["evaluate", "evaluate_labels"]


@takes_old_keywords(label_sets="facets")
def evaluate(
    Y: Any,
    prediction: Any,
    scores: Any = None,
    *,
    sample_weight: Any = None,
    facets: Any = None,
    label_names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Measure a prediction in every way the field reports.

    Parameters
    ----------
    Y, prediction : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    scores : array or data frame of shape (n_samples, n_labels), default=None
        The higher, the more likely; with them the ranking measures are added.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.
    facets : mapping or sequence, default=None
        As in :func:`facet_accuracy`; with them the accuracy of each facet and of all is added.
    label_names : sequence of str, default=None
        The labels' names in column order, for facets given by name; by default those of the
        data frame ``Y``.

    Returns
    -------
    dict of str to float
        ``subset_accuracy``, ``hamming_loss``, ``example_f1``, ``micro_f1``, ``macro_f1``,
        ``example_jaccard``; with scores also ``precision_at_1``, ``precision_at_3``,
        ``precision_at_5``, ``ndcg_at_5``, ``ranking_loss``, ``coverage``, ``one_error``,
        ``lrap``; with facets also ``accuracy_<facet>`` and ``accuracy_all``.

    Examples
    --------
    >>> from colabel.metrics import evaluate
    >>> table = evaluate([[1, 0], [1, 1]], [[1, 0], [0, 1]], scores=[[2.0, -1.0], [-1.0, 1.0]])
    >>> table["subset_accuracy"], table["hamming_loss"], table["one_error"]
    (0.5, 0.25, 0.0)
    """
    names = column_names(Y) if label_names is None else label_names
    labels, predicted = label_pair(Y, prediction, ("Y", "prediction"))
    weights = as_weights(sample_weight, labels.shape[0])
    columns = None if facets is None else facet_columns(facets, labels.shape[1], names)
    table = _set_table(count_labels(labels, predicted, weights))
    if scores is not None:
        check_same_columns(Y, scores, "Y", "scores")
        values = as_scores(scores)
        check_same_shape(labels, values, "Y", "scores")
        table |= _ranking_table(labels, values, weights)
    if columns is not None:
        table |= facet_accuracies(labels, predicted, columns, weights)
    return table


def evaluate_labels(
    Y: Any,
    prediction: Any,
    *,
    sample_weight: Any = None,
    label_names: Sequence[str] | None = None,
    zero_division: float = 0.0,
) -> dict[str, np.ndarray]:
    """Measure a prediction label by label.

    Parameters
    ----------
    Y, prediction : array, sparse matrix or data frame of shape (n_samples, n_labels), in {0, 1}
        The true and the predicted label sets.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.
    label_names : sequence of str, default=None
        The labels' names; by default those of the data frame ``Y``, or the column numbers.
    zero_division : {0, 1, nan}, default=0
        What an undefined ratio counts as.

    Returns
    -------
    dict of str to ndarray of shape (n_labels,)
        ``label``, ``support`` (how often true), ``predicted`` (how often predicted),
        ``precision``, ``recall``, ``f1``; a data frame is one call away.

    Examples
    --------
    >>> from colabel.metrics import evaluate_labels
    >>> table = evaluate_labels([[1, 0], [1, 1]], [[1, 0], [0, 1]], label_names=["sea", "sun"])
    >>> table["label"].tolist(), table["recall"].tolist()
    (['sea', 'sun'], [0.5, 1.0])
    """
    labels, predicted = label_pair(Y, prediction, ("Y", "prediction"))
    counts = count_labels(labels, predicted, as_weights(sample_weight, labels.shape[0]))
    names = column_names(Y) if label_names is None else label_names
    if names is None:
        names = [str(column) for column in range(counts.n_labels)]
    if len(names) != counts.n_labels:
        raise ValueError(f"{len(names)} label names for {counts.n_labels} labels")
    ratios = {"precision": precision_ratio, "recall": recall_ratio, "f1": fbeta_ratio}
    return {
        "label": np.array(list(names), dtype=object),
        "support": counts.labels.true,
        "predicted": counts.labels.predicted,
    } | {name: average_ratio(counts, ratio, None, zero_division) for name, ratio in ratios.items()}


def _set_table(counts: Counts) -> dict[str, float]:
    values = (
        mean_subset(counts),
        mean_hamming(counts),
        *(average_ratio(counts, fbeta_ratio, over) for over in ("example", "micro", "macro")),
        average_ratio(counts, jaccard_ratio, "example"),
    )
    return dict(zip(LABEL_MEASURES, values, strict=True))


def _ranking_table(Y: Any, scores: np.ndarray, weights: np.ndarray | None) -> dict[str, float]:
    values = by_rows(Y, scores, _ranking_rows)
    means = (mean(column, weights) for column in values.T)
    return dict(zip(RANKING_MEASURES, means, strict=True))


def _ranking_rows(relevant: np.ndarray, order: Order) -> np.ndarray:
    gains = order.expected_gains(relevant, min(5, relevant.shape[1]))
    statistics = order.statistics(relevant)
    return np.column_stack(
        [
            gains[:, 0],
            gains[:, :3].mean(axis=1),
            gains.mean(axis=1),
            discounted(gains, relevant.sum(axis=1)),
            statistics.misordered,
            statistics.depth,
            1.0 - gains[:, 0],
            statistics.average_precision,
        ]
    )
