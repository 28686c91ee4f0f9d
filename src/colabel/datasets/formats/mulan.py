"""Mulan's label files: an XML that names the labels of the ARFF file beside it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from colabel.datasets.formats._stream import blocks, stem
from colabel.exceptions import DataFormatError

__all__ = ["find_labels", "label_columns", "match_names", "read_label_names", "spell_label_names"]

NAMESPACE = "http://mulan.sourceforge.net/labels"
MAX_XML_BYTES = 64 << 20
MAX_DEPTH = 1000
_SPLIT_WORDS = re.compile(
    r"(?:[-_. ](?:train|test|sparse|dense|discretized|reduced|small|meka|union|fold)"
    r"|[0-9]+|[-_. ])$",
    re.IGNORECASE,
)
_QUOTING = re.compile(r"[\\'\"]")
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_label_names(path: Path) -> tuple[str, ...]:
    """Return the label names of a Mulan XML file, in its order, nested ones after their parent.

    Entity declarations are refused, so a file cannot make the parser expand or fetch anything.

    Parameters
    ----------
    path : Path
        Plain or gzip XML: ``<labels><label name="a"/>...</labels>``.
    """
    names: list[str] = []
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        local = tag.rpartition(":")[2]
        if depth > MAX_DEPTH:
            fail("the elements are nested too deeply")
        if depth == 1 and local != "labels":
            fail(f"the root element is <{local}>, not <labels>")
        if depth > 1 and local == "label":
            if "name" not in attributes:
                fail("a <label> without a name")
            names.append(attributes["name"])

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse_entity(*_: object) -> None:
        fail("an entity declaration, which is not allowed in a label file")

    def fail(reason: str) -> None:
        raise DataFormatError(
            path, reason, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.EntityDeclHandler = refuse_entity
    _feed(parser, path)
    for name, count in Counter(names).items():
        if count > 1:
            raise DataFormatError(path, f"label {name!r} is named twice")
    if not names:
        raise DataFormatError(path, "it names no label")
    return tuple(names)


def match_names(path: Path, names: Sequence[str], attributes: Sequence[str]) -> list[int]:
    r"""Return which attributes the names mean: literally, or else but for quotes and blanks.

    Parameters
    ----------
    path : Path
        The file to blame for a name that no attribute has.
    names, attributes : sequence of str
        Wanted names; the names there are.

    Examples
    --------
    >>> match_names(Path("x.xml"), ["Red Bird", "b"], ["a", "b", "Red\\ Bird"])
    [2, 1]
    """
    literal, loose = _places(attributes), dict[str, list[int]]()
    found = []
    for name in names:
        places = literal.get(name)
        if places is None:
            loose = loose or _places([_loose(attribute) for attribute in attributes])
            places = loose.get(_loose(name), [])
        if not places:
            reason = f"label {name!r} is no attribute of the data file"
            raise DataFormatError(path, reason, kind="unknown label", label=name)
        if len(places) > 1:
            reason = f"label {name!r} fits {len(places)} attributes"
            raise DataFormatError(path, reason, kind="ambiguous label", label=name)
        found.append(places[0])
    if len(set(found)) < len(found):
        reason = "two label names mean the same attribute"
        raise DataFormatError(path, reason, kind="repeated label")
    return found


def label_columns(path: Path, labels: Sequence[str] | int, names: Sequence[str]) -> list[int]:
    """Return the column numbers that ``labels`` means: names, or a count from either end."""
    if isinstance(labels, str):
        labels = [labels]
    if not isinstance(labels, int | np.integer):
        return match_names(path, labels, names)
    if not 1 <= abs(labels) <= len(names):
        reason = f"a count of {labels} label columns does not fit the {len(names)} columns"
        raise DataFormatError(path, reason, kind="label count")
    every = list(range(len(names)))
    return every[:labels] if labels > 0 else every[labels:]


def find_labels(data: Path, attributes: Sequence[str], any_name: bool) -> list[int] | None:
    """Return the label attributes according to an XML file beside ``data``; None if none fits.

    An XML of the same stem must fit. Otherwise one whose stem is that of the data without
    ``-train``, ``-test``, ``-sparse`` and the like; or, if ``any_name``, the only one in the
    folder that fits.
    """
    beside = _label_files(data.absolute().parent)
    wanted = stem(data).lower()
    for xml in beside:
        if stem(xml).lower() == wanted:
            return match_names(xml, read_label_names(xml), attributes)
    fitting = {xml: places for xml in beside if (places := _fits(xml, attributes)) is not None}
    for name in _shorter_stems(wanted):
        for xml, places in fitting.items():
            if stem(xml).lower() == name:
                return places
    return next(iter(fitting.values())) if any_name and len(fitting) == 1 else None


def spell_label_names(names: Sequence[str]) -> bytes:
    """Return the content of a Mulan XML file."""
    for name in names:
        if _NOT_XML.search(name):
            raise ValueError(f"label name {name!r} has a character that XML cannot hold")
    lines = [f"<label name={quoteattr(name)}></label>\n" for name in names]
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{NAMESPACE}">\n'
    return (text + "".join(lines) + "</labels>\n").encode()


def _feed(parser: expat.XMLParserType, path: Path) -> None:
    size = 0
    try:
        for block in blocks(path):
            size += len(block.text)
            if size > MAX_XML_BYTES:
                raise DataFormatError(path, f"a label file of more than {MAX_XML_BYTES >> 20} MiB")
            parser.Parse(block.text, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = f"not well-formed XML ({expat.ErrorString(error.code)})"
        raise DataFormatError(path, reason, error.lineno, error.offset + 1) from error
    except DataFormatError:
        raise
    except (LookupError, ValueError) as error:
        raise DataFormatError(path, f"an unknown text encoding ({error})", 1, 1) from error


def _label_files(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:  # a folder that may be entered but not listed
        return []
    return [e for e in entries if e.name.lower().endswith((".xml", ".xml.gz")) and e.is_file()]


def _fits(xml: Path, attributes: Sequence[str]) -> list[int] | None:
    try:
        return match_names(xml, read_label_names(xml), attributes)
    except DataFormatError:
        return None


def _shorter_stems(name: str) -> list[str]:
    shorter = []
    while (cut := _SPLIT_WORDS.search(name)) and cut.start():
        name = name[: cut.start()]
        shorter.append(name)
    return shorter


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    places = {name: [j] for j, name in enumerate(names)}
    if len(places) == len(names):
        return places
    places = {}
    for j, name in enumerate(names):
        places.setdefault(name, []).append(j)
    return places


def _loose(name: str) -> str:
    return " ".join(_QUOTING.sub("", name).split())
