"""Tables of papers as runnable plans: ours beside theirs."""

from __future__ import annotations

import csv
import difflib
import os
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from colabel.datasets import Dataset, load
from colabel.exceptions import DatasetNotFoundError, MissingExtraError, UnknownNameError
from colabel.lab.cell import CellResult
from colabel.lab.compare import Row, Variant, _versions, compare, summarise
from colabel.lab.methods import make
from colabel.lab.store import ResultFile
from colabel.metrics import get_measure, make_scorer
from colabel.model_selection import IterativeStratifiedKFold

__all__ = ["Entry", "Plan", "Reproduced", "find_plans", "list_plans", "register", "reproduce"]

_PLANS: dict[str, Plan] = {}

BOUND = "upper bound"
Cell = tuple[str, str]


@dataclass(frozen=True)
class Entry:
    """A column of a paper's table: a method as the paper ran it, and what it printed.

    Parameters
    ----------
    name : str
        The column's heading.
    method : str
        Registered name.
    published : mapping of str to float
        The paper's number for each dataset, by the paper's name of it.
    params : mapping
        Parameters that the paper fixes.
    params_of : mapping of str to mapping
        Those that it fixes for one dataset alone, by our name of it.
    space : mapping of str to tuple
        Parameters that the paper searches on training data.
    space_of : mapping of str to mapping
        Other values for one dataset alone, by our name of it.
    tune_for : str
        Measure of that search.
    holdout : float or None
        Share of the training rows that the search holds out, once; None is five folds. What was
        chosen is fitted to all rows.
    wrap : callable or None
        Changes the estimator in ways that parameters do not reach.
    """

    name: str
    method: str
    published: Mapping[str, float]
    params: Mapping[str, Any] = field(default_factory=dict)
    params_of: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    space_of: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)
    tune_for: str = "example_f1"
    holdout: float | None = None
    wrap: Callable[[Any], Any] | None = None

    def parameters(self, data: str | None = None) -> dict[str, Any]:
        """Return the parameters that are fixed for a dataset."""
        return {**self.params, **self.params_of.get(data or "", {})}

    def searched(self, data: str | None = None) -> dict[str, list[Any]]:
        """Return the values that are searched for a dataset."""
        space = {**self.space, **self.space_of.get(data or "", {})}
        return {key: list(values) for key, values in space.items()}

    def build(self, seed: int, data: str | None = None) -> Any:
        """Make the estimator, with its search where the paper has one."""
        estimator = make(self.method, self.parameters(data), seed)
        if self.wrap is not None:
            estimator = self.wrap(estimator)
        space, cv = self.searched(data), IterativeStratifiedKFold(5, random_state=seed)
        if not space:
            return estimator
        if self.holdout is not None:
            cv = ShuffleSplit(1, test_size=self.holdout, random_state=seed)
        return GridSearchCV(estimator, space, scoring=make_scorer(self.tune_for), cv=cv)

    def variant(self, data: str) -> Variant:
        """Return the entry as ``compare`` takes it."""
        parameters = self.parameters(data)
        space = self.searched(data)
        search = (repr(sorted(space.items())), self.tune_for, self.holdout) if space else ()
        key = self.method, repr(sorted(parameters.items())), *search, self.wrap
        build = partial(self.build, data=data)
        return Variant(self.name, build, parameters, key, _has_seed(build(0)))


