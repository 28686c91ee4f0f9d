"""One cell of a finished run again, to see whether it still gives what it gave."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError
from colabel.lab.report.again import cell_of
from colabel.lab.report.reading import read_runs
from colabel.lab.rows import Row
from colabel.lab.running import run_cells

__all__ = ["redo"]


def redo(
    run_dir: str | os.PathLike[str],
    *,
    data: str,
    method: str,
    seed: int = 0,
    fold: int = 0,
    split: str | None = None,
    load_data: Callable[..., Dataset] | None = None,
    options: Mapping[str, Any] | None = None,
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
    split : str or None
        Which of its splits, where it has several.
    load_data : callable or None
        Replaces ``colabel.datasets.load`` as the run has called it.
    options : mapping or None
        Arguments of ``load`` (``labels``, ``xml``, ``n_features``) in place of the run's.

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
            here = row.data, row.method, row.seed, row.fold
            if here == (data, method, seed, fold) and split in (None, row.split):
                [now] = run_cells([cell_of(run, row, load_data, options)])
                return row, now
    raise ColabelError(
        f"{os.fspath(run_dir)} has no cell of {method} on {data} with seed {seed} and fold {fold}"
    )
