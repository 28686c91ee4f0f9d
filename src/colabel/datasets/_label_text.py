"""Which columns of a file are labels, as one text, which the option ``--labels`` takes."""

from __future__ import annotations

import csv
from typing import Any

from colabel.dataset import Dataset
from colabel.datasets._load import load
from colabel.exceptions import DataFormatError, UnknownNameError

__all__ = ["load_labelled"]


def load_labelled(name: str, text: str, **options: Any) -> Dataset:
    """Load a file whose labels a text names.

    Parameters
    ----------
    name : str
        The file.
    text : str
        Names separated by commas, those with a comma in double quotes; or how many of the first
        (negative: last) columns are labels, unless a column is called by that number.
    **options : dict
        Other arguments of ``load``.
    """
    try:
        return load(name, labels=_names(text), **options)
    except DataFormatError as error:
        count = _count(text)
        if count is None or error.kind != "unknown label":
            raise
    return load(name, labels=count, **options)


def _names(text: str) -> list[str]:
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]
    except csv.Error as error:
        raise UnknownNameError(f"--labels {text!r} cannot be read: {error}") from error
    if not any(names):
        raise UnknownNameError("--labels names no column")
    return names


def _count(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
