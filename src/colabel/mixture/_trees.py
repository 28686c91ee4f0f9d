"""Regression trees as plain arrays: what is left of boosting when it is done.

They predict without the library that grew them, and can be stored without code.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

__all__ = ["ScoredRows", "Step", "TreeSums", "Trees"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

# Cells of sparse rows made dense at a time.
DENSE_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary regression trees, with one number of splits for all.

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

    @classmethod
    def stumps(cls, n_trees: int, n_splits: int, n_features: int) -> Self:
        """Make trees whose rows all go to leaf 0, of value 0: room for others."""
        shape = n_trees, n_splits
        leaf = np.full(shape, -1, dtype=np.int32)
        none, root = np.zeros(shape), np.zeros(shape, dtype=np.int32)
        return cls(root, none, leaf, leaf.copy(), np.zeros((n_trees, n_splits + 1)), n_features)

    @classmethod
    def concatenate(cls, parts: list[Self]) -> Self:
        """Join trees of the same number of splits; there must be at least one part."""
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name != "n_features"
        }
        return cls(**arrays, n_features=parts[0].n_features)

    def take(self, index: NDArray[Any]) -> Trees:
        """Keep some trees."""
        return Trees(
            self.feature[index],
            self.threshold[index],
            self.left[index],
            self.right[index],
            self.value[index],
            self.n_features,
        )

    def __len__(self) -> int:
        return len(self.value)

    def add_to(self, out: Floats, X: Any, owner: NDArray[np.int64]) -> None:
        """Add what each tree says to the line of ``out`` (n_lines, n_rows) that ``owner`` names.

        Parameters
        ----------
        out : ndarray of shape (n_lines, n_rows)
        X : ndarray or csr_array of shape (n_rows, n_features), float64
        owner : ndarray of shape (n_trees,)
        """
        from colabel._kernels.trees import add_trees

        if X.shape[1] != self.n_features:
            raise ValueError(f"trees of {self.n_features} features cannot read {X.shape[1]}")
        if not len(self):
            return
        if owner.shape != (len(self),) or owner.min() < 0 or owner.max() >= len(out):
            raise ValueError("trees need a line each")
        arrays = self.threshold, self.left, self.right, self.value, owner
        if not sparse.issparse(X):
            add_trees(X, self.feature, *arrays, out)
            return
        used, feature = np.unique(self.feature, return_inverse=True)
        feature = feature.reshape(self.feature.shape)
        step = max(1, DENSE_CELLS // len(used))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            dense = np.ascontiguousarray(X[rows][:, used].toarray())
            add_trees(dense, feature, *arrays, out[:, rows])

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


@dataclass(frozen=True, eq=False)
class Step:
    """What one M-step adds to the lines of a sum: a shift each, and trees.

    Parameters
    ----------
    trees : Trees
    lines : ndarray of shape (n_trees,)
        Line that each tree belongs to.
    shift : ndarray of shape (n_lines,)
    """

    trees: Trees
    lines: NDArray[np.int64]
    shift: Floats


@dataclass(eq=False)
class ScoredRows:
    """Rows, and the scores they have so far: later steps are added, earlier ones not repeated.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features), float64
    scores : ndarray of shape (n_lines, n_rows)
    steps : list of Step
        Where they come from.
    n_steps : int
        How many of these the scores contain.
    """

    X: Any
    scores: Floats
    steps: list[Step]
    n_steps: int = 0


class TreeSums(BaseEstimator):
    """Scores that are sums of trees, a line for each regression.

    Attributes
    ----------
    n_lines : int
    steps : list of Step
    """

    def __init__(self) -> None:
        self.n_lines = 0
        self.steps: list[Step] = []

    def view(self, X: Any) -> ScoredRows:
        """Return rows that no step has scored yet."""
        X = sparse.csr_array(X) if sparse.issparse(X) else np.ascontiguousarray(X)
        return ScoredRows(X, np.zeros((self.n_lines, X.shape[0])), self.steps)

    def scores(self, rows: ScoredRows) -> Floats:
        """Bring rows up to date and return their scores: (n_lines, n_rows)."""
        if rows.steps is not self.steps:  # made before `keep`
            rows.scores, rows.steps, rows.n_steps = rows.scores[:0], self.steps, 0
        more = self.n_lines - len(rows.scores)
        if more:
            rows.scores = np.concatenate([rows.scores, np.zeros((more, rows.X.shape[0]))])
        for step in self.steps[rows.n_steps :]:
            rows.scores[: len(step.shift)] += step.shift[:, None]
            step.trees.add_to(rows.scores, rows.X, step.lines)
        rows.n_steps = len(self.steps)
        return rows.scores

    def add(self, grown: list[tuple[Trees, NDArray[np.int64]]], shift: Floats) -> None:
        """Add a step: trees with their lines, part by part, and a shift of each line."""
        if grown:
            trees = Trees.concatenate([part for part, _ in grown])
            self.steps.append(Step(trees, np.concatenate([lines for _, lines in grown]), shift))

    def keep(self, lines: NDArray[np.int64]) -> None:
        """Keep some lines, in the order given, as one step."""
        number = np.full(self.n_lines, -1)
        number[lines] = np.arange(len(lines))
        shift = np.zeros(self.n_lines)
        grown = []
        for step in self.steps:
            shift[: len(step.shift)] += step.shift
            kept = number[step.lines] >= 0
            grown.append((step.trees.take(kept), number[step.lines[kept]]))
        self.n_lines, self.steps = len(lines), []
        self.add(grown, shift[lines])
