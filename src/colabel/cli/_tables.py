"""Progress and tables of runs; every table fits a terminal of 80 columns."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from colabel.cli._text import number, shown
from colabel.messages import printable

if TYPE_CHECKING:
    from colabel.lab.paper_tables import Reproduced
    from colabel.lab.rows import Row
    from colabel.lab.tune import Tuning

__all__ = [
    "arrow",
    "failures",
    "method_progress",
    "plain_table",
    "progress",
    "reproduction_table",
    "summary_table",
    "titled",
    "trial_progress",
    "tuning_table",
]

SHOWN = {
    "subset_accuracy": "subset\nacc.",
    "hamming_loss": "Hamming\nloss",
    "example_f1": "example\nF1",
    "micro_f1": "micro\nF1",
    "macro_f1": "macro\nF1",
    "ranking_loss": "ranking\nloss",
}
TIMES = {"fit_seconds": "fit\ns", "predict_seconds": "predict\ns"}


def plain_table() -> Table:
    """Make an empty table with one line, under the headings."""
    return Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False, header_style="")


def titled(title: str, table: Table) -> Group:
    """Return a table under a title that is as wide as the terminal, not as the table."""
    return Group(shown(title, "bold"), table)


def arrow(measure: str) -> str:
    """Return an arrow that points the way that is better."""
    from colabel.metrics import get_measure

    upward = measure.startswith("accuracy_") or measure == "log_likelihood"
    upward = upward or get_measure(measure).greater_is_better
    return "↑" if upward else "↓"


def _bar(*columns: ProgressColumn) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        # Where stderr is a file, a bar would only leave an empty line.
        disable=not Console(stderr=True).is_terminal,
    )


@contextmanager
def trial_progress(method: str) -> Iterator[dict[str, Any]]:
    """Show a progress bar on stderr while ``tune`` runs with the callbacks given."""
    with _bar() as bar:
        task = bar.add_task(printable(f"{method}: settings"), total=None)
        yield {
            "on_plan": lambda n_trials: bar.update(task, total=n_trials),
            "on_trial": lambda trial: bar.advance(task),
        }


@contextmanager
def method_progress(n_methods: int) -> Iterator[Callable[[str], None]]:
    """Show a progress bar on stderr; what it yields is called as each method begins."""
    with _bar() as bar:
        task = bar.add_task("compiling", total=n_methods, completed=-1)

        def begin(method: str) -> None:
            bar.update(task, advance=1, description=printable(f"compiling for {method}"))

        yield begin


@contextmanager
def progress() -> Iterator[dict[str, Any]]:
    """Show a progress bar on stderr while ``compare`` runs with the callbacks given.

    On Ctrl-C it prints how to go on.
    """
    count = _Count()
    try:
        with _bar(TextColumn("{task.fields[state]}", markup=False)) as bar:
            task = bar.add_task("loading data", total=None, state="")

            def show(**changes: Any) -> None:
                bar.update(task, completed=count.n_done, state=count.state(), **changes)

            def plan(n_cells: int) -> None:
                count.n_cells = n_cells
                show(total=n_cells)

            def start(data: str, method: str) -> None:
                count.start(data, method)
                show(description=printable(f"{method} on {data}"))

            def end(row: Row) -> None:
                count.end(row)
                show()

            yield {"on_plan": plan, "on_start": start, "on_row": end}
    except KeyboardInterrupt:
        if count.n_cells:
            print(f"colabel: {count.so_far()}", file=sys.stderr)  # noqa: T201
        raise


class _Count:
    """Counts cells, and estimates how long the others will take."""

    def __init__(self) -> None:
        self.n_cells = self.n_done = self.n_failed = self._n_known = 0
        self._began = 0.0
        self._running: Counter[tuple[str, str]] = Counter()

    def start(self, data: str, method: str) -> None:
        if not self._began:  # cells read from the store say nothing about the time of the others
            self._n_known, self._began = self.n_done, time.monotonic()
        self._running[data, method] += 1

    def end(self, row: Row) -> None:
        self.n_done += 1
        self.n_failed += not row.result.ok
        self._running -= Counter([(row.data, row.method)])  # not those of another process

    def state(self) -> str:
        """Return how many cells run, how many have failed, and how long the rest will take."""
        parts = [f"{self._running.total()} running"] if self._running else []
        parts += [f"{self.n_failed} failed"] if self.n_failed else []
        n_left, n_run = self.n_cells - self.n_done, self.n_done - self._n_known
        if self._began and n_run and n_left:
            seconds = (time.monotonic() - self._began) / n_run * n_left
            parts.append(f"about {duration(seconds)} left")
        return ", ".join(parts)

    def so_far(self) -> str:
        """Return what is done, for a run that is stopped here."""
        return (
            f"{self.n_done} of {self.n_cells} cells are done and kept; the same command goes on "
            "from there"
        )


def duration(seconds: float) -> str:
    """Return a time in days, hours, minutes or seconds."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def summary_table(rows: list[Row], data: str, measures: Sequence[str] = ()) -> Group:
    """Show the mean measures and times of each method on one dataset, best values bold.

    ``measures`` are shown in place of the usual ones, as many as fit.
    """
    from colabel.lab.rows import summarise

    rows = [row for row in rows if row.data == data]
    means = {method: mean for (_, method), mean in summarise(rows).items()}
    shown_here = _headings(means)
    if measures:
        shown_here = {name: SHOWN.get(name, _heading(name)) for name in measures[: len(SHOWN)]}
    best = {measure: _best(means, measure) for measure in shown_here}
    table = plain_table()
    table.add_column("\nmethod", overflow="fold")
    for measure, heading in shown_here.items():
        table.add_column(f"{heading} {arrow(measure)}", justify="right", no_wrap=True)
    for heading in TIMES.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for method, mean in means.items():
        cells = [_cell(mean.get(measure), best[measure]) for measure in shown_here]
        times = [f"{mean[time]:.2f}" if time in mean else "–" for time in TIMES]
        table.add_row(shown(method), *cells, *times)
    return titled(_title(rows, data), table)


