"""The container of a model file, checked before anything in it is believed.

A model file is a skops file with one member more, ``colabel.json``: a zip archive of plain members,
none of them packed, so that no member is larger than the file itself. ``schema.json`` describes
the objects; the others hold their arrays. Everything here reads bytes and text and never
constructs an object that the file names.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from colabel.exceptions import ModelFileError

__all__ = [
    "FORMAT",
    "HEADER",
    "SCHEMA",
    "check_members",
    "read_header",
    "read_schema",
    "type_names",
]

FORMAT = 1
HEADER = "colabel.json"
SCHEMA = "schema.json"
ARRAY_MEMBER = re.compile(r"[0-9a-f-]+\.(npy|npz|bin)")
# scipy packs sparse arrays a second time, inside their member. What honest ones gain by that is
# less than this factor; below the floor nothing is gained by refusing.
MAX_PACKING = 50
PACKING_FLOOR = 2**28


def check_members(path: str, file: BinaryIO) -> ZipFile:
    """Return the opened archive, or raise ModelFileError if it is not one that `save` writes."""
    start = file.read(4)
    if start != b"PK\x03\x04":
        raise ModelFileError(_not_ours(path, start))
    try:
        archive = ZipFile(file)
    except (BadZipFile, ValueError, OSError, NotImplementedError):
        raise ModelFileError(f"{path} is damaged or cut short.") from None
    members = archive.infolist()
    names = [member.filename for member in members]
    if HEADER not in names or SCHEMA not in names:
        raise ModelFileError(f"{path} is a zip archive, but not a model that colabel wrote.")
    if len(set(names)) < len(names):
        raise ModelFileError(f"{path} holds a member twice; colabel does not write such files.")
    for name in names:
        if name not in (HEADER, SCHEMA) and not ARRAY_MEMBER.fullmatch(name):
            raise ModelFileError(f"{path} holds {name!r}, which has no place in a model file.")
    _check_sizes(path, members, os.fstat(file.fileno()).st_size)
    _check_sparse_members(path, archive)
    return archive


def read_header(path: str, archive: ZipFile) -> dict[str, Any]:
    """Return the content of ``colabel.json``, having checked that its format is known."""
    header = _read_json(path, archive, HEADER)
    number = header.get("format")
    if type(number) is not int or number < 1:
        raise ModelFileError(f"{path} does not say in which format it is written.")
    if number > FORMAT:
        raise ModelFileError(
            f"{path} is written in format {number}, newer than the {FORMAT} that this colabel "
            "reads; update colabel to load it."
        )
    return header


def read_schema(path: str, archive: ZipFile) -> dict[str, Any]:
    """Return the description of the objects, having checked that it can be followed in its size.

    The same object is written out in full each time it occurs. A file that refers to an object by
    its number alone could unfold to more than any memory holds, and is refused.
    """
    schema = _read_json(path, archive, SCHEMA)
    sizes: dict[Any, int] = {}
    try:
        _measure(schema, sizes)
        used = {node["file"] for node in _nodes(schema) if isinstance(node.get("file"), str)}
    except (ValueError, TypeError, RecursionError):
        raise ModelFileError(f"{path} does not describe its objects in a sound way.") from None
    stored = set(archive.namelist()) - {HEADER, SCHEMA}
    if stored != used:
        raise ModelFileError(f"{path} lacks members it refers to, or holds some it does not.")
    return schema


def type_names(schema: dict[str, Any]) -> set[tuple[str, str]]:
    """Return the (module, name) pairs of all types and functions a schema names."""
    pairs = ((node.get("__module__"), node.get("__class__")) for node in _nodes(schema))
    return {(m, c) for m, c in pairs if isinstance(m, str) and isinstance(c, str)}


def _not_ours(path: str, start: bytes) -> str:
    if not start:
        return f"{path} is empty."
    if start[0] == 0x80:
        return f"{path} is a pickle, which could run code when loaded; colabel does not open those."
    return f"{path} is not a colabel model file."


def _check_sizes(path: str, members: list[ZipInfo], file_size: int) -> None:
    for member in members:
        if member.compress_type != ZIP_STORED or member.flag_bits & 0x1:
            raise ModelFileError(f"{path} holds packed members; colabel does not write such files.")
    # Members may be made to overlap in the file, each then large and their sum larger than it.
    if sum(max(member.file_size, member.compress_size) for member in members) > file_size:
        raise ModelFileError(f"{path} claims to hold more than its size allows.")


def _check_sparse_members(path: str, archive: ZipFile) -> None:
    for name in archive.namelist():
        if not name.endswith(".npz"):
            continue
        try:
            with archive.open(name) as member, ZipFile(member) as inner:
                packed = sum(info.compress_size for info in inner.infolist())
                unpacked = sum(info.file_size for info in inner.infolist())
        except (BadZipFile, ValueError, OSError, NotImplementedError, EOFError):
            raise ModelFileError(f"{path} is damaged: {name} cannot be read.") from None
        if unpacked > max(PACKING_FLOOR, MAX_PACKING * packed):
            raise ModelFileError(f"{path} would unpack to {unpacked / 2**20:.0f} MiB and more.")


def _read_json(path: str, archive: ZipFile, name: str) -> dict[str, Any]:
    try:
        content = json.loads(archive.read(name))
    except (ValueError, OSError, BadZipFile, EOFError, NotImplementedError, RecursionError):
        raise ModelFileError(f"{path} is damaged: {name} cannot be read.") from None
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} is damaged: {name} is not what it should be.")
    return content


def _measure(value: Any, sizes: dict[Any, int]) -> int:
    """Return the number of values below ``value``; equal object numbers must have equal sizes."""
    if isinstance(value, dict):
        size = 1 + sum(_measure(child, sizes) for child in value.values())
        number = value.get("__id__")
        # A dict of the model may have a key of that name; its value is then another description.
        if isinstance(number, (int, str, float)) and sizes.setdefault(number, size) != size:
            raise ValueError("an object is described in two ways")
        return size
    if isinstance(value, list):
        return 1 + sum(_measure(child, sizes) for child in value)
    return 1


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every JSON object at or below ``value``."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
