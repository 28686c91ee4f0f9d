"""Rows that repeat: each different row once, in an order that does not depend on theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.labelsets._targets import Codes
from colabel.numerics.distinct_rows import number_rows, tidy_rows

__all__ = ["distinct_rows"]


def distinct_rows(X: Any, codes: Codes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows that differ in features or classes.

    What is drawn by chance from these and their weights is the same for a row of weight two and
    for the row twice, wherever it stands.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples, n_sets)

    Returns
    -------
    first : ndarray of shape (n_distinct,)
        Where each of them stands first. Their order is arbitrary, but depends on the set of rows
        alone, and is the same for dense and sparse features.
    number : ndarray of shape (n_samples,)
        ``first[number]`` are rows equal to all.

    Notes
    -----
    O(entries that are not zero + n log n).

    Examples
    --------
    >>> X, codes = np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([[0], [0], [0], [1]])
    >>> first, number = distinct_rows(X, codes)
    >>> sorted(first.tolist()), X[first[number]].ravel().tolist()
    ([0, 1, 3], [1.0, 2.0, 1.0, 1.0])
    """
    _, texts = tidy_rows(X)
    classes = codes.astype(np.int64)
    return number_rows(row.tobytes() + text for row, text in zip(classes, texts, strict=True))
