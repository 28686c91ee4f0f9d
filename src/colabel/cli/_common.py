"""What the commands share: options for data, parameters, and JSON."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.cli._labels import blame_call, without_advice
from colabel.exceptions import ColabelError, DataFormatError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = [
    "Data",
    "Json",
    "Labels",
    "ModelPath",
    "NFeatures",
    "Xml",
    "check_file",
    "check_folder",
    "check_for_file",
    "is_registered",
    "load_data",
    "load_training_data",
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
        help="Label columns of a file that does not name them: names separated by commas "
        "(in double quotes where they have commas), or N for the first N columns, -N for the last.",
    ),
]
Xml = Annotated[
    Path | None,
    typer.Option(
        "--xml", metavar="FILE", help="Mulan's list of labels, where it is not beside DATA."
    ),
]
NFeatures = Annotated[
    int | None,
    typer.Option(
        "--n-features",
        metavar="N",
        min=1,
        help="Number of features of a LIBSVM file, which does not say it.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def check_for_file(name: str, labels: str | None, xml: Path | None) -> None:
    """Refuse options of files with a registered name."""
    if is_registered(name) and (labels is not None or xml is not None):
        raise typer.BadParameter(f"--labels and --xml are for files; {name} names its labels")


def load_data(
    name: str,
    labels: str | None = None,
    xml: Path | None = None,
    split: str | None = None,
    **options: Any,
) -> Dataset:
    """Load DATA as the options say; those that are None are left to the reader."""
    from colabel.datasets import load
    from colabel.datasets._label_text import load_labelled

    check_for_file(name, labels, xml)
    given = {"split": split, "xml": xml, **options}
    given = {key: value for key, value in given.items() if value is not None}
    try:
        return load(name, **given) if labels is None else load_labelled(name, labels, **given)
    except ValueError as error:
        sentence = blame_call(error, name, labels)
        if sentence is not None:
            raise typer.BadParameter(sentence) from error
        if isinstance(error, DataFormatError):
            raise without_advice(error) from error
        raise


def load_training_data(name: str, *args: Any, **options: Any) -> Dataset:
    """Load DATA that a method is to learn from."""
    dataset = load_data(name, *args, **options)
    if not dataset.n_labels:
        raise ColabelError(f"{name} has no labels to learn")
    return dataset


def is_registered(name: str) -> bool:
    """Say whether ``name`` is a registered dataset, its split perhaps behind it."""
    from colabel.datasets import list_datasets

    return name.lower().partition(":")[0] in {info.name for info in list_datasets()}


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
    """Find out before the work is done whether its result can be kept in this file."""
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
