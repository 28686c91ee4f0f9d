"""Linear scores of labels and non-negative scores of pairs of labels (Petterson and Caetano 2011).

    score(x, y) = sum_i y_i <x, theta1_i> + sum_{i<j} C_ij theta2_ij y_i y_j,   theta2 >= 0

with ``C_ij`` the normalised number of times that two labels go together, for the pairs that do so
most often. ``x`` may have one more feature, a constant, which is part of the model like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.scores import Modular, Pairwise

__all__ = ["LinearPairwise", "frequent_pairs"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Edges = NDArray[np.int64]

# Entries of a dense intermediate result.
BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class LinearPairwise:
    """A linear model with parameters in one vector: unaries (features by labels), then pairs.

    Parameters
    ----------
    n_features, n_labels : int
    edges : ndarray of shape (n_pairs, 2), int
        Pairs ``i < j``, in lexicographic order.
    strength : ndarray of shape (n_pairs,), positive
        ``c C_ij``, the feature of a pair that is on.
    constant : float, default=0.0
        Value of the constant feature; its weights are the last of each label, and stay zero where
        the value is.

    Examples
    --------
    >>> model = LinearPairwise(1, 2, np.array([[0, 1]]), np.array([0.5]), constant=1.0)
    >>> table = model.scores(np.array([[2.0]]), np.array([1.0, 0.0, -3.0, -1.0, 4.0]))
    >>> table.unary, table.couplings
    (array([[-1., -1.]]), array([2.]))
    """

    n_features: int
    n_labels: int
    edges: Edges
    strength: Floats
    constant: float = 0.0

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_free + len(self.edges)

    @property
    def n_free(self) -> int:
        """Number of parameters of any sign; those after them must be at least 0."""
        return (self.n_features + 1) * self.n_labels

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """View parameters as (n_features + 1, n_labels) unaries and (n_pairs,) pairs."""
        return theta[: self.n_free].reshape(-1, self.n_labels), theta[self.n_free :]

    def project(self, theta: Floats) -> Floats:
        """Return the nearest parameters without repulsion."""
        out = theta.copy()
        np.maximum(self.split(out)[1], 0.0, out=self.split(out)[1])
        return out

    def unary(self, X: Any, theta: Floats) -> Floats:
        """Score each label: (n_samples, n_labels)."""
        W, _ = self.split(theta)
        return np.asarray(X @ W[:-1]) + self.constant * W[-1]

    def couplings(self, theta: Floats) -> Floats:
        """Return what each pair adds where both its labels are on: (n_pairs,)."""
        return self.strength * self.split(theta)[1]

    def table(self, unary: Floats, theta: Floats) -> Modular | Pairwise:
        """Return unary scores with the couplings; a model without pairs is modular."""
        if not len(self.edges):
            return Modular(unary)
        return Pairwise(unary, self.edges, self.couplings(theta))

    def scores(self, X: Any, theta: Floats) -> Modular | Pairwise:
        """Score labelings of ``X`` (n_samples, n_features), dense or sparse."""
        return self.table(self.unary(X, theta), theta)

    def feature_sum(self, X: Any, Z: NDArray[Any], weight: Floats) -> Floats:
        """Return ``sum_n weight_n phi(x_n, z_n)``: (size,). O(entries of X times n_labels)."""
        total = np.zeros(self.size)
        W, pairs = self.split(total)
        weighted = weight[:, None] * Z
        W[:-1] = X.T @ weighted
        W[-1] = self.constant * weighted.sum(axis=0)
        pairs[:] = self.strength * self._pair_counts(Z, weight)
        return total

    def _pair_counts(self, Z: NDArray[Any], weight: Floats) -> Floats:
        step = max(1, BLOCK // max(1, len(self.edges)))
        total = np.zeros(len(self.edges))
        for i in range(0, len(Z), step):
            total += weight[i : i + step] @ self._both(Z[i : i + step])
        return total

    def _both(self, Z: NDArray[Any]) -> NDArray[Any]:
        return Z[:, self.edges[:, 0]] * Z[:, self.edges[:, 1]]


def frequent_pairs(
    Y: Any, pairs: float | int | None = None, weight: Floats | None = None
) -> tuple[Edges, Floats]:
    """Find the pairs of labels that go together most often, and how often, the most often being 1.

    Parameters
    ----------
    Y : array or sparse array of shape (n_samples, n_labels), in {0, 1}
    pairs : float, int or None, default=None
        A share (float) of all pairs, or a number (int) of pairs; ``None`` is twice as many as there
        are labels. Pairs that never go together are left out. Of pairs that do equally often, those
        of rarer labels come first; those that are equal in this too come together, so that the
        order of the labels does not matter.
    weight : ndarray of shape (n_samples,) or None
        A row counts this many times.

    Returns
    -------
    edges : ndarray of shape (n_pairs, 2), int64
        ``i < j``, in lexicographic order.
    C : ndarray of shape (n_pairs,)
        In (0, 1].

    Examples
    --------
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> edges, C = frequent_pairs(Y)
    >>> edges.tolist(), C.tolist()
    ([[0, 1], [1, 2]], [1.0, 0.5])
    """
    labels = sparse.csr_array(Y, dtype=np.float64)
    n_labels = labels.shape[1]
    weighted = labels if weight is None else sparse.csr_array(labels.multiply(weight[:, None]))
    together = sparse.coo_array(sparse.triu(labels.T @ weighted, k=1))
    i, j, count = together.row, together.col, together.data
    wanted = _number(pairs, n_labels)
    frequency = np.asarray(weighted.sum(axis=0)).ravel()
    key = np.stack([-count, frequency[i] * frequency[j]])
    order = np.lexsort(key[::-1])
    if 0 < wanted < len(order):
        last = key[:, order[wanted - 1]]
        tied = np.flatnonzero(np.all(key[:, order] == last[:, None], axis=0))
        wanted = int(tied[-1]) + 1
    keep = order[:wanted]
    keep = keep[np.lexsort((j[keep], i[keep]))]
    edges = np.stack([i[keep], j[keep]], axis=1).astype(np.int64).reshape(-1, 2)
    return edges, count[keep] / max(count.max(initial=0.0), np.finfo(float).tiny)


def _number(pairs: float | int | None, n_labels: int) -> int:
    if pairs is None:
        return 2 * n_labels
    if isinstance(pairs, Integral):
        return int(pairs)
    return round(float(pairs) * n_labels * (n_labels - 1) / 2)
