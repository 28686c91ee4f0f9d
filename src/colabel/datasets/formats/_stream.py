"""Text files in and out: plain or gzip, block by block, never more in memory than a few lines.

A reader asks for :func:`blocks`: pieces of whole lines with the number of their first line. What
could hurt (an endless line, a gzip bomb, a binary file) stops here, so that the parsers only see
honest text.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from colabel.exceptions import DataFormatError, DatasetNotFoundError

__all__ = ["Block", "blocks", "decode", "refuse_bomb", "refuse_irregular", "stem"]

BLOCK_BYTES = 1 << 18
PACKED_BYTES = 1 << 16
MAX_LINE_BYTES = 64 << 20
MAX_UNPACKED_BYTES = 8 << 30
# Real data packs up to about 100 : 1; a bomb reaches deflate's ceiling of 1032 : 1.
MAX_RATIO, RATIO_FREE_BYTES = 500, 256 << 20

_GZIP = b"\x1f\x8b"
_OTHER_PACKING = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"Rar!": "rar",
    b"7z\xbc\xaf": "7z",
}


class Block(NamedTuple):
    """Whole lines of text, each ended by a newline, and the number of the first."""

    text: bytes
    line: int


def blocks(path: Path) -> Iterator[Block]:
    """Yield the file's text in blocks of whole lines, newlines unified to LF.

    Parameters
    ----------
    path : Path
        A plain or gzip text file.

    Yields
    ------
    Block
        About `BLOCK_BYTES` of text, at least one line.
    """
    line, parts, size = 1, list[bytes](), 0
    for chunk in _unix_newlines(_chunks(path)):
        _refuse_nul(path, chunk, parts, line)
        cut, size = chunk.rfind(b"\n") + 1, size + len(chunk)
        # Unpacking gives short chunks too; one call for each would cost more than its work.
        if not cut or size < BLOCK_BYTES // 2:
            parts.append(chunk)
            if size > MAX_LINE_BYTES:
                at = line + sum(part.count(b"\n") for part in parts)
                reason = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
                raise DataFormatError(path, reason, at, 1)
            continue
        parts.append(chunk[:cut])
        text = b"".join(parts)
        parts, size = [chunk[cut:]], len(chunk) - cut
        yield Block(text, line)
        line += int(np.count_nonzero(np.frombuffer(text, np.uint8) == 10))
    tail = b"".join(parts)
    if tail:
        yield Block(tail if tail.endswith(b"\n") else tail + b"\n", line)


def decode(raw: bytes) -> str:
    """Return the text of ``raw``: UTF-8, or else Latin-1, which older Weka files use."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def stem(path: Path) -> str:
    """Return the file's name without ``.gz`` and without its format suffix.

    Examples
    --------
    >>> stem(Path("folder/tmc2007-500.arff.gz"))
    'tmc2007-500'
    """
    name = path.name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return name.rpartition(".")[0] or name


def refuse_irregular(path: Path) -> None:
    """Refuse what is not there or is no file: opening a pipe would wait for ever."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        raise DatasetNotFoundError(f"{path}: there is no such file") from None
    if not stat.S_ISREG(mode):
        raise DataFormatError(path, "this is not a file")
    if not os.access(path, os.R_OK):
        raise DataFormatError(path, "the file may not be read (permission denied)")


def _chunks(path: Path) -> Iterator[bytes]:
    refuse_irregular(path)
    with open(path, "rb") as file:
        head = file.read(8)
        _refuse_packing(path, head)
        file.seek(0)
        if head.startswith(_GZIP):
            yield from _gunzip(path, file)
        else:
            while chunk := file.read(BLOCK_BYTES):
                yield chunk


def _refuse_packing(path: Path, head: bytes) -> None:
    for magic, kind in _OTHER_PACKING.items():
        if head.startswith(magic):
            raise DataFormatError(
                path, f"this is a {kind} file; unpack it first (gzip alone is read directly)"
            )


def _gunzip(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    inflater, packed, unpacked = None, 0, 0
    while raw := file.read(PACKED_BYTES):
        packed += len(raw)
        while raw:
            if inflater is None:
                raw = raw.lstrip(b"\0")  # zero padding between or after members is allowed
                inflater = zlib.decompressobj(wbits=31) if raw else None
                continue
            try:
                out = inflater.decompress(raw, BLOCK_BYTES)
            except zlib.error as error:
                raise DataFormatError(path, f"the gzip data is damaged ({error})") from error
            unpacked += len(out)
            refuse_bomb(path, packed, unpacked)
            yield out
            raw = inflater.unconsumed_tail
            if inflater.eof:
                raw, inflater = inflater.unused_data, None
    if inflater is not None:
        yield inflater.flush()
        if not inflater.eof:
            raise DataFormatError(path, "the gzip data ends too early (a truncated file)")


def refuse_bomb(path: Path, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to more than is allowed, or than is believable."""
    if unpacked > MAX_UNPACKED_BYTES:
        limit = MAX_UNPACKED_BYTES / 2**30
        raise DataFormatError(path, f"unpacks to more than {limit:g} GiB; unpack it first")
    if unpacked > RATIO_FREE_BYTES and unpacked > MAX_RATIO * packed:
        raise DataFormatError(
            path, f"unpacks to more than {MAX_RATIO} times its size, as a bomb would"
        )


def _unix_newlines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Turn CR LF and lone CR into LF; a CR at a chunk's end waits for the next chunk."""
    held = b""
    for chunk in _without_mark(chunks):
        text = held + chunk
        held = b""
        if b"\r" in text:
            if text.endswith(b"\r"):
                text, held = text[:-1], b"\r"
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if text:
            yield text
    if held:
        yield b"\n"


def _without_mark(chunks: Iterator[bytes]) -> Iterator[bytes]:
    for i, chunk in enumerate(chunks):
        yield chunk.removeprefix(b"\xef\xbb\xbf") if i == 0 else chunk


def _refuse_nul(path: Path, chunk: bytes, parts: list[bytes], line: int) -> None:
    at = chunk.find(b"\0")
    if at < 0:
        return
    before = b"".join(parts) + chunk[:at]
    line += before.count(b"\n")
    column = len(decode(before[before.rfind(b"\n") + 1 :])) + 1
    raise DataFormatError(
        path, "a NUL byte: this is a binary or UTF-16 file, not UTF-8 text", line, column
    )
