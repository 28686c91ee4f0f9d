"""The application: one file a command, one place for errors.

Exit status 0: done. 1: the work failed. 2: the call is wrong. 130: stopped by Ctrl-C. An error is
one plain sentence on stderr; ``--debug`` (or ``COLABEL_DEBUG=1``) shows the traceback.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
import warnings
from importlib import import_module
from textwrap import shorten
from typing import Annotated, Any, cast

import typer

import colabel
from colabel.cli._text import one_line
from colabel.exceptions import (
    ColabelError,
    DatasetNotFoundError,
    UnknownNameError,
    is_interrupt,
)

__all__ = ["app", "main"]

# In the order a newcomer needs them, which is the order of the help text.
COMMANDS = (
    "methods",
    "datasets",
    "info",
    "fit",
    "predict",
    "evaluate",
    "tune",
    "compare",
    "reproduce",
    "report",
    "redo",
    "warmup",
)
# typer carries click inside since 0.27 and used the click package before; both look like this.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="colabel",
    help="Multi-label classification that treats the labels together.",
    epilog="First try: colabel compare yeast -o runs/first",
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
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show version.")
    ] = False,
) -> None:
    """Multi-label classification that treats the labels together."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given or bool(os.environ.get("COLABEL_DEBUG"))
    wanted = [argument for argument in given if argument != "--debug"] or ["--help"]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without φ shows \u03c6, and goes on
            stream.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _WarningLines()
        _show_log()
        sys.exit(_run(wanted, debug))


def _run(arguments: list[str], debug: bool) -> int:
    for name in COMMANDS:
        import_module(f"colabel.cli.{name}")
    app.registered_commands.sort(key=_place)  # whatever was imported first
    command: Any = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="colabel", standalone_mode=False)
        sys.stdout.flush()
        if code == 130:  # typer has caught Ctrl-C, and says nothing
            raise KeyboardInterrupt
        return code or 0
    except BrokenPipeError:
        return _reader_has_gone()
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            traceback.print_exception(error)
        return _fail(error)


def _place(command: Any) -> int:
    return COMMANDS.index(command.callback.__name__)


def _fail(error: BaseException) -> int:
    """Print the sentence of an error and return its exit status."""
    code, sentence = _status_and_sentence(error)
    print(f"colabel: {one_line(sentence)}", file=sys.stderr)  # noqa: T201
    return code


def _status_and_sentence(error: BaseException) -> tuple[int, str]:
    if isinstance(error, UsageError):
        own = isinstance(error, typer.BadParameter) and error.param is None  # whole as it stands
        return 2, error.message if own else error.format_message()
    if isinstance(error, typer.Abort) or is_interrupt(error):
        return 130, "stopped"
    if isinstance(error, UnknownNameError | DatasetNotFoundError):
        return 2, str(error)
    if type(error).__name__ == "InvalidParameterError":  # scikit-learn's, which has no public home
        return 2, str(error)
    if isinstance(error, MemoryError):
        return 1, f"out of memory; {error}" if str(error) else "out of memory"
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return 1, f"{error.filename}: {error.strerror}"
    if isinstance(error, ColabelError) and str(error):
        return 1, str(error)
    if isinstance(error, ValueError | OSError) and str(error):
        from colabel.lab.rows import first_sentence

        return 1, first_sentence(str(error))
    return 1, f"{type(error).__name__}: {error} (a fault of colabel? --debug shows where)"


def _reader_has_gone() -> int:
    """Leave quietly when the other end of a pipe was closed, as ``head`` does."""
    # Python flushes stdout once more at exit, which would complain again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


class _LogLines(logging.Handler):
    """Shows what colabel reports of long work: on stderr, above any progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"colabel: {record.getMessage()}", file=sys.stderr)  # noqa: T201


def _show_log() -> None:
    logger = logging.getLogger("colabel")
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _LogLines) for handler in logger.handlers):
        logger.addHandler(_LogLines())


class _WarningLines:
    """Shows each warning as one line, however often it comes."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        line = shorten(one_line(str(message)), 300, placeholder=" …")
        if line not in self.shown:
            self.shown.add(line)
            print(f"colabel: warning: {line}", file=sys.stderr)  # noqa: T201
