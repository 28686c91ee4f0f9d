"""Accuracy of facets: exclusive sets of labels, of each of which exactly one is on."""

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

__all__ = ["facet_accuracies", "facet_accuracy", "facet_columns"]


def facet_accuracy(
    Y_true: Any,
    Y_pred: Any,
    facets: Any = None,
    *,
    label_names: Sequence[str] | None = None,
    sample_weight: Any = None,
) -> dict[str, float]:
    """Share of samples that are right in each facet, and in all of them.

    Parameters
    ----------
    Y_true, Y_pred : array, sparse matrix or data frame
        Either of shape (n_samples, n_labels), in {0, 1}, or of shape (n_samples, n_facets), holding
        one class per facet (numbers or names).
    facets : mapping or sequence, default=None
        Each facet's labels, as column numbers or label names; a mapping also names the facets,
        which are otherwise numbered from 1. For class columns it may be their names, or None.
    label_names : sequence of str, default=None
        The labels' names in column order; by default those of the data frame ``Y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each sample counts; not negative.

    Returns
    -------
    dict
        ``accuracy_<facet>`` for each, and ``accuracy_all``; between 0 and 1, higher is better.

    Notes
    -----
    A sample is right in a facet where truth and prediction agree on all of its labels: a prediction
    with no label of the facet on, or two, is wrong.

    Examples
    --------
    >>> from colabel.metrics import facet_accuracy
    >>> Y, Z = [[1, 0, 0, 1], [0, 1, 0, 1]], [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> facet_accuracy(Y, Z, {"font": [0, 1], "style": [2, 3]})
    {'accuracy_font': 1.0, 'accuracy_style': 0.5, 'accuracy_all': 0.5}
    """
    named = _named(facets)
    if named is None or _means_classes(named, _n_columns(Y_true)):
        return _class_accuracies(Y_true, Y_pred, named, sample_weight)
    names = column_names(Y_true) if label_names is None else label_names
    Y, Z = label_pair(Y_true, Y_pred)
    columns = facet_columns(facets, Y.shape[1], names)
    return facet_accuracies(Y, Z, columns, as_weights(sample_weight, Y.shape[0]))


def facet_columns(
    facets: Any, n_labels: int, label_names: Sequence[str] | None = None
) -> dict[str, list[int]]:
    """Return the column numbers of each facet, under its name.

    Parameters
    ----------
    facets : mapping or sequence
        As in :func:`facet_accuracy`.
    n_labels : int
        Number of columns.
    label_names : sequence of str, default=None
        The labels' names in column order, for facets given by name.

    Examples
    --------
    >>> from colabel.metrics import facet_columns
    >>> facet_columns({"font": ["serif", "sans"], "style": [2, 3]}, 4, ["serif", "sans", "b", "i"])
    {'font': [0, 1], 'style': [2, 3]}
    """
    if label_names is not None and len(label_names) != n_labels:
        raise ValueError(f"{len(label_names)} label names for {n_labels} labels")
    named = _named(facets)
    if not named or any(members is None for members in named.values()):
        raise ValueError("facets must give each facet's labels, such as [[0, 1], [2, 3, 4]]")
    places = {str(name): place for place, name in enumerate(label_names or ())}
    columns = {
        name: [_place(label, places, n_labels) for label in members or ()]
        for name, members in named.items()
    }
    _check_disjoint(columns)
    return columns


def facet_accuracies(
    Y: Any, Z: Any, columns: Mapping[str, list[int]], weights: np.ndarray | None
) -> dict[str, float]:
    """Return the accuracies of a validated pair."""
    right = {name: _agree(Y[:, members], Z[:, members]) for name, members in columns.items()}
    return _accuracies(right, weights)


def _named(facets: Any) -> dict[str, Any] | None:
    """Return name -> labels; the labels are None where only the names are given."""
    if facets is None:
        return None
    if isinstance(facets, Mapping):
        return {str(name): list(members) for name, members in facets.items()}
    given = list(facets)
    if given and all(isinstance(name, str) for name in given):
        return dict.fromkeys(given)
    try:
        return {str(number): list(members) for number, members in enumerate(given, start=1)}
    except TypeError:
        raise ValueError("facets must be a sequence of facets, not of labels") from None


def _means_classes(named: Mapping[str, Any], n_columns: int) -> bool:
    """Whether the columns are one per facet: there are as many, and the labels are not."""
    if named and all(members is None for members in named.values()):
        return True
    return n_columns == len(named) != sum(len(members) for members in named.values())


def _class_accuracies(
    Y_true: Any, Y_pred: Any, named: Mapping[str, Any] | None, sample_weight: Any
) -> dict[str, float]:
    check_same_columns(Y_true, Y_pred, "Y_true", "Y_pred")
    Y, Z = _classes(Y_true, "Y_true"), _classes(Y_pred, "Y_pred")
    check_same_shape(Y, Z, "Y_true", "Y_pred")
    numbered = [str(number) for number in range(1, Y.shape[1] + 1)]
    names = list(named) if named is not None else list(column_names(Y_true) or numbered)
    if len(names) != Y.shape[1]:
        raise ValueError(f"{len(names)} facets for {Y.shape[1]} class columns")
    right = {name: Y[:, s] == Z[:, s] for s, name in enumerate(names)}
    return _accuracies(right, as_weights(sample_weight, len(Y)))


def _classes(Y: Any, name: str) -> np.ndarray:
    values = Y.toarray() if sparse.issparse(Y) else unframed(Y, name)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"{name} must be a filled (n_samples, n_facets) table of classes")
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
    raise ValueError(f"facets names {label!r}, which is not one of the {n_labels} labels")


def _check_disjoint(columns: Mapping[str, list[int]]) -> None:
    seen: set[int] = set()
    for name, members in columns.items():
        if not members:
            raise ValueError(f"facet {name!r} is empty")
        if name == "all":
            raise ValueError("a facet cannot be named 'all', which stands for all of them")
        if len(set(members)) < len(members) or seen & set(members):
            raise ValueError(f"facet {name!r} has a label that is already in a facet")
        seen.update(members)
