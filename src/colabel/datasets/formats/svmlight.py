"""LIBSVM/svmlight multi-label text: ``3,17 5:0.25 12:1``, and its extreme-classification variant.

Label ids stand before the features, separated by commas, counted from 0. Features are counted from
1, unless a 0 occurs. A first line of three numbers, rows, features and labels, marks a file of the
extreme classification repository, whose features are counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from colabel.dataset import Dataset
from colabel.datasets.formats._assemble import (
    WIDTHS,
    label_matrix,
    numbered,
    refuse_width,
    stack_entries,
    stored_row,
    tidy_csr,
)
from colabel.datasets.formats._format import Arrays, Format, ReadOptions
from colabel.datasets.formats._numbers import integers, number, numbers, scan, spell
from colabel.datasets.formats._sparse import Entries
from colabel.datasets.formats._stream import Block, blocks
from colabel.datasets.formats._tokens import LineError, each_line
from colabel.exceptions import DataFault, DataFormatError
from colabel.files import atomic

__all__ = ["SVMLIGHT", "read_svmlight", "write_svmlight"]

MAX_INDEX = 2**31 - 2
_HEADER = re.compile(rb"[ \t]*+(\d{1,18})[ \t]++(\d{1,18})[ \t]++(\d{1,18})[ \t]*+")
_WORD = re.compile(r"\S++")
_INTEGER = re.compile(r"\+?([0-9]{1,18})(?:\.0*)?")
_NEWLINE, _BLANK, _COMMA, _COLON = b"\n ,:"


class Sizes(NamedTuple):
    """Rows, features and labels that a header states."""

    n_samples: int
    n_features: int
    n_labels: int


def read_svmlight(path: Path, options: ReadOptions) -> Arrays:
    """Read a multi-label svmlight file.

    Parameters
    ----------
    path : Path
        Plain or gzip.
    options : ReadOptions
        ``n_features`` and ``n_labels`` (None: the largest found) and ``zero_based`` of it.

    Returns
    -------
    X, Y, feature_names, label_names
        The names are ``feature_0`` and ``label_0`` onwards: the format has none.
    """
    stream = blocks(path)
    stated, rest = _read_sizes(path, stream)
    x, y = [], []
    for block in chain(rest, stream):
        features, labels = _plain(block.text) or _careful(path, block)
        x.append(features)
        y.append(labels)
    keep = _kept_rows(path, x, y, stated)
    first = _first_index(path, x, options.zero_based, stated is not None)
    width = _width(path, "feature", x, first, options.n_features, stated and stated.n_features)
    n_ids = _width(path, "label", y, 0, options.n_labels, stated and stated.n_labels)
    X = stack_entries(x, width, np.float64, first)[keep]
    Y = stack_entries(y, n_ids, np.int8)[keep]
    Y.sum_duplicates()
    Y.data[:] = 1
    return tidy_csr(X), label_matrix(Y), numbered("feature", width), numbered("label", n_ids)


def write_svmlight(dataset: Dataset, path: Path) -> None:
    """Write label ids from 0 and features from 1; names are not kept.

    A last column without entries is written as one explicit 0, so that the width survives.
    """
    if not dataset.n_features:
        raise ValueError("an svmlight file needs at least one feature")
    X, Y = sparse.csr_array(dataset.X, copy=True), sparse.csr_array(dataset.Y, copy=True)
    X.sum_duplicates()
    Y.sum_duplicates()
    Y.eliminate_zeros()
    width = dataset.n_features
    narrow = not len(X.indices) or X.indices.max() < width - 1
    with atomic(path) as file:
        for i in range(dataset.n_samples):
            cols, values = stored_row(X, i)
            if i == 0 and narrow:
                cols, values = [*cols, width - 1], [*values, 0.0]
            ids = ",".join(map(str, stored_row(Y, i)[0]))
            if not ids and not cols:
                cols, values = [0], [0.0]  # a blank line would be skipped
            texts = [text.replace("?", "nan") for text in spell(values)]
            entries = [f"{j + 1}:{text}" for j, text in zip(cols, texts, strict=True)]
            file.write(f"{ids} {' '.join(entries)}\n".encode())


def _read_sizes(path: Path, stream: Iterator[Block]) -> tuple[Sizes | None, list[Block]]:
    block = next(stream, None)
    if block is None:
        raise DataFormatError(path, "the file is empty", 1, 1)
    line, _, rest = block.text.partition(b"\n")
    header = _HEADER.fullmatch(line)
    if header is None:
        return None, [block]
    return Sizes(*map(int, header.groups())), [Block(rest, block.line + 1)] if rest else []


def _plain(text: bytes) -> tuple[Entries, Entries] | None:
    """Read rows of labels, indices and values that have no comments or other extras."""
    tokens = scan(text, b" ,:\n")
    stop, before = tokens.stops, np.concatenate(([_NEWLINE], tokens.stops[:-1]))
    is_empty = tokens.end == tokens.start
    is_index, is_value = stop == _COLON, before == _COLON
    is_label = ((before == _NEWLINE) | (before == _COMMA)) & ~is_index & ~is_empty
    # A blank may stand before or after the entries of a row, and nothing else may be empty.
    loose = is_empty & ((before == _BLANK) | (before == _NEWLINE)) & (stop != _COMMA) & ~is_index
    kinds = is_index.astype(np.int8) + is_value + is_label + loose
    stray_comma = (is_index & (before == _COMMA)) | (is_value & (stop == _COMMA))
    if (kinds != 1).any() or stray_comma.any():
        return None
    ids = tokens.take(np.flatnonzero(is_label))
    places = tokens.take(np.flatnonzero(is_index))
    label = integers(ids.padded, ids.end, ids.end - ids.start)
    index = integers(places.padded, places.end, places.end - places.start)
    value = numbers(tokens.take(np.flatnonzero(is_value)), frozenset())
    if label is None or index is None or value is None:
        return None
    row = np.cumsum(before == _NEWLINE) - 1
    n_rows = int(row[-1]) + 1
    row_of = row[is_index]
    if ((index[1:] <= index[:-1]) & (row_of[1:] == row_of[:-1])).any():
        return None
    n_entries, n_ids = (np.bincount(row[which], minlength=n_rows) for which in (is_index, is_label))
    return Entries(index, value, n_entries), Entries(label, np.ones_like(label, np.int8), n_ids)


def _careful(path: Path, block: Block) -> tuple[Entries, Entries]:
    rows = each_line(path, block, _row)
    index = np.array([i for _, pairs in rows for i, _ in pairs], np.int64)
    value = np.array([v for _, pairs in rows for _, v in pairs], np.float64)
    label = np.array([i for ids, _ in rows for i in ids], np.int64)
    return (
        Entries(index, value, np.array([len(pairs) for _, pairs in rows], np.int64)),
        Entries(label, np.ones(len(label), np.int8), np.array([len(r[0]) for r in rows], np.int64)),
    )


def _row(line: str) -> tuple[list[int], list[tuple[int, float]]]:
    """Return the label ids and the sorted entries of a line."""
    ids: list[int] = []
    pairs: list[tuple[int, float]] = []
    seen: set[int] = set()
    for match in _WORD.finditer(line.partition("#")[0]):
        word, column = match[0], match.start() + 1
        name, colon, text = word.partition(":")
        if not colon:
            if ids or pairs:
                raise LineError(f"{word[:40]!r}: index:value is expected here", column)
            ids = _label_ids(word, column)
        elif name != "qid":
            pair = _entry(name, text, column)
            if pair[0] in seen:
                raise LineError(f"feature {pair[0]} occurs twice in the row", column)
            seen.add(pair[0])
            pairs.append(pair)
    return ids, sorted(pairs, key=lambda pair: pair[0])


def _label_ids(word: str, column: int) -> list[int]:
    ids = []
    for text in word.split(","):
        match = _INTEGER.fullmatch(text)
        if match is None or int(match[1]) > MAX_INDEX:
            raise LineError(f"{text[:40]!r} is no label id (a whole number from 0)", column)
        ids.append(int(match[1]))
        column += len(text) + 1
    return ids


def _entry(name: str, text: str, column: int) -> tuple[int, float]:
    match = _INTEGER.fullmatch(name)
    if match is None or "." in name or int(match[1]) > MAX_INDEX:
        raise LineError(f"{name[:40]!r} is no feature number", column)
    value = number(text.encode())
    if value is None:
        raise LineError(f"{text[:40]!r} is not a number", column + len(name) + 1)
    return int(match[1]), value


def _kept_rows(path: Path, x: list[Entries], y: list[Entries], stated: Sizes | None) -> Any:
    """Return the rows to keep: all that are not blank, or as many as the header says."""
    pairs = zip(x, y, strict=True)
    is_full = np.concatenate([np.empty(0, bool), *(a.counts + b.counts > 0 for a, b in pairs)])
    full = np.flatnonzero(is_full)
    if stated is None:
        if not len(full):
            raise DataFormatError(path, "there are no rows")
        return slice(None) if len(full) == len(is_full) else full
    n_rows = stated.n_samples
    if len(full) == n_rows and n_rows:
        return full
    # Under a header a blank line is a row with neither labels nor features.
    if 0 < n_rows <= len(is_full) and (not len(full) or full[-1] < n_rows):
        return slice(0, n_rows)
    reason = f"the header says {n_rows} rows, but there are {len(full)}"
    raise DataFormatError(path, reason, 1, 1)


def _first_index(path: Path, x: list[Entries], zero_based: bool | str, stated: bool) -> int:
    has_zero = any((part.cols == 0).any() for part in x)
    if zero_based == "auto":
        return 0 if stated or has_zero else 1
    if has_zero and not zero_based:
        reason = "feature number 0 occurs, against zero_based=False"
        raise DataFormatError(path, reason, kind="zero based")
    return 0 if zero_based else 1


def _width(
    path: Path,
    what: str,
    parts: list[Entries],
    first: int,
    wanted: int | None,
    stated: int | None,
) -> int:
    """Return the width asked for, stated by the header, or found, in this order."""
    largest = max((int(part.cols.max()) for part in parts if len(part.cols)), default=first)
    found, limit = largest - first + 1, wanted or stated
    if limit is not None and found > limit:
        fault: DataFault = "malformed" if wanted is None else WIDTHS[what]
        reason = f"{what} number {largest} does not fit into {limit} {what}s"
        raise DataFormatError(path, reason, kind=fault)
    width = limit or found
    if wanted is None:
        refuse_width(path, what, width, sum(len(part.cols) for part in parts))
    return width


SVMLIGHT = Format(
    ("svmlight", "svm", "libsvm"),
    read_svmlight,
    write_svmlight,
    ("n_features", "n_labels", "zero_based"),
    (".svm", ".libsvm", ".svmlight", ".txt"),
)
