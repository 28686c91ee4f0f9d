"""Progress and tables of runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from colabel.cli._common import number

if TYPE_CHECKING:
    from colabel.lab.compare import Row
    from colabel.lab.plans import Reproduced

__all__ = ["failures", "progress", "reproduction_table", "summary_table"]

SHOWN = (
    "subset_accuracy",
    "hamming_loss",
    "example_f1",
    "micro_f1",
    "macro_f1",
    "example_jaccard",
    "ranking_loss",
)


@contextmanager
def progress(console: Console) -> Iterator[dict[str, Any]]:
    """Show a progress bar while ``compare`` runs with the callbacks given."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("loading data", total=None)
        yield {
            "on_plan": lambda n_cells: bar.update(task, total=n_cells),
            "on_start": lambda data, method: bar.update(
                task, description=escape(f"{method} on {data}")
            ),
            "on_row": lambda row: bar.advance(task),
        }


def summary_table(rows: list[Row], data: str) -> Table:
    """Show the mean measures and times of each method on one dataset, best values bold."""
    from colabel.lab.compare import summarise

    means = {method: m for (name, method), m in summarise(rows).items() if name == data}
    table = Table(title=escape(f"{data} ({rows[0].split if rows else ''})"))
    table.add_column("method", no_wrap=True)
    for measure in SHOWN:
        table.add_column(measure.replace("_", " "), justify="right")
    table.add_column("fit s", justify="right")
    table.add_column("predict s", justify="right")
    best = {measure: _best(means, measure) for measure in SHOWN}
    for method, mean in means.items():
        cells = [_cell(mean.get(measure), best[measure]) for measure in SHOWN]
        times = [f"{mean[t]:.2f}" if t in mean else "–" for t in ("fit_seconds", "predict_seconds")]
        table.add_row(escape(method), *cells, *times)
    return table


def failures(rows: list[Row]) -> list[str]:
    """Say which cells failed, and why."""
    return [
        f"{row.method} on {row.data}, fold {row.fold}: {row.result.status}"
        for row in rows
        if not row.result.ok
    ]


def reproduction_table(found: Reproduced) -> Table:
    """Show our numbers beside the paper's."""
    plan = found.plan
    measure = f"1 - {plan.measure}" if plan.as_loss else plan.measure
    table = Table(title=escape(f"{plan.name}: {plan.title} ({measure})"))
    for heading in ("data", "method", "ours", "paper", "difference"):
        table.add_column(heading, justify="left" if heading in ("data", "method") else "right")
    for (data, entry), theirs in found.published.items():
        ours = found.ours.get((data, entry))
        difference = "" if ours is None else f"{ours - theirs:+.4f}"
        table.add_row(escape(data), escape(entry), number(ours), number(theirs), difference)
    return table


def _best(means: dict[str, dict[str, float]], measure: str) -> float | None:
    from colabel.metrics import get_measure

    values = [mean[measure] for mean in means.values() if measure in mean]
    if not values:
        return None
    return max(values) if get_measure(measure).greater_is_better else min(values)


def _cell(value: float | None, best: float | None) -> str:
    text = number(value)
    return f"[bold]{text}[/bold]" if value is not None and value == best else text
