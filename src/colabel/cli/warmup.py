"""``colabel warmup``: compile ahead of the first fit."""

from __future__ import annotations

from typing import Annotated

import typer

from colabel.cli._app import app


@app.command(epilog="Example: colabel warmup br cbm-lr")
def warmup(
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="METHOD", help="See colabel methods; default: all.", show_default=False
        ),
    ] = None,
) -> None:
    """Compile what methods need, so that their first fit on this machine is as quick as later ones.

    The kernels are kept on disk. An upgrade of colabel or of Numba has them compiled anew.
    """
    from colabel.cli._tables import method_progress
    from colabel.lab.methods import METHODS, get_method
    from colabel.lab.warmup import warm_up

    names = list(dict.fromkeys(methods or METHODS))
    for name in names:
        get_method(name)  # refuses one that does not exist before the first is compiled
    with method_progress(len(names)) as on_method:
        seconds, folder = warm_up(names, on_method)
    place = f"kept in {folder}" if folder else "kept nowhere: no folder for them can be written"
    what = names[0] if len(names) == 1 else f"{len(names)} methods"
    typer.echo(f"kernels of {what} are ready after {seconds:.1f} s of compiling; {place}")