@dataclass(frozen=True)
class Plan:
    """A table of a paper.

    Parameters
    ----------
    name : str
        ``PAPER.TABLE``, or ``PAPER.TABLE.PART``.
    title : str
        What the table shows.
    data : tuple of str
        Its datasets.
    entries : tuple of Entry
    measure : str
        The measure it reports; for a trace any words for what it is of.
    as_loss : bool
        Whether it prints one minus the measure.
    percent : bool
        Whether it prints per cent.
    show_seconds : bool
        Whether the time of each fit, its search included, is printed too.
    split : str
    seeds : tuple of int
    load_data : callable or None
        For generated data: ``load_data(name, split, seed)`` replaces ``colabel.datasets.load``, and
        each seed has data of its own.
    bound : callable or None
        ``bound(name, seed)``: the best value that any method could reach on generated data.
    published_bound : mapping of str to float
        The paper's number for it.
    trace : callable or None
        For figures of training itself: ``trace(name, seed)`` returns for each entry its values,
        iteration by iteration. Nothing is fitted and measured then; the table has their means.
    stand_ins : mapping of str to str
        Datasets that are *not* the paper's, and the paper's names of those they stand in for.
    unavailable : mapping of str to str
        Datasets of the paper that cannot be had, and why.
    quick_data : tuple of str
        The datasets of ``--quick``.
    quick : mapping
        Other fields that ``--quick`` changes, and their values there.
    draw : callable or None
        Draws what was found, a ``Reproduced``, and returns the figure.
    note : str
        Where the protocol differs from the paper's, and why.
    """

    name: str
    title: str
    data: tuple[str, ...]
    entries: tuple[Entry, ...]
    measure: str
    as_loss: bool = False
    percent: bool = False
    show_seconds: bool = False
    split: str = "official"
    seeds: tuple[int, ...] = (0,)
    load_data: Callable[..., Dataset] | None = None
    bound: Callable[[str, int], float] | None = None
    published_bound: Mapping[str, float] = field(default_factory=dict)
    trace: Callable[..., Mapping[str, Sequence[float]]] | None = None
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    quick_data: tuple[str, ...] = ()
    quick: Mapping[str, Any] = field(default_factory=dict)
    draw: Callable[[Reproduced], Any] | None = None
    note: str = ""

    def small(self) -> Plan:
        """Return the plan of ``--quick``: less data, one seed."""
        changes = {"data": self.quick_data or self.data, "seeds": self.seeds[:1], **self.quick}
        return replace(self, **changes)

    def shown(self, value: float) -> float:
        """Put a value of the measure as the paper prints it."""
        value = 1.0 - value if self.as_loss else value
        return 100.0 * value if self.percent else value

    def published(self) -> dict[Cell, float]:
        """Return the paper's numbers, by our names of the data."""
        columns = [(BOUND, self.published_bound)] if self.bound is not None else []
        columns += [(entry.name, entry.published) for entry in self.entries]
        return {
            (data, name): numbers[self.stand_ins.get(data, data)]
            for data in self.data
            for name, numbers in columns
            if self.stand_ins.get(data, data) in numbers
        }


@dataclass(frozen=True)
class Reproduced:
    """What running a plan gave.

    Parameters
    ----------
    plan : Plan
        As it was run: the small one, if that was asked for.
    ours, spread, published : dict
        From (data, entry) to our mean over seeds and folds, the standard deviation of it, and
        the paper's number; all as the paper prints them.
    missing : dict of str to str
        Why data are absent.
    failed : dict
        From (data, entry) to the reason.
    picture : Path or None
        The file that was drawn.
    traces : dict
        From (data, entry) to the values of a trace, iteration by iteration, mean over seeds.
    seconds : dict
        From (data, entry) to the mean time of a fit, its search included.
    """

    plan: Plan
    ours: dict[Cell, float]
    published: dict[Cell, float]
    missing: dict[str, str]
    failed: dict[Cell, str]
    spread: dict[Cell, float] = field(default_factory=dict)
    picture: Path | None = None
    traces: dict[Cell, list[float]] = field(default_factory=dict)
    seconds: dict[Cell, float] = field(default_factory=dict)

    def cells(self) -> list[Cell]:
        """List the cells that there is something to say about, data by data."""
        names = [BOUND, *(entry.name for entry in self.plan.entries)]
        known = self.ours.keys() | self.published.keys() | self.failed.keys()
        return [(d, name) for d in self.plan.data for name in names if (d, name) in known]

    def of_bound(self, cell: Cell) -> tuple[float | None, float | None]:
        """Return our number and the paper's as shares of the best possible one."""
        best = cell[0], BOUND
        return _ratio(self.ours, cell, best), _ratio(self.published, cell, best)


def register(plan: Plan) -> Plan:
    """Add a plan to the registry."""
    if plan.trace is None:
        get_measure(plan.measure)
    _PLANS[plan.name] = plan
    return plan


