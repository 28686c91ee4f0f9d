"""One cell of a comparison: a variant of a method on one fold of one dataset."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

import numpy as np

import colabel
from colabel._label_scores import has_label_scores, label_scores
from colabel._sklearn import blames_missing_values
from colabel.datasets import Dataset
from colabel.exceptions import is_interrupt
from colabel.lab.identity import describe, digest
from colabel.lab.kept import pack
from colabel.lab.methods import with_facets
from colabel.lab.processes import peak_memory_mb, reset_peak, seconds_of_work
from colabel.lab.rows import CellResult, Row, first_sentence
from colabel.lab.splits import Fold
from colabel.metrics import evaluate

__all__ = ["Cell", "Variant", "missing_values", "run_cell", "scores_of"]


@dataclass(frozen=True)
class Variant:
    """An estimator to compare: its name, how to build it for a seed, and its parameters.

    One that is not ``seeded`` gives the same on a fixed split whatever the seed.
    """

    name: str
    build: Callable[[int], Any]
    parameters: dict[str, Any]
    seeded: bool = True

    @cached_property
    def key(self) -> str:
        """Equal for variants that build equal estimators, whatever their names."""
        return digest(self.identity)

    @cached_property
    def identity(self) -> Any:
        """The estimator's class and parameters, the same in any process, as JSON."""
        try:
            estimator = self.build(0)
        except Exception as error:  # the cell will say so
            return {"not built": [self.name, repr(self.parameters), type(error).__name__]}
        try:
            return describe(estimator)
        except (TypeError, ValueError, RecursionError):  # like no other: always run
            return {"unknown": uuid4().hex}


@dataclass(frozen=True)
class Cell:
    """One variant on one fold."""

    fold: Fold = field(repr=False)
    variant: Variant

    @property
    def build(self) -> Callable[[], Any]:
        """Makes the estimator, with no need of the data."""
        return partial(self.variant.build, self.fold.seed)

    @cached_property
    def about(self) -> dict[str, Any]:
        """Everything that determines the result, as JSON."""
        fold = self.fold
        same = fold.split == "official" and not self.variant.seeded
        return {
            "data": fold.hash_data(),
            "split": fold.split,
            "fold": fold.number,
            "seed": None if same else fold.seed,
            "estimator": self.variant.identity,
            "colabel": colabel.__version__,
        }

    @cached_property
    def key(self) -> str:
        """The hash of ``about``."""
        return digest(self.about)

    @property
    def where(self) -> tuple[str, str, int, int, str]:
        """Names of data, split, fold, seed and method."""
        fold = self.fold
        return fold.name, fold.split, fold.number, fold.seed, self.variant.name

    def row(self, result: CellResult) -> Row:
        """Return a result as the row of the cell."""
        return Row(*self.where, self.variant.parameters, result)


def run_cell(
    build: Callable[[], Any], train: Dataset, test: Dataset, keep: Sequence[str] = ()
) -> CellResult:
    """Build, fit, predict and measure. A method that raises gives a result with the reason.

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
        return CellResult(_reason(error, train, test), traceback=traceback.format_exc())
    times = fitted - started, predicted - fitted, peak_memory_mb()
    return CellResult("ok", measures, *times, parameters=chosen, trials=trials, files=files)


def _fit(estimator: Any, train: Dataset) -> tuple[Any, dict[str, Any], list[dict[str, Any]]]:
    """Fit; return the estimator, and what a search in it has chosen and tried."""
    if hasattr(estimator, "fit_data"):  # searches on its own, and knows facets
        found: tuple[Any, dict[str, Any], list[dict[str, Any]]] = estimator.fit_data(train)
        return found
    estimator = with_facets(estimator, train)
    estimator.fit(train.X, train.Y)
    tried = getattr(estimator, "cv_results_", None)
    if not isinstance(tried, dict) or not {"params", "mean_test_score"} <= tried.keys():
        return estimator, {}, []
    sign = float(getattr(getattr(estimator, "scorer_", None), "_sign", 1.0))
    n = getattr(estimator, "n_splits_", 1)
    wider = math.sqrt(n / (n - 1)) if n > 1 else math.nan  # scikit-learn divides by n
    columns = ("params", "mean_test_score", "std_test_score", "mean_fit_time")
    trials = [
        {"parameters": setting, "value": sign * mean, "spread": wider * sd, "fit_seconds": seconds}
        for setting, mean, sd, seconds in zip(*(tried[name] for name in columns), strict=True)
    ]
    return estimator, dict(getattr(estimator, "best_params_", {})), trials


def scores_of(estimator: Any, X: Any, n_labels: int) -> Any:
    """Score each label for the ranking measures, or None where the method has no scores."""
    return label_scores(estimator, X, n_labels) if has_label_scores(estimator) else None


def _reason(error: Exception, train: Dataset, test: Dataset) -> str:
    """Return the status of a cell that failed, one sentence; of missing values, where they are."""
    blamed = blames_missing_values(error)
    missing = missing_values(train) or missing_values(test) if blamed else None
    if missing is not None:
        return f"failed: {missing}; fill them in or leave such columns out"
    reason = " ".join(str(error).split()) or "no reason given"
    return first_sentence(f"failed: {type(error).__name__}: {reason}")


def missing_values(data: Dataset) -> str | None:
    """Count the features that are missing, and name the first; None where all are there."""
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
