"""The semidefinite relaxation with a loss of counts added: the best over all numbers of labels.

For a given number of labels the loss is linear (Eq. 14 of Lajugie et al. 2015, its sign corrected),
and the relaxation one of fixed size (Eq. 17). Most sizes need not be solved: the multiplier of one
size bounds all others, because with it the relaxation is free of its size, and at another one the
loss differs by little. Sizes are taken by falling bound until none is above what was found.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colabel.decoders.base import Floats
from colabel.decoders.fixed_size import solve_fixed_size
from colabel.decoders.spectral import SizeBasis, Table, by_size, loss_lines
from colabel.decoders.spins import Spins
from colabel.results import RelaxedSolution

__all__ = ["best_sizes"]

Index = NDArray[np.int64]
Climb = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
Bound = Callable[[Floats, Floats, Floats], Floats]
Solvers = tuple[Climb, Bound, float]


def best_sizes(
    spins: Spins,
    truth: Floats,
    counts_table: Table,
    nonempty: bool,
    first: Floats,
    solvers: Solvers,
) -> RelaxedSolution:
    """Solve the relaxation for each row at its best number of labels.

    Parameters
    ----------
    spins : Spins
    truth : ndarray of shape (n_samples, n_labels), in {0, 1}
    counts_table : callable
    nonempty : bool
    first : ndarray of shape (rank, n_labels)
        Factors to start from.
    solvers : tuple of two callables and a float
        ``climb(B, W, X)``; ``bound(B, W, X)``, which bounds the free relaxation near ``X``; and how
        close to its bound a solution must be, in units of all scores.
    """
    search = _Search(spins, first, solvers)
    for rows, n_true in by_size(truth):
        lines = loss_lines(np.asarray(counts_table(n_true, truth.shape[1])))
        search.run(rows, truth[rows], lines, nonempty)
    return RelaxedSolution(search.u, search.factors, search.value, search.upper)


class _Search:
    """What has been found for each row."""

    def __init__(self, spins: Spins, first: Floats, solvers: Solvers) -> None:
        self.spins, self.first, self.solvers = spins, first, solvers
        n_samples, n_labels = spins.linear.shape
        self.sizes = np.arange(n_labels + 1.0)
        self.basis = SizeBasis(spins)
        self.u = np.zeros((n_samples, n_labels))
        self.factors = np.zeros((n_samples, 2 * len(first), n_labels))
        self.value, self.upper = np.full(n_samples, -np.inf), np.full(n_samples, np.inf)

    def run(self, rows: Index, truth: Floats, lines: Floats, nonempty: bool) -> None:
        """Solve rows with as many true labels."""
        use = np.ones(len(lines))
        use[0] = not nonempty
        # The sphere's best size is a good one to begin with.
        sphere = self.basis.solve(rows, truth, lines, use)[1]
        size = np.rint(0.5 * (sphere.sum(axis=1) + truth.shape[1])).astype(np.int64)
        bounds = np.where(use > 0, np.inf, -np.inf) + np.zeros((len(rows), 1))
        solved = np.zeros(bounds.shape, dtype=bool)
        todo = np.arange(len(rows))
        while len(todo):
            found = self._solve(rows[todo], truth[todo], lines, size)
            bounds[todo] = np.minimum(bounds[todo], found)
            solved[todo, size] = True
            waiting = np.where(solved[todo], -np.inf, bounds[todo])
            size = np.argmax(waiting, axis=1)
            worth = waiting.max(axis=1) > self.value[rows[todo]]
            todo, size = todo[worth], size[worth]
        self.upper[rows] = np.maximum(bounds.max(axis=1), self.value[rows])

    def _solve(self, rows: Index, truth: Floats, lines: Floats, size: Index) -> Floats:
        """Solve rows at a size each, keep what is better, and bound them at all sizes."""
        climb, bound, close = self.solvers
        n_true, n_labels = truth.sum(axis=1), truth.shape[1]
        slope = lines[size, 1]
        B = self.spins.linear[rows] + 0.5 * slope[:, None] * truth  # hits are y'(1 + s) / 2
        W, beta = 0.25 * self.spins.matrix, 2.0 * size - n_labels
        offset = self.spins.constant[rows, None] + lines[:, 0] + 0.5 * n_true[:, None] * lines[:, 1]
        X = np.tile(self.first, (len(rows), 1, 1))
        u, factors, value, multiplier = solve_fixed_size(B, W, X, beta, climb, close)
        self._keep(rows, value + offset[np.arange(len(rows)), size], u, factors)
        free = bound(B + multiplier[:, None], W, X) + self.spins.rounding[rows]
        change = 0.5 * n_true[:, None] * np.abs(lines[:, 1] - slope[:, None])
        return offset + free[:, None] - multiplier[:, None] * (2.0 * self.sizes - n_labels) + change

    def _keep(self, rows: Index, value: Floats, u: Floats, factors: Floats) -> None:
        better = value > self.value[rows]
        kept = rows[better]
        self.value[kept], self.u[kept], self.factors[kept] = (
            value[better],
            u[better],
            factors[better],
        )
