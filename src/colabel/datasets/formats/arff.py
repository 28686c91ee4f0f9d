"""ARFF as Weka, Mulan and MEKA write it: dense or sparse, labels named by an XML or by ``-C n``.

Names in quotes have their escapes undone; names without are taken literally, backslashes and all.
``%`` starts a comment where a value or keyword could start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from colabel.dataset import Dataset
from colabel.datasets.formats._assemble import DenseTable, SparseTable, dense_row, stored_row
from colabel.datasets.formats._columns import Attribute, Columns
from colabel.datasets.formats._dense import DenseRows
from colabel.datasets.formats._format import Arrays, Format, ReadOptions
from colabel.datasets.formats._names import check_distinct, checked_names, refuse_twins
from colabel.datasets.formats._numbers import spell
from colabel.datasets.formats._sparse import SparseRows
from colabel.datasets.formats._stream import Block, blocks, decode, stem
from colabel.datasets.formats._tokens import (
    LineError,
    arff_dense,
    name_and_rest,
    nominal_values,
)
from colabel.datasets.formats.mulan import (
    find_labels,
    label_columns,
    match_names,
    read_label_names,
    spell_label_names,
)
from colabel.exceptions import DataFormatError
from colabel.files import atomic

__all__ = ["ARFF", "read_arff", "write_arff"]

MAX_ATTRIBUTES = 1_000_000
MAX_VALUES = 5_000_000
_NUMERIC = ("numeric", "real", "integer")
_WITHOUT_NUMBERS = ("string", "date", "relational")
_LABEL_COUNT = re.compile(r"(?:^|[\s:])-C\s+(-?[0-9]{1,12})(?![0-9])")
_PLAIN_ATTRIBUTE = re.compile(
    r"@(?:attribute|ATTRIBUTE)[ \t]++([^\s{%'\"][^\s{]*+)[ \t]++(\S*+)[ \t]*+$"
)
_FIRST_ROW = re.compile(rb"^[ \t]*+([^\s%])", re.MULTILINE)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\u0000"}


@dataclass
class Header:
    """What stands before ``@data``; ``lines`` has the line of each attribute."""

    relation: str = ""
    relation_line: int = 1
    attributes: list[Attribute] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    without_numbers: dict[int, str] = field(default_factory=dict)
    specs: dict[str, tuple[str, ...] | None] = field(
        default_factory=lambda: dict.fromkeys(("numeric", "real", "NUMERIC"))
    )
    n_values: int = 0


def read_arff(
    path: Path, options: ReadOptions, sources: Sequence[str] = ("xml", "relation")
) -> Arrays:
    """Read an ARFF file.

    Parameters
    ----------
    path : Path
        Plain or gzip.
    options : ReadOptions
        ``labels``, ``xml`` and ``one_hot`` of it.
    sources : sequence of str
        Where labels are looked for if neither of the first two is given: ``"xml"`` beside the
        file, then ``-C n`` in the ``"relation"`` name.

    Returns
    -------
    X, Y, feature_names, label_names
    """
    stream = blocks(path)
    header, rest = _read_header(path, stream)
    names = [attribute.name for attribute in header.attributes]
    refuse_twins(path, names, lambda j: (header.lines[j], 1))
    places = _label_places(path, header, options, sources)
    _check_types(path, header, places)
    columns = Columns(header.attributes, places, options.one_hot)
    if columns.n_places.sum() > MAX_VALUES:
        reason = f"more than {MAX_VALUES} one-hot columns; read with one_hot=False"
        raise DataFormatError(path, reason)
    feature_names, label_names = checked_names(path, columns)
    X, Y = _read_rows(path, columns, chain([rest], stream))
    return X, Y, feature_names, label_names


def write_arff(dataset: Dataset, path: Path, meka: bool = False) -> None:
    """Write an ARFF file: Mulan's way with an XML beside it, or MEKA's with the labels first.

    Parameters
    ----------
    dataset : Dataset
        Sparse features give sparse rows.
    path : Path
        Packed if it ends in ``.gz``.
    meka : bool
        Whether to name the labels by ``-C n`` in place of an XML.
    """
    check_distinct(dataset.feature_names + dataset.label_names)
    relation = f"{dataset.name}: -C {dataset.n_labels}" if meka else dataset.name
    features = [f"@attribute {_quoted(name)} numeric\n" for name in dataset.feature_names]
    labels = [f"@attribute {_quoted(name)} {{0,1}}\n" for name in dataset.label_names]
    head = [f"@relation {_quoted(relation)}\n\n"]
    head += [*labels, *features] if meka else [*features, *labels]
    rows = _sparse_lines(dataset, meka) if dataset.is_sparse else _dense_lines(dataset, meka)
    xml = None if meka else spell_label_names(dataset.label_names)
    with ExitStack() as both:  # left together, so that a failure leaves neither file
        if xml is not None:
            beside = both.enter_context(atomic(path.with_name(f"{stem(path)}.xml")))
            beside.write(xml)
            beside.flush()
        file = both.enter_context(atomic(path))
        file.write("".join([*head, "\n@data\n"]).encode())
        for row in rows:
            file.write(row.encode())


def _read_header(path: Path, stream: Iterator[Block]) -> tuple[Header, Block]:
    header, number = Header(), 0
    attributes, specs = header.attributes, header.specs
    for block in stream:
        for number, line in enumerate(_lines(block.text), block.line):
            plain = _PLAIN_ATTRIBUTE.match(line)
            if plain and plain[2] in specs and len(attributes) < MAX_ATTRIBUTES:
                attributes.append(Attribute(plain[1], specs[plain[2]]))
                header.lines.append(number)
                continue
            try:
                if _header_line(header, line, number):
                    rest = block.text.split(b"\n", number + 1 - block.line)[-1]
                    return header, Block(rest, number + 1)
            except LineError as error:
                raise error.at(path, number) from error
    reason = "the file ends before @data" if number else "the file is empty"
    raise DataFormatError(path, reason, number + 1, 1)


def _lines(text: bytes) -> list[str]:
    try:
        return text.decode("utf-8").split("\n")[:-1]
    except UnicodeDecodeError:
        return [decode(line) for line in text.split(b"\n")[:-1]]


def _header_line(header: Header, line: str, number: int) -> bool:
    """Take a header line; return whether it is ``@data``."""
    text = line.strip()
    if not text or text.startswith("%"):
        return False
    at = line.index(text[0])
    word = text.split(None, 1)[0].lower()
    if word == "@attribute":
        _attribute(header, line, at + len(word), number)
    elif word == "@relation":
        header.relation = text[len(word) :].strip()
        header.relation_line = number
    elif word == "@data":
        if not header.attributes:
            raise LineError("there is no @attribute before @data", at + 1)
        return True
    else:
        raise LineError("@relation, @attribute or @data is expected (is this ARFF?)", at + 1)
    return False


def _attribute(header: Header, line: str, at: int, number: int) -> None:
    if len(header.attributes) >= MAX_ATTRIBUTES:
        raise LineError(f"more than {MAX_ATTRIBUTES} attributes", 1)
    name, at = name_and_rest(line, at)
    kind, _, _ = line[at:].partition("%")
    word = kind.split(None, 1)[0].lower() if kind.strip() else ""
    values = None
    if word.startswith("{"):
        values = _declared_values(header, line, at)
    elif word in _WITHOUT_NUMBERS:
        header.without_numbers[len(header.attributes)] = word
    elif word not in _NUMERIC:
        shown = f"{word[:40]!r} is no attribute type" if word else "the attribute's type is missing"
        raise LineError(f"{shown} (numeric, real, integer or a {{list,of,values}})", at + 1)
    header.attributes.append(Attribute(name, values))
    header.lines.append(number)


def _declared_values(header: Header, line: str, at: int) -> tuple[str, ...]:
    spec = line[at:].rstrip()
    if spec not in header.specs:
        values = tuple(nominal_values(line, at, MAX_VALUES - header.n_values))
        header.n_values += len(values)
        header.specs[spec] = values
    return header.specs[spec] or ()


def _label_places(
    path: Path, header: Header, options: ReadOptions, sources: Sequence[str]
) -> list[int]:
    names = [attribute.name for attribute in header.attributes]
    if options.labels is not None:
        return label_columns(path, options.labels, names)
    if options.xml is not None:
        xml = Path(options.xml)
        return match_names(xml, read_label_names(xml), names)
    # MEKA appends its options to the name, which may itself look like one: the last counts.
    counts = _LABEL_COUNT.findall(header.relation.strip("'\"")) if "relation" in sources else []
    found = find_labels(path, names, any_name=not counts) if "xml" in sources else None
    if found is not None:
        return found
    if not counts:
        raise DataFormatError(
            path,
            "nothing says which attributes are labels",
            kind="no labels",
            advice="give labels= (names or a number), xml= (a Mulan label file), or put one beside "
            "the file",
        )
    n_labels = int(counts[-1])
    if not 1 <= abs(n_labels) <= len(names):
        reason = f"-C {n_labels} in @relation does not fit the {len(names)} attributes"
        raise DataFormatError(path, reason, header.relation_line, 1)
    return label_columns(path, n_labels, names)


def _check_types(path: Path, header: Header, places: list[int]) -> None:
    for j, kind in header.without_numbers.items():
        name = header.attributes[j].name
        raise DataFormatError(
            path,
            f"attribute {name!r} is of type {kind}, which has no numbers; remove it or turn it "
            "into numbers (in Weka: RemoveType, StringToWordVector)",
            header.lines[j],
            1,
        )
    for j in places:
        attribute = header.attributes[j]
        if attribute.values is not None and len(attribute.values) > 2:
            raise DataFormatError(
                path,
                f"label {attribute.name!r} has {len(attribute.values)} values, but a label is on "
                "or off; give it one 0/1 attribute per value",
                header.lines[j],
                1,
            )


def _read_rows(path: Path, columns: Columns, stream: Iterator[Block]) -> tuple[Any, Any]:
    for block in stream:
        first = _FIRST_ROW.search(block.text)
        if first is None:
            continue
        every = chain([block], stream)
        if first[1] == b"{":
            sparse_rows, sparse_table = SparseRows(path, columns), SparseTable(path, columns)
            for each in every:
                sparse_table.add(sparse_rows.entries(each))
            return sparse_table.arrays()
        dense_rows, dense_table = (
            DenseRows(path, columns, ",", arff_dense),
            DenseTable(path, columns),
        )
        for each in every:
            dense_table.add(dense_rows.cells(each))
        return dense_table.arrays()
    raise DataFormatError(path, "there are no rows after @data")


def _quoted(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name):
        return name
    return "'" + "".join(_ESCAPES.get(c, c) for c in name) + "'"


def _dense_lines(dataset: Dataset, labels_first: bool) -> Iterator[str]:
    for i in range(dataset.n_samples):
        x = spell(np.asarray(dataset.X[i], np.float64).tolist())
        y = [str(int(on)) for on in dense_row(dataset.Y, i)]
        yield ",".join([*y, *x] if labels_first else [*x, *y]) + "\n"


def _sparse_lines(dataset: Dataset, labels_first: bool) -> Iterator[str]:
    X, Y = sparse.csr_array(dataset.X, copy=True), sparse.csr_array(dataset.Y, copy=True)
    for A in (X, Y):
        A.sum_duplicates()
        A.eliminate_zeros()
    x_from, y_from = (dataset.n_labels, 0) if labels_first else (0, dataset.n_features)
    for i in range(dataset.n_samples):
        cols, values = stored_row(X, i)
        x = [f"{j + x_from} {v}" for j, v in zip(cols, spell(values), strict=True)]
        y = [f"{j + y_from} 1" for j in stored_row(Y, i)[0]]
        yield "{" + ",".join([*y, *x] if labels_first else [*x, *y]) + "}\n"


ARFF = (
    Format(("arff",), read_arff, write_arff, ("labels", "xml"), (".arff",)),
    Format(("mulan",), partial(read_arff, sources=("xml",)), write_arff, ("labels", "xml")),
    Format(
        ("meka",),
        partial(read_arff, sources=("relation",)),
        partial(write_arff, meka=True),
        ("labels", "xml"),
    ),
)
