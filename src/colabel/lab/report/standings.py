"""One measure of a run: means and spreads, ranks, tests, and a reason for every empty place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from colabel.exceptions import UnknownNameError
from colabel.lab.report.text import listed, short
from colabel.lab.rows import Row
from colabel.lab.runs import Run
from colabel.lab.statistics import (
    Friedman,
    Nemenyi,
    WilcoxonHolm,
    friedman,
    mean_sd,
    nemenyi,
    wilcoxon_holm,
)
from colabel.metrics import get_measure

__all__ = ["Place", "Standing", "is_upward", "main_measure", "needs_scores", "standings"]

# What is shown first, where a run has it: the measures that most papers report.
FIRST = ("accuracy_all", "example_f1", "subset_accuracy", "micro_f1", "hamming_loss")
# Fewer datasets than these and no test finds anything.
ENOUGH_DATA = 3


@dataclass(frozen=True)
class Place:
    """One measure of a method on a dataset, over folds and seeds.

    Parameters
    ----------
    mean, sd : float
        NaN where there is none.
    n_cells, n_failed : int
        Cells that were run, and those that failed.
    reason : str
        Why there is no mean; empty where there is one.
    short : str
        The same in a word or two.
    seconds : float
        Mean time of a fit.
    """

    mean: float
    sd: float
    n_cells: int
    n_failed: int
    reason: str = ""
    short: str = ""
    seconds: float = float("nan")

    @property
    def known(self) -> bool:
        """Whether there is a mean."""
        return self.mean == self.mean


@dataclass(frozen=True)
class Standing:
    """All methods on all datasets by one measure.

    Parameters
    ----------
    measure : str
    data, methods : sequence of str
    places : dict of (str, str) to Place
        By dataset and method; every pair is there.
    """

    measure: str
    data: Sequence[str]
    methods: Sequence[str]
    places: dict[tuple[str, str], Place]

    @property
    def upward(self) -> bool:
        """Whether more is better."""
        return is_upward(self.measure)

    def best(self, data: str) -> float:
        """Return the best mean on a dataset; NaN where there is none."""
        means = [self.places[data, method].mean for method in self.methods]
        known = [mean for mean in means if mean == mean]
        return (max(known) if self.upward else min(known)) if known else float("nan")

    @cached_property
    def compared(self) -> tuple[list[str], list[str]]:
        """Datasets and methods that make a whole table, which ranks need.

        A method that lacks some value is left out, so that one that fails narrows no comparison of
        the others. Where most methods lack a value of a dataset (the run had not come to it), or
        no two methods would be left, the dataset is left out instead.
        """
        methods = [m for m in self.methods if any(self._knows(d, m) for d in self.data)]
        data = [d for d in self.data if 2 * sum(self._knows(d, m) for m in methods) > len(methods)]
        whole = [m for m in methods if all(self._knows(d, m) for d in data)]
        if data and len(whole) >= min(2, len(methods)):
            return data, whole
        return [d for d in self.data if all(self._knows(d, m) for m in methods)], methods

    @cached_property
    def unranked(self) -> dict[str, str]:
        """Methods that are left out of ranks, and why."""
        data, methods = self.compared
        lacking = {
            m: [d for d in data if not self._knows(d, m)] for m in self.methods if m not in methods
        }
        known = {m for m in lacking if any(self._knows(d, m) for d in self.data)}
        return {
            m: f"it has no value on {listed([*map(short, some)])}"
            if m in known
            else "it has no value on any dataset"
            for m, some in lacking.items()
        }

    def _knows(self, data: str, method: str) -> bool:
        return self.places[data, method].known

    @cached_property
    def table(self) -> np.ndarray:
        """Means of ``compared``, of shape (n_datasets, n_methods)."""
        data, methods = self.compared
        means = [[self.places[d, m].mean for m in methods] for d in data]
        return np.array(means).reshape(len(data), len(methods))

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Average ranks of the methods compared; empty where there are not two datasets."""
        if self.table.shape[0] < 2 or self.table.shape[1] < 2:
            return {}
        means = self._friedman.ranks
        return {name: float(rank) for name, rank in zip(self.compared[1], means, strict=True)}

    @cached_property
    def friedman(self) -> Friedman | None:
        """Whether methods differ at all; None where there are too few datasets or methods."""
        enough = self.table.shape[0] >= ENOUGH_DATA and self.table.shape[1] > 2
        return self._friedman if enough else None

    @cached_property
    def nemenyi(self) -> Nemenyi | None:
        """Which methods differ from which; None as for ``friedman``."""
        if self.friedman is None:
            return None
        return nemenyi(self.table, greater_is_better=self.upward)

    @cached_property
    def wilcoxon(self) -> WilcoxonHolm | None:
        """Whether two methods differ, where there are no more; None where datasets are too few."""
        if self.table.shape[0] < ENOUGH_DATA or self.table.shape[1] != 2:
            return None
        return wilcoxon_holm(self.table, greater_is_better=self.upward)

    @cached_property
    def _friedman(self) -> Friedman:
        return friedman(self.table, greater_is_better=self.upward)


def standings(run: Run) -> list[Standing]:
    """Return the standing of every measure of a run, the main one first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in run.rows:
        groups.setdefault((run.where(row), row.method), []).append(row)
    measures = sorted(run.measures, key=lambda name: name != main_measure(run))
    return [
        Standing(
            measure,
            run.data,
            run.methods,
            {
                (data, method): _place(groups.get((data, method), []), measure, run, (data, method))
                for data in run.data
                for method in run.methods
            },
        )
        for measure in measures
    ]


def main_measure(run: Run) -> str:
    """Return the measure that is shown first; empty where no cell has any."""
    if run.table is not None and run.table.measure in run.measures:
        return run.table.measure
    asked = [str(name) for name in run.about.get("measures") or ()]
    return next((name for name in (*asked, *FIRST, *run.measures) if name in run.measures), "")


def is_upward(measure: str) -> bool:
    """Return whether more of a measure is better, as it is of accuracies of facets."""
    try:
        return get_measure(measure).greater_is_better
    except UnknownNameError:
        return True


def needs_scores(measure: str) -> bool:
    """Return whether a measure is of scores, which some methods do not have."""
    try:
        return get_measure(measure).needs == "scores"
    except UnknownNameError:
        return False


def _place(rows: Sequence[Row], measure: str, run: Run, where: tuple[str, str]) -> Place:
    done = [row.result for row in rows if row.result.ok]
    counts = len(rows), len(rows) - len(done)
    nan = float("nan")
    values = [result.measures[measure] for result in done if measure in result.measures]
    if values:
        found = mean_sd(values)
        seconds = float(np.mean([result.fit_seconds for result in done]))
        return Place(found.mean, found.sd, *counts, seconds=seconds)
    if done:
        why = "it gives no scores" if needs_scores(measure) else "it is not measured there"
        return Place(nan, nan, *counts, why, why.removeprefix("it gives ").removeprefix("it is "))
    if rows:
        return Place(nan, nan, *counts, rows[-1].result.status, "failed")
    if run.table is not None and where in run.table.left_out():
        return Place(nan, nan, *counts, run.table.left_out()[where], "left out")
    if run.n_missing:
        return Place(nan, nan, *counts, "the run had not come to it", "not yet run")
    return Place(nan, nan, *counts, "it was not asked to run there", "not run")
