"""Ridge regression of labels: where the published learner starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve

__all__ = ["ridge_weights"]

Floats = NDArray[np.float64]


def ridge_weights(
    X: Any, Y: NDArray[np.int8], share: Floats, penalty: float, constant: float
) -> Floats:
    """Minimise ``penalty/2 |W|^2 + sum_n share_n/2 |W'x_n - y_n|^2`` for labels in {-1, +1}.

    Parameters
    ----------
    X : sparse array of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    share : ndarray of shape (n_samples,)
    penalty : float
    constant : float
        Value of one more feature.

    Returns
    -------
    ndarray of shape (n_features + 1, n_labels)
        A dense matrix of the smaller of n and d: for up to some thousand rows or features.
    """
    weighted = share[:, None] * (2.0 * Y - 1.0)
    if X.shape[1] < X.shape[0]:
        rows = sparse.csr_array(sparse.hstack([X, np.full((X.shape[0], 1), constant)]))
        gram = (rows.T @ (rows * share[:, None])).toarray()
        return _solve(gram, np.asarray(rows.T @ weighted), penalty)
    # In the space of samples: W is a combination of rows.
    gram = np.asarray((X @ X.T).todense()) + constant**2
    root = np.sqrt(share)
    combination = _solve(root[:, None] * gram * root, weighted / root[:, None], penalty)
    combination *= root[:, None]
    W = np.asarray(X.T @ combination)
    return np.vstack([W, constant * combination.sum(axis=0)])


def _solve(gram: Floats, targets: Floats, penalty: float) -> Floats:
    """Solve with a ridge, of the size of rounding errors at least."""
    floor = len(gram) * np.finfo(float).eps * float(np.trace(gram))
    ridge = max(penalty, floor, np.finfo(float).tiny)
    return np.asarray(solve(gram + ridge * np.eye(len(gram)), targets, assume_a="pos"))
