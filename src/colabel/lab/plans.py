"""Tables of papers as runnable plans: ours beside theirs."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sklearn.model_selection import GridSearchCV

from colabel.exceptions import DatasetNotFoundError, UnknownNameError
from colabel.lab.compare import Row, Variant, compare, summarise
from colabel.lab.methods import make
from colabel.metrics import get_measure, make_scorer
from colabel.model_selection import IterativeStratifiedKFold

__all__ = ["Entry", "Plan", "Reproduced", "find_plans", "list_plans", "register", "reproduce"]

_PLANS: dict[str, Plan] = {}


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
        The paper's number for each dataset.
    params : mapping
        Parameters that the paper fixes.
    space : mapping of str to tuple
        Parameters that the paper searches on training data.
    tune_for : str
        Measure of that search.
    wrap : callable or None
        Changes the estimator in ways that parameters do not reach.
    """

    name: str
    method: str
    published: Mapping[str, float]
    params: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    tune_for: str = "example_f1"
    wrap: Callable[[Any], Any] | None = None

    def build(self, seed: int) -> Any:
        """Make the estimator, with its search where the paper has one."""
        estimator = make(self.method, self.params, seed)
        if self.wrap is not None:
            estimator = self.wrap(estimator)
        if not self.space:
            return estimator
        return GridSearchCV(
            estimator,
            {key: list(values) for key, values in self.space.items()},
            scoring=make_scorer(self.tune_for),
            cv=IterativeStratifiedKFold(5, random_state=seed),
        )


@dataclass(frozen=True)
class Plan:
    """A table of a paper.

    Parameters
    ----------
    name : str
        ``PAPER.TABLE``.
    title : str
        What the table shows.
    data : tuple of str
        Its datasets.
    entries : tuple of Entry
    measure : str
        The measure it reports.
    as_loss : bool
        Whether it prints one minus the measure.
    split : str
    seeds : tuple of int
    quick_data : tuple of str
        The datasets of ``--quick``.
    note : str
        Where the protocol differs from the paper's, and why.
    """

    name: str
    title: str
    data: tuple[str, ...]
    entries: tuple[Entry, ...]
    measure: str
    as_loss: bool = False
    split: str = "official"
    seeds: tuple[int, ...] = (0,)
    quick_data: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Reproduced:
    """What running a plan gave.

    ``ours`` and ``published`` map (data, entry) to numbers; ``missing`` says why data are absent.
    """

    plan: Plan
    ours: dict[tuple[str, str], float]
    published: dict[tuple[str, str], float]
    missing: dict[str, str]
    failed: dict[tuple[str, str], str]


def register(plan: Plan) -> Plan:
    """Add a plan to the registry."""
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
    """Return the plan ``PAPER.TABLE``, all plans of ``PAPER``, or those of ``all`` papers."""
    plans = list_plans()
    chosen = [p for p in plans if name == "all" or name in (p.name, p.name.partition(".")[0])]
    if not chosen:
        known = sorted({p.name for p in plans} | {p.name.partition(".")[0] for p in plans})
        close = difflib.get_close_matches(name, known, n=3) or known
        raise UnknownNameError(f"no table is registered as {name!r}; there is {', '.join(close)}")
    return chosen


def reproduce(
    plan: Plan,
    run_dir: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    **callbacks: Any,
) -> Reproduced:
    """Run a plan on the data that are there.

    Parameters
    ----------
    plan : Plan
    run_dir : path-like or None
        Folder for ``results.csv``.
    quick : bool
        Run the plan's small version.
    **callbacks : dict
        ``on_plan``, ``on_start`` and ``on_row`` of ``compare``.
    """
    wanted = plan.quick_data if quick and plan.quick_data else plan.data
    present, missing = _look_for(wanted)
    variants = [Variant(entry.name, entry.build, dict(entry.params)) for entry in plan.entries]
    seeds = plan.seeds[:1] if quick else plan.seeds
    rows: list[Row] = []
    if present:
        rows = compare(
            present, variants, split=plan.split, seeds=seeds, run_dir=run_dir, **callbacks
        )
    ours = {
        key: 1.0 - means[plan.measure] if plan.as_loss else means[plan.measure]
        for key, means in summarise(rows).items()
        if plan.measure in means
    }
    published = {
        (data, entry.name): value
        for entry in plan.entries
        for data, value in entry.published.items()
        if data in wanted
    }
    failed = {(r.data, r.method): r.result.status for r in rows if not r.result.ok}
    return Reproduced(plan, ours, published, missing, failed)


def _look_for(names: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    from colabel.datasets import load

    present, missing = [], {}
    for name in names:
        try:
            load(name)
        except DatasetNotFoundError as error:
            missing[name] = str(error)
        else:
            present.append(name)
    return present, missing
