"""Boosted trees as plain arrays: they predict without the library that grew them.

Stored in a model file they are data, checked when they are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Trees", "read_lightgbm"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

# Cells of sparse rows made dense at a time.
DENSE_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary regression trees, with room for the same number of splits in each.

    Parameters
    ----------
    feature, threshold : ndarray of shape (n_trees, n_splits)
        A row goes left where its feature is at most the threshold. Split 0 is the root.
    left, right : ndarray of shape (n_trees, n_splits)
        Where it goes: another, later split, or leaf ``l`` as ``-1 - l``.
    value : ndarray of shape (n_trees, n_splits + 1)
        Of each leaf.
    n_features : int
    """

    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    value: Floats
    n_features: int

    def sums(self, X: Any, n_lines: int) -> Floats:
        """Add up the trees: tree ``t`` belongs to line ``t % n_lines``.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n_rows, n_features), float64, finite
        n_lines : int

        Returns
        -------
        ndarray of shape (n_lines, n_rows)
        """
        from colabel._kernels.trees import add_trees

        out = np.zeros((n_lines, X.shape[0]))
        rest = self.threshold, self.left, self.right, self.value
        owner = np.arange(len(self.value)) % n_lines
        if not sparse.issparse(X):
            add_trees(np.ascontiguousarray(X), self.feature, *rest, owner, out)
            return out
        used, feature = np.unique(self.feature, return_inverse=True)
        feature = feature.reshape(self.feature.shape).astype(np.int32)
        step = max(1, DENSE_CELLS // len(used))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            dense = np.ascontiguousarray(X[rows][:, used].toarray())
            add_trees(dense, feature, *rest, owner, out[:, rows])
        return out

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a stored state, after checking that compiled code can walk it safely."""
        self.__dict__.update(state)
        if not self._is_sound():
            raise ValueError("the trees lead out of their arrays")

    def _is_sound(self) -> bool:
        splits = (self.feature, self.threshold, self.left, self.right)
        shape = self.feature.shape
        if len(shape) != 2 or shape[1] < 1 or any(array.shape != shape for array in splits):
            return False
        if self.value.shape != (shape[0], shape[1] + 1):
            return False
        if not ((self.feature >= 0) & (self.feature < self.n_features)).all():
            return False
        children = np.stack([self.left, self.right])
        later = (children > np.arange(shape[1])) & (children < shape[1])
        return bool((later | ((children < 0) & (children >= -1 - shape[1]))).all())


def read_lightgbm(text: str, n_leaves: int, n_features: int) -> Trees:
    """Read the trees in the text form of a LightGBM model, of at most ``n_leaves`` leaves each.

    A tree without a split sends every row to leaf 0.
    """
    blocks = text.split("\nTree=")[1:]
    shape = len(blocks), max(n_leaves - 1, 1)
    arrays: dict[str, NDArray[Any]] = {
        "split_feature": np.zeros(shape, dtype=np.int32),
        "threshold": np.zeros(shape),
        "left_child": np.full(shape, -1, dtype=np.int32),
        "right_child": np.full(shape, -1, dtype=np.int32),
        "leaf_value": np.zeros((shape[0], shape[1] + 1)),
    }
    for t, block in enumerate(blocks):
        for line in block.partition("\n\n")[0].splitlines():
            name, _, numbers = line.partition("=")
            if name in arrays:
                found = numbers.split()
                arrays[name][t, : len(found)] = found
    feature, threshold, left, right, value = arrays.values()
    return Trees(feature, threshold, left, right, value, n_features)
