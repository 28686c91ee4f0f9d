"""Making a pairwise table smaller without changing its optimum.

*Persistency* decides labels that the undecided ones cannot sway. *Clipping* replaces a repulsion
that is stronger than anything it could cost to obey it, so that one very large number does not
drown the others. What remains falls into connected parts.
"""

from __future__ import annotations

from math import fsum

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from colabel.decoders.base import Floats, Labels

__all__ = ["components", "reduced"]

# Any factor above one makes obeying strictly better than not.
CLIP = 1.5


def components(matrix: Floats) -> list[NDArray[np.int64]]:
    """Return the sets of labels that couplings join."""
    if not len(matrix):
        return []
    i, j = np.nonzero(matrix)
    graph = coo_array((np.ones(len(i)), (i, j)), shape=matrix.shape)
    count, part = connected_components(graph, directed=False)
    order = np.argsort(part, kind="stable")
    return np.split(order, np.cumsum(np.bincount(part, minlength=count))[:-1])


def reduced(unary: Floats, matrix: Floats) -> tuple[Labels, Floats, Floats]:
    """Decide labels of one table, and clip the couplings of the others.

    Parameters
    ----------
    unary : ndarray of shape (n_labels,)
    matrix : ndarray of shape (n_labels, n_labels)
        Symmetric, zero diagonal.

    Returns
    -------
    labels : ndarray of shape (n_labels,), int8
        0 or 1 where decided, -1 elsewhere.
    field : ndarray of shape (n_labels,)
        Unary scores of the undecided labels, given those decided.
    couplings : ndarray of shape (n_labels, n_labels)
        Clipped couplings of the undecided labels, 0 elsewhere.

    Notes
    -----
    A label gains at most ``high = field + sum of what attracts it``. If both labels of a pair are
    on and their coupling is below ``-high`` of one of them, turning that one off gains: the
    optimum is the same for every coupling below.
    """
    labels, rest, field = np.full(len(unary), -1, np.int8), matrix.copy(), unary.copy()
    while True:
        # Sums over undecided labels only, made anew: nothing large is added and taken off again.
        high = _sums(field, np.maximum(rest, 0.0))
        low = _sums(field, np.minimum(rest, 0.0))
        on, off = (labels < 0) & (low > 0.0), (labels < 0) & (high <= 0.0)
        if on.any() or off.any():
            labels[on], labels[off] = 1, 0
            rest[labels >= 0], rest[:, labels >= 0] = 0.0, 0.0
            field = np.array(
                [fsum((u, *c)) for u, c in zip(unary, matrix[:, labels == 1], strict=True)]
            )
            continue
        limit = -CLIP * np.minimum(high[:, None], high)
        clip = (rest < limit) & (labels < 0)[:, None] & (labels < 0)
        if not clip.any():
            return labels, field, rest
        rest[clip] = limit[clip]


def _sums(field: Floats, pairs: Floats) -> Floats:
    """Add the rows of ``pairs`` to ``field``, exactly where the sign depends on it."""
    total = field + pairs.sum(axis=1)
    size = np.abs(field) + np.abs(pairs).sum(axis=1)
    for j in np.flatnonzero(np.abs(total) <= 1e-12 * size):
        total[j] = fsum((field[j], *pairs[j]))
    return total
