"""``--labels``: which columns of a file are labels, and what is wrong with a choice."""

from __future__ import annotations

import csv
import difflib
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from colabel.exceptions import DataFormatError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = ["blame_call", "is_unknown", "load_labelled", "parse_names", "without_advice"]

# How a reader's reason begins where the call lacks an option or has it wrong. Names of files and
# labels stand further on, so that nothing in them can be taken for an option.
_WRONG_CALL = re.compile(
    r"a CSV file does not say|nothing says which|(labels|xml|n_features)="
    r"|feature number \d+ does not fit n_features=|\d+ features are far more"
)
_OPTION = re.compile(r"\b(labels|xml|n_features)=")
# Advice that only Python callers can follow.
_ADVICE = re.compile(r"; (if meant, )?give (format|n_labels)=.*")


def parse_names(text: str) -> list[str]:
    """Read names separated by commas; one that has a comma itself stands in double quotes."""
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]
    except csv.Error as error:
        raise typer.BadParameter(f"--labels {text!r} cannot be read: {error}") from error
    if not any(names):
        raise typer.BadParameter("--labels names no column")
    return names


def load_labelled(name: str, text: str, **options: Any) -> Dataset:
    """Load a file with the labels chosen; a number counts columns unless it is a column's name."""
    from colabel.datasets import load

    try:
        return load(name, labels=parse_names(text), **options)
    except DataFormatError as error:
        count = _count(text)
        if count is None or not is_unknown(error):
            raise
    return load(name, labels=count, **options)


def is_unknown(error: DataFormatError) -> bool:
    """Say whether a file was refused because it lacks a label that was asked for."""
    return error.line is None and error.reason.endswith(" is no attribute of the data file")


def blame_call(error: ValueError, name: str, labels: str | None) -> str | None:
    """Return the sentence of a refusal that is the call's fault, in the words of the call."""
    reason = error.reason if isinstance(error, DataFormatError) else str(error)
    if _WRONG_CALL.match(reason):
        spelled = _OPTION.sub(lambda found: f"--{found[1].replace('_', '-')} ", reason)
        return str(error).removesuffix(reason) + spelled.strip()
    if labels is None or not isinstance(error, DataFormatError) or error.line is not None:
        return None
    if Path(error.path) != Path(name) or not reason.startswith(("label ", "two label names")):
        return None
    return f"{error}{_hint(reason, name, labels)}"


def without_advice(error: DataFormatError) -> DataFormatError:
    """Return the error without the options that the command line does not have."""
    reason = _ADVICE.sub("", error.reason)
    return DataFormatError(error.path, reason, error.line, error.column)


def _count(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _hint(reason: str, name: str, labels: str) -> str:
    from colabel.datasets import load

    close: list[str] = []
    with suppress(ValueError):  # a file that cannot be read has no columns to offer
        columns = load(name, labels=[], one_hot=False).feature_names
        for wanted in parse_names(labels):
            if reason.startswith(f"label {wanted!r} is no attribute"):
                close = difflib.get_close_matches(wanted, columns, n=3)
    return f"; did you mean {' or '.join(close)}?" if close else ""
