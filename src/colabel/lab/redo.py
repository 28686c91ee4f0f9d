"""One cell of a finished run again, to see whether it still gives what it gave."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from colabel.datasets import Dataset, load
from colabel.exceptions import ColabelError
from colabel.lab.compare import list_cells
from colabel.lab.report.reading import Run, read_runs
from colabel.lab.rows import Cell, Row, Variant
from colabel.lab.running import run_cells

__all__ = ["redo"]


def redo(
    run_dir: str | os.PathLike[str],
    *,
    data: str,
    method: str,
    seed: int = 0,
    fold: int = 0,
    load_data: Callable[..., Dataset] = load,
) -> tuple[Row, Row]:
    """Run one cell of a run folder again, and change nothing there.

    Parameters
    ----------
    run_dir : path-like
        Folder with the ``results.csv`` that has the cell.
    data, method : str
        As they are called there.
    seed, fold : int
        Which of its cells.
    load_data : callable
        Replaces ``colabel.datasets.load``.

    Returns
    -------
    tuple of Row
        What stands there, and what it gives now.

    Raises
    ------
    ColabelError
        If there is no such cell.
    """
    for run in read_runs([run_dir]):
        for row in run.rows:
            if (row.data, row.method, row.seed, row.fold) == (data, method, seed, fold):
                [now] = run_cells([_cell(run, row, load_data)])
                return row, now
    raise ColabelError(
        f"{os.fspath(run_dir)} has no cell of {method} on {data} with seed {seed} and fold {fold}"
    )


def _cell(run: Run, row: Row, load_data: Callable[..., Dataset]) -> Cell:
    methods: Sequence[str | Variant] = [row.method]
    if run.plan is not None:
        entry = next((e for e in run.plan.entries if e.name == row.method), None)
        if entry is None:
            raise ColabelError(f"{run.plan.name} has no column {row.method} any more")
        methods = [entry.variant(row.data)]
        if run.plan.load_data is not None:
            load_data = partial(run.plan.load_data, seed=row.seed)
    cells = list_cells([row.data], methods, row.split, [row.seed], load_data)
    return next(cell for cell in cells if cell.fold.number == row.fold)
