"""Run folders as they lie on disk: rows of results, what was run, the tables of papers."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from colabel.exceptions import ColabelError
from colabel.lab.kept import KINDS
from colabel.lab.paper_tables import PaperTable, list_tables
from colabel.lab.rows import WHERE, CellResult, Row
from colabel.lab.run_folder import COLUMNS, read_results

__all__ = ["Run", "read_runs"]


@dataclass(frozen=True)
class Run:
    """One results.csv, and what is known about it.

    Parameters
    ----------
    folder : Path
        Where it lies.
    about : mapping
        ``run.json``; empty where there is none.
    rows : sequence of Row
        The finished cells.
    table : PaperTable or None
        The paper's table, where the run is one.
    traces : mapping
        From (data, entry) to values iteration by iteration, for figures of training itself.
    is_quick : bool
        Whether it is the table's small version.
    """

    folder: Path
    about: Mapping[str, Any]
    rows: Sequence[Row]
    table: PaperTable | None = None
    traces: Mapping[tuple[str, str], list[float]] = field(default_factory=dict)
    is_quick: bool = False

    @property
    def name(self) -> str:
        """The table's name, or the folder's."""
        return self.table.name if self.table is not None else self.folder.resolve().name

    @property
    def data(self) -> list[str]:
        """The datasets, in the order of the run; one with several splits is there for each."""
        planned = [name for name in self.about.get("data", []) if name not in self._with_splits]
        return [*dict.fromkeys([*map(str, planned), *(self.where(row) for row in self.rows)])]

    @property
    def methods(self) -> list[str]:
        """The methods, in the order of the run."""
        planned = self.about.get("methods", [])
        return [*dict.fromkeys([*map(str, planned), *(row.method for row in self.rows)])]

    @property
    def measures(self) -> list[str]:
        """The measures that some cell has, in the order of the file."""
        return [*dict.fromkeys(name for row in self.rows for name in row.result.measures)]

    @property
    def n_missing(self) -> int:
        """Cells that are planned and not finished."""
        return max(0, int(self.about.get("n_cells", 0)) - len(self.rows))

    @property
    def seconds(self) -> float:
        """Time of all fits and predictions, one after the other."""
        times = (
            t for row in self.rows for t in (row.result.fit_seconds, row.result.predict_seconds)
        )
        return sum(t for t in times if t == t)

    @property
    def day(self) -> str:
        """When it was begun."""
        return str(self.about.get("started") or "unknown")[:10]

    @property
    def version(self) -> str:
        """Of colabel, with which it was run."""
        return str((self.about.get("versions") or {}).get("colabel", "unknown"))

    @property
    def picture(self) -> Path | None:
        """What the table has drawn."""
        found = sorted(self.folder.glob("*.svg")) if self.table is not None else []
        return found[0] if found else None

    def options(self, data: str) -> dict[str, Any]:
        """Return how a file was read; options of the command line are text."""
        return dict((self.about.get("options") or {}).get(data) or {})

    def where(self, row: Row) -> str:
        """Return the dataset of a row, with the split where it has several."""
        return f"{row.data} ({row.split})" if row.data in self._with_splits else row.data

    def kept(self) -> Iterator[tuple[Row, dict[str, Path]]]:
        """Yield the rows of which files were kept, and the files by kind."""
        path = self.folder / "kept.csv"
        if not path.exists():
            return
        rows = {tuple(map(str, row.where)): row for row in self.rows}
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                row = rows.get(tuple(str(line.get(key)) for key in WHERE))
                files = {
                    kind: self.folder / name
                    for kind in KINDS
                    if (name := line.get(kind)) and (self.folder / name).is_file()
                }
                if row is not None and files:
                    yield row, files

    @cached_property
    def _with_splits(self) -> set[str]:
        """Datasets that are divided in several ways."""
        first: dict[str, str] = {}
        return {r.data for r in self.rows if first.setdefault(r.data, r.split) != r.split}


def read_runs(folders: Sequence[str | os.PathLike[str]]) -> list[Run]:
    """Read run folders, of ``compare`` or of ``reproduce``.

    Parameters
    ----------
    folders : sequence of path-like
        Each has a ``results.csv``, or holds folders of tables that do.

    Returns
    -------
    list of Run
        In the order given; tables in one folder by name.

    Raises
    ------
    ColabelError
        Where a folder has no results, or they cannot be read.
    """
    runs = [run for folder in folders for run in _read(Path(folder))]
    if not any(run.rows or run.traces for run in runs):
        raise ColabelError(f"{folders[0]}: no cell has finished yet, so there is nothing to report")
    return runs


def _read(folder: Path) -> list[Run]:
    if not folder.is_dir():
        raise ColabelError(f"{folder} is not a folder; report takes the RUN_DIR of a run")
    inside = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    found = [path for path in inside if _has_results(path)]
    if not found:
        raise ColabelError(f"{folder} has no results.csv: give the RUN_DIR of compare or reproduce")
    return [_read_one(path) for path in found]


def _has_results(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("results.csv", "traces.csv"))


def _read_one(folder: Path) -> Run:
    about = _read_json(folder / "run.json")
    table = next((t for t in list_tables() if t.name == about.get("plan", folder.name)), None)
    is_quick = table is not None and _was_quick(table, about)
    if table is not None and is_quick:
        table = table.small()
    if not (folder / "results.csv").exists():
        path = folder / "traces.csv"
        written = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(path.stat().st_mtime))
        return Run(folder, {"started": written, **about}, (), table, _read_traces(path), is_quick)
    try:
        cells = read_results(folder)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ColabelError(f"{folder / 'results.csv'} cannot be read: {error}") from error
    rows = [_row(cell, folder, line) for line, cell in enumerate(cells, start=2)]
    return Run(folder, about, rows, table, is_quick=is_quick)


def _read_json(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ColabelError(f"{path} cannot be read: {error}") from error
    return about if isinstance(about, dict) else {}


def _was_quick(table: PaperTable, about: Mapping[str, Any]) -> bool:
    """Return whether a run was of the small version: old runs are known by their size."""
    if "quick" in about:
        return bool(about["quick"])
    small = table.small()
    sizes = [([*t.data], [e.name for e in t.entries], [*t.seeds]) for t in (table, small)]
    given = about.get("data"), about.get("methods"), about.get("seeds")
    return sizes[0] != sizes[1] and given == sizes[1]


def _row(cell: Mapping[str, Any], folder: Path, line: int) -> Row:
    try:
        names = {key: cell[key] or "" for key in COLUMNS}
        fit, predict, memory = (_number(names[key]) for key in COLUMNS[-3:])
        measures = {
            key: float(text) for key, text in cell.items() if key not in COLUMNS and key and text
        }
        return Row(
            data=names["data"],
            split=names["split"],
            fold=int(names["fold"]),
            seed=int(names["seed"]),
            method=names["method"],
            parameters=json.loads(names["parameters"] or "{}"),
            result=CellResult(names["status"], measures, fit, predict, memory),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ColabelError(
            f"{folder / 'results.csv'}, line {line}: it is not as compare writes it ({error})"
        ) from error


def _number(text: str) -> float:
    return float(text) if text else float("nan")


def _read_traces(path: Path) -> dict[tuple[str, str], list[float]]:
    traces: dict[tuple[str, str], list[float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            traces.setdefault((row["data"], row["quantity"]), []).append(float(row["value"]))
    return traces
