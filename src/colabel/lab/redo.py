"""A finished run, or one cell of it, again: to see whether it still gives what it gave."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any

from colabel.datasets import Dataset, load, load_labelled
from colabel.exceptions import ColabelError
from colabel.lab.cell import Cell, Variant
from colabel.lab.compare import list_cells
from colabel.lab.plan_files import read_plan
from colabel.lab.rows import Row
from colabel.lab.running import run_cells
from colabel.lab.runs import Run, read_runs
from colabel.lab.search import Search
from colabel.lab.splits import Loader, default_split

__all__ = ["cell_of", "redo", "redo_command", "run_command"]


def redo(
    run_dir: str | os.PathLike[str],
    *,
    data: str,
    method: str,
    seed: int = 0,
    fold: int = 0,
    split: str | None = None,
    load_data: Loader | None = None,
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


def cell_of(
    run: Run,
    row: Row,
    load_data: Loader | None = None,
    options: Mapping[str, Any] | None = None,
) -> Cell:
    """Return the cell that gave a row, ready to run.

    Parameters
    ----------
    run : Run
    row : Row
        One of its rows.
    load_data : callable or None
        Replaces ``colabel.datasets.load`` as the run has called it, where neither a paper's table
        nor a plan file says how.
    options : mapping or None
        How files are read, in place of what the run says of the same.

    Raises
    ------
    ColabelError
        If what the run was made from has changed.
    """
    method: str | Variant = row.method
    search = Search(**run.about["search"]) if run.about.get("search") else None
    if run.table is not None:
        named = {entry.name: partial(entry.variant, row.data) for entry in run.table.entries}
        method = _named(named, row.method, run.table.name)()
        if run.table.load_data is not None:
            load_data = partial(run.table.load_data, seed=row.seed)
    elif run.about.get("plan_file"):
        asked = read_plan(run.about["plan_file"], run.about.get("plan_text"))
        search, load_data = asked.search, asked.load
        if asked.methods is not None:
            written = {variant.name: variant for variant in asked.methods}
            method = _named(written, row.method, asked.file)
    load_data = load_data or partial(_load, {**run.options(row.data), **(options or {})})
    cells = list_cells([row.data], [method], row.split, [row.seed], load_data, search)
    return next(cell for cell in cells if cell.fold.number == row.fold)


def run_command(run: Run) -> str:
    """Return the command that does all of a run, elsewhere."""
    again = ["-o", "runs/again"]
    if run.table is not None:
        quick = ["--quick"] if run.is_quick else []
        return shlex.join(["colabel", "reproduce", run.table.name, *quick, *again])
    if run.about.get("plan_file"):
        return shlex.join(["colabel", "compare", "--plan", str(run.about["plan_file"]), *again])
    splits = {row.data: row.split for row in run.rows}
    same = {*splits.values()} if any(default_split(d) != s for d, s in splits.items()) else set()
    split = ["--split", *same] if len(same) == 1 else []
    seeds = run.about.get("seeds") or sorted({row.seed for row in run.rows})
    repeats = ["--seeds", str(len(seeds))] if len(seeds) > 1 else []
    search = run.about.get("search") or {}
    names = {"strategy": "--tune", "metric": "--metric", "n_trials": "--trials"}
    tuned = [part for key, name in names.items() if key in search for part in (name, search[key])]
    methods = ["-m", ",".join(run.methods)]
    data = [*dict.fromkeys(row.data for row in run.rows)]
    how = [*split, *repeats, *map(str, tuned), *_file_options(run, *data)]
    return shlex.join(["colabel", "compare", *data, *methods, *how, *again])


def redo_command(run: Run, row: Row) -> str:
    """Return the command that runs one cell again and sets it beside what it gave."""
    which = ["--data", row.data, "--method", row.method]
    which += ["--split", row.split] if run.where(row) != row.data else []
    which += ["--seed", str(row.seed), "--fold", str(row.fold), *_file_options(run, row.data)]
    return shlex.join(["colabel", "redo", str(run.folder), *which])


def _file_options(run: Run, *data: str) -> list[str]:
    """Return the options of the command line for reading files as the run has."""
    given = {key: f"{value}" for name in data for key, value in run.options(name).items()}
    return [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]


def _load(options: dict[str, Any], name: str, split: str | None = None) -> Dataset:
    """Load data as ``run.json`` says, which may have options of the command line as text."""
    given = {"split": split, **options}
    if "n_features" in given:
        given["n_features"] = int(given["n_features"])
    if isinstance(given.get("labels"), str):
        return load_labelled(name, given.pop("labels"), **given)
    return load(name, **given)


def _named(found: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in found:
        raise ColabelError(f"{where} has no method {name} any more")
    return found[name]
