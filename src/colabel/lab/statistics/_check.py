"""What the tests take: complete tables and samples of numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["check_level", "check_pair", "check_sample", "check_table"]


def check_table(values: ArrayLike, n_datasets: int = 2) -> np.ndarray:
    """Return values as an array of shape (n_datasets, n_methods); raise if it is none."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(
            f"values need a row a dataset and a column a method, not {table.ndim} axes"
        )
    if len(table) < n_datasets or table.shape[1] < 2:
        needed = f"at least {n_datasets} datasets and 2 methods are needed"
        raise ValueError(f"{needed}, not {len(table)} and {table.shape[1]}")
    for row, column in np.argwhere(~np.isfinite(table)):
        what = f"the value of dataset {row} and method {column}"
        raise ValueError(f"{what} is missing: leave one of them out")
    return table


def check_sample(values: ArrayLike, n_values: int = 1) -> np.ndarray:
    """Return values as an array of one axis; raise if it is none."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < n_values:
        plural = "s" if n_values > 1 else ""
        raise ValueError(f"at least {n_values} value{plural} on one axis, not {sample.shape}")
    for missing in np.flatnonzero(~np.isfinite(sample)):
        raise ValueError(f"value {missing} is missing: leave it out")
    return sample


def check_pair(first: ArrayLike, second: ArrayLike, n_values: int = 1) -> np.ndarray:
    """Return ``second - first``, value by value."""
    one, other = check_sample(first, n_values), check_sample(second, n_values)
    if len(one) != len(other):
        counts = f"{len(one)}, {len(other)}"
        raise ValueError(f"two methods need as many values as another, not {counts}")
    difference: np.ndarray = other - one
    return difference


def check_level(alpha: float, name: str = "alpha") -> float:
    """Return a probability that is neither 0 nor 1."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, not at {alpha}")
    return alpha
