"""Ours beside the paper's, from what a run of a table has left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colabel.lab.paper_tables import PaperTable, Reproduced
from colabel.lab.report.standings import is_upward
from colabel.lab.reproduce import reproduced as _reproduced
from colabel.lab.runs import Run

__all__ = ["PaperRow", "paper_rows", "reproduced"]


@dataclass(frozen=True)
class PaperRow:
    """One line of a table: our number beside the published one.

    Parameters
    ----------
    data, entry : str
    ours, spread, theirs : float or None
        As the paper prints them.
    difference : float or None
        Ours less theirs, where the data are the paper's.
    verdict : str
        ``better``, ``worse`` or ``same``: that within the spread of our runs, or of half a last
        digit; empty where there is nothing to compare.
    shares : tuple
        Ours and theirs as per cent of the best possible, where that is known.
    seconds : float or None
        Mean time of a fit, its search included.
    reason, short : str
        Why there is no number of ours, or no difference; the same in a word or two.
    """

    data: str
    entry: str
    ours: float | None
    spread: float | None
    theirs: float | None
    difference: float | None
    verdict: str
    shares: tuple[float | None, float | None]
    seconds: float | None
    reason: str
    short: str


def reproduced(run: Run) -> Reproduced | None:
    """Return what a run of a table gave; None where it is none."""
    table = run.table
    if table is None:
        return None
    missing = {name: _why_missing(table, name) for name in table.data if name not in _present(run)}
    missing |= dict(table.unavailable)
    if run.traces:
        ours: dict[Any, float] = {cell: float(np.mean(v)) for cell, v in run.traces.items()}
        traces = dict(run.traces)
        return Reproduced(table, ours, table.published(), missing, {}, traces=traces)
    return _reproduced(table, run.rows, missing)


def paper_rows(found: Reproduced) -> list[PaperRow]:
    """Return the lines of a paper's table, data by data."""
    return [_row(found, cell) for cell in found.cells()]


def _row(found: Reproduced, cell: tuple[str, str]) -> PaperRow:
    table = found.table
    ours, theirs, spread = found.ours.get(cell), found.published.get(cell), found.spread.get(cell)
    difference = None
    if ours is not None and theirs is not None and cell[0] not in table.stand_ins:
        difference = ours - theirs if table.bound is None else None
    return PaperRow(
        *cell,
        ours,
        spread,
        theirs,
        difference,
        _verdict(table, difference, spread),
        found.of_bound(cell),
        found.seconds.get(cell),
        *_reason(found, cell, theirs),
    )


def _verdict(table: PaperTable, difference: float | None, spread: float | None) -> str:
    if difference is None:
        return ""
    last_digit = 0.05 if table.percent else 0.0005
    if abs(difference) <= max(last_digit, spread or 0.0):
        return "same"
    upward = is_upward(table.measure) != table.as_loss
    return "better" if (difference > 0) == upward else "worse"


def _reason(found: Reproduced, cell: tuple[str, str], theirs: float | None) -> tuple[str, str]:
    data = cell[0]
    if cell in found.failed and cell not in found.ours:
        return found.failed[cell], "failed"
    if cell not in found.ours and data in found.missing:
        return found.missing[data], "no data"
    left_out = found.table.left_out()
    if cell not in found.ours and cell in left_out:
        return left_out[cell], "left out"
    if cell not in found.ours:
        return "the run had not come to it", "not yet run"
    if data in found.table.stand_ins:
        theirs_is = found.table.stand_ins[data]
        return f"{data} stands in for the paper's {theirs_is}", "different data"
    return ("the paper prints no number", "not printed") if theirs is None else ("", "")


def _present(run: Run) -> set[str]:
    return {*run.data} | {data for data, _ in run.traces}


def _why_missing(table: PaperTable, name: str) -> str:
    return table.unavailable.get(name, "the data were not there when it was run")
