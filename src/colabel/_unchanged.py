"""Fits that fail lose nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["unchanged_on_failure"]


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Give an estimator back the attributes that it had if what happens inside raises.

    A model that was fitted before still predicts; one that was not says that it is not fitted.
    What attributes hold is not copied. Two fits of one object at a time are nobody's.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        now = vars(estimator)  # another thread that predicts finds its attributes at any time
        now.update(before)
        for name in now.keys() - before.keys():
            del now[name]
        raise
