"""CSV with a header line: numbers as they are, words one-hot, labels chosen by the caller.

Most files hold only numbers, so they are read as numbers first. Where that fails, the values of
each column are collected, and the file is read again as if they had been declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from colabel.datasets._dataset import Dataset
from colabel.datasets.formats._assemble import DenseTable, dense_row
from colabel.datasets.formats._columns import Attribute, Columns
from colabel.datasets.formats._dense import DenseRows
from colabel.datasets.formats._numbers import number, spell
from colabel.datasets.formats._stream import Block, atomic, blocks, decode
from colabel.datasets.formats._tokens import LineError, Token, csv_line
from colabel.datasets.formats.mulan import label_columns
from colabel.exceptions import DataFormatError

__all__ = ["read_csv", "write_csv"]

MAX_WORDS = 1000
_MISSING = ("", "?", "NA", "N/A", "nan", "NaN", "NAN", "null", "NULL")
_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_NEEDS_QUOTES = re.compile(r'[,;\t"]|^\s|\s$|^$')
_LINE_BREAK = re.compile(r"[\r\n]")


def read_csv(
    path: Path, labels: Sequence[str] | int | None, one_hot: bool = True
) -> tuple[Any, Any, tuple[str, ...], tuple[str, ...]]:
    """Read a CSV file.

    Parameters
    ----------
    path : Path
        Plain or gzip; separated by commas, semicolons or tabs, whichever the header has most.
    labels : sequence of str or int
        Label columns by name, or how many of the first (negative: last) columns.
    one_hot : bool
        Whether a column of words becomes one column per word, or the word's place in sorted order.

    Returns
    -------
    X, Y, feature_names, label_names
    """
    names, delimiter = _read_header(path)[:2]
    if labels is None:
        raise DataFormatError(
            str(path), "a CSV file does not say which columns are labels: give labels="
        )
    places = label_columns(path, labels, names)
    try:
        columns = Columns([Attribute(name) for name in names], places, one_hot)
        X, Y = _read_rows(path, columns)
    except DataFormatError:
        columns = Columns(_survey(path, names, delimiter, places), places, one_hot)
        X, Y = _read_rows(path, columns)
    return X, Y, columns.feature_names(), columns.label_names()


def write_csv(dataset: Dataset, path: Path) -> None:
    """Write a header, then the features and the labels of each row; unknown values are empty."""
    names = [*dataset.feature_names, *dataset.label_names]
    with atomic(path) as file:
        file.write((",".join(_spell_name(name) for name in names) + "\n").encode())
        for i in range(dataset.n_samples):
            x = spell(dense_row(dataset.X, i).tolist())
            y = [str(int(on)) for on in dense_row(dataset.Y, i)]
            file.write((",".join([*x, *y]) + "\n").encode())


def _read_header(path: Path) -> tuple[list[str], str, Iterator[Block]]:
    """Return the names, the delimiter, and the blocks of the rows."""
    stream = blocks(path)
    for block in stream:
        lines = block.text.split(b"\n")
        for i, raw in enumerate(lines[:-1]):
            line = decode(raw)
            if not line.strip():
                continue
            delimiter = _delimiter(line)
            try:
                names = [token.text for token in csv_line(line, delimiter)]
            except LineError as error:
                raise DataFormatError(
                    str(path), error.reason, block.line + i, error.column
                ) from error
            rest = Block(b"\n".join(lines[i + 1 :]), block.line + i + 1)
            return names, delimiter, chain([rest] if rest.text else [], stream)
    raise DataFormatError(str(path), "the file is empty", 1, 1)


def _delimiter(line: str) -> str:
    bare = _QUOTED.sub("", line)
    return max(",;\t", key=bare.count)


def _read_rows(path: Path, columns: Columns) -> tuple[Any, Any]:
    _, delimiter, stream = _read_header(path)
    missing = frozenset(text.encode() for text in _MISSING)
    rows = DenseRows(
        path, columns, delimiter, lambda line: _fields(line, delimiter), False, missing
    )
    table, n_rows = DenseTable(path, columns), 0
    for block in stream:
        cells = rows.cells(block)
        n_rows += len(cells)
        table.add(cells)
    if not n_rows:
        raise DataFormatError(str(path), "there are no rows after the header")
    return table.arrays()


def _fields(line: str, delimiter: str) -> list[Token]:
    return [
        Token("?", False, token.column) if token.text in _MISSING else token
        for token in csv_line(line, delimiter)
    ]


def _survey(path: Path, names: list[str], delimiter: str, places: list[int]) -> list[Attribute]:
    """Find which columns hold words, and the values of those and of the labels."""
    seen: list[set[str]] = [set() for _ in names]
    first_word: list[tuple[int, int] | None] = [None] * len(names)
    for block in _read_header(path)[2]:
        for at, raw in enumerate(block.text.split(b"\n")[:-1], block.line):
            try:
                tokens = _fields(decode(raw), delimiter)
            except LineError as error:
                raise DataFormatError(str(path), error.reason, at, error.column) from error
            for j, token in enumerate(tokens[: len(names)]):
                if token.text == "?" or token.text in seen[j]:
                    continue
                if first_word[j] is None and number(token.text.encode()) is None:
                    first_word[j] = at, token.column
                if len(seen[j]) <= MAX_WORDS:
                    seen[j].add(token.text)
    is_label = set(places)
    return [
        _attribute(path, name, seen[j], first_word[j], j in is_label)
        for j, name in enumerate(names)
    ]


def _attribute(
    path: Path, name: str, seen: set[str], word: tuple[int, int] | None, label: bool
) -> Attribute:
    if label and {number(text.encode()) for text in seen} <= {0.0, 1.0}:
        return Attribute(name)
    if label and len(seen) > 2:
        raise DataFormatError(
            str(path),
            f"label column {name!r} has more than two values; give it one 0/1 column per value",
            *(word or (None, None)),
        )
    if word is None and not label:
        return Attribute(name)
    if len(seen) > MAX_WORDS:
        raise DataFormatError(
            str(path),
            f"column {name!r} holds words, more than {MAX_WORDS} different ones; remove it or turn "
            "it into numbers",
            *(word or (None, None)),
        )
    return Attribute(name, tuple(sorted(seen)))


def _spell_name(name: str) -> str:
    if _LINE_BREAK.search(name):
        raise ValueError(f"the name {name!r} has a line break, which a CSV header cannot hold")
    return '"' + name.replace('"', '""') + '"' if _NEEDS_QUOTES.search(name) else name
