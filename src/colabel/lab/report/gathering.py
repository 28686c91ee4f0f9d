"""Tables of papers from a store of finished cells, whoever ran them and in what order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import colabel
from colabel.lab.cells_file import Known, merged, read_store
from colabel.lab.paper_tables import PaperTable, list_tables
from colabel.lab.reproduce import cells_of_table, find_data
from colabel.lab.runs import Run

__all__ = ["gather_runs"]


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
