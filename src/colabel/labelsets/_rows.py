"""Rows that repeat: each different row once, in an order that does not depend on theirs."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.labelsets._targets import Codes

__all__ = ["distinct_rows"]

# Bytes that stand for a row: of a million different rows two are alike once in 10^27 times.
SIZE = 16


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
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()  # sorts columns as well
    rows.eliminate_zeros()
    columns, classes = rows.indices.astype(np.int64), codes.astype(np.int64)
    keys = b"".join(
        blake2b(
            classes[i].tobytes() + columns[a:b].tobytes() + rows.data[a:b].tobytes(),
            digest_size=SIZE,
        ).digest()
        for i, (a, b) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True))
    )
    as_one = np.frombuffer(keys, dtype=np.dtype((np.void, SIZE)))
    _, first, number = np.unique(as_one, return_index=True, return_inverse=True)
    return first, number.reshape(-1)
