"""``colabel reproduce``: a paper's table, ours beside theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Json, check_folder, print_json
from colabel.cli.compare import CellMemory, CellTimeout, Dask, Jobs, Keep, RunDir, check_limits
from colabel.exceptions import ColabelError

if TYPE_CHECKING:
    from colabel.lab.paper_tables import Reproduced
    from colabel.lab.rows import CellResult


@app.command(epilog="Example: colabel reproduce relaxations-2015.table2 --quick -o runs/table2")
def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER[.TABLE]", help="A table, a paper, or all.")
    ],
    output: RunDir,
    quick: Annotated[
        bool, typer.Option("--quick", help="The table's small version: less data, one seed.")
    ] = False,
    as_json: Json = False,
    jobs: Jobs = 1,
    cell_timeout: CellTimeout = None,
    cell_memory: CellMemory = None,
    dask: Dask = None,
    keep: Keep = "",
) -> None:
    """Run a table of a paper and print our numbers beside the paper's.

    The same command again goes on where it was stopped. Tables in one RUN_DIR share what is done.
    """
    from colabel.cli._tables import progress
    from colabel.lab import find_tables
    from colabel.lab import reproduce as run

    tables = find_tables(paper)
    limits = check_limits(jobs, cell_timeout, cell_memory, dask, keep)
    check_folder(output)
    results: list[Reproduced] = []
    done: dict[str, CellResult] = {}  # tables of one paper share many cells
    for table in tables:
        with progress() as callbacks:
            found = run(
                table,
                output / table.name,
                store_dir=output,
                quick=quick,
                done=done,
                **limits,
                **callbacks,
            )
        results.append(found)
    if as_json:
        print_json([_as_dict(found) for found in results])
    else:
        for found in results:
            _show(found)
    if not any(found.ours for found in results):
        raise ColabelError(f"nothing of {paper} could be run: {_first_reason(results)}")


def _show(found: Reproduced) -> None:
    from rich.console import Console

    from colabel.cli._tables import reproduction_table
    from colabel.cli._text import shown

    console = Console()
    console.print(reproduction_table(found))
    for data, theirs in found.table.stand_ins.items():
        if data in found.table.data:
            sentence = f"different data: {data} stands in for the paper's {theirs}"
            console.print(shown(sentence, "yellow"), soft_wrap=True)
    for data, reason in found.missing.items():
        console.print(shown(f"missing: {data}: {reason}", "yellow"), soft_wrap=True)
    for (data, entry), reason in found.table.left_out().items():
        console.print(shown(f"left out: {entry} on {data}: {reason}", "yellow"), soft_wrap=True)
    for (data, entry), reason in found.failed.items():
        console.print(shown(f"{entry} on {data}: {reason}", "red"), soft_wrap=True)
    if found.picture is not None:
        console.print(shown(f"picture: {found.picture}"), soft_wrap=True)
    if found.table.note:
        console.print(shown(found.table.note))
    console.print()


def _first_reason(results: list[Reproduced]) -> str:
    reasons = [r for found in results for r in (*found.missing.values(), *found.failed.values())]
    return reasons[0] if reasons else "it has no data"


def _as_dict(found: Reproduced) -> dict[str, Any]:
    return {
        "plan": found.table.name,
        "title": found.table.title,
        "measure": found.table.measure,
        "as_loss": found.table.as_loss,
        "percent": found.table.percent,
        "cells": [_cell(found, cell) for cell in found.cells()],
        "missing": found.missing,
        "picture": None if found.picture is None else str(found.picture),
        "note": found.table.note,
    }


def _cell(found: Reproduced, cell: tuple[str, str]) -> dict[str, Any]:
    data, entry = cell
    time = {"fit_seconds": found.seconds.get(cell)} if found.table.show_seconds else {}
    return {
        "data": data,
        "stands_in_for": found.table.stand_ins.get(data),
        "method": entry,
        "paper": found.published.get(cell),
        "ours": found.ours.get(cell),
        "spread": found.spread.get(cell),
        "failed": found.failed.get(cell),
        "left_out": found.table.left_out().get(cell),
        **time,
    }
