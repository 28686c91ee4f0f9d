"""Numba kernels on plain arrays: arrays in, arrays out, nothing of colabel's own.

Importing a module of this folder imports Numba, which takes longer than importing scikit-learn.
Callers therefore import a kernel inside the function that runs it, so that ``import colabel``
stays quick; each kernel is compiled on its first call and cached on disk.
"""

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["kernel"]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` with colabel's one set of options: cached, GIL released, no fastmath."""
    return numba.njit(cache=True, nogil=True)(function)
