"""Results of a run: one row per cell in ``results.csv``, written as the cells finish."""

from __future__ import annotations

import csv
import json
import os
import time
from pathlib import Path
from typing import Any

__all__ = ["COLUMNS", "MEASURE_COLUMNS", "ResultFile", "read_results"]

COLUMNS = (
    "data",
    "split",
    "fold",
    "seed",
    "method",
    "parameters",
    "status",
    "fit_seconds",
    "predict_seconds",
    "peak_memory_mb",
)
MEASURE_COLUMNS = (
    "subset_accuracy",
    "hamming_loss",
    "example_f1",
    "micro_f1",
    "macro_f1",
    "example_jaccard",
    "precision_at_1",
    "precision_at_3",
    "precision_at_5",
    "ndcg_at_5",
    "ranking_loss",
    "coverage",
    "one_error",
    "lrap",
)


class ResultFile:
    """Append-only ``results.csv`` in a run folder.

    Results that are there already are kept under another name, never overwritten.

    Parameters
    ----------
    folder : path-like
        Made if missing.
    extra : sequence of str
        Measures besides the usual ones (accuracies of exclusive label sets).
    """

    def __init__(self, folder: str | os.PathLike[str], extra: tuple[str, ...] = ()) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "results.csv"
        self.kept = _set_aside(self.path, self.folder / "run.json")
        self.columns = COLUMNS + MEASURE_COLUMNS + extra
        self._write(self.columns, mode="w")

    def describe(self, about: dict[str, Any]) -> None:
        """Write ``run.json``: what was run, and with which versions."""
        text = json.dumps(about, indent=2) + "\n"
        (self.folder / "run.json").write_text(text, encoding="utf-8")

    def append(self, row: dict[str, Any]) -> None:
        """Add the row of one cell; missing columns stay empty."""
        self._write([_text(row.get(column)) for column in self.columns], mode="a")

    def _write(self, row: Any, mode: str) -> None:
        with self.path.open(mode, newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(row)
            file.flush()
            os.fsync(file.fileno())


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Read the rows of a run."""
    with (Path(folder) / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    return repr(float(value)) if isinstance(value, float) else str(value)


def _set_aside(results: Path, about: Path) -> Path | None:
    """Rename an earlier run's two files by the time of its last result."""
    if not results.exists():
        return None
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(results.stat().st_mtime))
    mark, n = f"-{stamp}", 1
    while (kept := results.with_stem(results.stem + mark)).exists():
        mark, n = f"-{stamp}-{n}", n + 1
    results.rename(kept)
    if about.exists():
        about.replace(about.with_stem(about.stem + mark))
    return kept
