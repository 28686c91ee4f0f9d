"""CSV with a header line: numbers as they are, words one-hot, labels chosen by the caller.

Most files hold only numbers, so they are read as numbers first. Where that fails, the values of
each column are collected, and the file is read again as if they had been declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from colabel.dataset import Dataset
from colabel.datasets.formats._assemble import DenseTable, dense_row
from colabel.datasets.formats._columns import Attribute, Columns
from colabel.datasets.formats._dense import DenseRows
from colabel.datasets.formats._format import Arrays, Format, ReadOptions
from colabel.datasets.formats._names import check_distinct, checked_names, refuse_twins
from colabel.datasets.formats._numbers import spell
from colabel.datasets.formats._stream import Block, blocks, decode
from colabel.datasets.formats._survey import MISSING_TEXTS, csv_fields, looks_numeric, survey
from colabel.datasets.formats._tokens import LineError, Token, csv_line
from colabel.datasets.formats.mulan import label_columns
from colabel.exceptions import DataFormatError
from colabel.files import atomic

__all__ = ["CSV", "read_csv", "write_csv"]

_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_NEEDS_QUOTES = re.compile(r'[,;\t"]|^\s|\s$|^$')
_LINE_BREAK = re.compile(r"[\r\n]")


def read_csv(path: Path, options: ReadOptions) -> Arrays:
    """Read a CSV file.

    Parameters
    ----------
    path : Path
        Plain or gzip; separated by commas, semicolons or tabs, whichever the header has most.
    options : ReadOptions
        ``labels``, which a CSV file does not name, and ``one_hot`` of it: a word's place is that
        in sorted order.

    Returns
    -------
    X, Y, feature_names, label_names
    """
    names, delimiter, _ = _read_header(path)
    if options.labels is None:
        reason = "a CSV file does not say which columns are labels"
        raise DataFormatError(path, reason, kind="no labels", advice="give labels=")
    places = label_columns(path, options.labels, names)
    try:
        columns = Columns([Attribute(name) for name in names], places, options.one_hot)
        X, Y = _read_rows(path, columns)
    except DataFormatError:
        attributes = survey(path, _read_header(path)[2], names, delimiter, places)
        columns = Columns(attributes, places, options.one_hot)
        checked_names(path, columns)
        X, Y = _read_rows(path, columns)
    return X, Y, *checked_names(path, columns)


def write_csv(dataset: Dataset, path: Path) -> None:
    """Write a header, then the features and the labels of each row; unknown values are empty."""
    names = [*dataset.feature_names, *dataset.label_names]
    check_distinct(names)
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
                tokens = csv_line(line, delimiter)
            except LineError as error:
                raise error.at(path, block.line + i) from error
            rest = Block(b"\n".join(lines[i + 1 :]), block.line + i + 1)
            stream = chain([rest] if rest.text else [], stream)
            return _names(path, tokens, block.line + i), delimiter, stream
    raise DataFormatError(path, "the file is empty", 1, 1)


def _names(path: Path, tokens: list[Token], line: int) -> list[str]:
    if all(looks_numeric(token.text) and not token.quoted for token in tokens):
        reason = "the first line holds only numbers, but it must have the names of the columns"
        raise DataFormatError(path, reason, line, tokens[0].column)
    names = [token.text for token in tokens]
    refuse_twins(path, names, lambda j: (line, tokens[j].column))
    return names


def _delimiter(line: str) -> str:
    bare = _QUOTED.sub("", line)
    return max(",;\t", key=bare.count)


def _read_rows(path: Path, columns: Columns) -> tuple[Any, Any]:
    _, delimiter, stream = _read_header(path)
    missing = frozenset(text.encode() for text in MISSING_TEXTS)
    rows = DenseRows(
        path, columns, delimiter, lambda line: csv_fields(line, delimiter), False, missing
    )
    table, n_rows = DenseTable(path, columns), 0
    for block in stream:
        cells = rows.cells(block)
        n_rows += len(cells)
        table.add(cells)
    if not n_rows:
        raise DataFormatError(path, "there are no rows after the header")
    return table.arrays()


def _spell_name(name: str) -> str:
    if _LINE_BREAK.search(name):
        raise ValueError(f"the name {name!r} has a line break, which a CSV header cannot hold")
    # Quotes tell a name that looks like a number from the numbers of a file without names.
    needs_quotes = _NEEDS_QUOTES.search(name) or looks_numeric(name)
    return '"' + name.replace('"', '""') + '"' if needs_quotes else name


CSV = Format(("csv",), read_csv, write_csv, ("labels",), (".csv", ".tsv"))
