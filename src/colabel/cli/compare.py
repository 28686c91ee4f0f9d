"""``colabel compare``: methods side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Labels, Xml, load_data

DataList = Annotated[
    list[str], typer.Argument(metavar="DATA...", help="Registered names or files.")
]
RunDir = Annotated[Path, typer.Option("-o", "--output", metavar="RUN_DIR", help="Results folder.")]


@app.command()
def compare(
    data: DataList,
    output: RunDir,
    methods: Annotated[
        str | None,
        typer.Option("-m", "--methods", help="Names separated by commas; default: the quick ones."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="official, cv:K or holdout:F; default: official, else cv:5."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Repeat with this many seeds.")] = 1,
    labels: Labels = None,
    xml: Xml = None,
) -> None:
    """Fit and measure methods on the same splits; write results.csv."""
    from rich.console import Console
    from rich.markup import escape

    from colabel.cli._tables import failures, progress, summary_table
    from colabel.lab import compare as run

    def load(name: str, split: str | None = None) -> Any:
        return load_data(name, labels, xml, split)

    console = Console()
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    with progress(console) as callbacks:
        rows = run(
            data,
            names,
            split=split,
            seeds=range(seeds),
            run_dir=output,
            load_data=load,
            **callbacks,
        )
    for name in dict.fromkeys(data):
        console.print(summary_table(rows, name))
    for reason in failures(rows):
        console.print(f"[red]{escape(reason)}[/red]")
    console.print(f"{len(rows)} cells in {escape(str(output / 'results.csv'))}")
    if rows and all(not row.result.ok for row in rows):
        raise typer.Exit(1)
