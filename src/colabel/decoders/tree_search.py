"""Branch and bound over one connected set of labels, within a budget of nodes and time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from colabel.decoders.base import Floats, Labels
from colabel.decoders.mixing import dual_bound, random_factors, rank_for
from colabel.decoders.spins import Spins

__all__ = ["Budget", "Found", "label_price", "search"]

# Price of a label, as a share of the largest number in the table: it decides between ties.
TIE = 1e-13
# Nodes spent on finding fewer labels of the same score, where scores are whole numbers of a unit.
TIE_NODES = 1000
NOISE = 0.05


@dataclass(frozen=True)
class Budget:
    """Nodes per sample, and the moment at which to stop."""

    max_nodes: int
    deadline: float | None

    @classmethod
    def of(cls, max_nodes: int, time_limit: float | None) -> Budget:
        """Start the clock."""
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        return cls(max_nodes, deadline)

    @property
    def spent(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.perf_counter() >= self.deadline


@dataclass(frozen=True, eq=False)
class Found:
    """Best labels found, their score less prices, and a bound of what there is.

    Where nothing passed the floor given, the score is the floor and the labels are all -1.
    """

    labels: Labels
    value: Floats
    bound: Floats


def label_price(unary: Floats, matrix: Floats) -> Floats:
    """Return what each label costs, per row: too little to matter but between ties."""
    largest = np.max(np.abs(unary), axis=1, initial=0.0)
    return TIE * np.maximum(largest, np.max(np.abs(matrix), initial=0.0))


def search(
    unary: Floats, matrix: Floats, price: Floats, budget: Budget, *, floor: Floats | None = None
) -> Found:
    """Maximise ``unary'y + y'(matrix / 2)y - price |y|`` over labelings, for each row.

    Parameters
    ----------
    unary : ndarray of shape (n_rows, n_labels)
    matrix : ndarray of shape (n_labels, n_labels)
        Symmetric, zero diagonal.
    price : ndarray of shape (n_rows,)
        See `label_price`.
    budget : Budget
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
    unit, paid = _unit(unary, matrix), unary - price[:, None]
    whole = np.flatnonzero(unit)
    used, first = paid.copy(), floor.copy()
    used[whole] = unary[whole]
    first[whole] = _whole_units(floor + 2.0 * unary.shape[1] * price, unit)[whole]
    trees = _Trees(used, matrix, 0.99 * unit, labels, first)
    trees.grow(budget, budget.max_nodes)
    bound = np.maximum(trees.bound(budget), floor)
    labels = trees.labels
    value = np.where(labels[:, 0] >= 0, trees.best[:, 0], floor)
    if len(whole):
        # Labels of -1 are none: their score is the floor, which has its prices taken off.
        value[whole] -= price[whole] * np.maximum(labels[whole], 0).sum(axis=1)
        again = _Trees(paid[whole], matrix, np.zeros(len(whole)), labels[whole], value[whole])
        again.grow(budget, min(TIE_NODES, budget.max_nodes))
        labels[whole], value[whole] = again.labels, again.best[:, 0]
    return Found(labels, value, bound)


class _Trees:
    """One search tree for each row, which can be grown in steps."""

    def __init__(
        self, unary: Floats, matrix: Floats, slack: Floats, labels: Labels, floor: Floats
    ) -> None:
        n_rows, n_labels = unary.shape
        rank, rng = rank_for(n_labels), np.random.RandomState(0)
        noise = NOISE * rng.standard_normal((rank, n_labels))
        self.unary, self.matrix, self.slack = np.ascontiguousarray(unary), matrix, slack
        self.start = np.stack([random_factors(rng, rank, n_labels), noise])
        self.labels = labels.copy()
        self.best = np.stack([floor, np.full(n_rows, np.inf)], axis=1)
        self.state = np.zeros((n_rows, n_labels + 1, 3), np.int64)

    @property
    def open(self) -> np.ndarray:
        """Rows whose tree is not complete."""
        return np.flatnonzero(self.state[:, 0, 1] == 0)

    def grow(self, budget: Budget, max_nodes: int) -> None:
        """Add nodes until trees are complete, have ``max_nodes``, or the time is over."""
        if budget.deadline is None:
            self._add(np.arange(len(self.unary)), max_nodes)
            return
        self._add(np.arange(len(self.unary)), min(1, max_nodes))
        # About 50 ms of nodes at a time.
        step = max(1, int(1e7 / self.unary.shape[1] ** 2.7))
        for row in self.open:
            while self.state[row, 0, 1] == 0 and self.state[row, 0, 2] < max_nodes:
                if budget.spent:
                    return
                self._add(np.array([row]), min(step, max_nodes - int(self.state[row, 0, 2])))

    def _add(self, rows: np.ndarray, nodes: int) -> None:
        from colabel._kernels.branch_bound import search_rows

        labels, best, state = self.labels[rows], self.best[rows], self.state[rows]
        unary, slack = self.unary[rows], self.slack[rows]
        search_rows(unary, self.matrix, self.start, nodes, slack, labels, best, state)
        self.labels[rows], self.best[rows], self.state[rows] = labels, best, state

    def bound(self, budget: Budget) -> Floats:
        """Bound the score of each row: by its open nodes, and by the relaxation at its root."""
        bound = self.best.max(axis=1)
        for row in self.open:
            if not budget.spent:
                bound[row] = min(bound[row], self._root_bound(self.unary[row]))
        rows = self.open
        box = Spins.of_arrays(self.unary[rows], self.matrix).box
        bound[rows] = np.maximum(np.minimum(bound[rows], box), self.best[rows, 0])
        return bound

    def _root_bound(self, unary: Floats) -> float:
        from colabel._kernels.mixing import climb_vectors, fill_gradient

        spins = Spins.of_arrays(unary[None], self.matrix)
        X, W = self.start[0].copy(), 0.25 * self.matrix
        G = np.empty_like(X)
        fill_gradient(spins.linear[0], W, X, G)
        climb_vectors(spins.linear[0], W, X, G, 1e-7, 1000)
        bound = dual_bound(spins.linear, self.matrix, X[None], G[None])
        return float((spins.constant + bound + spins.rounding)[0])


def _unit(unary: Floats, matrix: Floats) -> Floats:
    """Return the power of two of which all numbers of a row are multiples; 0 if it is tiny."""
    shared = _lowest_bit(matrix).min(initial=np.inf)
    unit = np.minimum(_lowest_bit(unary).min(axis=1, initial=np.inf), shared)
    largest = np.maximum(np.abs(unary).max(axis=1, initial=0.0), np.abs(matrix).max(initial=0.0))
    return np.where((unit < np.inf) & (unit >= 1e-6 * largest), unit, 0.0)


def _whole_units(numbers: Floats, unit: Floats) -> Floats:
    """Round down to multiples of the unit, where there is one."""
    safe = np.where(unit > 0.0, unit, 1.0)
    return np.where(unit > 0.0, safe * np.floor(numbers / safe), numbers)


def _lowest_bit(numbers: Floats) -> Floats:
    """Return the value of the last bit set in each number, infinity for zeros."""
    mantissa, exponent = np.frexp(numbers)
    bits = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    low = np.ldexp((bits & -bits).astype(np.float64), exponent - 53)
    return np.where(numbers == 0, np.inf, low)
