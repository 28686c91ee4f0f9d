"""What colabel uses of scikit-learn that scikit-learn does not promise, in one place.

If a release moves one of these, this is the file to change.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils.validation import _check_method_params, _check_sample_weight
from sklearn.utils.validation import _num_samples as n_rows

from colabel.exceptions import MissingValuesError

__all__ = [
    "blames_missing_values",
    "check_weight",
    "last_step",
    "missing_values_named",
    "n_rows",
    "one_score_per_class",
    "routing_enabled",
    "take_params",
    "take_rows",
]

# Totals of sample weights.
LEAST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e15


def routing_enabled() -> bool:
    """Return whether the user has turned metadata routing on."""
    return bool(get_config()["enable_metadata_routing"])


def take_params(X: Any, params: dict[str, Any], rows: Any = None) -> dict[str, Any]:
    """Restrict those of ``params`` that have one entry per row of ``X`` to ``rows``."""
    return dict(_check_method_params(X, params, indices=rows)) if params else {}


def check_weight(sample_weight: Any, X: Any) -> Any:
    """Return sample weights as a float64 array: one a row, not negative, not all zero.

    Refused where they would leave no penalty: a fit to labels that a line tells apart has no end.
    """
    weight = _check_sample_weight(sample_weight, X, dtype="float64", ensure_non_negative=True)
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not LEAST_WEIGHT <= total <= LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight adds up to {total:.3g}, where {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g} "
            "can be computed with; divide it by its largest"
        )
    return weight


def blames_missing_values(error: BaseException) -> bool:
    """Return whether an error says that NaN is not taken.

    Scikit-learn's has no type of its own, and its searches report the errors of fits as text.
    """
    theirs = "contains NaN.", MissingValuesError.__name__
    return isinstance(error, MissingValuesError) or (
        isinstance(error, ValueError) and any(words in str(error) for words in theirs)
    )


@contextmanager
def missing_values_named(estimator: Any) -> Iterator[None]:
    """Raise scikit-learn's refusal of NaN as a ``MissingValuesError``."""
    try:
        yield
    except ValueError as error:
        if not blames_missing_values(error):
            raise
        raise MissingValuesError(type(estimator).__name__) from error


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Go into fitted pipelines and searches: what stands at their end, and the rows it would see.

    They pass on only methods that scikit-learn knows of, which ``predict_joint`` is not.
    """
    while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
            continue
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        estimator = estimator[-1]
    return estimator, X


def one_score_per_class(estimator: Any) -> Any:
    """Ask support vector machines inside ``estimator`` for a score a class, not a pair of them."""
    keys = [k for k in estimator.get_params() if k.split("__")[-1] == "decision_function_shape"]
    return estimator.set_params(**dict.fromkeys(keys, "ovr"))
