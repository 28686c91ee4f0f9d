"""Which columns of a file are labels, said in one text, as the option ``--labels`` has it."""

from __future__ import annotations

import csv
from typing import Any

from colabel.datasets._dataset import Dataset
from colabel.datasets._load import load
from colabel.exceptions import DataFormatError, UnknownNameError

__all__ = ["is_unknown", "load_labelled", "parse_names"]


def parse_names(text: str) -> list[str]:
    """Read names separated by commas; one that has a comma itself stands in double quotes."""
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]
    except csv.Error as error:
        raise UnknownNameError(f"--labels {text!r} cannot be read: {error}") from error
    if not any(names):
        raise UnknownNameError("--labels names no column")
    return names


def load_labelled(name: str, text: str, **options: Any) -> Dataset:
    """Load a file with the labels chosen; a number counts columns unless it is a column's name."""
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


def _count(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
