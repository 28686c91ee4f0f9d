"""What cells gave: results, the rows of tables, their means, and what failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "TIMES",
    "WHERE",
    "CellResult",
    "Failure",
    "Row",
    "first_sentence",
    "list_failures",
    "summarise",
]

# What a row is found by: the first columns of ``results.csv``.
WHERE = ("data", "split", "fold", "seed", "method")
# What it took, also in columns.
TIMES = ("fit_seconds", "predict_seconds", "peak_memory_mb")
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
    fit_seconds: float = math.nan
    predict_seconds: float = math.nan
    peak_memory_mb: float = math.nan
    traceback: str = field(default="", repr=False)
    traces: dict[str, list[float]] = field(default_factory=dict, repr=False)
    parameters: dict[str, Any] = field(default_factory=dict)
    trials: list[dict[str, Any]] = field(default_factory=list, repr=False)
    files: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the cell has measures."""
        return self.status == "ok"


@dataclass(frozen=True)
class Row:
    """One finished cell."""

    data: str
    split: str
    fold: int
    seed: int
    method: str
    parameters: dict[str, Any]
    result: CellResult

    @property
    def where(self) -> tuple[str, str, int, int, str]:
        """Names of data, split, fold, seed and method."""
        return self.data, self.split, self.fold, self.seed, self.method

    def as_dict(self) -> dict[str, Any]:
        """Return the row as the columns of ``results.csv``."""
        result = self.result
        return {
            **dict(zip(WHERE, self.where, strict=True)),
            "parameters": {**self.parameters, **result.parameters},
            "status": result.status,
            **{name: getattr(result, name) for name in TIMES},
            **result.measures,
        }


class Failure(NamedTuple):
    """Cells of a method on some data with one reason; ``which`` says which or how many."""

    method: str
    data: str
    which: str
    status: str


def summarise(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, float]]:
    """Average measures and times over folds and seeds, for each data and method.

    ``n_cells`` and ``n_failed`` count the cells; failed ones are left out of the averages.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.data, row.method), []).append(row)
    return {key: _average(group) for key, group in groups.items()}


def list_failures(rows: Sequence[Row]) -> list[Failure]:
    """Return what failed and why, cells of one method that failed alike together."""
    alike: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if not row.result.ok:
            alike.setdefault((row.method, row.data, row.result.status), []).append(row)
    n_cells = Counter((row.method, row.data) for row in rows)
    return [
        Failure(method, data, _which(some, n_cells[method, data]), status)
        for (method, data, status), some in alike.items()
    ]


def first_sentence(text: str) -> str:
    """Return a message on one line; of a long one, its first sentence alone."""
    line = " ".join(text.split())
    return line.split(". ")[0] if len(line) > LONG_MESSAGE else line


def _average(group: list[Row]) -> dict[str, float]:
    done = [row.result for row in group if row.result.ok]
    out: dict[str, float] = {"n_cells": len(group), "n_failed": len(group) - len(done)}
    if done:
        for name in done[0].measures:
            out[name] = float(np.mean([result.measures[name] for result in done]))
        for name in TIMES:
            out[name] = float(np.mean([getattr(result, name) for result in done]))
    return out


def _which(some: list[Row], n_cells: int) -> str:
    if len(some) == 1:
        return f"seed {some[0].seed}, fold {some[0].fold}"
    return f"{len(some)} of {n_cells} cells"
