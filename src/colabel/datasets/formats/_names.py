"""Names of columns: each once, and not so long that they fill memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from colabel.datasets.formats._columns import Columns, short
from colabel.exceptions import DataFormatError

__all__ = ["check_distinct", "checked_names", "refuse_twins"]

MAX_NAME_CHARACTERS = 64 << 20


def refuse_twins(
    path: Path,
    names: Sequence[str],
    place: Callable[[int], tuple[int | None, int | None]] = lambda _: (None, None),
) -> None:
    """Refuse a name that occurs twice.

    Parameters
    ----------
    path : Path
        Named in the error.
    names : sequence of str
        In file order.
    place : callable
        Gives the line and column of the name of a given number.
    """
    if len(set(names)) == len(names):
        return
    first: dict[str, int] = {}
    for j, name in enumerate(names):
        if first.setdefault(name, j) != j:
            reason = f"columns {first[name] + 1} and {j + 1} have the same name {short(name)}"
            raise DataFormatError(path, reason, *place(j))


def checked_names(path: Path, columns: Columns) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of X's and Y's columns, if they are distinct and fit into memory."""
    if columns.name_characters() > MAX_NAME_CHARACTERS:
        raise DataFormatError(
            path,
            f"the names of one-hot columns would take more than {MAX_NAME_CHARACTERS} characters; "
            "read with one_hot=False, or shorten the names",
        )
    features, labels = columns.feature_names(), columns.label_names()
    # The file's own names are distinct by now, but "a=1" may be a name and a one-hot column.
    refuse_twins(path, features + labels)
    return features, labels


def check_distinct(names: Sequence[str]) -> None:
    """Refuse to write a name twice, which the reader of the file would refuse."""
    name, count = max(Counter(names).items(), key=lambda item: item[1], default=("", 0))
    if count > 1:
        raise ValueError(f"{count} columns have the name {name!r}; rename them first")
