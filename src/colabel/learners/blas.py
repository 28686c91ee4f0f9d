"""Matrix products on one thread, for products too small to share and for threads of our own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  (kernels multiply with it: it must be known below)
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


@cache
def _controller() -> ThreadpoolController:
    """Look for the libraries in use, which takes milliseconds, once."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread while the context lasts; about 20 microseconds."""
    return _controller().limit(limits=1, user_api="blas")
