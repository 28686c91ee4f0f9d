"""The different label sets of a label matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["label_sets"]

# Entries of a sparse label matrix made dense at a time.
BLOCK_ENTRIES = 2**24


def label_sets(Y: Any) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Find the different rows of an encoded label matrix, and which of them each row is.

    Parameters
    ----------
    Y : int8 array or CSR array of shape (n_samples, n_labels), in {0, 1}

    Returns
    -------
    labelings : ndarray of shape (n_labelsets, n_labels), int8
        In lexicographic order.
    code : ndarray of shape (n_samples,), int64
        ``labelings[code]`` is ``Y``.

    Notes
    -----
    Rows are compared as strings of bits, an eighth of a byte a label; a sparse matrix is never
    dense as a whole.

    Examples
    --------
    >>> labelings, code = label_sets(np.array([[0, 1], [1, 0], [0, 1]], dtype=np.int8))
    >>> labelings.tolist(), code.tolist()
    ([[0, 1], [1, 0]], [0, 1, 0])
    """
    packed = _pack(Y)
    as_one = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, code = np.unique(as_one, return_index=True, return_inverse=True)
    labelings = np.unpackbits(packed[first], axis=1, count=Y.shape[1]).astype(np.int8)
    return labelings, code.reshape(-1).astype(np.int64)


def _pack(Y: Any) -> NDArray[np.uint8]:
    if not sparse.issparse(Y):
        return np.packbits(Y, axis=1)
    step = max(1, BLOCK_ENTRIES // Y.shape[1])
    starts = range(0, Y.shape[0], step)
    return np.concatenate([np.packbits(Y[i : i + step].toarray(), axis=1) for i in starts])
