"""Tables of papers that can be run: data, methods, and the numbers that were published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from sklearn.model_selection import GridSearchCV, ShuffleSplit

from colabel.datasets import Dataset
from colabel.lab.cell import Variant
from colabel.lab.methods import make
from colabel.messages import unknown_name
from colabel.metrics import get_measure, make_scorer
from colabel.model_selection import IterativeStratifiedKFold

__all__ = ["BOUND", "Entry", "PaperTable", "Reproduced", "find_tables", "list_tables", "register"]

_TABLES: dict[str, PaperTable] = {}

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
    left_out : mapping of str to str
        Datasets, by our names of them, that it is not run on, and why: a reason is better than
        hours of waiting.
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
    left_out: Mapping[str, str] = field(default_factory=dict)

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
        build = partial(self.build, data=data)
        return Variant(self.name, build, self.parameters(data), seeded=_has_seed(build(0)))


@dataclass(frozen=True)
class PaperTable:
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

    def small(self) -> PaperTable:
        """Return the table of ``--quick``: less data, one seed."""
        changes = {"data": self.quick_data or self.data, "seeds": self.seeds[:1], **self.quick}
        return replace(self, **changes)

    def shown(self, value: float) -> float:
        """Return a value of the measure as the paper prints it."""
        value = 1.0 - value if self.as_loss else value
        return 100.0 * value if self.percent else value

    def left_out(self) -> dict[Cell, str]:
        """Return the cells that are not run, and why."""
        return {
            (data, entry.name): entry.left_out[data]
            for data in self.data
            for entry in self.entries
            if data in entry.left_out
        }

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
    """What running a table gave.

    Parameters
    ----------
    table : PaperTable
        As it was run: the small one, if that was asked for.
    ours, spread, published : dict
        From (data, entry) to our mean over seeds and folds, the standard deviation of the values
        (n - 1 in the denominator), and the paper's number; all as the paper prints them.
    missing : dict of str to str
        Why data are absent.
    failed : dict
        From (data, entry) to the reason.
    picture : Path or None
        The file that was drawn.
    traces : dict
        From (data, entry) to the values of a trace, iteration by iteration, mean over seeds.
    seconds, predict_seconds : dict
        From (data, entry) to the mean time of a fit, its search included, and of predicting the
        test rows.
    """

    table: PaperTable
    ours: dict[Cell, float]
    published: dict[Cell, float]
    missing: dict[str, str]
    failed: dict[Cell, str]
    spread: dict[Cell, float] = field(default_factory=dict)
    picture: Path | None = None
    traces: dict[Cell, list[float]] = field(default_factory=dict)
    seconds: dict[Cell, float] = field(default_factory=dict)
    predict_seconds: dict[Cell, float] = field(default_factory=dict)

    def cells(self) -> list[Cell]:
        """List the cells that there is something to say about, data by data."""
        names = [BOUND, *(entry.name for entry in self.table.entries)]
        known = self.ours.keys() | self.published.keys() | self.failed.keys()
        known |= self.table.left_out().keys()
        return [(d, name) for d in self.table.data for name in names if (d, name) in known]

    def of_bound(self, cell: Cell) -> tuple[float | None, float | None]:
        """Return our number and the paper's as shares of the best possible one."""
        best = cell[0], BOUND
        return _ratio(self.ours, cell, best), _ratio(self.published, cell, best)


def register(table: PaperTable) -> PaperTable:
    """Add a table to the registry."""
    if table.trace is None and not table.measure.startswith("accuracy_"):  # of a facet
        get_measure(table.measure)
    _TABLES[table.name] = table
    return table


def list_tables() -> list[PaperTable]:
    """Return every registered table, importing ``colabel.lab.papers``."""
    for module in iter_modules([str(Path(__file__).with_name("papers"))]):
        import_module(f"colabel.lab.papers.{module.name}")
    return [_TABLES[name] for name in sorted(_TABLES)]


def find_tables(name: str) -> list[PaperTable]:
    """Return the table of this name, or those whose names begin with it: ``PAPER``, ``all``."""
    tables = list_tables()
    chosen = [t for t in tables if name == "all" or f"{t.name}.".startswith(f"{name}.")]
    if not chosen:
        known = sorted({start for t in tables for start in _beginnings(t.name)})
        raise unknown_name("no table is registered as", name, known)
    return chosen


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