def list_plans() -> list[Plan]:
    """Return every registered plan, importing ``colabel.lab.papers``."""
    from colabel.lab import papers

    for module in iter_modules(papers.__path__):
        import_module(f"{papers.__name__}.{module.name}")
    return [_PLANS[name] for name in sorted(_PLANS)]


def find_plans(name: str) -> list[Plan]:
    """Return the plan of this name, or those whose names begin with it: ``PAPER``, ``all``."""
    plans = list_plans()
    chosen = [p for p in plans if name == "all" or f"{p.name}.".startswith(f"{name}.")]
    if not chosen:
        known = sorted({start for p in plans for start in _beginnings(p.name)})
        close = difflib.get_close_matches(name, known, n=3) or known
        raise UnknownNameError(f"no table is registered as {name!r}; there is {', '.join(close)}")
    return chosen


def reproduce(
    plan: Plan,
    run_dir: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    done: dict[Hashable, CellResult] | None = None,
    **callbacks: Any,
) -> Reproduced:
    """Run a plan on the data that are there.

    Parameters
    ----------
    plan : Plan
    run_dir : path-like or None
        Folder for ``results.csv`` and, where the plan draws one and matplotlib is installed, the
        picture.
    quick : bool
        Run the plan's small version.
    done : dict or None
        Cells that plans run before have shared; see ``compare``. Tables of several measures, or of
        some of the same methods, are then fitted once.
    **callbacks : dict
        ``on_plan``, ``on_start`` and ``on_row`` of ``compare``.
    """
    plan = plan.small() if quick else plan
    present, missing = _look_for(plan)
    missing = {**missing, **plan.unavailable} if not quick else missing
    if plan.trace is not None:
        found = _traced(plan, present, missing, run_dir, callbacks)
    else:
        done = {} if done is None else done
        shared = callbacks | {"done": done if plan.load_data is None else None}
        rows = _run(plan, present, run_dir, shared)
        ours, spread = _summary(plan, rows)
        failed = {(r.data, r.method): r.result.status for r in rows if not r.result.ok}
        means = summarise(rows)
        seconds = {cell: means[cell]["fit_seconds"] for cell in ours if cell in means}
        found = Reproduced(plan, ours, plan.published(), missing, failed, spread, seconds=seconds)
    if plan.draw is None or run_dir is None or not found.ours:
        return found
    return replace(found, picture=_save_picture(found, Path(run_dir)))


def _run(
    plan: Plan,
    present: Mapping[str, tuple[str, ...]],
    run_dir: str | os.PathLike[str] | None,
    callbacks: dict[str, Any],
) -> list[Row]:
    """Compare dataset by dataset, as parameters may depend on it; all in one file of results."""
    if not present:
        return []
    store = None if run_dir is None else _open_store(plan, present, run_dir)
    on_row = callbacks.get("on_row", lambda row: None)
    on_plan = callbacks.get("on_plan", lambda n_cells: None)
    rows: list[Row] = []

    def keep(row: Row) -> None:
        rows.append(row)
        if store is not None:
            store.append(row.as_dict())
        on_row(row)

    def foresee(n_parts: int, n_cells: int) -> None:
        on_plan(len(rows) + n_parts * n_cells)  # parts are alike

    calls = [*_calls(plan, present)]
    for left, (data, options) in zip(range(len(calls), 0, -1), calls, strict=True):
        variants = [entry.variant(data) for entry in plan.entries]
        told = callbacks | {"on_row": keep, "on_plan": partial(foresee, left)}
        compare([data], variants, split=plan.split, **options, **told)
    return rows


