"""Tables of papers from a store of finished cells, whoever ran them and in what order."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import colabel
from colabel.exceptions import ColabelError
from colabel.lab.cell import CellResult
from colabel.lab.plans import Plan, list_plans
from colabel.lab.report.reading import Run
from colabel.lab.store import FILE_NAME, _from_json
from colabel.lab.tables import _cells, _look_for

__all__ = ["gather_runs"]


def gather_runs(folder: str | os.PathLike[str], plans: Sequence[Plan] | None = None) -> list[Run]:
    """Return the tables of which a folder's store has cells; nothing is run.

    A table that was run in parts, or that others share cells with, has no results.csv of all it
    has. Data are loaded and hashed, for cells are found by what they are.

    Parameters
    ----------
    folder : path-like
        RUN_DIR of ``reproduce``.
    plans : sequence of Plan or None
        Where to look for their cells; None is all of the papers that ``folder`` has tables of.

    Raises
    ------
    ColabelError
        If there is no store that can be read.
    """
    place = Path(folder)
    known = _read(place / FILE_NAME)
    runs = [_gather(plan, place, known) for plan in (_papers(place) if plans is None else plans)]
    return [run for run in runs if run is not None]


def _papers(place: Path) -> list[Plan]:
    """List the plans of a paper of which the folder, or one in it, has the name."""
    names = {path.name.partition(".")[0] for path in (place.resolve(), *place.iterdir())}
    return [plan for plan in list_plans() if plan.name.partition(".")[0] in names]


def _gather(plan: Plan, place: Path, known: dict[str, tuple[CellResult, str]]) -> Run | None:
    if plan.trace is not None:
        return None
    present, _ = _look_for(plan)
    cells = [*_cells(plan, present)]
    found = [(cell, *known[cell.key]) for cell in cells if cell.key in known]
    if not found:
        return None
    about: dict[str, Any] = {
        "data": [*present],
        "methods": [entry.name for entry in plan.entries],
        "seeds": [*plan.seeds],
        "n_cells": len(cells),
        "started": max(finished for *_, finished in found),
        "versions": {"colabel": colabel.__version__},  # which is part of what finds a cell
    }
    rows = [cell.row(result) for cell, result, _ in found]
    return Run(place / plan.name, about, rows, plan)


def _read(path: Path) -> dict[str, tuple[CellResult, str]]:
    """Return results by key, with the time at which they were finished."""
    if not path.exists():
        raise ColabelError(f"{path} is not there: give the RUN_DIR of reproduce")
    try:
        with closing(sqlite3.connect(path.resolve().as_uri() + "?mode=ro", uri=True)) as file:
            rows = file.execute("SELECT key, result, finished FROM cells").fetchall()
    except sqlite3.Error as error:
        raise ColabelError(f"{path} cannot be read: {error}") from error
    return {key: (_from_json(result), finished) for key, result, finished in rows}
