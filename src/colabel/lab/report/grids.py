"""Tables of a report as plain text, before any format has its say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from colabel.lab.paper_tables import Reproduced
from colabel.lab.report.reproduced import PaperRow, paper_rows, reproduced
from colabel.lab.report.standings import Place, Standing, standings
from colabel.lab.report.text import duration, measure_name, number, short
from colabel.lab.report.words import describe_paper, describe_standing
from colabel.lab.runs import Run

__all__ = ["Bold", "Grid", "grids", "overview"]

NOTHING = "–"  # where the cell beside it says why
VERDICTS = {"better": "▲", "worse": "▼", "same": "≈", "": ""}


class Bold(str):
    """The best of its column."""

    __slots__ = ()


@dataclass(frozen=True)
class Grid:
    """One table.

    Parameters
    ----------
    caption : str
    words : str
        What it says, in a sentence or two.
    head : sequence of str
    lines : sequence of sequences of str
    n_text : int
        Columns of names, which come first.
    """

    caption: str
    words: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    n_text: int = 1


def grids(run: Run) -> Iterator[Grid]:
    """Yield the tables of a run: ours beside the paper's, or one for each measure."""
    found = reproduced(run)
    if found is not None:
        yield _of_paper(found)
        return
    for standing in standings(run):
        yield _of_means(standing, " ".join(describe_standing(standing, run)))


def overview(runs: Sequence[Run]) -> Grid:
    """Return one line for each run: when, with what, how long, and how it compares."""
    lines = []
    for run in runs:
        found = reproduced(run)
        verdicts = [row.verdict for row in paper_rows(found)] if found is not None else []
        counts = [str(verdicts.count(kind)) if any(verdicts) else "–" for kind in VERDICTS if kind]
        n_failed = sum(not row.result.ok for row in run.rows)
        cells = f"{len(run.rows)} of {len(run.rows) + run.n_missing}" if run.n_missing else ""
        time = duration(run.seconds) if run.rows else "–"  # figures of training have no cells
        facts = [cells or str(len(run.rows)), str(n_failed), time]
        lines.append([short(run.name), *counts, *facts, run.day, run.version])
    head = ["run", "better", "worse", "same", "cells", "failed", "time", "date", "colabel"]
    words = "Better, worse, same: our numbers beside those that papers print for the same data."
    return Grid("All runs", words, head, lines)


def _of_paper(found: Reproduced) -> Grid:
    table, rows = found.table, paper_rows(found)
    digits = 1 if table.percent else 4
    last = ["difference"] if table.bound is None else ["% of bound", "paper's %"]
    lines = []
    for row in rows:
        theirs = number(row.theirs, digits) or "not printed"
        compared = [_difference(row, digits)] if table.bound is None else _shares(row)
        time = NOTHING if row.seconds is None else f"{row.seconds:.1f}"
        names = short(row.data), short(row.entry)
        lines.append([*names, _ours(row, digits), theirs, *compared, time])
    measure = f"{'1 − ' if table.as_loss else ''}{measure_name(table.measure)}"
    caption = f"{table.title} ({measure}{', per cent' if table.percent else ''})"
    head = ["data", "method", "ours", "paper", *last, "fit s"]
    return Grid(caption, describe_paper(rows), head, lines, n_text=2)


def _ours(row: PaperRow, digits: int) -> str:
    if row.ours is None:
        return row.short
    spread = "" if row.spread is None else f" ± {number(row.spread, digits)}"
    return number(row.ours, digits) + spread


def _difference(row: PaperRow, digits: int) -> str:
    if row.difference is None:
        return row.short if row.short == "different data" else NOTHING
    return f"{VERDICTS[row.verdict]} {number(row.difference, digits, sign=True)}"


def _shares(row: PaperRow) -> list[str]:
    return [NOTHING if share is None else number(100.0 * share, 1) for share in row.shares]


def _of_means(standing: Standing, words: str) -> Grid:
    ranked = ["average rank"] if standing.ranks else []
    lines = []
    for method in standing.methods:
        rank = [number(standing.ranks.get(method), 2) or "not ranked"] if ranked else []
        places = [_mean(standing.places[data, method], standing, data) for data in standing.data]
        lines.append([short(method), *rank, *places])
    way = "more is better" if standing.upward else "less is better"
    head = ["method", *ranked, *(short(data) for data in standing.data)]
    return Grid(f"{measure_name(standing.measure)} ({way})", words, head, lines)


def _mean(place: Place, standing: Standing, data: str) -> str:
    if not place.known:
        return place.short
    text = number(place.mean)
    text += f" ± {number(place.sd)}" if place.sd == place.sd else ""
    text += f" ({place.n_cells - place.n_failed} of {place.n_cells})" if place.n_failed else ""
    return Bold(text) if place.mean == standing.best(data) else text