def _traced(
    plan: Plan,
    present: Mapping[str, Any],
    missing: dict[str, str],
    run_dir: str | os.PathLike[str] | None,
    callbacks: dict[str, Any],
) -> Reproduced:
    """Run the traces of all seeds; seeds that end earlier leave the mean to the others."""
    assert plan.trace is not None
    traces: dict[Cell, list[float]] = {}
    ours: dict[Cell, float] = {}
    for data in present:
        callbacks.get("on_start", lambda *_: None)(data, plan.name)
        runs = [plan.trace(data, seed) for seed in plan.seeds]
        for entry in plan.entries:
            values = [[plan.shown(value) for value in run[entry.name]] for run in runs]
            table = np.full((len(values), max(map(len, values))), np.nan)
            for row, some in zip(table, values, strict=True):
                row[: len(some)] = some
            traces[data, entry.name] = np.nanmean(table, axis=0).tolist()
            ours[data, entry.name] = float(np.mean([np.mean(some) for some in values]))
    found = Reproduced(plan, ours, plan.published(), missing, {}, traces=traces)
    if run_dir is not None:
        _save_traces(found, Path(run_dir))
    return found


def _save_traces(found: Reproduced, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "traces.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "quantity", "iteration", "value"])
        for (data, name), values in found.traces.items():
            writer.writerows([data, name, t, value] for t, value in enumerate(values, start=1))


def _calls(plan: Plan, present: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the parts of a run: a dataset, and a seed where that makes the data."""
    for data in present:
        if plan.load_data is None:
            yield data, {"seeds": plan.seeds}
        else:
            for seed in plan.seeds:
                yield data, {"seeds": (seed,), "load_data": partial(plan.load_data, seed=seed)}


def _open_store(
    plan: Plan, present: Mapping[str, tuple[str, ...]], run_dir: str | os.PathLike[str]
) -> ResultFile:
    sets = sorted({f"accuracy_{name}" for names in present.values() for name in names})
    store = ResultFile(run_dir, (*sets, "accuracy_all") if sets else ())
    store.describe(
        {
            "plan": plan.name,
            "data": list(present),
            "splits": dict.fromkeys(present, plan.split),
            "methods": [entry.name for entry in plan.entries],
            "seeds": list(plan.seeds),
            "started": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "versions": _versions(),
        }
    )
    return store


def _summary(plan: Plan, rows: list[Row]) -> tuple[dict[Cell, float], dict[Cell, float]]:
    """Return means and standard deviations over folds and seeds, as the paper prints values."""
    values: dict[Cell, list[float]] = {}
    for row in rows:
        if plan.measure in row.result.measures:
            value = plan.shown(row.result.measures[plan.measure])
            values.setdefault((row.data, row.method), []).append(value)
    if plan.bound is not None:
        for data in dict.fromkeys(row.data for row in rows):
            values[data, BOUND] = [plan.shown(plan.bound(data, seed)) for seed in plan.seeds]
    means = {cell: float(np.mean(some)) for cell, some in values.items()}
    return means, {cell: float(np.std(some)) for cell, some in values.items() if len(some) > 1}


def _look_for(plan: Plan) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the data that are there, with their exclusive label sets, and why others are not."""
    present: dict[str, tuple[str, ...]] = {}
    missing: dict[str, str] = {}
    for name in plan.data:
        try:
            loader = load if plan.load_data is None else partial(plan.load_data, seed=plan.seeds[0])
            sets = loader(name).label_sets
        except DatasetNotFoundError as error:
            missing[name] = str(error)
        else:
            present[name] = tuple(sets or ())
    return present, missing


def _save_picture(found: Reproduced, folder: Path) -> Path | None:
    assert found.plan.draw is not None
    try:
        figure = found.plan.draw(found)
    except MissingExtraError as error:
        warnings.warn(str(error), UserWarning, stacklevel=3)
        return None
    path = folder / f"{found.plan.name.partition('.')[2]}.svg"
    figure.savefig(path)
    return path


def _beginnings(name: str) -> list[str]:
    """Return ``a``, ``a.b`` and ``a.b.c`` of ``a.b.c``."""
    parts = name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def _has_seed(estimator: Any) -> bool:
    names = estimator.get_params()
    return isinstance(estimator, GridSearchCV) or any(n.endswith("random_state") for n in names)


def _ratio(numbers: Mapping[Cell, float], cell: Cell, best: Cell) -> float | None:
    if cell == best or cell not in numbers or best not in numbers:
        return None
    return numbers[cell] / numbers[best]
