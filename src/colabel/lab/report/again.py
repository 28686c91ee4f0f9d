"""A cell of a finished run, made again from what the run tells of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from colabel.datasets import Dataset, load, load_labelled
from colabel.exceptions import ColabelError
from colabel.lab.compare import list_cells
from colabel.lab.plan_files import read_plan
from colabel.lab.report.reading import Run
from colabel.lab.rows import Cell, Row, Variant
from colabel.lab.searched import Search

__all__ = ["cell_of"]


def cell_of(
    run: Run,
    row: Row,
    load_data: Callable[..., Dataset] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Cell:
    """Return the cell that gave a row, ready to run.

    Parameters
    ----------
    run : Run
    row : Row
        One of its rows.
    load_data : callable or None
        Replaces ``colabel.datasets.load`` as the run has called it, where neither a plan nor its
        file says how.
    options : mapping or None
        How files are read, in place of what the run says of the same.

    Raises
    ------
    ColabelError
        If what the run was made from has changed.
    """
    methods: Sequence[str | Variant] = [row.method]
    search = Search(**run.about["search"]) if run.about.get("search") else None
    if run.plan is not None:
        named = {entry.name: partial(entry.variant, row.data) for entry in run.plan.entries}
        methods = [_named(named, row.method, run.plan.name)()]
        if run.plan.load_data is not None:
            load_data = partial(run.plan.load_data, seed=row.seed)
    elif run.about.get("plan_file"):
        asked = read_plan(run.about["plan_file"], run.about.get("plan_text"))
        search, load_data = asked.search, asked.load
        if asked.methods is not None:
            written = {variant.name: variant for variant in asked.methods}
            methods = [_named(written, row.method, str(asked.file))]
    load_data = load_data or partial(_load, {**run.options(row.data), **(options or {})})
    cells = list_cells([row.data], methods, row.split, [row.seed], load_data, search)
    return next(cell for cell in cells if cell.fold.number == row.fold)


def _load(options: dict[str, Any], name: str, split: str | None = None) -> Dataset:
    """Load data as ``run.json`` says, which may have options of the command line as text."""
    given = {"split": split, **options}
    if "n_features" in given:
        given["n_features"] = int(given["n_features"])
    if isinstance(given.get("labels"), str):
        return load_labelled(name, given.pop("labels"), **given)
    return load(name, **given)


def _named(found: dict[str, Any], name: str, where: str) -> Any:
    if name not in found:
        raise ColabelError(f"{where} has no method {name} any more")
    return found[name]
