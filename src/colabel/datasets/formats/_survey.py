"""What the columns of a CSV file hold, which nothing in the file declares.

A feature column holds numbers or words, never both: a stray mark or a decimal comma among numbers
would otherwise turn the whole column into one-hot columns. A label column has two values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from colabel.datasets.formats._columns import Attribute, on_value, short
from colabel.datasets.formats._dense import wrong_width
from colabel.datasets.formats._numbers import number
from colabel.datasets.formats._stream import Block, decode
from colabel.datasets.formats._tokens import LineError, Token, csv_line
from colabel.exceptions import DataFormatError

__all__ = ["MISSING_TEXTS", "csv_fields", "looks_numeric", "survey"]

MAX_WORDS = 1000
MAX_WORD_BYTES = 256 << 20
MAX_KNOWN_NUMBERS = 1 << 16
MISSING_TEXTS = frozenset(
    ("", "?", "-", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "NAN", "null", "NULL", "None")
)
_STRING_BYTES = 64  # what Python adds to a short text in a set
_FOREIGN_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9.]*,[0-9.,]*[0-9]|inf(?:inity)?)", re.IGNORECASE)


class Seen(NamedTuple):
    """A value and where it occurs first."""

    text: str
    line: int
    column: int


def csv_fields(line: str, delimiter: str) -> list[Token]:
    """Return the fields of a CSV line, marks for unknown values as a bare ``?``."""
    return [
        Token("?", False, token.column) if token.text in MISSING_TEXTS else token
        for token in csv_line(line, delimiter)
    ]


def looks_numeric(text: str) -> bool:
    """Return whether a text is a number, if only to a reader of decimal commas or infinities.

    Examples
    --------
    >>> [looks_numeric(text) for text in ("1e3", "-1,5", "1.234,5", "inf", "a1", "1,a")]
    [True, True, True, True, False, False]
    """
    return number(text.encode()) is not None or _FOREIGN_NUMBER.fullmatch(text) is not None


def survey(
    path: Path, stream: Iterable[Block], names: Sequence[str], delimiter: str, labels: Sequence[int]
) -> list[Attribute]:
    """Return what each column holds: numbers, or which words.

    Parameters
    ----------
    path : Path
        Named in errors.
    stream : iterable of Block
        The rows.
    names : sequence of str
        Of all columns.
    delimiter : str
        One character.
    labels : sequence of int
        Which columns are labels.
    """
    found = _Survey(path, names, delimiter, labels)
    for block in stream:
        for at, raw in enumerate(block.text.split(b"\n")[:-1], block.line):
            try:
                found.add(decode(raw), at)
            except LineError as error:
                raise error.at(path, at) from error
    return [found.attribute(j) for j in range(len(names))]


class _Survey:
    def __init__(
        self, path: Path, names: Sequence[str], delimiter: str, labels: Sequence[int]
    ) -> None:
        self.path, self.names, self.delimiter = path, names, delimiter
        self.labels: dict[int, dict[float | str, Seen]] = {j: {} for j in labels}
        self.words: dict[int, set[str]] = {}
        self.first_word: dict[int, Seen] = {}
        self.is_numeric = [False] * len(names)
        # Columns of numbers are the many: a text known to be one costs a look-up, no more.
        self.known_numbers: set[str] = set()
        self.n_bytes = 0

    def add(self, line: str, at: int) -> None:
        """Take a row."""
        texts = self._texts(line)
        if texts and len(texts) != len(self.names):
            raise wrong_width(line, csv_line(line, self.delimiter), len(self.names))
        known, is_numeric = self.known_numbers, self.is_numeric
        for j, text in enumerate(texts):
            if (is_numeric[j] and text in known) or text in MISSING_TEXTS:
                continue
            if j in self.labels:
                self._add_label(j, text, line, at)
            elif number(text.encode()) is not None:
                self._add_number(j, text)
            else:
                self._add_word(j, text, line, at)

    def _texts(self, line: str) -> list[str]:
        if '"' in line or not line.strip():
            return [token.text for token in csv_line(line, self.delimiter)]
        return [text.strip() for text in line.split(self.delimiter)]

    def _seen(self, j: int, text: str, line: str, at: int) -> Seen:
        return Seen(text, at, csv_line(line, self.delimiter)[j].column)

    def _add_number(self, j: int, text: str) -> None:
        if j in self.words:
            self._refuse_mixture(j, self.first_word[j])
        self.is_numeric[j] = True
        if len(self.known_numbers) < MAX_KNOWN_NUMBERS:
            self.known_numbers.add(text)

    def _add_word(self, j: int, text: str, line: str, at: int) -> None:
        words = self.words.setdefault(j, set())
        if text in words:
            return
        if not words:
            self.first_word[j] = self._seen(j, text, line, at)
            if self.is_numeric[j]:
                self._refuse_mixture(j, self.first_word[j])
        words.add(text)
        self.n_bytes += len(text) + _STRING_BYTES
        if len(words) > MAX_WORDS or self.n_bytes > MAX_WORD_BYTES:
            self._refuse_many(j)

    def _add_label(self, j: int, text: str, line: str, at: int) -> None:
        seen, value = self.labels[j], number(text.encode())
        key = text if value is None else value
        if key in seen:
            return
        if len(seen) == 2:
            self._refuse(
                f"label column {short(self.names[j])} has more than two values; "
                "give it one 0/1 column per value",
                self._seen(j, text, line, at),
            )
        seen[key] = self._seen(j, text, line, at)

    def attribute(self, j: int) -> Attribute:
        """Return what column ``j`` holds, now that all rows are known."""
        if j in self.labels:
            return Attribute(self.names[j], self._label_values(j))
        words = self.words.get(j)
        if words is None:
            return Attribute(self.names[j])
        if all(map(looks_numeric, words)):
            self._refuse_mixture(j, self.first_word[j])
        return Attribute(self.names[j], tuple(sorted(words)))

    def _label_values(self, j: int) -> tuple[str, ...] | None:
        seen = self.labels[j]
        if seen.keys() <= {0.0, 1.0}:
            return None
        if seen.keys() <= {-1.0, 1.0}:
            return ("-1", "1")
        last, name = list(seen.values())[-1], self.names[j]
        if all(isinstance(key, float) for key in seen):
            shown = " and ".join(one.text[:40] for one in seen.values())
            self._refuse(
                f"label column {short(name)} holds {shown}, but a label is 0/1 or -1/1", last
            )
        values = tuple(sorted(one.text for one in seen.values()))
        if len(values) == 1 and on_value(values)[1]:
            self._refuse(
                f"label column {short(name)} holds only {short(last.text)}, which does not say "
                "whether the label is on; write 0 and 1",
                last,
            )
        return values

    def _refuse_mixture(self, j: int, word: Seen) -> NoReturn:
        self._refuse(
            f"column {short(self.names[j])} holds numbers, and {short(word.text)} is none: write a "
            "point for decimals, no thousands marks, nothing for an unknown value; or, where "
            "the numbers are codes, put a letter before each",
            word,
        )

    def _refuse_many(self, j: int) -> NoReturn:
        if all(map(looks_numeric, self.words[j])):
            self._refuse_mixture(j, self.first_word[j])
        what = f"more than {MAX_WORDS} different ones"
        if len(self.words[j]) <= MAX_WORDS:
            what = f"which with those before it take more than {MAX_WORD_BYTES >> 20} MiB"
        reason = (
            f"column {short(self.names[j])} holds words, {what}; remove it or turn it into numbers"
        )
        self._refuse(reason, self.first_word[j])

    def _refuse(self, reason: str, at: Seen) -> NoReturn:
        raise DataFormatError(self.path, reason, at.line, at.column)
