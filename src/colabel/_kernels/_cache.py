"""Compiled kernels on disk, safe beside other processes and after any change of their sources.

Numba numbers the data files of a function: two processes that compile it for different types of
arguments may both take the same number, and a third would then run code for the wrong types. And it
takes a function for unchanged while its own file is, though what it calls, constants too, is
compiled into it: after an upgrade, old code could write to arrays of a new layout. Here the name of
a data file is a digest of what it was compiled for and of every source that went into it.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["share"]

FOLDER = "colabel._kernels"


class _DigestNames(IndexDataCacheFile):
    """Index and data files; an index that lost a race has fewer entries, never wrong ones."""

    def save(self, key: Any, data: Any) -> None:
        name = self._index_name.removesuffix("nbi") + _digest(self._source_stamp, key) + ".nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def _digest(*parts: Any) -> str:
    """Shorten sources, types of arguments and the like to 64 bits, the same in any process."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


@cache
def _stamp(path: Path) -> str:
    """Digest the text of a file of kernels and of all that it imports from its folder."""
    texts: dict[str, str] = {}
    waiting = [path.name]
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = path.with_name(name).read_text(encoding="utf-8")
            found = {f"{module}.py" for module in _imported(texts[name])}
            waiting += [name for name in found if path.with_name(name).exists()]
    return _digest(sorted(texts.items()))


def _imported(text: str) -> set[str]:
    """Return names that may be modules of the folder; those that are not have no file."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.removeprefix(f"{FOLDER}.") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == FOLDER:
            found |= {"__init__", *(alias.name for alias in node.names)}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").removeprefix(f"{FOLDER}."))
    return found


def share(dispatcher: Any) -> Any:
    """Make the cache of a compiled function safe to share, and return the function."""
    cached: Any = getattr(dispatcher, "_cache", None)  # none, where compiling is switched off
    file = getattr(cached, "_cache_file", None)
    if file is not None:
        base = file._index_name.removesuffix(".nbi")
        stamp = _stamp(Path(dispatcher.py_func.__code__.co_filename))
        cached._cache_file = _DigestNames(file._cache_path, base, stamp)
    return dispatcher
