"""``colabel reproduce``: a paper's table, ours beside theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Json, print_json
from colabel.cli.compare import RunDir

if TYPE_CHECKING:
    from colabel.lab.plans import Reproduced

Paper = Annotated[str, typer.Argument(metavar="PAPER[.TABLE]", help="A table, a paper, or all.")]


@app.command()
def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER[.TABLE]", help="A table, a paper, or all.")
    ],
    output: RunDir,
    quick: Annotated[bool, typer.Option("--quick", help="A reduced version.")] = False,
    as_json: Json = False,
) -> None:
    """Run a table of a paper and print our numbers beside the paper's."""
    from rich.console import Console
    from rich.markup import escape

    from colabel.cli._tables import progress, reproduction_table
    from colabel.lab.plans import find_plans
    from colabel.lab.plans import reproduce as run

    console = Console()
    results = []
    for plan in find_plans(paper):
        with progress(Console(stderr=True) if as_json else console) as callbacks:
            results.append(run(plan, output / plan.name, quick=quick, **callbacks))
    if as_json:
        print_json([_as_dict(found) for found in results])
        return
    for found in results:
        console.print(reproduction_table(found))
        for data, reason in found.missing.items():
            console.print(f"[yellow]missing: {escape(data)}[/yellow]: {escape(reason)}")
        for (data, entry), reason in found.failed.items():
            console.print(f"[red]{escape(f'{entry} on {data}: {reason}')}[/red]")
        if found.plan.note:
            console.print(escape(found.plan.note))


def _as_dict(found: Reproduced) -> dict[str, Any]:
    return {
        "plan": found.plan.name,
        "measure": found.plan.measure,
        "as_loss": found.plan.as_loss,
        "cells": [
            {
                "data": data,
                "method": entry,
                "paper": theirs,
                "ours": found.ours.get((data, entry)),
                "failed": found.failed.get((data, entry)),
            }
            for (data, entry), theirs in found.published.items()
        ],
        "missing": found.missing,
    }
