"""The door to matplotlib, which is an extra."""

from __future__ import annotations

from typing import Any

from colabel.exceptions import MissingExtraError

__all__ = ["pyplot"]


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or raise an error that names the extra that has it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtraError("drawing a picture", "lab") from error
    return plt
