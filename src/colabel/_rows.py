"""Types of what picks rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowIndex", "Span"]

# Rows one after the other.
Span: TypeAlias = "slice[int, int, int]"
# Any rows: their numbers, a mask or a slice.
RowIndex: TypeAlias = (
    "Sequence[int] | NDArray[np.int64] | NDArray[np.bool_]"
    " | slice[int | None, int | None, int | None]"
)
