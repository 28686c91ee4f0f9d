"""``colabel datasets``: what data are known, and where they are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Json, print_json


@app.command()
def datasets(
    as_json: Json = False,
    download: Annotated[
        str | None, typer.Option("--download", metavar="NAME", help="Fetch a dataset first.")
    ] = None,
) -> None:
    """List the known datasets, their statistics, and where they were found."""
    from colabel.datasets import fetch, find, list_datasets

    if download is not None:
        fetch(download, progress=not as_json)
    rows: list[dict[str, Any]] = []
    for info in list_datasets():
        places = find(info)
        rows.append(
            {
                "name": info.name,
                "domain": info.domain,
                "n_samples": info.n_samples,
                "n_features": info.n_features,
                "n_labels": info.n_labels,
                "cardinality": info.cardinality,
                "density": info.density,
                "n_labelsets": info.n_labelsets,
                "splits": list(info.splits),
                "partial": info.partial,
                "found": None if places is None else str(next(iter(places.values())).parent),
                "citation": info.citation,
                "notes": info.notes,
            }
        )
    if as_json:
        print_json(rows)
        return

    from rich.console import Console
    from rich.table import Table

    table = Table(
        "name", "domain", "samples", "features", "labels", "cardinality", "split", "found"
    )
    for row in rows:
        table.add_row(
            f"{row['name']}{' (partial)' if row['partial'] else ''}",
            str(row["domain"]),
            f"{row['n_samples']}",
            f"{row['n_features']}",
            f"{row['n_labels']}",
            f"{row['cardinality']:.3f}",
            "official" if "train" in row["splits"] else "none",
            "[green]yes[/green]" if row["found"] else "no",
        )
    console = Console()
    console.print(table)
    if any(row["found"] is None for row in rows):
        console.print("Set COLABEL_DATA to the folder that holds the others.")
