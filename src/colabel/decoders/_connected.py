"""Labels that couplings join, solved by the way that suits their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.decoders._reduction import components, reduced
from colabel.decoders._tolerance import Tolerance
from colabel.decoders._twins import Twins
from colabel.decoders.base import Floats, Labels
from colabel.decoders.tree_search import Budget, Counts, search

__all__ = ["Connected", "solve_wide"]


@dataclass(frozen=True, eq=False)
class Connected:
    """Labels joined by couplings, and their twins where they have enough of them."""

    labels: NDArray[np.int64]
    matrix: Floats
    twins: Twins | None

    @classmethod
    def of(cls, matrix: Floats, labels: NDArray[np.int64]) -> Connected:
        """Take the couplings between ``labels`` out of a larger matrix."""
        between = np.ascontiguousarray(matrix[np.ix_(labels, labels)])
        return cls(labels, between, Twins.of(between))

    def solve(self, unary: Floats, budget: Budget, nodes: Counts) -> tuple[Labels, Floats]:
        """Return labels, and by how much the best score may pass theirs.

        ``nodes`` is what each row may use; what it has used is taken off.
        """
        if len(self.labels) == 1:
            return (unary > 0).astype(np.int8), np.zeros(len(unary))
        tolerance = Tolerance.of(unary, self.matrix)
        labels, excess = np.zeros(unary.shape, np.int8), np.zeros(len(unary))
        rows, wide = np.flatnonzero(~tolerance.wide), np.flatnonzero(tolerance.wide)
        if len(rows):
            now, some, left = budget.share(len(unary) / len(rows)), unary[rows], nodes[rows]
            labels[rows], excess[rows] = self.solve_rows(some, tolerance.take(rows), now, left)
            nodes[rows] = left
        for turn, row in enumerate(wide):
            now, left = budget.share(len(wide) - turn), nodes[row : row + 1]
            labels[row], excess[row] = solve_wide(unary[row], self.matrix, now, left)
        return labels, excess

    def solve_rows(
        self, unary: Floats, tolerance: Tolerance, budget: Budget, nodes: Counts
    ) -> tuple[Labels, Floats]:
        """Solve rows together, whatever their numbers."""
        if self.twins is not None:
            return self.twins.solve(unary - tolerance.price[:, None], False), tolerance.doubt
        found = search(unary, self.matrix, tolerance.price, budget, nodes)
        value = found.value + tolerance.price * found.labels.sum(axis=1)
        gap = np.maximum(found.bound - value, tolerance.doubt)
        return found.labels, np.where(found.closed, tolerance.doubt, gap)


def solve_wide(
    unary: Floats, matrix: Floats, budget: Budget, nodes: Counts
) -> tuple[Labels, float]:
    """Solve one row of very different numbers: what is in doubt, part by part."""
    labels, field, rest = reduced(unary, matrix)
    doubtful, excess = np.flatnonzero(labels < 0), 0.0
    parts = components(rest[np.ix_(doubtful, doubtful)])
    for turn, local in enumerate(parts):
        part = Connected.of(rest, doubtful[local])
        row, now = field[part.labels][None], budget.share(len(parts) - turn)
        if len(local) == 1:
            labels[part.labels] = row[0] > 0
            continue
        found, lack = part.solve_rows(row, Tolerance.of(row, part.matrix), now, nodes)
        labels[part.labels] = found[0]
        excess += float(lack[0])
    # A search that ended early may hold a pair whose repulsion was clipped.
    on = doubtful[labels[doubtful] == 1]
    return labels, excess + 0.5 * float((rest - matrix)[np.ix_(on, on)].sum())
