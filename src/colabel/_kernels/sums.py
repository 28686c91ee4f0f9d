"""Sums whose terms may be added in any order, which lets the compiler add several at a time."""

import numba

__all__ = ["any_order"]


def any_order(function):
    """Compile an inner kernel whose sums need no order; all else is as IEEE 754 has it.

    The order is fixed by the compiler: the same call gives the same bits on any thread.
    """
    return numba.njit(
        cache=True,
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        fastmath={"reassoc", "contract", "nsz"},
    )(function)
