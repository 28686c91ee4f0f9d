"""Running the tables of papers: ours beside theirs."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import colabel
from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError, MissingExtraError
from colabel.lab.cell import Cell
from colabel.lab.compare import list_cells
from colabel.lab.identity import describe, digest, hash_data
from colabel.lab.paper_tables import BOUND, PaperTable, Reproduced
from colabel.lab.rows import CellResult, Row, summarise
from colabel.lab.run_folder import RunFolder, open_run
from colabel.lab.running import Limits, run_cells
from colabel.lab.splits import Loader
from colabel.lab.statistics import mean_sd

__all__ = ["cells_of_table", "find_data", "reproduce", "reproduced"]

Place = str | os.PathLike[str]
Where = tuple[str, str]


def reproduce(
    table: PaperTable,
    run_dir: Place | None = None,
    *,
    store_dir: Place | None = None,
    quick: bool = False,
    done: dict[str, CellResult] | None = None,
    jobs: int = 1,
    cell_timeout: float | None = None,
    cell_memory: float | None = None,
    dask: str | None = None,
    keep: Sequence[str] = (),
    on_plan: Callable[[int], None] = lambda n_cells: None,
    on_start: Callable[[str, str], None] = lambda data, method: None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> Reproduced:
    """Run a table on the data that are there.

    Parameters
    ----------
    table : PaperTable
    run_dir : path-like or None
        Folder for ``results.csv`` and, where the table draws one and matplotlib is installed, the
        picture.
    store_dir : path-like or None
        Folder of the store of finished cells, which several tables may share; None is ``run_dir``.
    quick : bool
        Run the table's small version.
    done : dict or None
        Cells that tables run before have shared; see ``compare``. Tables of several measures, or of
        some of the same methods, are then fitted once.
    jobs, cell_timeout, cell_memory, dask, keep
        See ``compare``. Figures of training itself are traced in this process.
    on_plan, on_start, on_row : callable
        See ``compare``.
    """
    table = table.small() if quick else table
    present, missing = find_data(table)
    missing = {**missing, **table.unavailable} if not quick else missing
    about: dict[str, Any] = {"plan": table.name, "quick": quick, "seeds": list(table.seeds)}
    cells: list[Cell] = []
    if table.trace is None:
        cells = [*cells_of_table(table, present)]
        on_plan(len(cells))
    else:
        about |= {"data": list(present), "methods": [entry.name for entry in table.entries]}
    opened: AbstractContextManager[RunFolder | None] = nullcontext()
    if run_dir is not None and present:
        opened = open_run(run_dir, store_dir or run_dir, cells, about, keep)
    with opened as folder:
        if table.trace is None:
            limits = Limits(jobs, cell_timeout, cell_memory, dask)
            done = {} if done is None else done
            run = partial(run_cells, done=done, limits=limits, on_start=on_start, on_row=on_row)
            found = reproduced(table, run(cells, folder), missing)
        else:
            found = _traced(table, present, missing, folder, on_start)
    if table.draw is None or run_dir is None or not found.ours:
        return found
    return replace(found, picture=_save_picture(found, Path(run_dir)))


def reproduced(table: PaperTable, rows: Sequence[Row], missing: Mapping[str, str]) -> Reproduced:
    """Return what the rows of a table come to, as the paper prints it.

    Deviations are those of samples, with n - 1 in the denominator; one value has none.
    """
    values: dict[Where, list[float]] = {}
    for row in rows:
        if table.measure in row.result.measures:
            value = table.shown(row.result.measures[table.measure])
            values.setdefault((row.data, row.method), []).append(value)
    if table.bound is not None:
        for data in dict.fromkeys(row.data for row in rows):
            values[data, BOUND] = [table.shown(table.bound(data, seed)) for seed in table.seeds]
    found = {cell: mean_sd(some) for cell, some in values.items()}
    means = {cell: mean for cell, mean in summarise(rows).items() if "fit_seconds" in mean}
    return Reproduced(
        table,
        ours={cell: one.mean for cell, one in found.items()},
        published=table.published(),
        missing=dict(missing),
        failed={(r.data, r.method): r.result.status for r in rows if not r.result.ok},
        spread={cell: one.sd for cell, one in found.items() if one.n > 1},
        seconds={cell: mean["fit_seconds"] for cell, mean in means.items()},
        predict_seconds={cell: mean["predict_seconds"] for cell, mean in means.items()},
    )


def cells_of_table(table: PaperTable, present: Iterable[str]) -> Iterator[Cell]:
    """List the cells dataset by dataset, as parameters may depend on it, and seeds as data may."""
    for data in present:
        variants = [entry.variant(data) for entry in table.entries if data not in entry.left_out]
        if table.load_data is None:
            yield from list_cells([data], variants, table.split, table.seeds, load)
            continue
        for seed in table.seeds:
            made = partial(table.load_data, seed=seed)
            yield from list_cells([data], variants, table.split, (seed,), made)


def find_data(table: PaperTable) -> tuple[dict[str, str], dict[str, str]]:
    """Return the data that are there, with hashes of them, and why others are not."""
    present: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name in table.data:
        loader: Loader = load
        if table.load_data is not None:
            loader = partial(table.load_data, seed=table.seeds[0])
        try:
            present[name] = hash_data(loader(name))
        except DatasetNotFoundError as error:
            missing[name] = str(error)
    return present, missing


def _traced(
    table: PaperTable,
    present: Mapping[str, str],
    missing: dict[str, str],
    folder: RunFolder | None,
    on_start: Callable[[str, str], None],
) -> Reproduced:
    """Run the traces of all seeds; seeds that end earlier leave the mean to the others."""
    traces: dict[Where, list[float]] = {}
    ours: dict[Where, float] = {}
    for name, content in present.items():
        on_start(name, table.name)
        runs = [_trace(table, name, seed, content, folder) for seed in table.seeds]
        for entry in table.entries:
            values = [[table.shown(value) for value in run[entry.name]] for run in runs]
            longest = np.full((len(values), max(map(len, values))), np.nan)
            for row, some in zip(longest, values, strict=True):
                row[: len(some)] = some
            traces[name, entry.name] = np.nanmean(longest, axis=0).tolist()
            ours[name, entry.name] = float(np.mean([np.mean(some) for some in values]))
    found = Reproduced(table, ours, table.published(), missing, {}, traces=traces)
    if folder is not None:
        _save_traces(found, folder.folder)
    return found


def _trace(
    table: PaperTable, name: str, seed: int, content: str, folder: RunFolder | None
) -> Mapping[str, Any]:
    """Run one trace, or read it; one that failed, or that another process runs, is run."""
    assert table.trace is not None
    if folder is None:
        return table.trace(name, seed)
    about = {
        "trace": describe(table.trace),
        "data": [name, content],
        "seed": seed,
        "colabel": colabel.__version__,
    }
    claim = folder.store.claim(digest(about))
    if claim.result is not None:
        return claim.result.traces
    traces = {key: [*map(float, values)] for key, values in table.trace(name, seed).items()}
    folder.store.finish(digest(about), about, CellResult("ok", traces=traces))
    return traces


def _save_traces(found: Reproduced, folder: Path) -> None:
    with (folder / "traces.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "quantity", "iteration", "value"])
        for (data, name), values in found.traces.items():
            writer.writerows([data, name, t, value] for t, value in enumerate(values, start=1))


def _save_picture(found: Reproduced, folder: Path) -> Path | None:
    assert found.table.draw is not None
    try:
        figure = found.table.draw(found)
    except MissingExtraError as error:
        warnings.warn(str(error), UserWarning, stacklevel=3)
        return None
    path = folder / f"{found.table.name.partition('.')[2]}.svg"
    figure.savefig(path)
    return path
