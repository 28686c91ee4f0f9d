"""One cell of a comparison: one method on one fold of one dataset."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from colabel._label_scores import has_label_scores, label_scores
from colabel._sklearn import blames_missing_values
from colabel.datasets import Dataset
from colabel.exceptions import is_interrupt
from colabel.lab.clock import seconds_of_work
from colabel.lab.kept import pack
from colabel.lab.label_sets import with_label_sets
from colabel.lab.memory import peak_memory_mb, reset_peak
from colabel.metrics import evaluate

__all__ = ["CellResult", "brief", "first_sentence", "missing_values", "run_cell", "scores_of"]

LONG_MESSAGE = 200


@dataclass(frozen=True)
class CellResult:
    """What running a cell gave: measures, or the reason why there are none.

    ``traces`` has values iteration by iteration, for figures of training itself. ``parameters``
    and ``trials`` are what a search has chosen and tried on the training data. ``files`` are bytes
    to be kept beside the result, by kind and suffix (``predictions.npz``).
    """

    status: str
    measures: dict[str, float] = field(default_factory=dict)
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    peak_memory_mb: float = float("nan")
    traceback: str = field(default="", repr=False)
    traces: dict[str, list[float]] = field(default_factory=dict, repr=False)
    parameters: dict[str, Any] = field(default_factory=dict)
    trials: list[dict[str, Any]] = field(default_factory=list, repr=False)
    files: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the cell has measures."""
        return self.status == "ok"


def run_cell(
    build: Callable[[], Any], train: Dataset, test: Dataset, keep: Sequence[str] = ()
) -> CellResult:
    """Build, fit, predict and measure. A method that raises gives a result that says so.

    ``keep`` names what is to be kept besides: ``"predictions"``, ``"models"``. Times are without
    those of compiling.
    """
    reset_peak()
    started = seconds_of_work()
    try:
        estimator, chosen, trials = _fit(build(), train)
        fitted = seconds_of_work()
        prediction = estimator.predict(test.X)
        scores = scores_of(estimator, test.X, test.n_labels)
        predicted = seconds_of_work()
        measures = evaluate(
            test.Y, prediction, scores, facets=test.facets, label_names=test.label_names
        )
        files = pack(keep, estimator, prediction, scores, test)
    except Exception as error:  # the run goes on, and the reason is kept
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        return CellResult(_why(error, train, test), traceback=traceback.format_exc())
    times = fitted - started, predicted - fitted, peak_memory_mb()
    return CellResult("ok", measures, *times, parameters=chosen, trials=trials, files=files)


def _fit(estimator: Any, train: Dataset) -> tuple[Any, dict[str, Any], list[dict[str, Any]]]:
    """Fit; return the estimator, and what a search in it has chosen and tried."""
    if hasattr(estimator, "fit_data"):  # searches on its own, and knows label sets
        found: tuple[Any, dict[str, Any], list[dict[str, Any]]] = estimator.fit_data(train)
        return found
    estimator = with_label_sets(estimator, train)
    estimator.fit(train.X, train.Y)
    tried = getattr(estimator, "cv_results_", None)
    if not isinstance(tried, dict) or not {"params", "mean_test_score"} <= tried.keys():
        return estimator, {}, []
    sign = float(getattr(getattr(estimator, "scorer_", None), "_sign", 1.0))
    columns = ("params", "mean_test_score", "std_test_score", "mean_fit_time")
    n = getattr(estimator, "n_splits_", 1)
    wider = math.sqrt(n / (n - 1)) if n > 1 else math.nan  # scikit-learn divides by n
    trials = [
        {
            "parameters": setting,
            "value": sign * value,
            "spread": wider * spread,
            "fit_seconds": seconds,
        }
        for setting, value, spread, seconds in zip(*(tried[name] for name in columns), strict=True)
    ]
    return estimator, dict(getattr(estimator, "best_params_", {})), trials


def scores_of(estimator: Any, X: Any, n_labels: int) -> Any:
    """Score each label for the ranking measures, or None where the method has no scores."""
    return label_scores(estimator, X, n_labels) if has_label_scores(estimator) else None


def _why(error: Exception, train: Dataset, test: Dataset) -> str:
    """Return the status of a cell that failed; of missing values, where they are."""
    missing = (
        missing_values(train) or missing_values(test) if blames_missing_values(error) else None
    )
    if missing is not None:
        return f"failed: {missing}; fill them in or leave such columns out"
    reason = " ".join(str(error).split()) or "no reason given"
    return f"failed: {type(error).__name__}: {reason}"


def brief(result: CellResult) -> CellResult:
    """Keep one sentence of why a cell failed."""
    return result if result.ok else replace(result, status=first_sentence(result.status))


def first_sentence(text: str) -> str:
    """Return a message on one line; of a long one, its first sentence alone."""
    line = " ".join(text.split())
    return line.split(". ")[0] if len(line) > LONG_MESSAGE else line


def missing_values(data: Dataset) -> str | None:
    """Say how many features are missing, and where the first is; None where all are there."""
    rows, columns = np.nonzero(np.isnan(data.X)) if not data.is_sparse else _stored_nan(data.X)
    if not len(rows):
        return None
    name = data.feature_names[columns.min()]
    here = int((columns == columns.min()).sum())
    values = "missing value" if here == 1 else "missing values"
    return f"column {name!r} has {here} {values} ({len(rows)} in all)"


def _stored_nan(X: Any) -> tuple[np.ndarray, np.ndarray]:
    entries = X.tocoo()
    is_missing = np.isnan(entries.data)
    return entries.row[is_missing], entries.col[is_missing]
