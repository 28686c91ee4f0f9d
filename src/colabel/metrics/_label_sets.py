"""Accuracy for exclusive label sets, of each of which exactly one label is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from colabel.metrics._inputs import (
    as_weights,
    check_same_columns,
    check_same_shape,
    column_names,
    label_pair,
    unframed,
)
from colabel.metrics._ratios import mean

__all__ = ["label_set_accuracy", "set_accuracies", "set_columns"]


def label_set_accuracy(
    Y_true: Any,
    Y_pred: Any,
    label_sets: Any = None,
    *,
    label_names: Sequence[str] | None = None,
    sample_weight: Any = None,
) -> dict[str, float]:
    """Share of samples that are right in each label set, and in all of them.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame
        Either of shape (n_samples, n_labels), in {0, 1}, or of shape (n_samples, n_sets), holding
        one class per set (numbers or names).
    label_sets : mapping or sequence, default=None
        Each set's labels, as column numbers or label names; a mapping also names the sets, which
        are otherwise numbered from 1. For class columns it may be the names of the sets, or None.
    label_names : sequence of str, default=None
        The labels' names in column order; by default those of the data frame ``Y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    dict
        ``accuracy_<set>`` for each set, and ``accuracy_all``; between 0 and 1, higher is better.

    Notes
    -----
    A sample is right in a set where truth and prediction agree on all of its labels: a prediction
    with no label of the set on, or two, is wrong.

    Examples
    --------
    >>> from colabel.metrics import label_set_accuracy
    >>> Y, Z = [[1, 0, 0, 1], [0, 1, 0, 1]], [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> label_set_accuracy(Y, Z, {"font": [0, 1], "style": [2, 3]})
    {'accuracy_font': 1.0, 'accuracy_style': 0.5, 'accuracy_all': 0.5}
    """
    sets = _named_sets(label_sets)
    if sets is None or _means_classes(sets, _n_columns(Y_true)):
        return _class_accuracies(Y_true, Y_pred, sets, sample_weight)
    names = column_names(Y_true) if label_names is None else label_names
    Y, Z = label_pair(Y_true, Y_pred)
    columns = set_columns(label_sets, Y.shape[1], names)
    return set_accuracies(Y, Z, columns, as_weights(sample_weight, Y.shape[0]))


def set_columns(
    label_sets: Any, n_labels: int, label_names: Sequence[str] | None = None
) -> dict[str, list[int]]:
    """Return the column numbers of each label set, under its name.

    Parameters
    ----------
    label_sets : mapping or sequence
        Exclusive label sets, as in :func:`label_set_accuracy`.
    n_labels : int
        Number of columns.
    label_names : sequence of str, default=None
        The labels' names in column order, for label sets given by name.

    Examples
    --------
    >>> from colabel.metrics import set_columns
    >>> set_columns({"font": ["serif", "sans"], "style": [2, 3]}, 4, ["serif", "sans", "b", "i"])
    {'font': [0, 1], 'style': [2, 3]}
    """
    if label_names is not None and len(label_names) != n_labels:
        raise ValueError(f"{len(label_names)} label names for {n_labels} labels")
    sets = _named_sets(label_sets)
    if not sets or any(members is None for members in sets.values()):
        raise ValueError("label_sets must give each set's labels, such as [[0, 1], [2, 3, 4]]")
    places = {str(name): place for place, name in enumerate(label_names or ())}
    columns = {
        name: [_place(label, places, n_labels) for label in members or ()]
        for name, members in sets.items()
    }
    _check_disjoint(columns)
    return columns


def set_accuracies(
    Y: Any, Z: Any, columns: Mapping[str, list[int]], weights: np.ndarray | None
) -> dict[str, float]:
    """Return the accuracies of a validated pair."""
    right = {name: _agree(Y[:, members], Z[:, members]) for name, members in columns.items()}
    return _accuracies(right, weights)


def _named_sets(label_sets: Any) -> dict[str, Any] | None:
    """Return set name -> labels; the labels are None where only the sets' names are given."""
    if label_sets is None:
        return None
    if isinstance(label_sets, Mapping):
        return {str(name): list(members) for name, members in label_sets.items()}
    sets = list(label_sets)
    if sets and all(isinstance(name, str) for name in sets):
        return dict.fromkeys(sets)
    try:
        return {str(number): list(members) for number, members in enumerate(sets, start=1)}
    except TypeError:
        raise ValueError("label_sets must be a sequence of label sets, not of labels") from None


def _means_classes(sets: Mapping[str, Any], n_columns: int) -> bool:
    """Whether the columns are one per set: there are as many, and the labels are not."""
    if sets and all(members is None for members in sets.values()):
        return True
    return n_columns == len(sets) != sum(len(members) for members in sets.values())


def _class_accuracies(
    Y_true: Any, Y_pred: Any, sets: Mapping[str, Any] | None, sample_weight: Any
) -> dict[str, float]:
    check_same_columns(Y_true, Y_pred, "Y_true", "Y_pred")
    Y, Z = _classes(Y_true, "Y_true"), _classes(Y_pred, "Y_pred")
    check_same_shape(Y, Z, "Y_true", "Y_pred")
    numbered = [str(number) for number in range(1, Y.shape[1] + 1)]
    names = list(sets) if sets is not None else list(column_names(Y_true) or numbered)
    if len(names) != Y.shape[1]:
        raise ValueError(f"{len(names)} label sets for {Y.shape[1]} class columns")
    right = {name: Y[:, s] == Z[:, s] for s, name in enumerate(names)}
    return _accuracies(right, as_weights(sample_weight, len(Y)))


def _classes(Y: Any, name: str) -> np.ndarray:
    values = Y.toarray() if sparse.issparse(Y) else unframed(Y, name)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"{name} must be a filled (n_samples, n_sets) table of classes")
    if values.dtype.kind in ("f", "O") and any(_is_missing(value) for value in values.flat):
        raise ValueError(f"{name} has missing classes")
    return values


def _is_missing(value: Any) -> bool:
    # A pandas missing value compares as itself, and pandas may not be installed to ask.
    absent = value is None or type(value).__name__ in ("NAType", "NaTType")
    return absent or (isinstance(value, float) and value != value)


def _accuracies(right: Mapping[str, np.ndarray], weights: np.ndarray | None) -> dict[str, float]:
    table = {f"accuracy_{name}": mean(rows, weights) for name, rows in right.items()}
    table["accuracy_all"] = mean(np.logical_and.reduce(list(right.values())), weights)
    return table


def _agree(Y: Any, Z: Any) -> np.ndarray:
    if sparse.issparse(Y):
        return np.diff((Y != Z).tocsr().indptr) == 0
    return (Y == Z).all(axis=1)


def _n_columns(Y: Any) -> int:
    shape = np.shape(Y) if not hasattr(Y, "shape") else Y.shape
    return int(shape[1]) if len(shape) == 2 else 0


def _place(label: Any, places: Mapping[str, int], n_labels: int) -> int:
    if isinstance(label, Integral) and 0 <= int(label) < n_labels:
        return int(label)
    if isinstance(label, str) and label in places:
        return places[label]
    raise ValueError(f"label_sets names {label!r}, which is not one of the {n_labels} labels")


def _check_disjoint(columns: Mapping[str, list[int]]) -> None:
    seen: set[int] = set()
    for name, members in columns.items():
        if not members:
            raise ValueError(f"label set {name!r} is empty")
        if name == "all":
            raise ValueError("a label set cannot be named 'all', which stands for all of them")
        if len(set(members)) < len(members) or seen & set(members):
            raise ValueError(f"label set {name!r} has a label that was already in a set")
        seen.update(members)