def failures(rows: list[Row]) -> list[str]:
    """Return which cells failed, and why."""
    from colabel.lab.rows import list_failures

    return [f"{one.method} on {one.data}, {one.which}: {one.status}" for one in list_failures(rows)]


def reproduction_table(found: Reproduced) -> Group:
    """Show our numbers beside the paper's; with a bound, as per cent of it too."""
    paper = found.table
    measure = f"1 - {paper.measure}" if paper.as_loss else paper.measure
    unit = ", per cent" if paper.percent else ""
    last = ["difference"] if paper.bound is None else ["% of bound", "paper's %"]
    last += ["fit s"] if paper.show_seconds else []
    table = plain_table()
    for heading in ("data", "method", "ours", "paper", *last):
        table.add_column(heading, justify="left" if heading in ("data", "method") else "right")
    for cell in found.cells():
        ours, theirs = found.ours.get(cell), found.published.get(cell)
        values = _spread(ours, found.spread.get(cell), paper.percent), _value(theirs, paper.percent)
        times = [_seconds(found.seconds.get(cell))] if paper.show_seconds else []
        table.add_row(*map(shown, cell), *values, *_comparison(found, cell), *times)
    return titled(f"{paper.name}: {paper.title} ({measure}{unit})", table)


def tuning_table(found: Tuning, n_rows: int) -> tuple[Table, str]:
    """Show the best settings of a search, and say what they were chosen by."""
    table = plain_table()
    names = [*found.best.parameters]
    for name in names:
        table.add_column(printable(name.rpartition("__")[2]), justify="right", overflow="fold")
    for heading in (f"{found.metric} {arrow(found.metric)}", "±", "fit s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for trial in found.trials[:n_rows]:
        values = [shown(trial.parameters[name]) for name in names]
        seconds = "–" if trial.failed else f"{trial.fit_seconds:.2f}"
        table.add_row(*values, number(trial.value), number(trial.spread), seconds)
    n_trials = len(found.trials)
    rest = f", the best {n_rows}" if n_trials > n_rows else ""
    return table, f"{n_trials} settings by {found.n_folds} folds{rest}"


def _comparison(found: Reproduced, cell: tuple[str, str]) -> list[str]:
    """Compare with the paper, where the data are the paper's or the bound makes them alike."""
    if found.table.bound is not None:
        return ["" if share is None else f"{share:.1%}"[:-1] for share in found.of_bound(cell)]
    ours, theirs = found.ours.get(cell), found.published.get(cell)
    if ours is None or theirs is None:
        return [""]
    if cell[0] in found.table.stand_ins:
        return ["different data"]
    return [f"{ours - theirs:+.{1 if found.table.percent else 4}f}"]


def _value(value: float | None, percent: bool) -> str:
    return f"{value:.1f}" if percent and value is not None else number(value)


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _spread(mean: float | None, spread: float | None, percent: bool) -> str:
    text = _value(mean, percent)
    return text if mean is None or spread is None else f"{text} ± {_value(spread, percent)}"


def _title(rows: list[Row], data: str) -> str:
    n_parts = len({(row.fold, row.seed) for row in rows})
    mean = f", mean of {n_parts} runs" if n_parts > 1 else ""
    return f"{data} ({rows[0].split}{mean})"


def _heading(measure: str) -> str:
    """Return the name of a measure on two lines."""
    first, _, last = printable(measure).rpartition("_")
    return f"{first.replace('_', ' ')[:12]}\n{last[:12]}"


def _headings(means: dict[str, dict[str, float]]) -> dict[str, str]:
    """Return the measures to show: of exclusive label sets their accuracies, as many as fit."""
    known = dict.fromkeys(name for mean in means.values() for name in mean)
    sets = [name for name in known if name.startswith("accuracy_") and name != "accuracy_all"]
    if not sets:
        return SHOWN
    chosen = [*sets[: len(SHOWN) - 1], "accuracy_all"]
    return {name: f"acc.\n{printable(name.partition('_')[2])[:10]}" for name in chosen}


def _best(means: dict[str, dict[str, float]], measure: str) -> float | None:
    values = [mean[measure] for mean in means.values() if measure in mean]
    if not values:
        return None
    return max(values) if arrow(measure) == "↑" else min(values)


def _cell(value: float | None, best: float | None) -> Text:
    return Text(number(value), "bold" if value is not None and value == best else "")
