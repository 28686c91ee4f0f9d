"""The different labelings of a label matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["distinct_labelings", "first_of_each"]

# Entries of a sparse label matrix made dense at a time.
BLOCK_ENTRIES = 2**24


def distinct_labelings(Y: Any) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Find the different rows of an encoded label matrix, and which of them each row is.

    Parameters
    ----------
    Y : int8 array or CSR array of shape (n_samples, n_labels), in {0, 1}

    Returns
    -------
    labelings : ndarray of shape (n_labelings, n_labels), int8
        In lexicographic order.
    code : ndarray of shape (n_samples,), int64
        ``labelings[code]`` is ``Y``.

    Notes
    -----
    Rows are compared as strings of bits, an eighth of a byte a label; a sparse matrix is never
    dense as a whole.

    Examples
    --------
    >>> labelings, code = distinct_labelings(np.array([[0, 1], [1, 0], [0, 1]], dtype=np.int8))
    >>> labelings.tolist(), code.tolist()
    ([[0, 1], [1, 0]], [0, 1, 0])
    """
    first, code = first_of_each(Y)
    labelings = Y[first].toarray() if sparse.issparse(Y) else Y[first]
    return (labelings != 0).astype(np.int8), code


def first_of_each(Y: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find a row of each labeling, in lexicographic order, and which labeling each row is.

    Parameters
    ----------
    Y : array or CSR array of shape (n_samples, n_labels), in {0, 1}

    Returns
    -------
    first : ndarray of shape (n_labelings,), int64
    code : ndarray of shape (n_samples,), int64
        ``Y[first][code]`` is ``Y``.
    """
    packed = _pack(Y)
    as_one = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, code = np.unique(as_one, return_index=True, return_inverse=True)
    return first.astype(np.int64), code.reshape(-1).astype(np.int64)


def _pack(Y: Any) -> NDArray[np.uint8]:
    if not sparse.issparse(Y):
        return np.ascontiguousarray(np.packbits(Y != 0, axis=1))
    step = max(1, BLOCK_ENTRIES // Y.shape[1])
    starts = range(0, Y.shape[0], step)
    return np.concatenate([np.packbits(Y[i : i + step].toarray() != 0, axis=1) for i in starts])
