"""Ridge regression of labels: where the published learner starts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
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
        O(min(n, d)^2 max(n, d)), dense: for data of up to some thousand rows or features.
    """
    root = np.sqrt(share)[:, None]
    rows = root * np.column_stack([X.toarray(), np.full(X.shape[0], constant)])
    targets = root * (2.0 * Y - 1.0)
    n, d = rows.shape
    if d <= n:
        gram = rows.T @ rows + penalty * np.eye(d)
        return np.asarray(solve(gram, rows.T @ targets, assume_a="pos"))
    gram = rows @ rows.T + penalty * np.eye(n)
    return np.asarray(rows.T @ solve(gram, targets, assume_a="pos"))
