"""One cell of a comparison: one method on one fold of one dataset."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colabel.datasets import Dataset
from colabel.lab.memory import peak_memory_mb, reset_peak
from colabel.metrics import evaluate

__all__ = ["CellResult", "label_scores", "run_cell"]


@dataclass(frozen=True)
class CellResult:
    """What running a cell gave: measures, or the reason why there are none."""

    status: str
    measures: dict[str, float] = field(default_factory=dict)
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    peak_memory_mb: float = float("nan")

    @property
    def ok(self) -> bool:
        """Whether the cell has measures."""
        return self.status == "ok"


def run_cell(build: Callable[[], Any], train: Dataset, test: Dataset) -> CellResult:
    """Build, fit, predict and measure. A method that raises gives a result that says so."""
    reset_peak()
    started = time.perf_counter()
    try:
        estimator = build()
        estimator.fit(train.X, train.Y)
        fitted = time.perf_counter()
        prediction = estimator.predict(test.X)
        scores = label_scores(estimator, test.X)
        predicted = time.perf_counter()
        measures = evaluate(
            test.Y, prediction, scores, label_sets=test.label_sets, label_names=test.label_names
        )
    except Exception as error:  # the run goes on, and the reason is kept
        reason = " ".join(str(error).split()) or "no reason given"
        return CellResult(f"failed: {type(error).__name__}: {reason}")
    return CellResult("ok", measures, fitted - started, predicted - fitted, peak_memory_mb())


def label_scores(estimator: Any, X: Any) -> np.ndarray | None:
    """Score each label for the ranking measures, or None where the method has no scores."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if not hasattr(estimator, "predict_proba"):
        return None
    scores = estimator.predict_proba(X)
    if not isinstance(scores, list):
        return scores
    # Some of scikit-learn's give one array a label, with a column for each class they saw.
    on = [p[:, -1] * classes[-1] for p, classes in zip(scores, estimator.classes_, strict=True)]
    return np.column_stack(on)
