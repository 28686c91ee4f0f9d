"""Numbers out of text, a whole block at a time.

A token of at most eight digits is one unaligned 64-bit load and a dozen integer operations for all
tokens at once ("SIMD within a register"). A decimal number is its digits as one integer divided by
a power of ten; where the integer is below 2**53 and the power at most 10**22 both are exact, so the
one division gives the same double as ``float(text)`` (Clinger 1990). What does not fit (exponents,
very long numbers) goes through ``float`` itself, one token at a time.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

__all__ = ["MISSING", "Tokens", "integers", "number", "numbers", "scan", "spell"]

MISSING = frozenset({b"?"})
_NUMBER = re.compile(rb"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan)", re.IGNORECASE)
_POWERS = 10.0 ** np.arange(23)
_INTEGER_POWERS = 10 ** np.arange(20, dtype=np.uint64)
_EXACT = np.uint64(2**53)
_DOT, _MINUS = 46, 45
_MAX_FRACTION, _MAX_DIGITS = 16, 19


class Tokens(NamedTuple):
    """The tokens of a text: where each starts, where its point is (or its end), where it ends.

    ``stops`` is the byte that ended the token. ``padded`` is the text after eight newlines.
    """

    text: np.ndarray
    padded: bytes
    start: np.ndarray
    dot: np.ndarray
    end: np.ndarray
    stops: np.ndarray

    def take(self, rows: np.ndarray | slice) -> Tokens:
        """Return the chosen tokens of the same text."""
        return Tokens(
            self.text,
            self.padded,
            self.start[rows],
            self.dot[rows],
            self.end[rows],
            self.stops[rows],
        )

    def raw(self, i: int) -> bytes:
        """Return the bytes of token ``i``."""
        return self.text[self.start[i] : self.end[i]].tobytes()


def scan(text: bytes, stops: bytes) -> Tokens:
    """Cut a text at its stop bytes, and note each token's point.

    Parameters
    ----------
    text : bytes
        Ends with a stop byte.
    stops : bytes
        The bytes that end a token.
    """
    padded, array = b"\n" * 8 + text, np.frombuffer(text, np.uint8)
    is_cut = array == stops[0]
    for stop in stops[1:]:
        is_cut |= array == stop
    if b"." not in text:
        cuts = np.flatnonzero(is_cut).astype(np.int32)
        return Tokens(array, padded, _starts(cuts), cuts, cuts, array[cuts])
    # A block is far below 2**31 bytes, and half the width is half the memory.
    cuts = np.flatnonzero(is_cut | (array == _DOT)).astype(np.int32)
    found = array[cuts]
    last = np.flatnonzero(found != _DOT).astype(np.int32)
    dots = np.diff(last, prepend=-1) - 1
    end = cuts[last]
    start = _starts(end)
    # With two points it is no number: a point before the start makes `numbers` look closer.
    dot = np.where(dots > 1, start - 1, cuts[last - np.minimum(dots, 1)])
    return Tokens(array, padded, start, dot, end, found[last])


def _starts(end: np.ndarray) -> np.ndarray:
    start = np.empty_like(end)
    start[:1] = 0
    np.add(end[:-1], 1, out=start[1:])
    return start


def integers(padded: bytes, end: np.ndarray, length: np.ndarray) -> np.ndarray | None:
    """Return the integers that end where they are said to; None unless each is 1 to 8 digits.

    Parameters
    ----------
    padded : bytes
        The text, after eight bytes of padding.
    end, length : ndarray of int
        Position in the text after each token, and its length.
    """
    if not length.size:
        return np.empty(0, np.int32)
    longest = length.max()
    if length.min() < 1 or longest > 8:
        return None
    value, good = _digits(padded, end, length, 4 if longest <= 4 else 8)
    return value.view(np.int32 if longest <= 4 else np.int64) if good.all() else None


def numbers(tokens: Tokens, missing: frozenset[bytes] = MISSING) -> np.ndarray | None:
    """Return the tokens as numbers, missing ones as NaN; None if one of them is no number.

    Returns
    -------
    ndarray of float64, or of int8 where each token is one digit
    """
    text, padded, start, dot, end, _ = tokens
    length = end - start
    if not length.size:
        return np.empty(0)
    if length.max() == 1 and length.min() == 1:
        digit = text[start] - np.uint8(48)
        if digit.max() <= 9:
            return digit.view(np.int8)
    # An empty last token starts at the text's end; the byte looked at there does not matter.
    negative = (text[np.minimum(start, len(text) - 1)] == _MINUS) & (length > 0)
    first = start + negative
    n_whole, n_fraction = dot - first, np.maximum(end - dot - 1, 0)
    value, good = _exact_decimals(padded, dot, end, n_whole, n_fraction)
    np.negative(value, where=negative, out=value)
    for i in np.flatnonzero(~good).tolist():
        one = number(tokens.raw(i), missing)
        if one is None:
            return None
        value[i] = one
    return value


def number(raw: bytes, missing: frozenset[bytes] = frozenset()) -> float | None:
    """Return the number a token spells, or None; an infinite or too large one is none.

    Examples
    --------
    >>> number(b"-1.5e3"), number(b"1e999"), number(b"0x10")
    (-1500.0, None, None)
    """
    if raw in missing:
        return np.nan
    if _NUMBER.fullmatch(raw) is None:
        return None
    value = float(raw)
    return None if np.isinf(value) else value


def spell(values: list[float]) -> list[str]:
    """Return the shortest texts that read back as the same numbers; NaN is ``?``.

    Examples
    --------
    >>> spell([1.0, 0.1, float("nan")])
    ['1', '0.1', '?']
    """
    texts = [repr(value).removesuffix(".0") for value in values]
    return ["?" if text == "nan" else text for text in texts]


def _exact_decimals(
    padded: bytes, dot: np.ndarray, end: np.ndarray, n_whole: np.ndarray, n_fraction: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the values, and which of them are certain to be right."""
    n_digits = n_whole + n_fraction
    good = (n_whole <= 8) & (n_whole >= 0) & (n_fraction <= _MAX_FRACTION)
    good &= (n_digits > 0) & (n_digits <= _MAX_DIGITS)
    whole, fine = _digits(padded, dot, np.clip(n_whole, 0, 8))
    good &= fine
    if not n_fraction.any():
        return whole.astype(np.float64), good
    low, fine = _digits(padded, end, np.minimum(n_fraction, 8))
    good &= fine
    n_fraction = np.minimum(n_fraction, _MAX_FRACTION)
    if n_fraction.max() > 8:
        high, fine = _digits(padded, np.maximum(end - 8, 0), np.maximum(n_fraction - 8, 0))
        good &= fine
        low += high * np.uint64(10**8)
    mantissa = whole * _INTEGER_POWERS[n_fraction] + low
    good &= mantissa <= _EXACT
    return mantissa.astype(np.float64) / _POWERS[n_fraction], good


