"""Boosted trees as plain arrays: they predict without the library that grew them.

Stored in a model file they are data, checked when they are read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Trees", "on_grid", "read_lightgbm", "without_rare"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

# Cells of sparse rows made dense at a time.
DENSE_CELLS = 2**20
# Derivatives keep so many bits below the largest. Such numbers add up without error in any order:
# equally good splits are equal to the last bit, and a weighted row counts as if it were repeated.
GRID_BITS = 22


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary regression trees, with room for the same number of splits in each.

    A tree without a split sends every row to leaf 0.

    Parameters
    ----------
    feature, threshold : ndarray of shape (n_trees, n_splits)
        A row goes left where its feature is at most the threshold. Split 0 is the root.
    left, right : ndarray of shape (n_trees, n_splits)
        Where it goes: another, later split, or leaf ``l`` as ``-1 - l``.
    value : ndarray of shape (n_trees, n_splits + 1)
        Of each leaf.
    n_features : int
    single : bool, default=False
        Whether rows are rounded to single precision first, as those were that the trees were grown
        on. A row near a threshold could go another way without.
    """

    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    value: Floats
    n_features: int
    single: bool = False

    @classmethod
    def stumps(cls, n_trees: int, n_splits: int, n_features: int, single: bool = False) -> Self:
        """Make trees whose rows all go to leaf 0, of value 0: room for others."""
        shape = n_trees, n_splits
        leaf = np.full(shape, -1, dtype=np.int32)
        none, root = np.zeros(shape), np.zeros(shape, dtype=np.int32)
        value = np.zeros((n_trees, n_splits + 1))
        return cls(root, none, leaf, leaf.copy(), value, n_features, single)

    @classmethod
    def concatenate(cls, parts: list[Self]) -> Self:
        """Join trees of one kind: the same room, features and precision; at least one part."""
        columns = zip(*(part._arrays() for part in parts), strict=True)
        feature, threshold, left, right, value = (np.concatenate(column) for column in columns)
        return replace(
            parts[0], feature=feature, threshold=threshold, left=left, right=right, value=value
        )

    def take(self, index: NDArray[Any]) -> Self:
        """Keep some trees."""
        feature, threshold, left, right, value = (array[index] for array in self._arrays())
        return replace(
            self, feature=feature, threshold=threshold, left=left, right=right, value=value
        )

    def __len__(self) -> int:
        return len(self.value)

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.feature, self.threshold, self.left, self.right, self.value

    def sums(self, X: Any, n_lines: int) -> Floats:
        """Add up the trees: tree ``t`` belongs to line ``t % n_lines``; (n_lines, n_rows)."""
        out = np.zeros((n_lines, X.shape[0]))
        self.add_to(out, X, np.arange(len(self)) % n_lines)
        return out

    def add_to(self, out: Floats, X: Any, owner: NDArray[np.int64]) -> None:
        """Add what each tree says to the line of ``out`` that ``owner`` names.

        Parameters
        ----------
        out : ndarray of shape (n_lines, n_rows)
        X : ndarray or CSR array of shape (n_rows, n_features), float64, finite
        owner : ndarray of shape (n_trees,)
        """
        if X.shape[1] != self.n_features:
            raise ValueError(f"trees of {self.n_features} features cannot read {X.shape[1]}")
        if not len(self):
            return
        if owner.shape != (len(self),) or owner.min() < 0 or owner.max() >= len(out):
            raise ValueError("trees need a line each")
        if not sparse.issparse(X):
            self._add(out, X, self.feature, owner)
            return
        used, place = np.unique(self.feature, return_inverse=True)
        feature = place.reshape(self.feature.shape).astype(np.int32)
        step = max(1, DENSE_CELLS // len(used))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            self._add(out[:, rows], X[rows][:, used].toarray(), feature, owner)

    def _add(self, out: Floats, X: Floats, feature: Integers, owner: NDArray[np.int64]) -> None:
        from colabel._kernels.trees import add_trees

        if self.single:
            with np.errstate(over="ignore"):  # beyond single precision is beyond every threshold
                X = X.astype(np.float32).astype(np.float64)
        _, *rest = self._arrays()
        add_trees(np.ascontiguousarray(X), feature, *rest, owner, out)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a stored state, after checking that compiled code can walk it safely."""
        self.__dict__.update(state)
        if not self._is_sound():
            raise ValueError("the trees lead out of their arrays")

    def _is_sound(self) -> bool:
        *splits, _ = self._arrays()
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
    """Read the trees in the text form of a LightGBM model, of at most ``n_leaves`` leaves each."""
    blocks = text.split("\nTree=")[1:]
    trees = Trees.stumps(len(blocks), n_leaves - 1, n_features)
    arrays: dict[str, NDArray[Any]] = {
        "split_feature": trees.feature,
        "threshold": trees.threshold,
        "left_child": trees.left,
        "right_child": trees.right,
        "leaf_value": trees.value,
    }
    for t, block in enumerate(blocks):
        for line in block.partition("\n\n")[0].splitlines():
            name, _, numbers = line.partition("=")
            if name in arrays:
                found = numbers.split()
                arrays[name][t, : len(found)] = found
    return trees


def on_grid(values: Floats) -> Floats:
    """Round to multiples of a power of two, a little finer than trees can tell."""
    # A little above the largest, which is often a power of two but for rounding errors.
    exponent = np.frexp(1.1 * np.abs(values).max())[1]
    unit = np.ldexp(1.0, exponent - GRID_BITS)
    return np.rint(values / unit) * unit


def without_rare(X: Any, weight: Floats, least: float) -> Any:
    """Blank the features that rows of less weight than ``least`` have.

    A split by a feature leaves all rows that do not have it, whose value is zero, on one side: a
    leaf on the other weighs less than ``least``. Where no leaf may, such features only cost time,
    and places in the draw of those that a tree looks at: two of three words in three thousand
    documents. If every feature is rare, all are kept, since growers want one at least.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,)
    least : float
    """
    having = weight @ (X != 0)
    rare = having < least
    if rare.all() or not rare.any():
        return X
    if not sparse.issparse(X):
        return np.where(rare, 0.0, X)
    kept = X @ sparse.diags_array((~rare).astype(X.dtype), format="csr")
    kept.eliminate_zeros()
    return kept
