"""The best labeling of connected labels that is not empty, where the empty one is the best.

It has a first label: that is on, those before it are off, and what remains is a search among the
labels after it, for scores above the best so far.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from colabel.decoders._climb import best_of, pair_score
from colabel.decoders._connected import Connected, solve_wide
from colabel.decoders._tolerance import Tolerance
from colabel.decoders.base import Floats, Labels
from colabel.decoders.spins import Spins
from colabel.decoders.tree_search import Budget, Counts, search

__all__ = ["best_nonempty"]

# Single labels from which to climb.
STARTS = 8

Answer = tuple[Labels, Floats, Floats]


def best_nonempty(part: Connected, unary: Floats, budget: Budget, nodes: Counts) -> Answer:
    """Return labels, their scores and bounds of these; ``nodes`` used are taken off."""
    if len(part.labels) == 1:
        return np.ones(unary.shape, np.int8), unary[:, 0], unary[:, 0]
    tolerance = Tolerance.of(unary, part.matrix)
    labels, value, bound = np.ones(unary.shape, np.int8), np.empty(len(unary)), np.empty(len(unary))
    rows, wide = np.flatnonzero(~tolerance.wide), np.flatnonzero(tolerance.wide)
    if len(rows):
        now, some, left = budget.share(len(unary) / len(rows)), unary[rows], nodes[rows]
        labels[rows], value[rows], bound[rows] = _together(
            part, some, tolerance.take(rows), now, left
        )
        nodes[rows] = left
    for turn, row in enumerate(wide):
        now, left = budget.share(len(wide) - turn), nodes[row : row + 1]
        labels[row], value[row], bound[row] = _wide(unary[row], part.matrix, now, left)
    return labels, value, bound


def _together(
    part: Connected, unary: Floats, tolerance: Tolerance, budget: Budget, nodes: Counts
) -> Answer:
    price, n_labels = tolerance.price, unary.shape[1]
    if part.twins is not None:
        labels = part.twins.solve(unary - price[:, None], True)
        value = pair_score(unary, part.matrix, labels)
        return labels, value, value + tolerance.doubt
    labels = _climbed(unary - price[:, None], part.matrix)
    best = pair_score(unary, part.matrix, labels) - price * labels.sum(axis=1)
    bound = np.full(len(unary), -np.inf)
    # The last label alone is no more than where the climb began.
    for first in range(n_labels - 1):
        after = np.arange(first + 1, n_labels)
        inner, between = _after(unary, part.matrix, first)
        own = unary[:, first] - price
        box = own + Spins.of_arrays(inner, between).box
        rows = np.flatnonzero(box > best)
        if budget.spent:
            late, rows = rows, rows[:0]
        else:
            late, rows = rows[nodes[rows] <= 0], rows[nodes[rows] > 0]
        bound[late] = np.maximum(bound[late], box[late] + price[late])
        if not len(rows):
            continue
        now, left, floor = budget.share(n_labels - first), nodes[rows], (best - own)[rows]
        now = replace(now, relax=now.relax and now.deadline is None)
        found = search(inner[rows], between, price[rows], now, left, floor=floor)
        nodes[rows] = left
        limit = np.where(found.closed, -np.inf, found.bound + own[rows] + price[rows])
        bound[rows] = np.maximum(bound[rows], limit)
        passed = found.labels[:, 0] >= 0
        better = rows[passed]
        best[better] = found.value[passed] + own[better]
        labels[better] = 0
        labels[better, first] = 1
        labels[np.ix_(better, after)] = found.labels[passed]
    value = pair_score(unary, part.matrix, labels)
    return labels, value, np.maximum(bound, value + tolerance.doubt)


def _wide(
    unary: Floats, matrix: Floats, budget: Budget, nodes: Counts
) -> tuple[Labels, float, float]:
    """Search one row of very different numbers."""
    n_labels = len(unary)
    labels = _climbed(unary[None], matrix)[0]
    value, bound = float(pair_score(unary[None], matrix, labels[None])[0]), -np.inf
    for first in range(n_labels):
        inner, between = _after(unary[None], matrix, first)
        box = float(unary[first] + Spins.of_arrays(inner, between).box[0])
        if box < value:
            continue
        if budget.spent or nodes[0] <= 0:
            bound = max(bound, box)
            continue
        now, trial = budget.share(n_labels - first), np.zeros(n_labels, np.int8)
        trial[first + 1 :], excess = solve_wide(inner[0], between, now, nodes)
        trial[first] = 1
        here = float(pair_score(unary[None], matrix, trial[None])[0])
        bound = max(bound, here + excess)
        if here > value or (here == value and trial.sum() < labels.sum()):
            labels, value = trial, here
    return labels, value, max(bound, value)


def _after(unary: Floats, matrix: Floats, first: int) -> tuple[Floats, Floats]:
    """Return the table of the labels after ``first``, which is on."""
    inner = unary[:, first + 1 :] + matrix[first, first + 1 :]
    return np.ascontiguousarray(inner), np.ascontiguousarray(matrix[first + 1 :, first + 1 :])


def _climbed(unary: Floats, matrix: Floats) -> Labels:
    """Return good labelings that are not empty, none worse than the best single label."""
    n_labels = unary.shape[1]
    first = np.argsort(-unary, axis=1, kind="stable")[:, : min(STARTS, n_labels)]
    # Each start is a strong label; half of them have on the label that it attracts most as well.
    second = np.argmax(unary[:, None, :] + matrix[first], axis=2)
    starts = np.zeros((len(unary), 2 * first.shape[1], n_labels), np.int8)
    both = np.concatenate([first, first], axis=1)
    np.put_along_axis(starts, both[:, :, None], np.int8(1), axis=2)
    np.put_along_axis(starts[:, first.shape[1] :], second[:, :, None], np.int8(1), axis=2)
    return best_of(unary, matrix, starts, nonempty=True)
