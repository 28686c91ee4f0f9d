"""Compiled kernels on disk, safe beside other processes and after any change of their sources.

Numba keeps an index of the data files of a function. Two processes that compile it for different
types of arguments may both take the same number for a file, and a third would then run code for the
wrong types. It takes a function for unchanged while its own file is, though what it calls,
constants too, is compiled into it; and named tuples for equal whose fields have changed places. An
index that names a type which is no more cannot be read at all. Here there is no index: the name of
a data file is a digest of what it was compiled for and of every source that went into it.

This rests on private names of Numba. Where one is gone, `share` raises an AttributeError, and the
caller does without a cache.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numba

__all__ = ["share"]

FOLDER = "colabel._kernels"


class _DigestNames:
    """What a dispatcher asks for compiled code; ``file`` is what Numba gave it to ask."""

    def __init__(self, file: Any, stamp: str) -> None:
        self.base, self.stamp = file._index_name.removesuffix("nbi"), stamp
        self.read, self.write = file._load_data, file._save_data

    def save(self, key: Any, data: Any) -> None:
        self.write(self._name(key), data)

    def load(self, key: Any) -> Any:
        try:
            return self.read(self._name(key))
        except Exception:  # not there, or cut short: it is compiled, and written anew
            return None

    def flush(self) -> None:
        """Forget nothing: files are what their names say."""

    def _name(self, key: Any) -> str:
        types, *rest = key
        return self.base + _digest(numba.__version__, self.stamp, _spelled(types), rest) + ".nbc"


def _digest(*parts: Any) -> str:
    """Shorten sources, types of arguments and the like to 64 bits, the same in any process."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _spelled(types: Any) -> Any:
    """Write types with the names of fields: they are not in what Numba calls them."""
    own = getattr(types, "instance_class", None)
    fields = (own.__module__, own.__qualname__, own._fields) if own else ()
    parts = types if isinstance(types, tuple) else getattr(types, "types", ())
    return str(types), fields, [_spelled(part) for part in parts]


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
    if hasattr(dispatcher, "py_func"):  # else compiling is switched off
        stamp = _stamp(Path(dispatcher.py_func.__code__.co_filename))
        dispatcher._cache._cache_file = _DigestNames(dispatcher._cache._cache_file, stamp)
    return dispatcher
