"""Improving many labelings at once by flips of single labels.

In NumPy: a search needs a few labelings to start from, and compiling the kernels of
``colabel._kernels.rounding`` would take longer than most searches.
"""

from __future__ import annotations

import numpy as np

from colabel.decoders.base import Floats, Labels

__all__ = ["best_of", "climb", "pair_score"]


def pair_score(unary: Floats, matrix: Floats, labels: Labels) -> Floats:
    """Score each row of ``labels``."""
    Z = labels.astype(np.float64)
    return np.einsum("il,il->i", unary + 0.5 * (Z @ matrix), Z)


def climb(unary: Floats, matrix: Floats, labels: Labels, nonempty: bool = False) -> None:
    """Flip the label of each row that gains most until none gains, in place.

    O(n_labels) a flip and row. ``nonempty`` keeps the last label on.
    """
    rows, sign = np.arange(len(labels)), 1.0 - 2.0 * labels
    field = unary + labels.astype(np.float64) @ matrix
    for _ in range(4 * labels.shape[1]):
        gain = sign * field[rows]
        if nonempty:
            last = (sign < 0.0) & (np.sum(sign < 0.0, axis=1, keepdims=True) == 1)
            gain[last] = -np.inf
        flip = np.argmax(gain, axis=1)
        better = gain[np.arange(len(rows)), flip] > 0.0
        rows, sign, flip = rows[better], sign[better], flip[better]
        if not len(rows):
            return
        step = sign[np.arange(len(rows)), flip]
        labels[rows, flip] ^= 1
        sign[np.arange(len(rows)), flip] = -step
        field[rows] += step[:, None] * matrix[flip]


def best_of(unary: Floats, matrix: Floats, labels: Labels, nonempty: bool = False) -> Labels:
    """Climb from several labelings of each row, and return the best reached.

    Parameters
    ----------
    unary : ndarray of shape (n_rows, n_labels)
    matrix : ndarray of shape (n_labels, n_labels)
    labels : ndarray of shape (n_rows, n_starts, n_labels), in {0, 1}
    nonempty : bool
        Starts are not empty, and the answer is not.

    Returns
    -------
    ndarray of shape (n_rows, n_labels)
    """
    n_rows, n_starts, n_labels = labels.shape
    starts, scores = labels.reshape(-1, n_labels).copy(), np.repeat(unary, n_starts, axis=0)
    climb(scores, matrix, starts, nonempty)
    value = pair_score(scores, matrix, starts).reshape(n_rows, n_starts)
    return starts.reshape(labels.shape)[np.arange(n_rows), np.argmax(value, axis=1)]
