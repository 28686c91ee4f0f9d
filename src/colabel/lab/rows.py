"""What is compared: a variant of a method, a cell that runs it on a fold, the row that it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

from colabel.lab.cell import CellResult
from colabel.lab.identity import describe, digest
from colabel.lab.splits import Fold

__all__ = ["Cell", "Row", "Variant"]


@dataclass(frozen=True)
class Variant:
    """An estimator to compare: its name, how to build it for a seed, and its parameters.

    One that is not ``seeded`` gives the same on a fixed split whatever the seed.
    """

    name: str
    build: Callable[[int], Any]
    parameters: dict[str, Any]
    seeded: bool = True

    @cached_property
    def key(self) -> str:
        """Equal for variants that build equal estimators, whatever their names."""
        return digest(self.identity)

    @cached_property
    def identity(self) -> Any:
        """The estimator's class and parameters, the same in any process, as JSON."""
        try:
            estimator = self.build(0)
        except Exception as error:  # the cell will say so
            return {"not built": [self.name, repr(self.parameters), type(error).__name__]}
        try:
            return describe(estimator)
        except (TypeError, ValueError, RecursionError):  # cannot be told from others: run anew
            return {"unknown": uuid4().hex}


@dataclass(frozen=True)
class Row:
    """One finished cell."""

    data: str
    split: str
    fold: int
    seed: int
    method: str
    parameters: dict[str, Any]
    result: CellResult

    def as_dict(self) -> dict[str, Any]:
        """Return the row as the columns of ``results.csv``."""
        return {
            "data": self.data,
            "split": self.split,
            "fold": self.fold,
            "seed": self.seed,
            "method": self.method,
            "parameters": {**self.parameters, **self.result.parameters},
            "status": self.result.status,
            "fit_seconds": self.result.fit_seconds,
            "predict_seconds": self.result.predict_seconds,
            "peak_memory_mb": self.result.peak_memory_mb,
            **self.result.measures,
        }


@dataclass(frozen=True)
class Cell:
    """One variant on one fold."""

    fold: Fold = field(repr=False)
    variant: Variant

    @property
    def build(self) -> Callable[[], Any]:
        """Makes the estimator."""
        return partial(self.variant.build, self.fold.seed)

    @cached_property
    def about(self) -> dict[str, Any]:
        """Everything that determines the result, as JSON."""
        import colabel

        fold = self.fold
        same = fold.split == "official" and not self.variant.seeded
        return {
            "data": fold.hash_data(),
            "split": fold.split,
            "fold": fold.number,
            "seed": None if same else fold.seed,
            "estimator": self.variant.identity,
            "colabel": colabel.__version__,
        }

    @cached_property
    def key(self) -> str:
        """The hash of ``about``."""
        return digest(self.about)

    @property
    def where(self) -> tuple[str, str, int, int, str]:
        """Names of data, split, fold, seed and method: the first columns of ``results.csv``."""
        fold = self.fold
        return fold.name, fold.split, fold.number, fold.seed, self.variant.name

    def row(self, result: CellResult) -> Row:
        """Put a result under the cell's names."""
        return Row(*self.where, self.variant.parameters, result)
