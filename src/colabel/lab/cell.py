"""One cell of a comparison: one method on one fold of one dataset."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from colabel._label_scores import has_label_scores, label_scores
from colabel.datasets import Dataset
from colabel.lab.memory import peak_memory_mb, reset_peak
from colabel.metrics import evaluate

__all__ = ["CellResult", "run_cell", "scores_of"]


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
        scores = scores_of(estimator, test.X, test.n_labels)
        predicted = time.perf_counter()
        measures = evaluate(
            test.Y, prediction, scores, label_sets=test.label_sets, label_names=test.label_names
        )
    except Exception as error:  # the run goes on, and the reason is kept
        reason = " ".join(str(error).split()) or "no reason given"
        return CellResult(f"failed: {type(error).__name__}: {reason}")
    return CellResult("ok", measures, fitted - started, predicted - fitted, peak_memory_mb())


def scores_of(estimator: Any, X: Any, n_labels: int) -> Any:
    """Score each label for the ranking measures, or None where the method has no scores."""
    return label_scores(estimator, X, n_labels) if has_label_scores(estimator) else None
