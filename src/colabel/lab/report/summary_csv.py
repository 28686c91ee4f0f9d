"""Every mean of a report as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from colabel.lab.report.standings import standings
from colabel.lab.runs import Run

__all__ = ["HEAD", "render_csv"]

HEAD = (
    *("run", "data", "method", "measure", "mean", "sd", "average_rank", "published"),
    *("fit_seconds", "cells", "failed", "reason"),
)


def render_csv(runs: Sequence[Run]) -> str:
    """Return the means of runs as CSV, a line for each dataset, method and measure.

    ``published`` is the paper's number in the units of the measure.

    Parameters
    ----------
    runs : sequence of Run
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(HEAD)
    for run in runs:
        for standing in standings(run):
            theirs = _published(run, standing.measure)
            for (data, method), place in standing.places.items():
                rank = standing.ranks.get(method)
                numbers = place.mean, place.sd, rank, theirs.get((data, method)), place.seconds
                counts = place.n_cells, place.n_failed, place.reason
                names = run.name, data, method, standing.measure
                writer.writerow((*names, *map(_number, numbers), *counts))
    return text.getvalue()


def _published(run: Run, measure: str) -> dict[tuple[str, str], float]:
    table = run.table
    if table is None or table.measure != measure:
        return {}
    # What was published of other data is no measure of this.
    theirs = {cell: v for cell, v in table.published().items() if cell[0] not in table.stand_ins}
    values = {cell: v / 100.0 if table.percent else v for cell, v in theirs.items()}
    return {cell: 1.0 - v if table.as_loss else v for cell, v in values.items()}


def _number(value: float | None) -> str:
    return "" if value is None or value != value else repr(float(value))
