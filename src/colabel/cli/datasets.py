"""``colabel datasets``: what data are known, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Json, print_json

if TYPE_CHECKING:
    from colabel.datasets import DatasetInfo

# What ``--json`` gives of each: attributes, and the folder where its files are.
COLUMNS = (
    *("name", "domain", "n_samples", "n_features", "n_labels", "cardinality", "density"),
    *("n_labelsets", "splits", "partial", "found", "citation", "notes"),
)


@app.command()
def datasets(
    as_json: Json = False,
    download: Annotated[
        str | None,
        typer.Option("--download", metavar="NAME", help="First download the dataset NAME."),
    ] = None,
) -> None:
    """List the known datasets, their statistics, and where they were found."""
    from colabel.datasets import fetch, list_datasets

    if download is not None:
        fetch(download, progress=not as_json)
    rows = [_row(info) for info in list_datasets()]
    if as_json:
        print_json(rows)
    else:
        _show(rows)


def _row(info: DatasetInfo) -> dict[str, Any]:
    from colabel.datasets import find

    places = find(info)
    found = None if places is None else str(next(iter(places.values())).parent)
    return {name: found if name == "found" else getattr(info, name) for name in COLUMNS}


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
