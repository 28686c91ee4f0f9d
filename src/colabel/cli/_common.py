"""What the commands share: options for data, parameters, and JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.exceptions import DataFormatError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = [
    "Data",
    "Json",
    "Labels",
    "ModelPath",
    "Xml",
    "check_file",
    "check_folder",
    "is_registered",
    "load_data",
    "parse_params",
    "print_json",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A registered name, NAME:train or NAME:test, or a file "
        "(Mulan or MEKA ARFF, LIBSVM, CSV, npz; plain or gzip).",
    ),
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `fit` wrote.")]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="NAMES",
        help="Label columns of a file that does not name them: names separated by commas, "
        "or N for the first N columns, -N for the last N.",
    ),
]
Xml = Annotated[
    Path | None,
    typer.Option(
        "--xml", metavar="FILE", help="Mulan's list of labels, where it is not beside DATA."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def load_data(
    name: str, labels: str | None = None, xml: Path | None = None, split: str | None = None
) -> Dataset:
    """Load DATA as the options say."""
    from colabel.datasets import load

    if is_registered(name) and (labels is not None or xml is not None):
        raise typer.BadParameter(f"--labels and --xml are for files; {name} names its labels")
    try:
        return load(name, split, labels=parse_labels(labels), xml=xml)
    except ValueError as error:
        # What Python calls labels= is --labels here, and giving it wrongly is a wrong call.
        sentence = re.sub(r"\b(labels|xml)=", r"--\1 ", str(error)).strip()
        if sentence != str(error):
            raise typer.BadParameter(sentence) from error
        if isinstance(error, DataFormatError) and error.reason.endswith("; give format="):
            raise DataFormatError(error.path, error.reason.removesuffix("; give format=")) from None
        raise


def is_registered(name: str) -> bool:
    """Say whether ``name`` is a registered dataset, its split perhaps behind it."""
    from colabel.datasets import list_datasets

    return name.lower().partition(":")[0] in {info.name for info in list_datasets()}


def parse_labels(text: str | None) -> list[str] | int | None:
    """Read ``--labels``: a number, or names separated by commas."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return [name.strip() for name in text.split(",")]


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


def check_file(output: Path) -> None:
    """Find out before the work is done whether its result can be kept in this file."""
    if output.is_dir():
        raise typer.BadParameter(f"{output} is a folder; -o takes a file name")
    if not output.absolute().parent.is_dir():
        raise typer.BadParameter(f"the folder {output.parent} does not exist; make it first")


def check_folder(output: Path) -> None:
    """Find out before the work is done whether its results can be kept in this folder."""
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
