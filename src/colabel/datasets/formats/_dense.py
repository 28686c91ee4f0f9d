"""Rows with a value for every column: ARFF's dense rows and CSV.

A block of plain rows is read in three steps, the cheapest that fits: one character per value (a
table look-up), numbers (`_numbers`), numbers with some columns of words. A block that is not plain
goes line by line through the tokenizer, which also says what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from colabel.datasets.formats._columns import Coding, Columns, by_group, short
from colabel.datasets.formats._numbers import MISSING, Tokens, numbers, scan
from colabel.datasets.formats._stream import Block, decode
from colabel.datasets.formats._tokens import LineError, Token, each_line

__all__ = ["DenseRows", "as_slice", "encode_token", "wrong_width"]

_NEWLINE = 10
_MAX_GROUPS = 64
_BLANK_LINES = re.compile(rb"\n\n++")


class DenseRows:
    """Parser of rows of a known set of columns.

    Parameters
    ----------
    path : Path
        Named in errors.
    columns : Columns
        What the columns mean.
    delimiter : str
        One character.
    tokenize : callable
        Gives the tokens of a line, or raises `LineError`.
    blanks_separate : bool
        Whether a blank inside a value ends it (ARFF) or belongs to it (CSV).
    missing : frozenset of bytes
        Texts that stand for an unknown number.
    """

    def __init__(
        self,
        path: Path,
        columns: Columns,
        delimiter: str,
        tokenize: Callable[[str], list[Token]],
        blanks_separate: bool = True,
        missing: frozenset[bytes] = MISSING,
    ) -> None:
        self.path, self.columns, self.tokenize, self.missing = path, columns, tokenize, missing
        self.blanks_separate = blanks_separate
        self._delimiter = ord(delimiter)
        self._stops = delimiter.encode() + b"\n"
        mark = re.escape(delimiter.encode())
        self._inner_blank = re.compile(rb"[^\n \t%s][ \t]++[^\n \t%s]" % (mark, mark))
        self._outer_blank = re.compile(rb"(?<! ) ++(?=[\n%s])|(?<=[\n%s]) ++" % (mark, mark))
        used = by_group(columns.group)
        self._parts = [
            (coding, as_slice(cols)) for coding, cols in zip(columns.codings, used, strict=True)
        ]
        textual = np.array([coding.textual for coding in columns.codings], bool)
        self._is_text = textual[columns.group]
        self._codings = [columns.codings[g] for g in columns.group]
        self._raw: list[dict[bytes, float]] = [{} for _ in columns.codings]

    def cells(self, block: Block) -> np.ndarray:
        """Return the cells of a block's rows.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), int8 or float64
        """
        found = self._plain(block.text) if len(self._parts) <= _MAX_GROUPS else None
        return self._careful(block) if found is None else found

    def _plain(self, text: bytes) -> np.ndarray | None:
        tidy = self._tidy(text)
        if tidy is None:
            return None
        if tidy in (b"", b"\n"):
            return np.empty((0, self.columns.width))
        found = self._single_bytes(tidy)
        return self._numbers_and_words(tidy) if found is None else found

    def _tidy(self, text: bytes) -> bytes | None:
        """Remove blank lines and the blanks around values; None if a blank stands elsewhere."""
        if b"\n\n" in text or text.startswith(b"\n"):
            text = _BLANK_LINES.sub(b"\n", text).lstrip(b"\n")
        if not self.blanks_separate:
            return self._outer_blank.sub(b"", b"\n" + text)[1:] if b" " in text else text
        if b" " not in text and b"\t" not in text:
            return text
        return None if self._inner_blank.search(text) else text.translate(None, b" \t")

    def _single_bytes(self, text: bytes) -> np.ndarray | None:
        """Read rows in which each value is one character."""
        width, n_rows = self.columns.width, text.count(b"\n")
        if len(text) != n_rows * 2 * width:
            return None
        grid = np.frombuffer(text, np.uint8).reshape(n_rows, width, 2)
        stops = grid[:, :, 1]
        if (stops[:, :-1] != self._delimiter).any() or (stops[:, -1] != _NEWLINE).any():
            return None
        cells = np.empty((n_rows, width), np.int8)
        for coding, cols in self._parts:
            cells[:, cols] = coding.byte_table()[grid[:, cols, 0]]
        return None if (cells < 0).any() else cells

    def _numbers_and_words(self, text: bytes) -> np.ndarray | None:
        width, tokens = self.columns.width, scan(text, self._stops)
        if len(tokens.end) % width:
            return None
        stops = tokens.stops.reshape(-1, width)
        if (stops[:, :-1] != self._delimiter).any() or (stops[:, -1] != _NEWLINE).any():
            return None
        has_text = self._is_text.any()
        plain = np.flatnonzero(np.tile(~self._is_text, len(stops))) if has_text else slice(None)
        values = numbers(tokens.take(plain), self.missing)
        if values is None:
            return None
        cells = values.reshape(len(stops), -1).astype(np.float64, copy=False)
        if has_text:
            cells = np.empty(stops.shape)
            cells[:, ~self._is_text] = values.reshape(len(stops), -1)
        return cells if self._encode(cells, tokens) else None

    def _encode(self, cells: np.ndarray, tokens: Tokens) -> bool:
        """Turn the numbers and words of nominal columns into cells, in place; False on a stray."""
        for g, (coding, cols) in enumerate(self._parts):
            if coding.textual:
                for j in np.flatnonzero(self.columns.group == g).tolist():
                    if not self._words(cells, tokens, j, coding):
                        return False
            elif coding.keys is not None:
                coded = coding.encode_numbers(cells[:, cols])
                if coded is None:
                    return False
                cells[:, cols] = coded
        return True

    def _words(self, cells: np.ndarray, tokens: Tokens, j: int, coding: Coding) -> bool:
        known, width = self._raw[self.columns.group[j]], self.columns.width
        for i in range(len(cells)):
            raw = tokens.raw(i * width + j)
            cell = known.get(raw)
            if cell is None:
                try:
                    (token,) = self.tokenize(decode(raw))
                    cell = known[raw] = coding.encode(token.text, token.quoted)
                except ValueError:  # the careful reader will say what is wrong
                    return False
            cells[i, j] = cell
        return True

    def _careful(self, block: Block) -> np.ndarray:
        rows = [row for row in each_line(self.path, block, self._row) if row]
        return np.array(rows, np.float64).reshape(len(rows), self.columns.width)

    def _row(self, line: str) -> list[float]:
        tokens, width = self.tokenize(line), self.columns.width
        if not tokens:
            return []
        if len(tokens) != width:
            raise wrong_width(line, tokens, width)
        return [
            encode_token(self.columns, j, coding, token)
            for j, (coding, token) in enumerate(zip(self._codings, tokens, strict=True))
        ]


def wrong_width(line: str, tokens: list[Token], width: int) -> LineError:
    """Return the error of a row that has more or fewer values than there are columns."""
    column = tokens[width].column if len(tokens) > width else len(line.rstrip()) + 1
    return LineError(f"the row has {len(tokens)} values for {width} columns", column)


def encode_token(columns: Columns, j: int, coding: Coding, token: Token) -> float:
    """Return the cell of a token of column ``j``; the error names column and position."""
    try:
        return coding.encode(token.text, token.quoted)
    except ValueError as error:
        name = columns.attributes[j].name
        raise LineError(f"column {short(name)}: {error}", token.column) from None


def as_slice(cols: np.ndarray) -> np.ndarray | slice:
    """Return a slice where the columns are neighbours: NumPy then copies nothing."""
    if len(cols) and cols[-1] - cols[0] + 1 == len(cols):
        return slice(int(cols[0]), int(cols[-1]) + 1)
    return cols
