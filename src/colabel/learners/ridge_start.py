"""Ridge regressions of labels: where learners that take a fixed number of steps start."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import solve

from colabel.learners.margin import MarginProblem
from colabel.roles import Floats, Labels

__all__ = ["ridge_start", "ridge_weights"]

# Rows or features beyond which no ridge regression is solved to start from.
RIDGE_SIZE = 5000


def ridge_start(problem: MarginProblem) -> Floats:
    """Return parameters of ridge regressions without pairs, as the code of the 2015 paper starts.

    A label is right by a margin of one there; by one over their number in a modular loss. Zeros
    where there are too many rows and features.
    """
    model = problem.model
    if min(problem.X.shape) > RIDGE_SIZE:
        return np.zeros(model.size)
    W = ridge_weights(problem.X, problem.Y, problem.share, problem.penalty, model.constant)
    margin = 1.0 / model.n_labels if problem.loss.structure == "modular" else 1.0
    return np.concatenate([margin * W.ravel(), np.zeros(model.size - model.n_unary)])


def ridge_weights(
    X: sparse.csr_array, Y: Labels, share: Floats, penalty: float, constant: float
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
