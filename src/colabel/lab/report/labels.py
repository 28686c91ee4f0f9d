"""Results label by label, where predictions were kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from colabel.exceptions import ColabelError
from colabel.lab.runs import Run

__all__ = ["LabelTable", "label_tables"]


@dataclass(frozen=True)
class LabelTable:
    """F1 of every label by every method on one dataset.

    Parameters
    ----------
    data : str
    label_names : sequence of str
    n_true : ndarray of shape (n_labels,)
        Test samples that have the label, over all folds and seeds.
    methods : sequence of str
    f1 : ndarray of shape (n_labels, n_methods)
        NaN where a label is neither true nor predicted.
    """

    data: str
    label_names: Sequence[str]
    n_true: np.ndarray
    methods: Sequence[str]
    f1: np.ndarray

    def best(self, label: int) -> float:
        """Return the best F1 of a label; NaN where it has none, or all are equal."""
        known = self.f1[label][~np.isnan(self.f1[label])]
        return float(known.max()) if len(known) and np.ptp(known) else float("nan")


def label_tables(run: Run) -> list[LabelTable]:
    """Return a table for each dataset of which predictions were kept."""
    counts: dict[str, dict[str, np.ndarray]] = {}
    names: dict[str, list[str]] = {}
    for row, files in run.kept():
        if "predictions" in files:
            data = run.where(row)
            names[data], tally = _count(files["predictions"])
            of_data = counts.setdefault(data, {})
            of_data[row.method] = of_data.get(row.method, 0) + tally
    return [_table(data, names[data], of_data) for data, of_data in counts.items()]


def _table(data: str, names: list[str], counts: dict[str, np.ndarray]) -> LabelTable:
    hits, true, predicted = np.stack([*counts.values()], axis=-1)
    either = true + predicted
    f1 = np.divide(2.0 * hits, either, out=np.full(either.shape, np.nan), where=either > 0)
    # A method that failed on some folds has fewer test samples than the others.
    return LabelTable(data, names, true.max(axis=1), [*counts], f1)


def _count(path: Path) -> tuple[list[str], np.ndarray]:
    """Return label names and, of shape (3, n_labels), how often each is hit, true, predicted."""
    try:
        with np.load(path, allow_pickle=False) as file:
            labels, truth = file["labels"].astype(bool), file["truth"].astype(bool)
            names = [str(name) for name in json.loads(str(file["label_names"]))]
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ColabelError(f"{path} cannot be read: {error}") from error
    sums = [part.sum(axis=0) for part in (labels & truth, truth, labels)]
    return names, np.array(sums, dtype=np.int64)
