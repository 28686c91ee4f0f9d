"""``colabel report``: what a run found, as a page or as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from colabel.cli._app import app
from colabel.cli._common import check_file


@app.command(epilog="Example: colabel report runs/first -o report.html")
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN_DIR", help="Folders that compare or reproduce wrote."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The report.")],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="html, md, csv or latex; default: by the ending of FILE.",
        ),
    ] = None,
) -> None:
    """Write what runs found as one page that needs no network, or as tables."""
    from rich.console import Console

    from colabel.cli._text import shown
    from colabel.lab.report import format_of, write_report

    format_of(output, format_name)
    check_file(output)
    for folder in runs:
        if not folder.is_dir():
            raise typer.BadParameter(f"{folder} is not a folder: give the RUN_DIR of a run")
    write_report(runs, output, format_name)
    Console().print(shown(f"report in {output}"), soft_wrap=True)
