"""One line at a time, with care: quotes, escapes, comments, and the column of every value.

The block parsers hand a line to these functions where it is not plain, and to say exactly what is
wrong with it. Every pattern here is linear in the line's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from colabel.datasets.formats._stream import Block, decode
from colabel.exceptions import DataFormatError

__all__ = [
    "LineError",
    "Token",
    "arff_dense",
    "arff_sparse",
    "csv_line",
    "each_line",
    "name_and_rest",
    "nominal_values",
    "unquote",
]

T = TypeVar("T")

MAX_FIELDS = 100_000
_BLANK = re.compile(r"[ \t]*+")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"")
_BARE = re.compile(r"[^,\s{}%'\"][^,\s}]*+")
_INDEX = re.compile(r"[0-9]{1,10}(?=[ \t])")
_WORD = re.compile(r"[^\s{%]\S*+")
_TYPE = re.compile(r"\{|numeric|real|integer|string|date|relational", re.IGNORECASE)
_CSV_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


class LineError(ValueError):
    """What is wrong with a line, and at which column (from 1)."""

    def __init__(self, reason: str, column: int) -> None:
        super().__init__(reason)
        self.reason, self.column = reason, column

    def at(self, path: Path, line: int) -> DataFormatError:
        """Return the error of the file that has the line."""
        return DataFormatError(path, self.reason, line, self.column)


class Token(NamedTuple):
    """A value, whether it was quoted, and its column (from 1)."""

    text: str
    quoted: bool
    column: int


def each_line(path: Path, block: Block, parse: Callable[[str], T]) -> list[T]:
    """Parse the lines of a block one by one; what is wrong with one is an error of the file."""
    found = []
    for number, raw in enumerate(block.text.split(b"\n")[:-1], block.line):
        try:
            found.append(parse(decode(raw)))
        except LineError as error:
            raise error.at(path, number) from error
    return found


def arff_dense(line: str) -> list[Token]:
    """Return the values of a dense ARFF row; none for a blank line or a comment.

    Values are separated by commas or, as Weka allows, by blanks.

    Examples
    --------
    >>> [token.text for token in arff_dense("1, 'a, b' ,? % remark")]
    ['1', 'a, b', '?']
    """
    tokens: list[Token] = []
    at = _skip(line, 0)
    if _ends(line, at):
        return tokens
    while True:
        token, at = _value(line, at)
        tokens.append(token)
        after = _skip(line, at)
        if _ends(line, after):
            return tokens
        if line[after] == ",":
            at = _skip(line, after + 1)
            if _ends(line, at):
                raise LineError("a value is missing after the comma (write ? for unknown)", at + 1)
        elif after > at:
            at = after
        else:
            raise LineError("a comma is expected here", at + 1)


def arff_sparse(line: str) -> list[tuple[int, Token]] | None:
    """Return the (index, value) pairs of a sparse ARFF row; None for a blank line or a comment.

    Examples
    --------
    >>> [(i, token.text) for i, token in arff_sparse("{0 1, 12 'b'}")]
    [(0, '1'), (12, 'b')]
    """
    at = _skip(line, 0)
    if _ends(line, at):
        return None
    if line[at] != "{":
        raise LineError("a sparse row starts with {", at + 1)
    pairs: list[tuple[int, Token]] = []
    at = _skip(line, at + 1)
    if line[at : at + 1] != "}":
        while True:
            pair, at = _pair(line, at)
            pairs.append(pair)
            if line[at : at + 1] != ",":
                break
            at = _skip(line, at + 1)
    if line[at : at + 1] != "}":
        reason = "the row is not closed by }" if _ends(line, at) else "a comma or } is expected"
        raise LineError(reason, at + 1)
    at = _skip(line, at + 1)
    if not _ends(line, at):
        raise LineError("nothing may follow the closing }", at + 1)
    return pairs


def name_and_rest(line: str, at: int) -> tuple[str, int]:
    """Return the name at ``at``, quoted or up to the next blank, and where the rest starts."""
    at = _skip(line, at)
    if line[at : at + 1] in ("'", '"') and at < len(line):
        token, end = _value(line, at)
        return token.text, _skip(line, end)
    match = _WORD.match(line, at)
    if match is None:
        raise LineError("a name is expected here", at + 1)
    end = _skip(line, match.end())
    if "{" in match[0] and not _TYPE.match(line, end):  # as in "@attribute name{0,1}"
        end = at + match[0].index("{")
        return line[at:end], end
    return match[0], end


def nominal_values(line: str, at: int, limit: int) -> list[str]:
    """Return the values of a nominal declaration ``{a,b,...}`` that starts at ``at``."""
    values: list[str] = []
    start, at = at, _skip(line, at + 1)
    while line[at : at + 1] != "}":
        if _ends(line, at):
            raise LineError("the list of values is not closed by }", start + 1)
        token, at = _value(line, at)
        values.append(token.text)
        if len(values) > limit:
            raise LineError(f"more than {limit} nominal values", start + 1)
        at = _skip(line, at)
        if line[at : at + 1] == ",":
            at = _skip(line, at + 1)
    if not _ends(line, _skip(line, at + 1)):
        raise LineError("nothing may follow the list of values", _skip(line, at + 1) + 1)
    if len(set(values)) < len(values):
        raise LineError("a nominal value is declared twice", start + 1)
    return values


def csv_line(line: str, delimiter: str) -> list[Token]:
    """Return the fields of a CSV line, blanks around them removed; none for a blank line.

    Examples
    --------
    >>> [token.text for token in csv_line('1,"a, b",', ",")]
    ['1', 'a, b', '']
    """
    if not line.strip():
        return []
    tokens: list[Token] = []
    at = 0
    while True:
        start = _skip_spaces(line, at)
        if line[start : start + 1] == '"':
            match = _CSV_QUOTED.match(line, start)
            if match is None:
                raise LineError("the quote is not closed on this line", start + 1)
            tokens.append(Token(match[0][1:-1].replace('""', '"'), True, start + 1))
            at = _skip_spaces(line, match.end())
            if at < len(line) and line[at] != delimiter:
                raise LineError("text after a closing quote", at + 1)
        else:
            end = line.find(delimiter, start)
            at = len(line) if end < 0 else end
            tokens.append(Token(line[start:at].strip(), False, start + 1))
        if at >= len(line):
            return tokens
        if len(tokens) == MAX_FIELDS:
            raise LineError(f"more than {MAX_FIELDS} fields; use a sparse format", at + 1)
        at += 1


def unquote(text: str) -> str:
    r"""Return a quoted name or value without its quotes, escapes undone.

    Examples
    --------
    >>> unquote(r"'it\'s'"), unquote('"a, b"')
    ("it's", 'a, b')
    """
    return _ESCAPE.sub(_undo, text[1:-1]) if "\\" in text else text[1:-1]


def _undo(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    # An escape that ARFF does not know is kept as it stands, so that no information is lost.
    known = match[2] in "\\'\"%"
    return match[2] if known else _ESCAPED.get(match[2], match[0])


def _value(line: str, at: int) -> tuple[Token, int]:
    start = line[at : at + 1]
    if start in ("'", '"') and start:
        match = _QUOTED.match(line, at)
        if match is None:
            raise LineError("the quote is not closed on this line", at + 1)
        return Token(unquote(match[0]), True, at + 1), match.end()
    match = _BARE.match(line, at)
    if match is None:
        what = {",": "an empty value (write ? for unknown)", "": "a value is missing"}
        raise LineError(what.get(start, f"{start!r} is not expected here"), at + 1)
    return Token(match[0], False, at + 1), match.end()


def _pair(line: str, at: int) -> tuple[tuple[int, Token], int]:
    match = _INDEX.match(line, at)
    if match is None:
        raise LineError("an attribute number and a value are expected", at + 1)
    token, end = _value(line, _skip(line, match.end()))
    return (int(match[0]), token), _skip(line, end)


def _skip(line: str, at: int) -> int:
    match = _BLANK.match(line, at)
    return at if match is None else match.end()


def _skip_spaces(line: str, at: int) -> int:
    while line[at : at + 1] == " ":
        at += 1
    return at


def _ends(line: str, at: int) -> bool:
    return at >= len(line) or line[at] == "%"
