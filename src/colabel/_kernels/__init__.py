"""Numba kernels on plain arrays: arrays in, arrays out, nothing of colabel's own.

Importing a module of this folder imports Numba, which takes longer than importing scikit-learn.
Callers therefore import a kernel inside the function that runs it, so that ``import colabel``
stays quick; each kernel is compiled on its first call and cached on disk: beside its source, or in
the user's cache folder where that cannot be written. Compiling takes seconds, which is announced
(see ``colabel._kernels._compiling``).
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core import cpu

from colabel._kernels._cache import share
from colabel._kernels._compiling import listen, seconds_compiling, without_notice

__all__ = [
    "any_order",
    "bare_kernel",
    "inlined",
    "inner_kernel",
    "kept_in",
    "kernel",
    "plain_kernel",
    "seconds_compiling",
    "without_notice",
]

listen()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` with colabel's one set of options: cached, GIL released, no fastmath."""
    return _compiled(function, no_cfunc_wrapper=True)


def plain_kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as ``kernel`` does, if it and all that it calls allocate nothing.

    Without counting references it takes a third less to compile, and to call.
    """
    return _compiled(function, no_cfunc_wrapper=True, _nrt=False)


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as ``kernel`` does, for calls from other kernels only.

    Without a way in from Python it takes two thirds of the time to compile. Called from Python it
    would crash: a test compiles ``function.py_func`` by itself.
    """
    return _compiled(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def bare_kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` as ``inner_kernel`` does, if it allocates nothing and returns no array.

    Counting references to arrays, which its caller holds anyway, would take a third of the time to
    compile. A function that allocates is refused by the compiler.
    """
    return _compiled(function, no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=False)


def any_order(function: Callable[..., Any]) -> Any:
    """Compile an inner kernel whose sums need no order, so that several terms are added at a time.

    The compiler fixes the order: the same call gives the same bits on any thread. All else is as
    IEEE 754 has it.
    """
    free = {"reassoc", "contract", "nsz"}
    return _compiled(function, no_cfunc_wrapper=True, no_cpython_wrapper=True, fastmath=free)


def inlined(function: Callable[..., Any]) -> Any:
    """Make ``function`` a part of the kernel that calls it, once.

    A kernel is optimised together with all that it calls, on every level of calls anew. What is
    called in one place and calls much itself saves a level this way; anything else costs time.
    """
    return numba.njit(nogil=True, inline="always")(function)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile on the first call; keep the result on disk if any folder for it can be written.

    `share` and ``_nrt`` are of a Numba that we know; with another one, kernels run all the same.
    """
    if not hasattr(getattr(cpu, "CPUTargetOptions", None), "_nrt"):
        options.pop("_nrt", None)
    try:
        return share(numba.njit(cache=True, nogil=True, **options)(function))
    except (RuntimeError, AttributeError):
        return numba.njit(nogil=True, **options)(function)


def kept_in() -> str | None:
    """Return the folder that keeps compiled kernels, or None if no folder for it can be written."""
    try:
        function: Any = numba.njit(cache=True)(kernel)
    except RuntimeError:
        return None
    return getattr(getattr(function, "stats", None), "cache_path", None)
