"""The application: one file a command, one place for errors.

Exit status 0: done. 1: the work failed. 2: the call is wrong. An error is one plain sentence on
stderr; ``--debug`` (or ``COLABEL_DEBUG=1``) shows the traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, cast

import typer

import colabel
from colabel.exceptions import ColabelError, DatasetNotFoundError, UnknownNameError

__all__ = ["app", "main"]

# typer carries click inside since 0.27 and used the click package before; both look like this.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="colabel",
    help="Multi-label classification that treats the labels together.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"colabel {colabel.__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show version.")
    ] = False,
) -> None:
    """Multi-label classification that treats the labels together."""
    if debug:
        os.environ["COLABEL_DEBUG"] = "1"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    _load_commands()
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="colabel", standalone_mode=False)
    except UsageError as error:
        code = _fail(error.format_message(), 2)
    except (typer.Abort, KeyboardInterrupt):
        code = _fail("stopped", 130)
    except (UnknownNameError, DatasetNotFoundError) as error:
        code = _fail(error, 2)
    except (ColabelError, OSError, ValueError, MemoryError) as error:
        code = _fail(error, 1)
    sys.exit(code or 0)


def _load_commands() -> None:
    from colabel.cli import compare, datasets, evaluate, fit, info, methods, predict, reproduce

    del compare, datasets, evaluate, fit, info, methods, predict, reproduce


def _fail(reason: object, code: int) -> int:
    if os.environ.get("COLABEL_DEBUG") and isinstance(reason, BaseException):
        raise reason
    sentence = " ".join(str(reason).split()) or type(reason).__name__
    print(f"colabel: {sentence}", file=sys.stderr)  # noqa: T201
    return code
