"""What a file format is to ``read`` and ``write``, and how a file is to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from colabel.dataset import Dataset

__all__ = ["Arrays", "Format", "ReadOptions"]

# X, Y, the names of features and those of labels.
Arrays = tuple[Any, Any, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class ReadOptions:
    """How a file is to be read.

    Parameters
    ----------
    labels : sequence of str, int or None, default=None
        ARFF and CSV: names of the label columns, or their number: ``n`` for the first n columns,
        ``-n`` for the last; an empty list for data without labels. An ARFF file without it names
        them itself (see the notes of ``read``).
    format : {"arff", "mulan", "meka", "svmlight", "csv", "npz"} or None, default=None
        In place of the suffix. ``"mulan"`` and ``"meka"`` settle where ARFF's labels are named.
    xml : str, path or None, default=None
        Mulan's label file, if it is not beside the ARFF file.
    n_features, n_labels : int or None, default=None
        svmlight: the widths, so that a train and a test file agree.
    zero_based : bool or "auto", default="auto"
        svmlight: whether features count from 0. ``"auto"`` takes 1, unless the file has a header
        or a feature 0; state it where files must agree, for one part may happen to have no 0.
    one_hot : bool, default=True
        ARFF and CSV: whether a nominal feature (other than 0/1) becomes one column ``name=value``
        per value, or one column with the value's place (0, 1, ...).
    """

    labels: Sequence[str] | int | None = None
    format: str | None = None
    xml: str | os.PathLike[str] | None = None
    n_features: int | None = None
    n_labels: int | None = None
    zero_based: bool | str = "auto"
    one_hot: bool = True

    def __post_init__(self) -> None:
        if self.zero_based != "auto" and not isinstance(self.zero_based, bool):
            raise ValueError(f'zero_based must be True, False or "auto", not {self.zero_based!r}')
        for name in ("n_features", "n_labels"):
            width = getattr(self, name)
            if width is not None and not 1 <= width < 2**31:
                raise ValueError(f"{name} must be from 1 to {2**31 - 1}, not {width}")

    def given(self) -> tuple[str, ...]:
        """Return the options that say something; ``one_hot`` has a meaning for any file."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        silent = {"one_hot", "zero_based"} if self.zero_based == "auto" else {"one_hot"}
        return tuple(k for k, value in values.items() if value is not None and k not in silent)


@dataclass(frozen=True)
class Format:
    """A file format.

    Parameters
    ----------
    names : tuple of str
        What ``format=`` may call it, the usual name first.
    read : callable
        Gives X, Y, feature names and label names of a path, read as ``ReadOptions`` say.
    write : callable
        Writes a dataset to a path.
    takes : tuple of str
        The options of ``ReadOptions`` that have a meaning for it, besides ``one_hot``.
    suffixes : tuple of str
        Endings of file names that mean it.
    packed : bool
        Whether ``.gz`` may follow the suffix.
    """

    names: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Arrays]
    write: Callable[[Dataset, Path], None]
    takes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    packed: bool = True
