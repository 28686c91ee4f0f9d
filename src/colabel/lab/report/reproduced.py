"""Ours beside the paper's, from what a run of a plan has left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from colabel.lab.compare import summarise
from colabel.lab.plans import Plan, Reproduced
from colabel.lab.report.reading import Run
from colabel.lab.report.standings import is_upward
from colabel.lab.tables import means_and_spreads

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
    """Return what a run of a plan gave; None where it is none."""
    plan = run.plan
    if plan is None:
        return None
    missing = {name: _why_missing(plan, name) for name in plan.data if name not in _present(run)}
    missing |= dict(plan.unavailable)
    if run.traces:
        ours: dict[Any, float] = {cell: float(np.mean(v)) for cell, v in run.traces.items()}
        traces = dict(run.traces)
        return Reproduced(plan, ours, plan.published(), missing, {}, traces=traces)
    rows = list(run.rows)
    ours, spread = means_and_spreads(plan, rows)
    failed = {(row.data, row.method): row.result.status for row in rows if not row.result.ok}
    times = {
        cell: mean["fit_seconds"] for cell, mean in summarise(rows).items() if "fit_seconds" in mean
    }
    return Reproduced(plan, ours, plan.published(), missing, failed, spread, seconds=times)


def paper_rows(found: Reproduced) -> list[PaperRow]:
    """Return the lines of a paper's table, data by data."""
    return [_row(found, cell) for cell in found.cells()]


def _row(found: Reproduced, cell: tuple[str, str]) -> PaperRow:
    plan = found.plan
    ours, theirs, spread = found.ours.get(cell), found.published.get(cell), found.spread.get(cell)
    difference = None
    if ours is not None and theirs is not None and cell[0] not in plan.stand_ins:
        difference = ours - theirs if plan.bound is None else None
    return PaperRow(
        *cell,
        ours,
        spread,
        theirs,
        difference,
        _verdict(plan, difference, spread),
        found.of_bound(cell),
        found.seconds.get(cell),
        *_reason(found, cell, theirs),
    )


def _verdict(plan: Plan, difference: float | None, spread: float | None) -> str:
    if difference is None:
        return ""
    last_digit = 0.05 if plan.percent else 0.0005
    if abs(difference) <= max(last_digit, spread or 0.0):
        return "same"
    upward = is_upward(plan.measure) != plan.as_loss
    return "better" if (difference > 0) == upward else "worse"


def _reason(found: Reproduced, cell: tuple[str, str], theirs: float | None) -> tuple[str, str]:
    data = cell[0]
    if cell in found.failed and cell not in found.ours:
        return found.failed[cell], "failed"
    if cell not in found.ours and data in found.missing:
        return found.missing[data], "no data"
    left_out = found.plan.left_out()
    if cell not in found.ours and cell in left_out:
        return left_out[cell], "left out"
    if cell not in found.ours:
        return "the run had not come to it", "not yet run"
    if data in found.plan.stand_ins:
        theirs_is = found.plan.stand_ins[data]
        return f"{data} stands in for the paper's {theirs_is}", "different data"
    return ("the paper prints no number", "not printed") if theirs is None else ("", "")


def _present(run: Run) -> set[str]:
    return {*run.data} | {data for data, _ in run.traces}


def _why_missing(plan: Plan, name: str) -> str:
    return plan.unavailable.get(name, "the data were not there when it was run")
