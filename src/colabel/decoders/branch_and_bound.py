"""Certified best labelings for couplings of any sign, by branch and bound.

Labels that no coupling joins are decided apart: the table falls into the connected components of
its couplings, each of which is searched by ``colabel.decoders.tree_search``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from colabel.decoders.base import BaseDecoder, Floats, Labels
from colabel.decoders.spins import Spins
from colabel.decoders.tree_search import Budget, Found, label_price, search
from colabel.results import Decoded
from colabel.scores import Pairwise, ScoreTable

__all__ = ["BranchAndBound"]


class BranchAndBound(BaseDecoder):
    """Search the tree of labelings, closing branches by persistency and a semidefinite bound.

    Any couplings. Tables of up to about 40 labels are nearly always solved, and certified, in
    milliseconds; larger ones if few labels are in doubt. Where a limit ends the search first, the
    best labeling found is returned with a bound on the best there is (see ``Decoded.certified``).
    O(n_labels^3) a node.

    Parameters
    ----------
    max_nodes : int, default=10_000
        Nodes per sample and connected component of the couplings.
    time_limit : float or None, default=None
        Seconds for one call of ``decode``. Answers may then differ from run to run. Every sample
        gets its first node whatever the limit.

    Notes
    -----
    Scores that differ by less than 1e-13 of the largest number in the table count as equal, and
    then the fewest labels win.

    Examples
    --------
    >>> from colabel.scores import Pairwise
    >>> table = Pairwise([[1.0, 0.8, -0.5]], edges=[[0, 1], [1, 2]], couplings=[-3.0, 1.0])
    >>> found = BranchAndBound().decode(table)
    >>> found.labels, found.certified
    (array([[0, 1, 1]], dtype=int8), array([ True]))
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)

    def __init__(self, max_nodes: int = 10_000, time_limit: float | None = None) -> None:
        self.max_nodes = max_nodes
        self.time_limit = time_limit

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        spins = Spins.of(scores)
        problem = _Problem(
            scores.unary,
            spins.matrix,
            label_price(scores.unary, spins.matrix),
            Budget.of(self.max_nodes, self.time_limit),
        )
        labels, bound = problem.solve(_components(spins.matrix), nonempty)
        value = spins.value(labels)
        # Complete searches have bounds that differ from the value by prices and rounding only.
        near = bound <= value + 2.0 * scores.n_labels * problem.price + spins.rounding
        return Decoded(labels, value, np.where(near, value, np.maximum(bound, value)))


def _components(matrix: Floats) -> list[np.ndarray]:
    """Return the sets of labels that couplings join."""
    i, j = np.nonzero(matrix)
    graph = coo_array((np.ones(len(i)), (i, j)), shape=matrix.shape)
    count, part = connected_components(graph, directed=False)
    return [np.flatnonzero(part == c) for c in range(count)]


@dataclass(frozen=True, eq=False)
class _Problem:
    """Tables with shared couplings, the price of a label in each, and what may be spent."""

    unary: Floats
    matrix: Floats
    price: Floats
    budget: Budget

    def solve(self, parts: list[np.ndarray], nonempty: bool) -> tuple[Labels, Floats]:
        """Return labels and bounds."""
        labels = np.zeros(self.unary.shape, np.int8)
        bounds = np.zeros((len(parts), len(labels)))
        for p, part in enumerate(parts):
            labels[:, part], bounds[p] = self._solve_part(part)
        bound = bounds.sum(axis=0)
        rows = np.flatnonzero(~labels.any(axis=1))
        if nonempty and len(rows):
            few = _Problem(self.unary[rows], self.matrix, self.price[rows], self.budget)
            others = bound[rows] - bounds[:, rows]
            labels[rows], bound[rows] = few._solve_nonempty(parts, others)
        return labels, bound

    def _solve_part(self, part: np.ndarray) -> tuple[Labels, Floats]:
        """Find the best labeling of the labels in ``part``."""
        unary = np.ascontiguousarray(self.unary[:, part])
        if len(part) == 1:
            return (unary > 0).astype(np.int8), np.maximum(unary[:, 0], 0.0)
        found = search(unary, self._between(part), self.price, self.budget)
        return found.labels, found.bound

    def _solve_nonempty(self, parts: list[np.ndarray], others: Floats) -> tuple[Labels, Floats]:
        """Find the best labeling that is not empty, knowing that the empty one is the best.

        A labeling that is not empty has, in some component, a first label: it is on, those before
        it are off. What remains is a search among the labels after it; the ``others``, components
        of which nothing is known, add no more than their bounds.
        """
        labels = np.zeros(self.unary.shape, np.int8)
        best, bound = np.full(len(labels), -np.inf), np.full(len(labels), -np.inf)
        for p, part in enumerate(parts):
            for place, first in enumerate(part):
                rest = part[place + 1 :]
                found = self._solve_after(first, rest, best)
                bound = np.maximum(bound, found.bound + others[p])
                better = found.value > best
                labels[better] = 0
                labels[better, first] = 1
                labels[np.ix_(better, rest)] = found.labels[better]
                best = np.maximum(best, found.value)
        return labels, bound

    def _solve_after(self, first: int, rest: np.ndarray, best: Floats) -> Found:
        """Search the labels of ``rest`` where ``first`` is on, for scores above ``best``."""
        own = self.unary[:, first] - self.price
        if not len(rest):
            return Found(np.zeros((len(own), 0), np.int8), own, own)
        unary = np.ascontiguousarray(self.unary[:, rest] + self.matrix[first, rest])
        # The empty rest, of score zero, is known beforehand: hence its floor.
        floor = np.maximum(best - own, 0.0)
        found = search(unary, self._between(rest), self.price, self.budget, floor=floor)
        passed = (best < own) | (found.labels[:, 0] >= 0)
        value = np.where(passed, found.value + own, -np.inf)
        return Found(np.maximum(found.labels, 0), value, found.bound + own)

    def _between(self, part: np.ndarray) -> Floats:
        return np.ascontiguousarray(self.matrix[np.ix_(part, part)])
