"""Tables of papers from a store of finished cells, whoever ran them and in what order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import colabel
from colabel.lab.cells_file import Known, merged, read_store
from colabel.lab.plans import Plan, list_plans
from colabel.lab.report.reading import Run
from colabel.lab.tables import cells_of_plan, look_for_data

__all__ = ["gather_runs"]


def gather_runs(
    folder: str | os.PathLike[str],
    plans: Sequence[Plan] | None = None,
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
    plans : sequence of Plan or None
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
    runs = [_gather(plan, place, known) for plan in (_papers(place) if plans is None else plans)]
    return [run for run in runs if run is not None]


def _papers(place: Path) -> list[Plan]:
    """List the plans of a paper of which the folder, or one in it, has the name."""
    names = {path.name.partition(".")[0] for path in (place.resolve(), *place.iterdir())}
    return [plan for plan in list_plans() if plan.name.partition(".")[0] in names]


def _gather(plan: Plan, place: Path, known: Known) -> Run | None:
    if plan.trace is not None:
        return None
    present, _ = look_for_data(plan)
    cells = [*cells_of_plan(plan, present)]
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
