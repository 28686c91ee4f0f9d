"""Branch and bound over one connected set of labels, within a budget of nodes and time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.decoders._climb import best_of, pair_score
from colabel.decoders._tolerance import lowest_unit
from colabel.decoders.base import Floats, Labels
from colabel.decoders.mixing import dual_bound, random_factors, rank_for
from colabel.decoders.spins import Spins

__all__ = ["Budget", "Found", "search"]

# Nodes spent on finding fewer labels of the same score, where scores are whole numbers of a unit.
TIE_NODES = 1000
# Rank of the factors inside the tree: a bound needs multipliers, not the relaxation's optimum, and
# these are as good from few dimensions (159 labels: 6 for 19, the same nodes in two thirds of the
# time).
RANK, NOISE = 6, 0.05
# Random hyperplanes that round the relaxation at the root.
ROUNDINGS = 20
# A first node for every row may take this share of the time before roots are relaxed.
FIRST = 0.1
# Cells of the matrices whose eigenvalues are taken together.
CELLS = 4_000_000

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Budget:
    """What a search may spend besides nodes.

    ``deadline`` is the moment at which to stop, None for none; ``relax`` whether rows left open
    are bounded by the relaxation of their whole table, and this rounded.
    """

    deadline: float | None
    relax: bool = True

    @classmethod
    def of(cls, time_limit: float | None, relax: bool) -> Budget:
        """Start the clock."""
        return cls(None if time_limit is None else time.perf_counter() + time_limit, relax)

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        if self.deadline is None:
            return np.inf
        return max(0.0, self.deadline - time.perf_counter())

    @property
    def spent(self) -> bool:
        """Whether the time is over."""
        return self.left <= 0.0

    def share(self, n_shares: float) -> Budget:
        """Return the budget of the first of ``n_shares`` searches that divide what is left."""
        if self.deadline is None:
            return self
        return Budget(time.perf_counter() + self.left / max(1.0, n_shares), self.relax)


@dataclass(frozen=True, eq=False)
class Found:
    """Best labels found, their score less prices, and a bound on scores without prices.

    Where nothing passed the floor given, the score is the floor and the labels are all -1. Rows
    whose search is ``closed`` have no labeling of a higher score, up to ``Tolerance.rounding``.
    """

    labels: Labels
    value: Floats
    bound: Floats
    closed: NDArray[np.bool_]


def search(
    unary: Floats,
    matrix: Floats,
    price: Floats,
    budget: Budget,
    nodes: Counts,
    *,
    floor: Floats | None = None,
) -> Found:
    """Maximise ``unary'y + y'(matrix / 2)y - price |y|`` over labelings, for each row.

    Parameters
    ----------
    unary : ndarray of shape (n_rows, n_labels)
    matrix : ndarray of shape (n_labels, n_labels)
        Symmetric, zero diagonal.
    price : ndarray of shape (n_rows,)
        What a label costs: enough to decide between ties (see ``Tolerance.price``).
    budget : Budget
    nodes : ndarray of shape (n_rows,), int64
        Nodes each row may have. Those used are taken off, in place.
    floor : ndarray of shape (n_rows,) or None
        Only labelings above it are of interest. None stands for the empty labeling.

    Notes
    -----
    Where all numbers of a row are multiples of one unit, branches that cannot gain a whole unit
    are closed without regard to prices, and ties are settled in a second, short search: equal
    labels in large numbers would otherwise give a tree that does not end.
    """
    labels = np.full(unary.shape, -1, np.int8)
    if floor is None:
        labels[:], floor = 0, np.zeros(len(unary))
    unit, paid = lowest_unit(unary, matrix), unary - price[:, None]
    whole = np.flatnonzero(unit)
    used, first = paid.copy(), floor.copy()
    used[whole] = unary[whole]
    first[whole] = _whole_units(floor + 2.0 * unary.shape[1] * price, unit)[whole]
    trees = _Trees(used, matrix, 0.99 * unit, labels, first)
    trees.grow(budget, nodes, relax=budget.relax)
    bound = np.maximum(trees.bound(budget.relax), floor)
    bound = np.where(unit > 0.0, _whole_units(bound, unit), bound + unary.shape[1] * price)
    labels = trees.labels
    closed = trees.closed | ((unit > 0.0) & (bound <= trees.best[:, 0]))
    value = np.where(labels[:, 0] >= 0, trees.best[:, 0], floor)
    # Labels of -1 are none: their score is the floor, which has its prices taken off.
    value[whole] -= price[whole] * np.maximum(labels[whole], 0).sum(axis=1)
    again = whole[closed[whole]]
    if len(again):
        ties = _Trees(paid[again], matrix, np.zeros(len(again)), labels[again], value[again])
        nodes_left = np.minimum(TIE_NODES, nodes[again])
        allowed = nodes_left.copy()
        ties.grow(budget, nodes_left, relax=False)
        nodes[again] -= allowed - nodes_left
        labels[again], value[again] = ties.labels, ties.best[:, 0]
    return Found(labels, value, bound, closed)


class _Trees:
    """One search tree for each row, which can be grown in steps."""

    def __init__(
        self, unary: Floats, matrix: Floats, slack: Floats, labels: Labels, floor: Floats
    ) -> None:
        n_rows, n_labels = unary.shape
        rank, rng = min(RANK, rank_for(n_labels)), np.random.RandomState(0)
        noise = NOISE * rng.standard_normal((rank, n_labels))
        self.unary, self.matrix, self.slack = np.ascontiguousarray(unary), matrix, slack
        self.start = np.stack([random_factors(rng, rank, n_labels), noise])
        self.labels = labels.copy()
        self.best = np.stack([floor, np.full(n_rows, np.inf)], axis=1)
        self.root = np.full(n_rows, np.inf)
        self.bounds = np.full((n_rows, n_labels + 1), np.inf)
        self.state = np.zeros((n_rows, n_labels + 1, 3), np.int64)

    @property
    def closed(self) -> NDArray[np.bool_]:
        """Which trees are complete."""
        return self.state[:, 0, 1] != 0

    def grow(self, budget: Budget, nodes: Counts, *, relax: bool) -> None:
        """Add nodes until trees are complete, have used up ``nodes``, or the time is over.

        With a limit of time every row first has its root relaxed, whatever the limit, if roots
        are relaxed at all, and then the rows take turns.
        """
        if budget.deadline is None:
            for count in np.unique(nodes):
                self._add(np.flatnonzero(nodes == count), int(count), nodes)
            return
        # About 50 ms of nodes.
        step = max(1, int(1e7 / self.unary.shape[1] ** 2.7))
        if 0.05 * len(self.unary) / step <= FIRST * budget.left:
            self._add(np.flatnonzero(nodes > 0), 1, nodes)
        if relax:
            self._relax_roots(np.flatnonzero(~self.closed), tol=1e-5)
        self._take_turns(budget, nodes, step)

    def _take_turns(self, budget: Budget, nodes: Counts, step: int) -> None:
        count = 1
        while True:
            rows = np.flatnonzero(~self.closed & (nodes > 0))
            if not len(rows):
                return
            width = max(1, step // count)
            for begin in range(0, len(rows), width):
                if budget.spent:
                    return
                some = rows[begin : begin + width]
                self._add(some, int(min(count, nodes[some].min())), nodes)
            count = min(2 * count, step)

    def _add(self, rows: NDArray[np.int64], count: int, nodes: Counts) -> None:
        from colabel._kernels.branch_bound import search_rows

        if not len(rows):
            return
        labels, best, state = self.labels[rows], self.best[rows], self.state[rows]
        unary, slack, before = self.unary[rows], self.slack[rows], state[:, 0, 2].copy()
        bounds = self.bounds[rows]
        search_rows(unary, self.matrix, self.start, count, slack, labels, best, bounds, state)
        self.labels[rows], self.best[rows] = labels, best
        self.bounds[rows], self.state[rows] = bounds, state
        nodes[rows] -= state[:, 0, 2] - before

    def bound(self, relax: bool) -> Floats:
        """Bound the score of each row: by its open nodes, and by the relaxation at its root."""
        if relax:
            self._relax_roots(np.flatnonzero(~self.closed & np.isinf(self.root)), tol=1e-7)
        bound, rows = self.best.max(axis=1), np.flatnonzero(~self.closed)
        box = Spins.of_arrays(self.unary[rows], self.matrix).box
        least = np.minimum(np.minimum(bound[rows], self.root[rows]), box)
        bound[rows] = np.maximum(least, self.best[rows, 0])
        return bound

    def _relax_roots(self, rows: NDArray[np.int64], tol: float) -> None:
        """Bound rows by the relaxation of the whole table, and round it to labelings."""
        step = max(1, CELLS // (self.unary.shape[1] + 1) ** 2)
        for begin in range(0, len(rows), step):
            self._relax_block(rows[begin : begin + step], tol)

    def _relax_block(self, rows: NDArray[np.int64], tol: float) -> None:
        from colabel._kernels.mixing import climb_vectors, fill_gradient

        spins = Spins.of_arrays(self.unary[rows], self.matrix)
        n_labels = self.unary.shape[1]
        start = random_factors(np.random.RandomState(0), rank_for(n_labels), n_labels)
        X, W = np.tile(start, (len(rows), 1, 1)), 0.25 * self.matrix
        G = np.empty_like(X)
        for i, linear in enumerate(spins.linear):
            fill_gradient(linear, W, X[i], G[i])
            climb_vectors(linear, W, X[i], G[i], tol, 1000)
        dual = dual_bound(spins.linear, W, X, G)
        self.root[rows] = spins.constant + dual + spins.rounding
        draws = np.random.RandomState(0).standard_normal((ROUNDINGS, X.shape[1]))
        draws[:, 0], draws[0, 1:] = 1.0, 0.0
        labels = best_of(spins.unary, self.matrix, (draws @ X > 0.0).astype(np.int8))
        value = pair_score(spins.unary, self.matrix, labels)
        better = value > self.best[rows, 0]
        self.labels[rows[better]], self.best[rows[better], 0] = labels[better], value[better]
        target = self.best[rows, 0] + self.slack[rows]
        self.state[rows[self.root[rows] <= target], 0, 1] = 1


def _whole_units(numbers: Floats, unit: Floats) -> Floats:
    """Round down to multiples of the unit, where there is one."""
    safe = np.where(unit > 0.0, unit, 1.0)
    return np.where(unit > 0.0, safe * np.floor(numbers / safe), numbers)
