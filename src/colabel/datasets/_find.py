"""Where the files of a registered dataset are on this machine, and whether they are the right ones.

Looked for, in this order: inside the package; each folder of ``$COLABEL_DATA`` (a list, separated
as ``PATH`` is); the cache of downloads. In a folder a file may lie in a sub-folder named after the
dataset or directly, plain or gzip-packed, upper and lower case being the same.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import IO

from colabel.datasets._registry import DataFile, DatasetInfo, get_info
from colabel.exceptions import DataFormatError, DatasetNotFoundError

__all__ = ["data_home", "find"]

_BLOCK = 1 << 20
_checked: dict[
    tuple[str, int, int], str
] = {}  # (path, size, mtime_ns) -> hash it was found to have


def data_home() -> Path:
    """Return the folder that keeps downloads: ``$COLABEL_CACHE``, or the user's cache folder.

    It is made by the first download, not here.

    Examples
    --------
    >>> from colabel.datasets import data_home
    >>> data_home().is_absolute()
    True
    """
    given = os.environ.get("COLABEL_CACHE")
    if given:
        return Path(given).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser().absolute() / "colabel"


def find(dataset: DatasetInfo | str) -> dict[str, Path] | None:
    """Return where each file of a registered dataset lies, or None if one is not on this machine.

    Parameters
    ----------
    dataset : DatasetInfo or str
        The dataset or its registered name.

    Returns
    -------
    dict of str to Path, or None
        By file name without ``.gz``. The content is not checked here; ``load`` does that.

    Examples
    --------
    >>> from colabel.datasets import find
    >>> sorted(find("yeast"))
    ['yeast.npz']
    """
    info = get_info(dataset) if isinstance(dataset, str) else dataset
    found = {file.name: locate(info, file) for file in info.files}
    paths = {name: path for name, path in found.items() if path is not None}
    return paths if len(paths) == len(found) else None


def locate(info: DatasetInfo, file: DataFile) -> Path | None:
    """Return where ``file`` lies on this machine, or None."""
    if info.shipped:
        return Path(str(resources.files("colabel.datasets").joinpath("data", file.name)))
    for root in search_folders():
        for folder in dict.fromkeys((info.name.lower(), info.folder.lower(), "")):
            path = _child(root, folder) if folder else root
            hit = path and (_child(path, file.name) or _child(path, f"{file.name}.gz"))
            if hit and os.path.isfile(hit):
                return hit
    return None


def search_folders() -> list[Path]:
    """Return the folders of ``$COLABEL_DATA``, then the cache."""
    given = os.environ.get("COLABEL_DATA", "").split(os.pathsep)
    return [*(Path(folder).expanduser().absolute() for folder in given if folder), data_home()]


def require(info: DatasetInfo, files: tuple[DataFile, ...]) -> dict[str, Path]:
    """Return the checked paths of ``files``, or say which are missing and what to do."""
    found = {file.name: locate(info, file) for file in files}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise DatasetNotFoundError(_missing_sentence(info, missing))
    paths = {name: path for name, path in found.items() if path is not None}
    for file in files:
        check(paths[file.name], file)
    return paths


def check(path: Path, file: DataFile) -> None:
    """Raise unless the file at ``path``, plain or packed, has the registered content."""
    status = path.stat()
    key = (str(path), status.st_size, status.st_mtime_ns)
    if _checked.get(key) == file.sha256:
        return
    found = content_hash(path, file)
    if found != file.sha256:
        raise DataFormatError(
            path,
            f"this is not the registered {file.name} (SHA-256 of the content {found[:12]}…, "
            f"expected {file.sha256[:12]}…); move it away, or load it by its path",
        )
    _checked[key] = file.sha256


def content_hash(path: Path, file: DataFile) -> str:
    """Return the SHA-256 of the unpacked content of ``path``.

    At most one byte more than ``file.size`` is unpacked: no more is needed to know that the content
    differs, and a hostile archive cannot keep us busy.
    """
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        if not packed:
            return _hash(stream)
        if file.packed_sha256 is not None and _hash(stream) == file.packed_sha256:
            return file.sha256
        stream.seek(0)
        try:
            with gzip.open(stream) as unpacked:
                return _hash(unpacked, file.size + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataFormatError(path, f"the gzip archive is damaged ({error})") from error


def _hash(stream: IO[bytes] | gzip.GzipFile, limit: int | None = None) -> str:
    digest = hashlib.sha256()
    left = sys.maxsize if limit is None else limit
    while block := stream.read(min(_BLOCK, left)):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest()


def _child(folder: Path, name: str) -> Path | None:
    """Return the entry of ``folder`` called ``name``, preferring the exact case."""
    exact = folder / name
    if os.path.exists(exact):  # unlike Path.exists, false for what may not be looked at
        return exact
    return next((path for path in _entries(folder) if path.name.lower() == name.lower()), None)


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(folder.iterdir())
    except OSError:  # no such folder, not a folder, or not ours to read: nothing is found there
        return


def _missing_sentence(info: DatasetInfo, missing: list[str]) -> str:
    folders = ", ".join(str(folder) for folder in search_folders())
    remedy = "set COLABEL_DATA to a folder that holds them, plain or gzip-packed"
    if info.downloadable or os.environ.get("COLABEL_MIRRORS"):
        remedy += f", or run: colabel datasets --download {info.name}"
    return (
        f"{info.name} is registered but not on this machine: {', '.join(missing)} not found in "
        f"{folders}; {remedy}"
    )
