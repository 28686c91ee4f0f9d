"""``colabel compare``: methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
) -> None:
    """Fit and measure methods on the same splits; write results.csv."""
    from rich.console import Console

    from colabel.cli._tables import failures, progress, summary_table
    from colabel.cli._text import shown
    from colabel.lab import compare as run

    def load(name: str, split: str | None = None) -> Dataset:
        if is_registered(name):
            return load_training_data(name, split=split)
        return load_training_data(name, labels, xml, split, n_features=n_features)

    names = None if methods is None else _names(methods)
    check_folder(output)
    with progress() as callbacks:
        rows = run(
            data,
            names,
            split=split,
            seeds=range(seeds),
            run_dir=output,
            load_data=load,
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


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise typer.BadParameter("-m takes names separated by commas; see: colabel methods")
    return list(dict.fromkeys(names))
