"""Running the tables of papers: ours beside theirs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from colabel.datasets import Dataset, load
from colabel.exceptions import DatasetNotFoundError, MissingExtraError
from colabel.lab.cell import CellResult
from colabel.lab.compare import list_cells, summarise
from colabel.lab.identity import describe, digest, hash_data
from colabel.lab.plans import BOUND, Plan, Reproduced
from colabel.lab.rows import Cell, Row
from colabel.lab.run_folder import run_in_folder
from colabel.lab.running import run_cells
from colabel.lab.statistics import mean_sd
from colabel.lab.store import Store
from colabel.lab.workers import Limits
from colabel.messages import warn_user

__all__ = ["cells_of_plan", "look_for_data", "means_and_spreads", "reproduce"]

Place = str | os.PathLike[str]
Where = tuple[str, str]


def reproduce(
    plan: Plan,
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
    **callbacks: Any,
) -> Reproduced:
    """Run a plan on the data that are there.

    Parameters
    ----------
    plan : Plan
    run_dir : path-like or None
        Folder for ``results.csv`` and, where the plan draws one and matplotlib is installed, the
        picture.
    store_dir : path-like or None
        Folder of the store of finished cells, which several plans may share; None is ``run_dir``.
    quick : bool
        Run the plan's small version.
    done : dict or None
        Cells that plans run before have shared; see ``compare``. Tables of several measures, or of
        some of the same methods, are then fitted once.
    jobs, cell_timeout, cell_memory, dask, keep
        See ``compare``. Figures of training itself are traced in this process.
    **callbacks : dict
        ``on_plan``, ``on_start`` and ``on_row`` of ``compare``.
    """
    plan = plan.small() if quick else plan
    present, missing = look_for_data(plan)
    missing = {**missing, **plan.unavailable} if not quick else missing
    place = None if run_dir is None or not present else (run_dir, store_dir or run_dir)
    if plan.trace is not None:
        found = _traced(plan, quick, present, missing, place, callbacks)
    else:
        limits = Limits(jobs, cell_timeout, cell_memory, dask)
        rows = _run(plan, quick, present, place, limits, keep, done, callbacks)
        ours, spread = means_and_spreads(plan, rows)
        failed = {(r.data, r.method): r.result.status for r in rows if not r.result.ok}
        means = summarise(rows)
        fit, predict = (
            {cell: means[cell][name] for cell in ours if cell in means}
            for name in ("fit_seconds", "predict_seconds")
        )
        found = Reproduced(
            plan,
            ours,
            plan.published(),
            missing,
            failed,
            spread,
            seconds=fit,
            predict_seconds=predict,
        )
    if plan.draw is None or run_dir is None or not found.ours:
        return found
    return replace(found, picture=_save_picture(found, Path(run_dir)))


def _run(
    plan: Plan,
    quick: bool,
    present: Iterable[str],
    place: tuple[Place, Place] | None,
    limits: Limits,
    keep: Sequence[str],
    done: dict[str, CellResult] | None,
    callbacks: dict[str, Any],
) -> list[Row]:
    cells = [*cells_of_plan(plan, present)]
    callbacks.pop("on_plan", lambda n_cells: None)(len(cells))
    told = {"done": {} if done is None else done, "limits": limits, **callbacks}
    if place is None:
        return run_cells(cells, **told)
    about = {"plan": plan.name, "quick": quick, "seeds": list(plan.seeds)}
    with run_in_folder(*place, cells, about, keep) as files:
        return run_cells(cells, **files, **told)


def cells_of_plan(plan: Plan, present: Iterable[str]) -> Iterator[Cell]:
    """List the cells dataset by dataset, as parameters may depend on it, and seeds as data may."""
    for data in present:
        variants = [entry.variant(data) for entry in plan.entries if data not in entry.left_out]
        if plan.load_data is None:
            yield from list_cells([data], variants, plan.split, plan.seeds, load)
            continue
        for seed in plan.seeds:
            made = partial(plan.load_data, seed=seed)
            yield from list_cells([data], variants, plan.split, (seed,), made)


def _traced(
    plan: Plan,
    quick: bool,
    present: Mapping[str, str],
    missing: dict[str, str],
    place: tuple[Place, Place] | None,
    callbacks: dict[str, Any],
) -> Reproduced:
    """Run the traces of all seeds; seeds that end earlier leave the mean to the others."""
    traces: dict[Where, list[float]] = {}
    ours: dict[Where, float] = {}
    with (
        nullcontext({"store": None})
        if place is None
        else _told(plan, quick, present, place) as files
    ):
        store = files["store"]
        for name, content in present.items():
            callbacks.get("on_start", lambda *_: None)(name, plan.name)
            runs = [_trace(plan, name, seed, content, store) for seed in plan.seeds]
            for entry in plan.entries:
                values = [[plan.shown(value) for value in run[entry.name]] for run in runs]
                table = np.full((len(values), max(map(len, values))), np.nan)
                for row, some in zip(table, values, strict=True):
                    row[: len(some)] = some
                traces[name, entry.name] = np.nanmean(table, axis=0).tolist()
                ours[name, entry.name] = float(np.mean([np.mean(some) for some in values]))
    found = Reproduced(plan, ours, plan.published(), missing, {}, traces=traces)
    if place is not None:
        _save_traces(found, Path(place[0]))
    return found


def _told(
    plan: Plan, quick: bool, present: Iterable[str], place: tuple[Place, Place]
) -> AbstractContextManager[dict[str, Any]]:
    names = {"data": list(present), "methods": [entry.name for entry in plan.entries]}
    about = {"plan": plan.name, "quick": quick, "seeds": list(plan.seeds), **names}
    return run_in_folder(*place, [], about)


def _trace(
    plan: Plan, name: str, seed: int, content: str, store: Store | None
) -> Mapping[str, Any]:
    """Run one trace, or read it; a failed or foreign one is run all the same."""
    import colabel

    assert plan.trace is not None
    if store is None:
        return plan.trace(name, seed)
    about = {
        "trace": describe(plan.trace),
        "data": [name, content],
        "seed": seed,
        "colabel": colabel.__version__,
    }
    claim = store.claim(digest(about))
    if claim.result is not None:
        return claim.result.traces
    traces = {key: [*map(float, values)] for key, values in plan.trace(name, seed).items()}
    store.finish(digest(about), about, CellResult("ok", traces=traces))
    return traces


def _save_traces(found: Reproduced, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["data", "quantity", "iteration", "value"])
    for (data, name), values in found.traces.items():
        writer.writerows([data, name, t, value] for t, value in enumerate(values, start=1))
    (folder / "traces.csv").write_text(text.getvalue(), encoding="utf-8", newline="")


def means_and_spreads(plan: Plan, rows: list[Row]) -> tuple[dict[Where, float], dict[Where, float]]:
    """Return means and standard deviations over folds and seeds, as the paper prints values.

    Deviations are those of samples, with n - 1 in the denominator; one value has none.
    """
    values: dict[Where, list[float]] = {}
    for row in rows:
        if plan.measure in row.result.measures:
            value = plan.shown(row.result.measures[plan.measure])
            values.setdefault((row.data, row.method), []).append(value)
    if plan.bound is not None:
        for data in dict.fromkeys(row.data for row in rows):
            values[data, BOUND] = [plan.shown(plan.bound(data, seed)) for seed in plan.seeds]
    found = {cell: mean_sd(some) for cell, some in values.items()}
    means = {cell: one.mean for cell, one in found.items()}
    return means, {cell: one.sd for cell, one in found.items() if one.n > 1}


def look_for_data(plan: Plan) -> tuple[dict[str, str], dict[str, str]]:
    """Return the data that are there, with hashes of them, and why others are not."""
    present: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name in plan.data:
        loader: Callable[..., Dataset] = load
        if plan.load_data is not None:
            loader = partial(plan.load_data, seed=plan.seeds[0])
        try:
            present[name] = hash_data(loader(name))
        except DatasetNotFoundError as error:
            missing[name] = str(error)
    return present, missing


def _save_picture(found: Reproduced, folder: Path) -> Path | None:
    assert found.plan.draw is not None
    try:
        figure = found.plan.draw(found)
    except MissingExtraError as error:
        warn_user(str(error))
        return None
    path = folder / f"{found.plan.name.partition('.')[2]}.svg"
    figure.savefig(path)
    return path
