"""The tables of a run and its ``run.json``: replaced as a whole, never half written."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from colabel.lab.files import write_whole
from colabel.lab.store import Store
from colabel.metrics import MEASURE_NAMES

__all__ = ["COLUMNS", "WHERE", "ResultFile", "read_results"]

WHERE = ("data", "split", "fold", "seed", "method")

COLUMNS = (
    *WHERE,
    "parameters",
    "status",
    "fit_seconds",
    "predict_seconds",
    "peak_memory_mb",
)
INNER = (*WHERE, "parameters", "value", "spread", "fit_seconds", "share", "failed")
BESIDE = ("run.json", "inner.csv", "kept.csv")
KEPT = (*WHERE, "key", "predictions", "models")


class ResultFile:
    """The rows of a run as ``results.csv``, and what was run as ``run.json``.

    What searches inside cells have tried is ``inner.csv``, best first; which files of a cell are
    kept, ``kept.csv``. Both are there only if there is something to say.

    Results that the store did not make are kept under another name, never overwritten.

    Parameters
    ----------
    folder : path-like
        Made if missing.
    store : Store
        Where the cells are kept; in the same folder or one above it.
    extra : sequence of str
        Measures besides the usual ones (accuracies of exclusive label sets).
    """

    def __init__(
        self, folder: str | os.PathLike[str], store: Store, extra: Sequence[str] = ()
    ) -> None:
        self.folder, self.store = Path(folder), store
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / "results.csv"
        self.columns = (*COLUMNS, *MEASURE_NAMES, *extra)
        view = Path(os.path.relpath(self.folder, store.folder)).as_posix()
        # Known as ours only afterwards: killed in between, nothing would be overwritten.
        with store.adopt(view) as is_new:
            if is_new:
                _set_aside(self.path, *(self.folder / name for name in BESIDE))

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Replace all rows at once; missing columns stay empty."""
        self._table("results.csv", self.columns, rows)

    def write_inner(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Replace the trials of all searches."""
        self._table("inner.csv", INNER, rows)

    def write_kept(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Replace the names of the files that are kept."""
        self._table("kept.csv", KEPT, rows)

    def describe(self, about: Mapping[str, Any]) -> None:
        """Write ``run.json``: what was run, and with which versions."""
        self._replace(self.folder / "run.json", json.dumps(about, indent=2) + "\n")

    def _table(self, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows([_text(row.get(column)) for column in columns] for row in rows)
        self._replace(self.folder / name, text.getvalue())

    def _replace(self, path: Path, text: str) -> None:
        with self.store.alone():  # of the processes on one folder, one writes at a time
            for part in self.folder.glob(f"{path.name}.*.part"):
                part.unlink(missing_ok=True)  # of one that was killed
            write_whole(path, text.encode())


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Read the rows of a run."""
    with (Path(folder) / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, default=str)
    return repr(float(value)) if isinstance(value, float) else str(value)


def _set_aside(results: Path, *others: Path) -> None:
    """Rename an earlier run's files by the time of its last result."""
    if not results.exists():
        return
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(results.stat().st_mtime))
    mark, n = f"-{stamp}", 1
    while (kept := results.with_stem(results.stem + mark)).exists():
        mark, n = f"-{stamp}-{n}", n + 1
    results.rename(kept)
    for other in others:
        if other.exists():
            other.replace(other.with_stem(other.stem + mark))
