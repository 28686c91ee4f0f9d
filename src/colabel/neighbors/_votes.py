"""What the neighbours' labels say: weighted votes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.neighbors._search import Neighbors

__all__ = ["WEIGHTS", "neighbor_weights", "votes"]

Floats = NDArray[np.float64]

WEIGHTS = ("uniform", "mild", "distance")
# Votes are rounded here: those that are equal but for the order of a sum tie.
DECIMALS = 12


def neighbor_weights(distance: Floats, kind: str) -> Floats:
    """Weigh the neighbours of each query by their distance; weights add up to one.

    Parameters
    ----------
    distance : ndarray of shape (n_queries, k)
    kind : {"uniform", "mild", "distance"}
        All alike; ``1 - d / sum(d)``, which does little more than break ties; or ``1 / d``, where
        neighbours at distance 0 share all the weight.

    Examples
    --------
    >>> d = np.array([[1.0, 1.0, 2.0]])
    >>> neighbor_weights(d, "mild"), neighbor_weights(d, "distance")
    (array([[0.375, 0.375, 0.25 ]]), array([[0.4, 0.4, 0.2]]))
    """
    k = distance.shape[1]
    even = np.full(distance.shape, 1.0 / max(k, 1))
    if kind == "uniform" or k < 2:
        return even
    if kind == "mild":
        total = distance.sum(axis=1, keepdims=True)
        share = np.divide(distance, total, out=even, where=total > 0)
        return (1.0 - share) / (k - 1)
    smallest = distance.min(axis=1, keepdims=True)
    near = np.divide(smallest, distance, out=np.ones(distance.shape), where=distance > 0)
    return near / near.sum(axis=1, keepdims=True)


def votes(near: Neighbors, Y: Any, kind: str) -> sparse.csr_array:
    """Return the weighted share of neighbours that have each label: (n_queries, n_labels).

    Parameters
    ----------
    near : Neighbors
    Y : CSR array of shape (n_points, n_labels), float
    kind : str
        Weights; see ``neighbor_weights``.

    Returns
    -------
    CSR array
        Shares of the labels that some neighbour has.

    Notes
    -----
    O(k) an entry of ``Y``'s rows. Shares of ``"uniform"`` are exact.
    """
    n_queries, k = near.index.shape
    even = kind == "uniform"
    weight = np.ones(near.index.shape) if even else neighbor_weights(near.distance, kind)
    starts = np.arange(n_queries + 1) * k
    parts = weight.ravel(), near.index.ravel(), starts
    total = sparse.csr_array(parts, shape=(n_queries, Y.shape[0])) @ Y
    total.data = total.data / max(k, 1) if even else np.round(total.data, DECIMALS)
    return total
