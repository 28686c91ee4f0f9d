"""Exclusive label sets of data, handed to the estimators that are fitted to them."""

from __future__ import annotations

from typing import Any

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError
from colabel.metrics import facet_columns

__all__ = ["with_label_sets"]


def with_label_sets(estimator: Any, data: Dataset) -> Any:
    """Tell an estimator the label sets of the data that it will be fitted to.

    Parameters
    ----------
    estimator : estimator, not fitted
        One that has the parameter ``facets``, itself or inside, gets the columns of each set,
        unless it has them already.
    data : Dataset

    Returns
    -------
    estimator
        Any other is held to one label of each set, by ``OnePerSetClassifier``. Where the data has
        no label sets it is as it was.

    Raises
    ------
    ColabelError
        If the estimator needs label sets and the data has none.
    """
    key = _parameter(estimator)
    if key is not None and estimator.get_params()[key] is not None:
        return estimator
    if data.facets is None:
        if key is None:
            return estimator
        raise ColabelError(
            f"{type(estimator).__name__} needs exclusive label sets, of each of which one label is "
            f"on, and {data.name} has none"
        )
    from colabel.facets import OnePerSetClassifier

    columns = facet_columns(data.facets, data.n_labels, data.label_names)
    if key is None:
        return OnePerSetClassifier(estimator, facets=columns)
    return estimator.set_params(**{key: columns})


def _parameter(estimator: Any) -> str | None:
    """Return the outermost parameter that takes label sets."""
    names = [name for name in _parameters(estimator) if name.rpartition("__")[2] == "facets"]
    return min(names, key=lambda name: name.count("__"), default=None)


def _parameters(estimator: Any) -> dict[str, Any]:
    return estimator.get_params() if hasattr(estimator, "get_params") else {}
