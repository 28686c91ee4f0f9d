"""A part of a machine, given as an object or by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from sklearn.base import BaseEstimator, clone

from colabel.messages import unknown_name

__all__ = ["make_part"]

Part = TypeVar("Part", bound=BaseEstimator)


def make_part(role: str, given: str | Part, base: type, known: Mapping[str, type[Part]]) -> Part:
    """Return a copy of a part, or a new one of those known by name."""
    if not isinstance(given, str) and isinstance(given, base):
        return clone(given)
    if not isinstance(given, str) or given not in known:
        names = f"must be {role} object or one of {', '.join(known)}"
        raise unknown_name(f"{role.split()[-1]} {names}; got", given, known, otherwise="")
    return known[given]()
