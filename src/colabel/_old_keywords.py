"""Old names of arguments of functions: taken for one version, with a warning."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from colabel.messages import warn_user

__all__ = ["takes_old_keywords", "warn_of_old_name"]

P = ParamSpec("P")
T = TypeVar("T")


def takes_old_keywords(**renamed: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function take arguments under old names, which its signature does not show.

    Examples
    --------
    >>> import warnings
    >>> @takes_old_keywords(label_sets="facets")
    ... def count(*, facets):
    ...     return len(facets)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", FutureWarning)
    ...     count(label_sets=[[0, 1], [2, 3]])
    2
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def translated(*args: P.args, **kwargs: P.kwargs) -> T:
            for old in renamed.keys() & kwargs.keys():
                if renamed[old] in kwargs:
                    raise TypeError(f"{old} is an old name of {renamed[old]}; give one of them")
                warn_of_old_name(old, renamed[old])
                kwargs[renamed[old]] = kwargs.pop(old)
            return function(*args, **kwargs)

        return translated

    return decorate


def warn_of_old_name(old: str, new: str) -> None:
    """Warn of a name that works for one more version."""
    message = f"{old} is an old name, which the next version will not take; use {new}"
    warn_user(message, FutureWarning)
