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
PROTOCOL = 2  # of skops, when colabel began to use it
ARRAY_MEMBER = re.compile(r"[0-9a-f-]+\.(npy|npz|bin)")
# scipy packs sparse arrays a second time, inside their member. All of them together may unpack to
# this many times what they take in the file: honest ones gain less than 10, unless they are huge
# and regular to the last bit. Below the floor a refusal would protect nobody.
MAX_PACKING = 50
PACKING_FLOOR = 2**27


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
    its number alone could unfold to more than any memory holds, and is refused; so is one that
    gives the same array to many objects, for each of them would read it anew. Keys of dicts are
    made by calling their types, so nothing but the names of types is allowed there.
    """
    schema = _read_json(path, archive, SCHEMA)
    try:
        if schema["protocol"] < PROTOCOL:
            raise ValueError("an older skops than colabel ever used could be made to trust more")
        _digest(schema, {})
        _check_key_types(schema)
        used = _members_used(schema)
    except (KeyError, ValueError, TypeError, RecursionError):
        raise ModelFileError(f"{path} does not describe its objects in a sound way.") from None
    stored = set(archive.namelist()) - {HEADER, SCHEMA}
    if stored != used:
        raise ModelFileError(f"{path} lacks members it refers to, or holds some it does not.")
    return schema


def type_names(schema: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Return (module, name, loader) of all types and functions a schema names.

    The loader says what is done with the name: skops calls the type, fills an object of it, or
    only looks it up.
    """
    names = set()
    for node in _nodes(schema):
        match node:
            case {"__module__": str(module), "__class__": str(name), "__loader__": str(loader)}:
                names.add((module, name, loader))
    return names


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
    members = [member for member in archive.infolist() if member.filename.endswith(".npz")]
    packed = sum(member.file_size for member in members)
    unpacked = sum(_unpacked_size(path, archive, member.filename) for member in members)
    if unpacked > max(PACKING_FLOOR, MAX_PACKING * packed):
        raise ModelFileError(
            f"{path} would unpack {packed / 2**20:.1f} MiB of sparse arrays to "
            f"{unpacked / 2**20:.0f} MiB, more than a model file may."
        )


def _unpacked_size(path: str, archive: ZipFile, name: str) -> int:
    try:
        with archive.open(name) as member, ZipFile(member) as inner:
            return sum(info.file_size for info in inner.infolist())
    except (BadZipFile, ValueError, OSError, NotImplementedError, EOFError):
        raise ModelFileError(f"{path} is damaged: {name} cannot be read.") from None


def _read_json(path: str, archive: ZipFile, name: str) -> dict[str, Any]:
    try:
        content = json.loads(archive.read(name))
    except (ValueError, OSError, BadZipFile, EOFError, NotImplementedError, RecursionError):
        raise ModelFileError(f"{path} is damaged: {name} cannot be read.") from None
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} is damaged: {name} is not what it should be.")
    return content


def _digest(value: Any, known: dict[Any, int]) -> int:
    """Return a hash of all below ``value``; equal object numbers must have equal hashes."""
    if isinstance(value, dict):
        # An object that occurs twice may have parts made for the occasion, with numbers and
        # members of their own. A dict of the model may have keys of these names; their values
        # are then descriptions.
        own = {k for k in ("__id__", "file") if not isinstance(value.get(k), (dict, list))}
        digest = hash(tuple((k, _digest(v, known)) for k, v in value.items() if k not in own))
        number = value.get("__id__")
        if isinstance(number, (int, str, float)) and known.setdefault(number, digest) != digest:
            raise ValueError("an object is described in two ways")
        return digest
    if isinstance(value, list):
        return hash(tuple(_digest(child, known) for child in value))
    return hash(value)


def _check_key_types(schema: dict[str, Any]) -> None:
    for node in _nodes(schema):
        if node.get("__loader__") == "DictNode":
            types = node["key_types"]
            loaders = [types["__loader__"], *(child["__loader__"] for child in types["content"])]
            if loaders != ["ListNode"] + ["TypeNode"] * (len(loaders) - 1):
                raise ValueError("the keys of a dict are made of something else than types")


def _members_used(schema: dict[str, Any]) -> set[str]:
    """Return the members that objects refer to; each must belong to one numbered object."""
    owners: dict[str, Any] = {}
    for node in _nodes(schema):
        name, number = node.get("file"), node.get("__id__")
        if isinstance(name, str) and (not number or owners.setdefault(name, number) != number):
            raise ValueError("a member belongs to several objects")
    return set(owners)


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
