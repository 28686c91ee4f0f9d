"""``colabel redo``: one cell of a run again, beside what it gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._app import app
from colabel.cli._common import Json, print_json
from colabel.cli._data import FileOptions, Labels, NFeatures, Xml, check_for_file
from colabel.exceptions import ColabelError

if TYPE_CHECKING:
    from colabel.lab.rows import Row


@app.command(epilog="Example: colabel redo runs/first --data yeast --method br")
def redo(
    run_dir: Annotated[
        Path, typer.Argument(metavar="RUN_DIR", help="Folder with a results.csv.", exists=True)
    ],
    data: Annotated[str, typer.Option(metavar="DATA", help="Dataset, as in results.csv.")],
    method: Annotated[str, typer.Option(metavar="METHOD", help="Method, as in results.csv.")],
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the cell.")] = 0,
    fold: Annotated[int, typer.Option(metavar="N", help="Fold of the cell.")] = 0,
    split: Annotated[
        str | None, typer.Option(metavar="SPLIT", help="Split of the cell, where DATA has several.")
    ] = None,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
    as_json: Json = False,
) -> None:
    """Run one cell of a run again and set it beside what it gave. The run stays as it is.

    Files are read as the run has read them, unless options say otherwise.
    """
    from rich.console import Console

    from colabel.cli._tables import plain_table, titled
    from colabel.cli._text import number, shown
    from colabel.lab.redo import redo as run_again

    options = FileOptions(labels, xml, n_features)
    check_for_file(data, options)
    then, now = run_again(
        run_dir,
        data=data,
        method=method,
        seed=seed,
        fold=fold,
        split=split,
        options=options.given(),
    )
    if as_json:
        print_json(_as_dict(then, now))
    if not now.result.ok:
        raise ColabelError(now.result.status)
    if as_json:
        return
    table = plain_table()
    for heading in ("measure", "then", "now", "difference"):
        table.add_column(heading, justify="left" if heading == "measure" else "right")
    for name, value in now.result.measures.items():
        before = then.result.measures.get(name)
        change = "–" if before is None else f"{value - before:+.4f}"
        table.add_row(shown(name), number(before), number(value), change)
    Console().print(titled(f"{method} on {data}, seed {seed}, fold {fold}", table))


def _as_dict(then: Row, now: Row) -> dict[str, Any]:
    return {"then": then.as_dict(), "now": now.as_dict()}
