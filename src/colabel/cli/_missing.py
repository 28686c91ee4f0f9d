"""Missing values that a method does not take: which, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from colabel.exceptions import ColabelError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = ["explain_missing"]


@contextmanager
def explain_missing(dataset: Dataset, name: str, method: str) -> Iterator[None]:
    """Say in one sentence what scikit-learn says in a paragraph."""
    try:
        yield
    except ValueError as error:
        from colabel.lab.cell import missing_values

        missing = missing_values(dataset) if "NaN" in str(error) else None
        if missing is None:
            raise
        raise ColabelError(
            f"{name}: {missing}, which {method} does not take; fill them in or leave such columns "
            "out"
        ) from error
