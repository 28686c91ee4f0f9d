"""Sums of trees that grow step by step: what boosted experts and gates are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from colabel.trees.arrays import Trees

__all__ = ["ScoredRows", "Step", "TreeSums"]

Floats = NDArray[np.float64]


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
