"""Numba kernels on plain arrays: arrays in, arrays out, nothing of colabel's own.

Importing a module of this folder imports Numba, which takes longer than importing scikit-learn.
Callers therefore import a kernel inside the function that runs it, so that ``import colabel``
stays quick; each kernel is compiled on its first call and cached on disk.
"""

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["inner_kernel", "kernel", "parallel_kernel"]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` with colabel's one set of options: cached, GIL released, no fastmath."""
    return numba.njit(cache=True, nogil=True)(function)


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` for calls from other kernels only, in half the time of ``kernel``."""
    return numba.njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        function
    )


def parallel_kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as ``kernel`` does, with ``numba.prange`` loops spread over threads.

    Each turn of such a loop writes to its own rows only, so that results do not depend on the
    number of threads.
    """
    return numba.njit(cache=True, nogil=True, parallel=True)(function)
