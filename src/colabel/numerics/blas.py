"""Matrix products on one thread, for products too small to share and for threads of our own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  (kernels multiply with it: it must be known below)
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@cache
def _controller() -> ThreadpoolController:
    """Look for the libraries in use, which takes milliseconds, once."""
    return ThreadpoolController()


class _Limit:
    """What BLAS was allowed before the first of those who now hold it to one thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_holders = 0
        self.before: Any = None


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while the context lasts; about 20 microseconds.

    The limit is one of the process: of contexts that overlap, in threads of the user's, the first
    sets it and the last puts back what was before.
    """
    with _limit.lock:
        if _limit.n_holders == 0:
            _limit.before = _controller().limit(limits=1, user_api="blas")
        _limit.n_holders += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.n_holders -= 1
            if _limit.n_holders == 0:
                _limit.before.restore_original_limits()
