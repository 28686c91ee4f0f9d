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
        self.kept = _set_aside(self.path)
        self.columns = COLUMNS + MEASURE_COLUMNS + extra
        self._write(self.columns, mode="w")

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


def _set_aside(path: Path) -> Path | None:
    if not path.exists():
        return None
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(path.stat().st_mtime))
    kept, n = path.with_name(f"results-{stamp}.csv"), 1
    while kept.exists():
        kept, n = path.with_name(f"results-{stamp}-{n}.csv"), n + 1
    path.rename(kept)
    return kept
