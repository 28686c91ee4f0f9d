"""The folder of a run: the store of its cells, its tables, and ``run.json``."""

from __future__ import annotations

import csv
import io
import json
import logging
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import colabel
from colabel.lab.cell import Cell
from colabel.lab.files import write_whole
from colabel.lab.kept import Kept, check_kinds
from colabel.lab.rows import TIMES, WHERE, CellResult
from colabel.lab.store import Store
from colabel.metrics import MEASURE_NAMES

__all__ = ["COLUMNS", "RunFolder", "open_run", "read_results"]

COLUMNS = (*WHERE, "parameters", "status", *TIMES)
INNER = (*WHERE, "parameters", "value", "spread", "fit_seconds", "share", "failed")
KEPT = (*WHERE, "key", "predictions", "models")
BESIDE = ("run.json", "inner.csv", "kept.csv")

_log = logging.getLogger("colabel.lab")


class RunFolder:
    """Where a run puts its rows, ``results.csv``, and what was run, ``run.json``.

    What searches inside cells have tried is ``inner.csv``, best first; which files of a cell are
    kept, ``kept.csv``. Both are there only if there is something to show. Files are replaced as a
    whole, never half written. Results that the store did not make are kept under another name,
    never overwritten.

    Parameters
    ----------
    folder : path-like
        Made if missing.
    store : Store
        Where the cells are kept; in the same folder or one above it.
    kept : Kept or None
        Files of cells.
    extra : sequence of str
        Measures besides the usual ones (accuracies of facets).
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        store: Store,
        kept: Kept | None = None,
        extra: Sequence[str] = (),
    ) -> None:
        self.folder, self.store, self.kept = Path(folder), store, kept
        self.folder.mkdir(parents=True, exist_ok=True)
        self.columns = (*COLUMNS, *MEASURE_NAMES, *extra)
        view = Path(os.path.relpath(self.folder, store.folder)).as_posix()
        # Known as ours only afterwards: killed in between, nothing would be overwritten.
        with store.register_view(view) as is_new:
            if is_new:
                _set_aside(self.folder)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Replace all rows at once; missing columns stay empty."""
        self._write_table("results.csv", self.columns, rows)

    def write_results(self, results: Sequence[tuple[Cell, CellResult]]) -> None:
        """Replace all tables by those of the cells that are done."""
        rows = [cell.row(result).as_dict() for cell, result in results]
        self.write(rows)
        done = [*zip(rows, results, strict=True)]
        trials = [{**row, **trial} for row, (_, result) in done for trial in result.trials]
        if trials:
            self._write_table("inner.csv", INNER, trials)
        if self.kept is not None:
            files = [
                {**row, "key": cell.key, **self.kept.paths(cell.key, self.folder)}
                for row, (cell, _) in done
            ]
            self._write_table("kept.csv", KEPT, files)

    def describe(self, about: Mapping[str, Any]) -> None:
        """Write ``run.json``: what was run, and with which versions."""
        self._replace("run.json", json.dumps(about, indent=2) + "\n")

    def _write_table(
        self, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]
    ) -> None:
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        writer.writerows([_text(row.get(column)) for column in columns] for row in rows)
        self._replace(name, text.getvalue())

    def _replace(self, name: str, text: str) -> None:
        with self.store.lock():  # of the processes on one folder, one writes at a time
            for part in self.folder.glob(f"{name}.*.part"):
                part.unlink(missing_ok=True)  # of one that was killed
            write_whole(self.folder / name, text.encode())


@contextmanager
def open_run(
    folder: str | os.PathLike[str],
    store_folder: str | os.PathLike[str],
    cells: Sequence[Cell],
    about: Mapping[str, Any],
    keep: Sequence[str] = (),
) -> Iterator[RunFolder]:
    """Open the folder of a run, and the store of its cells, which may be in one above it."""
    facets = {f"accuracy_{name}" for cell in cells for name in cell.fold.facets}
    splits: dict[str, str] = {}
    for name, split in dict.fromkeys((cell.fold.name, cell.fold.split) for cell in cells):
        splits[name] = f"{splits[name]}, {split}" if name in splits else split
    kept = Kept(store_folder, keep) if check_kinds(keep) else None
    with Store(store_folder) as store:
        _log_other_results(folder, cells)
        run = RunFolder(folder, store, kept, (*sorted(facets), "accuracy_all") if facets else ())
        run.describe(
            {
                "data": list(splits),
                "splits": splits,
                "methods": list(dict.fromkeys(cell.variant.name for cell in cells)),
                **about,
                "n_cells": len(cells),
                "started": time.strftime("%Y-%m-%dT%H:%M:%S"),
                "versions": {
                    "colabel": colabel.__version__,
                    **{name: version(name) for name in ("scikit-learn", "numpy", "scipy")},
                    "python": platform.python_version(),
                },
            }
        )
        yield run


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Read the rows of a run."""
    with (Path(folder) / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _log_other_results(folder: str | os.PathLike[str], cells: Sequence[Cell]) -> None:
    """Warn that results of another comparison will not be shown, and how to see them again."""
    try:
        earlier = {tuple(row[name] for name in WHERE) for row in read_results(folder)}
    except (OSError, ValueError, KeyError):  # there are none, or they are none of ours
        return
    n_hidden = len(earlier - {tuple(map(str, cell.where)) for cell in cells})
    if n_hidden:
        _log.info(
            "%s holds another comparison, of which %d cells are not in this one: results.csv and "
            "reports show the last one alone; the earlier command shows the earlier one again, "
            "from the cells that are kept",
            os.fspath(folder),
            n_hidden,
        )


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, default=str)
    return repr(float(value)) if isinstance(value, float) else str(value)


def _set_aside(folder: Path) -> None:
    """Rename an earlier run's files by the time of its last result."""
    results = folder / "results.csv"
    if not results.exists():
        return
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(results.stat().st_mtime))
    mark, n = f"-{stamp}", 1
    while (renamed := results.with_stem(results.stem + mark)).exists():
        mark, n = f"-{stamp}-{n}", n + 1
    results.rename(renamed)
    for other in (folder / name for name in BESIDE):
        if other.exists():
            other.replace(other.with_stem(other.stem + mark))
