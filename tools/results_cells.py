"""Finished cells of the papers' tables in one compact file, to be kept where run folders are not.

Gzip'd JSON, a line a cell: its key, when it was finished, and its result but for what searches have
tried. A cell is found by its key, as in a store: other data, parameters or versions find nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import colabel
from colabel.exceptions import ColabelError
from colabel.lab.files import write_whole
from colabel.lab.paper_tables import PaperTable, list_tables
from colabel.lab.reproduce import cells_of_table, find_data
from colabel.lab.rows import CellResult
from colabel.lab.runs import Run
from colabel.lab.store import FILE_NAME, Store, result_of_json

__all__ = [
    "Known",
    "add_to_store",
    "gather_runs",
    "merged",
    "pack_cells",
    "read_store",
    "unpack_cells",
]

Known = Mapping[str, tuple[CellResult, str]]
LEFT_OUT = ("files", "trials", "traces", "traceback")


def read_store(folder: str | os.PathLike[str]) -> dict[str, tuple[CellResult, str]]:
    """Return the results of a run folder by key, with the time at which they were finished.

    Raises
    ------
    ColabelError
        If there is no store that can be read.
    """
    path = Path(folder) / FILE_NAME
    if not path.exists():
        raise ColabelError(f"{path} is not there: give the RUN_DIR of reproduce")
    try:
        with closing(sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True)) as file:
            rows = file.execute("SELECT key, result, finished FROM cells").fetchall()
    except sqlite3.Error as error:
        raise ColabelError(f"{path} cannot be read: {error}") from error
    return {key: (result_of_json(result), finished) for key, result, finished in rows}


def merged(known: Known, new: Known) -> dict[str, tuple[CellResult, str]]:
    """Put new cells beside known ones; one that failed takes no place of one that did not."""
    better = {k: cell for k, cell in new.items() if cell[0].ok or k not in known}
    return {**known, **better}


def pack_cells(path: str | os.PathLike[str], known: Known) -> None:
    """Write the cells that did not fail to a file; equal cells make equal bytes."""
    lines = [
        json.dumps({"key": key, "finished": finished, **_plain(result)}, sort_keys=True)
        for key, (result, finished) in sorted(known.items())
        if result.ok and not result.traces
    ]
    text = "".join(f"{line}\n" for line in lines)
    write_whole(Path(path), gzip.compress(text.encode(), mtime=0))


def unpack_cells(path: str | os.PathLike[str]) -> dict[str, tuple[CellResult, str]]:
    """Return the cells of a file by key; none where there is no file.

    Raises
    ------
    ColabelError
        If it is not as ``pack_cells`` writes it.
    """
    if not Path(path).exists():
        return {}
    found = {}
    try:
        for line in gzip.decompress(Path(path).read_bytes()).splitlines():
            cell: dict[str, Any] = json.loads(line)
            key, finished = cell.pop("key"), cell.pop("finished")
            found[key] = CellResult(**cell), finished
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise ColabelError(f"{path} cannot be read: {error}") from error
    return found


def add_to_store(folder: str | os.PathLike[str], known: Known) -> int:
    """Put cells into the store of a run folder, from which runs there go on; count new ones."""
    with Store(folder) as store:
        new = known.keys() - store.results(known).keys()
        for key in sorted(new):
            result, finished = known[key]
            store.finish(key, {"from": "a file of cells"}, result, finished)
    return len(new)


def _plain(result: CellResult) -> dict[str, Any]:
    return {name: value for name, value in asdict(result).items() if name not in LEFT_OUT}


def gather_runs(
    folder: str | os.PathLike[str],
    tables: Sequence[PaperTable] | None = None,
    *,
    more: Known | None = None,
) -> list[Run]:
    """Return the tables of which a folder's store has cells; nothing is run.

    A table that was run in parts, or that others share cells with, has no results.csv of all it
    has. Data are loaded and hashed, for cells are found by what they are.

    Parameters
    ----------
    folder : path-like
        RUN_DIR of ``reproduce``.
    tables : sequence of PaperTable or None
        Where to look for their cells; None is all of the papers that ``folder`` has tables of.
    more : mapping or None
        Cells that were finished elsewhere; those of the folder count where both are there.

    Raises
    ------
    ColabelError
        If there is no store that can be read.
    """
    place = Path(folder)
    known = merged(more or {}, read_store(place))
    runs = [
        _gather(table, place, known) for table in (_papers(place) if tables is None else tables)
    ]
    return [run for run in runs if run is not None]


def _papers(place: Path) -> list[PaperTable]:
    """List the tables of a paper of which the folder, or one in it, has the name."""
    names = {path.name.partition(".")[0] for path in (place.resolve(), *place.iterdir())}
    return [table for table in list_tables() if table.name.partition(".")[0] in names]


def _gather(table: PaperTable, place: Path, known: Known) -> Run | None:
    if table.trace is not None:
        return None
    present, _ = find_data(table)
    cells = [*cells_of_table(table, present)]
    found = [(cell, *known[cell.key]) for cell in cells if cell.key in known]
    if not found:
        return None
    about: dict[str, Any] = {
        "data": [*present],
        "methods": [entry.name for entry in table.entries],
        "seeds": [*table.seeds],
        "n_cells": len(cells),
        "started": max(finished for *_, finished in found),
        "versions": {"colabel": colabel.__version__},  # which is part of what finds a cell
    }
    rows = [cell.row(result) for cell, result, _ in found]
    return Run(place / table.name, about, rows, table)