def _digits(
    padded: bytes, end: np.ndarray, length: np.ndarray, size: int = 8
) -> tuple[np.ndarray, np.ndarray]:
    """Return the value of the ``length`` (0 to ``size``) bytes before ``end``; if all are digits.

    ``size`` is 4 or 8, the bytes of the word that does the work.
    """
    kind: Any = np.uint32 if size == 4 else np.uint64
    every = [kind(int.from_bytes(bytes([byte]) * size, "little")) for byte in (0x30, 0xF0, 0x06)]
    zeros, high, six = every
    word = np.ndarray((len(padded) - 7,), f"<u{size}", padded, 8 - size, (1,)).take(end)
    keep = (length << 3).astype(kind)
    drop = kind(8 * size) - keep
    word >>= drop  # a shift by the whole width gives 0 in NumPy
    word <<= drop
    word |= zeros >> keep
    good = ((word & high) | (((word + six) & high) >> kind(4))) == (zeros | zeros >> kind(4))
    # Neighbouring digits join to pairs, pairs to fours, fours to eight.
    word &= kind(0x0F0F0F0F0F0F0F0F & (1 << 8 * size) - 1)
    word *= kind(2561)
    word >>= kind(8)
    word &= kind(0x00FF00FF00FF00FF & (1 << 8 * size) - 1)
    word *= kind(6553601)
    word >>= kind(16)
    if size == 8:
        word &= kind(0x0000FFFF0000FFFF)
        word *= kind(42949672960001)
        word >>= kind(32)
    return word, good
