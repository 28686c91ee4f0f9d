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
        str | None,
        typer.Option("--download", metavar="NAME", help="First download the dataset NAME."),
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
    else:
        _show(rows)


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.text import Text

    from colabel.cli._tables import plain_table

    table = plain_table()
    for heading in ("name", "domain"):
        table.add_column(f"\n{heading}")
    for heading in ("\nsamples", "\nfeatures", "\nlabels", "per\nsample"):
        table.add_column(heading, justify="right")
    for heading in ("\nsplit", "\nhere"):
        table.add_column(heading)
    for row in rows:
        table.add_row(
            Text(row["name"] + ("*" if row["partial"] else "")),
            row["domain"],
            *(str(row[key]) for key in ("n_samples", "n_features", "n_labels")),
            f"{row['cardinality']:.3f}",
            "yes" if "train" in row["splits"] else "no",
            Text("yes", "green") if row["found"] else "no",
        )
    console = Console()
    console.print(table)
    if any(row["partial"] for row in rows):
        console.print("\n* a part or a derivative of the data this name suggests")
    if any(row["found"] is None for row in rows):
        console.print(
            "Data that is not here is looked for in the folders named in COLABEL_DATA.",
            highlight=False,
        )
