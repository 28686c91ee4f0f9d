"""``colabel compare``: methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import (
    Labels,
    NFeatures,
    Xml,
    check_folder,
    is_registered,
    load_training_data,
)
from colabel.exceptions import ColabelError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

DataList = Annotated[list[str], typer.Argument(metavar="DATA", help="Registered names or files.")]
RunDir = Annotated[
    Path, typer.Option("-o", "--output", metavar="RUN_DIR", help="Folder for results.")
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", min=1, metavar="N", help="Cells at a time, in processes of their own."),
]
CellTimeout = Annotated[
    float | None,
    typer.Option("--cell-timeout", metavar="SECONDS", help="A cell that takes longer has failed."),
]
CellMemory = Annotated[
    float | None,
    typer.Option("--cell-memory", metavar="MB", help="A cell that needs more memory has failed."),
]


@app.command(epilog="Example: colabel compare yeast -m br,powset --split cv:5 -o runs/first")
def compare(
    data: DataList,
    output: RunDir,
    methods: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--methods",
            metavar="NAMES",
            help="Names separated by commas; default: the quick ones.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            help="official, cv:K (K folds) or holdout:F (share F tested); "
            "default: official where there is one, else cv:5.",
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="Repeat with this many seeds.")
    ] = 1,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
    jobs: Jobs = 1,
    cell_timeout: CellTimeout = None,
    cell_memory: CellMemory = None,
) -> None:
    """Fit and measure methods on the same splits; write results.csv.

    The same command again goes on where it was stopped: cells that are done are read, cells that
    failed are tried once more.
    """
    from rich.console import Console

    from colabel.cli._tables import failures, progress, summary_table
    from colabel.cli._text import shown
    from colabel.lab import compare as run

    def load(name: str, split: str | None = None) -> Dataset:
        if is_registered(name):
            return load_training_data(name, split=split)
        return load_training_data(name, labels, xml, split, n_features=n_features)

    names = None if methods is None else _names(methods)
    limits = check_limits(jobs, cell_timeout, cell_memory)
    check_folder(output)
    with progress() as callbacks:
        rows = run(
            data,
            names,
            split=split,
            seeds=range(seeds),
            run_dir=output,
            load_data=load,
            **limits,
            **callbacks,
        )
    console = Console()
    for name in dict.fromkeys(data):
        console.print(summary_table(rows, name))
        console.print()
    for reason in failures(rows):
        console.print(shown(reason, "red"), soft_wrap=True)
    place = output / "results.csv"
    n_failed = sum(not row.result.ok for row in rows)
    if n_failed == len(rows):
        raise ColabelError(f"all {len(rows)} cells failed; the reasons are in {place}")
    console.print(shown(f"{len(rows)} cells, {n_failed} failed; {place}"), soft_wrap=True)


def check_limits(
    jobs: int, cell_timeout: float | None, cell_memory: float | None
) -> dict[str, Any]:
    """Return how cells are run as the laboratory takes it, or say what is wrong with it."""
    for option, value in (("--cell-timeout", cell_timeout), ("--cell-memory", cell_memory)):
        if value is not None and not value > 0:
            raise typer.BadParameter(f"{option} must be above zero, not {value:g}")
    return {"jobs": jobs, "cell_timeout": cell_timeout, "cell_memory": cell_memory}


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("-m takes names separated by commas; see: colabel methods")
    return list(dict.fromkeys(names))
