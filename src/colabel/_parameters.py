"""Checks of constructor arguments: one sentence, the same wherever one is given."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_choice", "check_real", "check_whole"]


def check_whole(value: Any, name: str, *, least: int) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    if not isinstance(value, Integral) or _is_bool(value) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")


def check_real(
    value: Any,
    name: str,
    *,
    above: float = -np.inf,
    least: float = -np.inf,
    below: float = np.inf,
    most: float = np.inf,
) -> None:
    """Refuse what is not a finite number within limits; ``above`` and ``below`` are outside."""
    number = float(value) if isinstance(value, Real) and not _is_bool(value) else np.nan
    if np.isfinite(number) and above < number < below and least <= number <= most:
        return
    words = [("above", above), ("of at least", least), ("below", below), ("at most", most)]
    limits = " and ".join(f"{word} {limit:g}" for word, limit in words if np.isfinite(limit))
    what = "a positive number" if limits == "above 0" else f"a number {limits}".strip()
    raise ValueError(f"{name} must be {what}, not {value!r}")


def check_choice(value: Any, name: str, known: Sequence[Any]) -> None:
    """Refuse what is not one of ``known``."""
    value = bool(value) if isinstance(value, np.bool_) else value
    if not any(value is one or (isinstance(value, str) and value == one) for one in known):
        *most, last = map(repr, known)
        raise ValueError(f"{name} must be {', '.join(most)} or {last}, not {value!r}")


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)
