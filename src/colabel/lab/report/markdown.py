"""Reports in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from colabel.lab.redo import run_command
from colabel.lab.report.grids import Bold, Grid, grids, overview
from colabel.lab.report.reproduced import reproduced
from colabel.lab.report.text import duration, plural, short
from colabel.lab.report.words import about_cells, title_of
from colabel.lab.rows import list_failures
from colabel.lab.runs import Run
from colabel.messages import printable

__all__ = ["render_markdown"]


def render_markdown(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    introduction: str = "",
    with_overview: bool | None = None,
) -> str:
    """Return a report of runs as Markdown.

    Parameters
    ----------
    runs : sequence of Run
    title : str or None
        Heading; None says what was run.
    introduction : str
        Markdown below the heading.
    with_overview : bool or None
        Whether a table of all runs comes first; None is where there are several.
    """
    several = len(runs) > 1 if with_overview is None else with_overview
    parts = [f"# {_text(title or title_of(runs))}", introduction, _text(about_cells(runs))]
    if several:
        grid = overview(runs)
        parts += [_table(grid), _text(grid.words)]
    for run in runs:
        parts += [f"## {_text(short(run.name))}" if several else "", _facts(run)]
        for grid in grids(run):
            parts += [f"**{_text(grid.caption)}**", _text(grid.words), _table(grid)]
        parts += [*_notes(run), _failures(run), f"Again: {_code(run_command(run))}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(run: Run) -> str:
    """Return when a run was made, with what, and how long it took."""
    small = ", the small version (`--quick`)" if run.is_quick else ""
    cells = f"{plural(len(run.rows), 'cell')}, {duration(run.seconds)} of fitting and predicting"
    version = f" with colabel {_text(run.version)}" if run.version != "unknown" else ""
    when = f"Run on {_text(run.day)}{version}{small}"
    return f"{when}: {cells}." if run.rows else f"{when}."


def _notes(run: Run) -> list[str]:
    found = reproduced(run)
    if found is None:
        return []
    table = found.table
    notes = [f"{data} is missing: {reason}" for data, reason in found.missing.items()]
    notes += [
        f"{name} on {data} is left out: {why}" for (data, name), why in table.left_out().items()
    ]
    notes += [
        f"{data} stands in for the paper's {theirs}: different data"
        for data, theirs in table.stand_ins.items()
        if data in table.data
    ]
    return [_text(table.note), "\n".join(f"- {_text(note)}" for note in notes)]


def _failures(run: Run) -> str:
    reasons = [
        f"- {_text(short(one.method))} on {_text(short(one.data))}, {one.which}: "
        f"{_text(short(one.status, 300))}"
        for one in list_failures(run.rows)
    ]
    return "\n".join(["Failed:", "", *reasons]) if reasons else ""


def _table(grid: Grid) -> str:
    kinds = [":--" if column < grid.n_text else "--:" for column in range(len(grid.head))]
    rows = [[*map(_cell, grid.head)], kinds, *([*map(_cell, line)] for line in grid.lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(text: str) -> str:
    return f"**{_text(text)}**" if isinstance(text, Bold) else _text(text)


def _text(text: object) -> str:
    """Keep names from being read as Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>|&~$#])", r"\\\1", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """Return text as code, between more backticks than it has."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{ticks}{pad}{printable(text)}{pad}{ticks}"
