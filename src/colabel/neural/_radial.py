"""Hidden layers of Gaussian bumps, and the least squares on top of them."""

from __future__ import annotations

import warnings
from functools import cache
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lstsq
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import ThreadpoolController

__all__ = [
    "bumps",
    "count_centres",
    "find_centres",
    "find_width",
    "solve_outputs",
    "spread",
]

Floats = NDArray[np.float64]

# Pairs of centres looked at for the mean distance.
MOST_CENTRES = 2000
KMEANS_STEPS = 100


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def count_centres(ratio: float, weight: float) -> int:
    """Return how many centres ``weight`` rows get: the share ``ratio`` of them, at least one."""
    return max(1, ceil(ratio * weight - 1e-9))  # 0.07 * 100 is a little above 7


def find_centres(
    X: Any,
    weight: Floats,
    n_centres: int,
    rng: np.random.RandomState,
    start: str = "k-means++",
) -> Floats:
    """Cluster weighted rows by k-means; fewer centres where there are fewer different rows.

    Parameters
    ----------
    X : array or CSR array of shape (n_samples, n_features)
    weight : ndarray of shape (n_samples,), positive
    n_centres : int
    rng : RandomState
    start : {"k-means++", "random"}
        Where clusters begin: rows far apart, or any; the second has fewer centres among outliers.

    Returns
    -------
    ndarray of shape (at most n_centres, n_features)
    """
    seed = rng.randint(np.iinfo(np.int32).max)
    n_centres = min(n_centres, X.shape[0])
    if n_centres == 1:
        return np.asarray(weight @ X).reshape(1, -1) / weight.sum()
    model = KMeans(n_centres, init=start, n_init=1, max_iter=KMEANS_STEPS, random_state=seed)
    # Threads would add up in an order of their own, and the last bit matters where rows of the
    # hidden layer are nearly dependent.
    with _controller().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # equal rows: fewer centres
        centres = model.fit(X, sample_weight=weight).cluster_centers_
    return np.unique(centres, axis=0)


def find_width(centres: Floats, factor: float) -> float:
    """Return ``factor`` times the mean distance between two centres; ``factor`` if there is none.

    Of very many centres, some that are evenly spaced stand for all.
    """
    step = -(-len(centres) // MOST_CENTRES)
    distances = pdist(centres[::step])
    mean = float(distances.mean()) if len(distances) else 0.0
    return factor * (mean if mean > 0.0 else 1.0)


def bumps(X: Any, centres: Floats, width: float) -> Floats:
    """Return ``exp(-|x - c|^2 / (2 width^2))`` of each centre, and a constant one: the layer."""
    if sparse.issparse(X):
        squares = euclidean_distances(X, centres, squared=True)
    else:
        squares = cdist(X, centres, "sqeuclidean")
    hidden = np.exp(squares / (-2.0 * width**2))
    return np.column_stack([hidden, np.ones(len(hidden))])


def solve_outputs(hidden: Floats, targets: Floats, weight: Floats, ridge: float) -> Floats:
    """Return the weights of least squares, of least norm where several are equally good.

    Minimises ``sum_i weight_i |hidden_i W - targets_i|^2 + ridge * sum(weight) * |W|^2`` by
    an orthogonal factorisation: O(n m^2). With ``ridge`` 0 the cut-off is at machine precision.
    Normal equations would lose half of the digits, and with bumps that overlap much they are all
    needed.
    """
    root = np.sqrt(weight)[:, None]
    A, T = root * hidden, root * targets
    if ridge > 0.0:
        floor = np.sqrt(ridge * weight.sum()) * np.eye(A.shape[1])
        A, T = np.vstack([A, floor]), np.vstack([T, np.zeros((A.shape[1], T.shape[1]))])
    with _controller().limit(limits=1, user_api="blas"):
        found: Floats = lstsq(A, T, np.finfo(np.float64).eps, lapack_driver="gelsy")[0]
    return found


def spread(X: Any, weight: Floats) -> Floats:
    """Return the standard deviation of each feature, weighted; 1 for a constant one."""
    share = weight / weight.sum()
    mean = np.asarray(share @ X).ravel()
    if sparse.issparse(X):
        square = np.asarray(share @ X.multiply(X)).ravel() - mean**2
    else:
        square = share @ (X - mean) ** 2
    # Rounding leaves a little of the square of the mean.
    constant = square <= 1e-13 * (mean**2 + square)
    return np.sqrt(np.where(constant, 1.0, square))
