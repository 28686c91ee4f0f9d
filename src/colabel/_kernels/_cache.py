"""Compiled kernels on disk, safe where several processes compile at the same time.

Numba numbers the data files of a function: two processes that compile it for different types of
arguments may both take the same number, and a third would then run code for the wrong types. Here
the name of a data file is a digest of what it was compiled for.
"""

import hashlib
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["share"]


class _DigestNames(IndexDataCacheFile):
    """Index and data files; an index that lost a race has fewer entries, never wrong ones."""

    def save(self, key: Any, data: Any) -> None:
        name = self._index_name.removesuffix("nbi") + _digest(key) + ".nbc"
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def _digest(key: Any) -> str:
    """Shorten a key (types of arguments, processor, code) to 64 bits, the same in any process."""
    return hashlib.sha256(repr(key).encode()).hexdigest()[:16]


def share(dispatcher: Any) -> Any:
    """Make the cache of a compiled function safe to share, and return the function."""
    cache: Any = getattr(dispatcher, "_cache", None)  # none, where compiling is switched off
    file = getattr(cache, "_cache_file", None)
    if file is not None:
        base = file._index_name.removesuffix(".nbi")
        cache._cache_file = _DigestNames(file._cache_path, base, file._source_stamp)
    return dispatcher
