"""What the commands share: options for data, parameters, and printing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from colabel.exceptions import DatasetNotFoundError, ModelFileError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = [
    "Data",
    "Json",
    "Labels",
    "ModelPath",
    "Xml",
    "align",
    "load_data",
    "number",
    "open_model",
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
        help="Label columns of a file that does not name them: names separated by commas, "
        "or N for the first N columns, -N for the last N.",
    ),
]
Xml = Annotated[
    Path | None, typer.Option("--xml", help="Mulan's list of labels, where it is not beside DATA.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def load_data(
    name: str, labels: str | None = None, xml: Path | None = None, split: str | None = None
) -> Dataset:
    """Load DATA as the options say."""
    from colabel.datasets import load

    return load(name, split, labels=parse_labels(labels), xml=xml)


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


def open_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Load a model file and what ``fit`` noted beside the model."""
    from colabel.persistence import load, read_metadata

    if not path.exists():
        raise DatasetNotFoundError(f"there is no model file {path}; `colabel fit` makes one")
    metadata = read_metadata(path)
    return load(path), metadata


def align(
    data: Dataset, metadata: dict[str, Any], model: Path, *, labels_too: bool = True
) -> Dataset:
    """Put the columns of ``data`` into the order the model knows, by name.

    Prediction needs the features only, evaluation the labels too.
    """
    from dataclasses import replace

    labels = None
    if labels_too:
        labels = _order("label", metadata.get("label_names"), data.label_names, model)
    features = _order("feature", metadata.get("feature_names"), data.feature_names, model)
    if labels is not None:
        data = replace(data, Y=data.Y[:, labels], label_names=tuple(metadata["label_names"]))
    if features is not None:
        names = tuple(metadata["feature_names"])
        data = replace(data, X=data.X[:, features], feature_names=names)
    return data


def _order(
    what: str, known: list[str] | None, given: tuple[str, ...], model: Path
) -> list[int] | None:
    """Return where each known column is, None where nothing has to move."""
    if known is None or list(given) == list(known):
        return None
    place = {name: i for i, name in enumerate(given)}
    missing = [name for name in known if name not in place]
    if missing:
        raise ModelFileError(
            f"{model} was fitted on data with the {what} {missing[0]!r}"
            + (f" and {len(missing) - 1} more" if len(missing) > 1 else "")
            + f", which this data does not have ({len(given)} {what}s here, {len(known)} there)"
        )
    return [place[name] for name in known]


def print_json(value: Any) -> None:
    """Print JSON alone; NaN becomes null."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def number(value: float | None) -> str:
    """Format a measure for a table."""
    return "–" if value is None or value != value else f"{value:.4f}"
