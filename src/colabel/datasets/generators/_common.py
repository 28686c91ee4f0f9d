"""What the generators share: seeds, checks, enumeration of labelings, the result's base class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from colabel._parameters import check_real, check_whole
from colabel.dataset import Dataset

__all__ = ["Generated", "as_generator", "check_count", "check_range", "draw_rows", "labelings"]

_BLOCK_CELLS = 1 << 21  # 16 MiB of float64


@dataclass(frozen=True, eq=False)
class Generated:
    """Generated features and labels; unpacks as ``X, Y``.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), int8, in {0, 1}
    """

    X: np.ndarray
    Y: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.X, self.Y))

    def as_dataset(self, name: str = "generated") -> Dataset:
        """Return the data, without the truth, as a ``Dataset``."""
        return Dataset(
            self.X,
            self.Y,
            tuple(f"x{j}" for j in range(self.X.shape[1])),
            self._label_names(),
            name,
            source="generated",
            facets=getattr(self, "facets", None),
        )

    def _label_names(self) -> tuple[str, ...]:
        return tuple(f"y{label}" for label in range(self.Y.shape[1]))


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a generator for an int, None, ``Generator`` or scikit-learn's ``RandomState``."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def check_count(name: str, value: Any, low: int = 1, high: int | None = None) -> int:
    """Return ``value`` as an int if it is a whole number in a range."""
    check_whole(value, name, least=low)
    if high is not None and value > high:
        raise ValueError(
            f"{name} must be at most {high}, because the truth is found by enumeration; got {value}"
        )
    return int(value)


def check_range(name: str, value: float, low: float, high: float = np.inf) -> float:
    """Return ``value`` as a float if it is a number in a range."""
    check_real(value, name, least=low, most=high)
    return float(value)


def labelings(n_labels: int) -> np.ndarray:
    """Return all ``2 ** n_labels`` labelings; label ``l`` is bit ``l`` of the row number."""
    numbers = np.arange(1 << n_labels)
    return ((numbers[:, None] >> np.arange(n_labels)) & 1).astype(np.int8)


def row_blocks(n_samples: int, cells_per_row: int) -> Iterator[slice]:
    """Yield slices of the samples, each of about 16 MiB of cells."""
    step = max(1, _BLOCK_CELLS // max(1, cells_per_row))
    for start in range(0, n_samples, step):
        yield slice(start, min(start + step, n_samples))


def draw_rows(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column index per row of a table of probabilities."""
    upper = probabilities.cumsum(axis=1)
    drawn = rng.random(len(upper)) * upper[:, -1]
    return np.minimum((upper <= drawn[:, None]).sum(axis=1), upper.shape[1] - 1)
