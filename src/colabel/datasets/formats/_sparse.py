"""Rows that name only what differs from the default: ARFF's sparse rows, ``{3 1,17 0.5}``."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from colabel.datasets.formats._columns import Columns, by_group
from colabel.datasets.formats._dense import encode_token
from colabel.datasets.formats._numbers import Tokens, integers, numbers, scan
from colabel.datasets.formats._stream import Block
from colabel.datasets.formats._tokens import LineError, Token, arff_sparse, each_line

__all__ = ["Entries", "SparseRows"]

_NEWLINE, _BLANK, _COMMA, _OPEN, _CLOSE = b"\n ,{}"
_BLANK_LINES = re.compile(rb"\n\n++")
_SLACK = re.compile(rb"(?<! ) ++(?=[,}\n])|(?<=[,{\n]) ++")


class Entries(NamedTuple):
    """Stored cells of some rows: attribute numbers, cells, and how many each row has."""

    cols: np.ndarray
    cells: np.ndarray
    counts: np.ndarray


class SparseRows:
    """Parser of sparse rows of a known set of columns.

    Parameters
    ----------
    path : Path
        Named in errors.
    columns : Columns
        What the columns mean.
    """

    def __init__(self, path: Path, columns: Columns) -> None:
        self.path, self.columns = path, columns
        self._is_plain = all(coding.is_plain for coding in columns.codings)
        binary = np.array([coding.keys is not None for coding in columns.codings], bool)
        self._is_binary = binary[columns.group]
        self._any_text = any(coding.textual for coding in columns.codings)

    def entries(self, block: Block) -> Entries:
        """Return the stored cells of a block's rows."""
        found = None if self._any_text else self._by_blocks(block.text)
        return self._careful(block) if found is None else found

    def _by_blocks(self, text: bytes) -> Entries | None:
        for tidy in (_as_it_is, _without_blank_lines, _without_slack):
            text = tidy(text)
            found = self._indicators(text) or self._plain(text)
            if found is not None:
                return found
        return None

    def _indicators(self, text: bytes) -> Entries | None:
        """Read rows whose values are single digits: all is known from where the blanks are."""
        array = np.frombuffer(text, np.uint8)
        blank = np.flatnonzero(array == _BLANK)
        if not len(blank) or array[0] != _OPEN or blank[-1] + 4 != len(text):
            return None
        after = array[blank + 2]
        ends = after == _CLOSE
        last = blank[ends]
        if (
            not ends[-1]
            or not (ends | (after == _COMMA)).all()
            or (array[last + 3] != _NEWLINE).any()
            or (array[last[:-1] + 4] != _OPEN).any()
        ):
            return None
        # Between blanks stand " v," and the next index, or " v}", a newline, "{" and that.
        length = np.empty_like(blank)
        length[0] = blank[0] - 1
        np.subtract(blank[1:], blank[:-1], out=length[1:])
        length[1:] -= np.array([3, 5]).take(ends[:-1])
        index = integers(b"\n" * 8 + text, blank, length)
        digit = array[blank + 1] - np.uint8(48)
        if index is None or digit.max() > 9 or not self._in_order(index, ends):
            return None
        cell = self._cells(index, digit.view(np.int8))
        count = np.diff(np.flatnonzero(ends), prepend=-1)
        return None if cell is None else Entries(index, cell, count)

    def _plain(self, text: bytes) -> Entries | None:
        is_full = _full_rows(text)
        if is_full is None:
            return None
        count = np.zeros(len(is_full), np.int64)
        if not is_full.all():
            text = text.replace(b"{}\n", b"")
        if not text:
            return Entries(np.empty(0, np.int64), np.empty(0), count)
        tokens = scan(text.translate(None, b"{}"), b" ,\n")
        ends = _row_ends(tokens)
        if ends is None:
            return None
        start, end = tokens.start[0::2], tokens.end[0::2]
        index, cell = integers(tokens.padded, end, end - start), None
        if index is not None and self._in_order(index, ends):
            cell = self._cells(index, numbers(tokens.take(slice(1, None, 2))))
        if index is None or cell is None:
            return None
        count[is_full] = np.diff(np.flatnonzero(ends), prepend=-1)
        return Entries(index, cell, count)

    def _in_order(self, index: np.ndarray, ends: np.ndarray) -> bool:
        ascending = index[1:] > index[:-1]
        ascending |= ends[:-1]
        return bool(ascending.all()) and index.max() < self.columns.width

    def _cells(self, index: np.ndarray, value: np.ndarray | None) -> np.ndarray | None:
        if value is None:
            return None
        is_one = value == 1
        if self._is_plain:
            if is_one.all():
                return value
            good = is_one | (value == 0) | ~self._is_binary[index]
            if good.all():
                return value
        value, group = value.astype(np.float64), self.columns.group[index]
        for rows in by_group(group):
            coded = self.columns.codings[group[rows[0]]].encode_numbers(value[rows])
            if coded is None:
                return None
            value[rows] = coded
        return value

    def _careful(self, block: Block) -> Entries:
        rows = [row for row in each_line(self.path, block, self._row) if row is not None]
        index = np.array([i for row in rows for i, _, _ in row], np.int64)
        cell = np.array([value for row in rows for _, _, value in row], np.float64)
        return Entries(index, cell, np.array([len(row) for row in rows], np.int64))

    def _row(self, line: str) -> list[tuple[int, int, float]] | None:
        """Return number, column and cell of each entry of a line; None of one without a row."""
        pairs = arff_sparse(line)
        if pairs is None:
            return None
        found = sorted(self._pair(*pair) for pair in pairs)
        _refuse_repeats(found)
        return found

    def _pair(self, i: int, token: Token) -> tuple[int, int, float]:
        width = self.columns.width
        if i >= width:
            raise LineError(
                f"attribute number {i}, but the last of {width} is {width - 1}", token.column
            )
        return i, token.column, encode_token(self.columns, i, self.columns.coding(i), token)


def _as_it_is(text: bytes) -> bytes:
    return text


def _without_blank_lines(text: bytes) -> bytes:
    return _BLANK_LINES.sub(b"\n", text).lstrip(b"\n")


def _without_slack(text: bytes) -> bytes:
    """Remove the blanks that are not between number and value."""
    return _SLACK.sub(b"", text.replace(b"\t", b" "))


def _full_rows(text: bytes) -> np.ndarray | None:
    """Return which rows are not ``{}``; None unless braces start and end each line, only there."""
    array = np.frombuffer(text, np.uint8)
    end = np.flatnonzero(array == _NEWLINE)
    if not len(end):
        return np.empty(0, bool)
    start = np.concatenate(([0], end[:-1] + 1))
    if (array[start] != _OPEN).any() or (array[end - 1] != _CLOSE).any():
        return None
    # Only DEL and non-ASCII bytes, which no plain row has, are above the braces.
    return end - start > 2 if np.count_nonzero(array >= _OPEN) == 2 * len(end) else None


def _row_ends(tokens: Tokens) -> np.ndarray | None:
    """Return, for each pair, whether it ends its row; None if the pairs are not plain."""
    stops = tokens.stops
    if len(stops) % 2 or (stops[0::2] != _BLANK).any():
        return None
    after = stops[1::2]
    ends = after == _NEWLINE
    return ends if (ends | (after == _COMMA)).all() else None


def _refuse_repeats(pairs: list[tuple[int, int, float]]) -> None:
    for (i, _, _), (j, column, _) in pairwise(pairs):
        if i == j:
            raise LineError(f"attribute number {i} occurs twice in the row", column)
