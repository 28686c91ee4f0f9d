"""What the commands share: parameters, places for results, and JSON."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from colabel.cli._data import is_registered

__all__ = [
    "Json",
    "ModelPath",
    "check_file",
    "check_folder",
    "criterion",
    "parse_params",
    "print_json",
]

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `fit` wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def criterion(metric: str) -> str:
    """Return the full name of what ``--metric`` says to do best on."""
    from colabel.lab.tune import LOG_LIKELIHOOD
    from colabel.metrics import measure_name

    return metric if metric == LOG_LIKELIHOOD else measure_name(metric)


def parse_params(pairs: list[str]) -> dict[str, Any]:
    """Read ``-p key=value``: values are JSON, Python's None, True and False, or text."""
    params = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"-p takes key=value, not {pair!r}")
        params[key] = _value(text)
    return params


def _value(text: str) -> Any:
    named = {"None": None, "True": True, "False": False}
    if text in named:
        return named[text]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value


def check_file(output: Path, *inputs: str | Path | None) -> None:
    """Refuse, before the work is done, a file that its result could not be written to."""
    if output.is_dir():
        raise typer.BadParameter(f"{output} is a folder; -o takes a file name")
    if not output.absolute().parent.is_dir():
        raise typer.BadParameter(f"the folder {output.parent} does not exist; make it first")
    for path in inputs:
        if path is not None and _is_same(path, output):
            raise typer.BadParameter(f"-o {output} would overwrite {path}; choose another name")


def _is_same(path: str | Path, output: Path) -> bool:
    if isinstance(path, str) and is_registered(path):
        return False
    return os.path.exists(path) and output.exists() and os.path.samefile(path, output)


def check_folder(output: Path) -> None:
    """Refuse, before the work is done, a folder that its results could not be written to."""
    for folder in (output, *output.absolute().parents):
        if folder.exists():
            if not folder.is_dir():
                raise typer.BadParameter(f"{folder} is a file; -o takes a folder")
            return


def print_json(value: Any) -> None:
    """Print JSON alone, in ASCII whatever the terminal; NaN becomes null."""
    typer.echo(json.dumps(_plain(value), indent=2))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
