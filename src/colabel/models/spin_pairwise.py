"""Linear scores of labels with a quadratic prior on labelings (Lajugie et al. 2015).

    score(x, y) = 1/2 [y'(W'x + b) - y'Ay],    y in {-1, +1}^V,  A symmetric with a zero diagonal

``A_lm > 0`` repels two labels, ``A_lm < 0`` attracts them. The paper's Equation 3 is twice this:
halved, ``W'x + b`` without a prior is what each label's own classifier would say. In {0, 1} it is a
pairwise table with unaries ``W'x + b + 2 A1`` and couplings ``-4 A``, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.scores import Modular, Pairwise

__all__ = ["SpinPairwise"]

Floats = NDArray[np.float64]
Edges = NDArray[np.int64]

# Adding up labels one by one takes so many times as long, a label, as a matrix product.
FEW = 3


@dataclass(frozen=True, eq=False)
class SpinPairwise:
    """A linear model with parameters in one vector: unaries (features by labels), then pairs.

    Parameters
    ----------
    n_features, n_labels : int
    sign : {"any", "attractive", "repulsive"} or None
        What the prior may do; without one, ``None``, there are no pairs.
    kappa : float, positive
        ``A = kappa`` times the pair parameters: one ridge penalty then serves both parts. For an
        attractive prior ``-kappa`` times: parameters with a sign are those of at least 0.
    constant : float, default=0.0
        Value of the constant feature; its weights are the last of each label.

    Examples
    --------
    >>> model = SpinPairwise(1, 2, "any", kappa=0.5, constant=1.0)
    >>> model.prior(np.array([1.0, 0.0, -3.0, -1.0, 4.0]))
    array([[0., 2.],
           [2., 0.]])
    """

    n_features: int
    n_labels: int
    sign: str | None
    kappa: float
    constant: float = 0.0

    @cached_property
    def edges(self) -> Edges:
        """All pairs ``i < j`` in lexicographic order: (n_pairs, 2)."""
        n_labels = self.n_labels if self.sign is not None else 0
        return np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int64)

    @property
    def n_unary(self) -> int:
        """Number of parameters that are not of pairs."""
        return (self.n_features + 1) * self.n_labels

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_unary + len(self.edges)

    @property
    def n_free(self) -> int:
        """Number of parameters of any sign; those after them must be at least 0."""
        return self.n_unary if self.sign in ("attractive", "repulsive") else self.size

    @property
    def scale(self) -> float:
        """``A`` over the pair parameters."""
        return -self.kappa if self.sign == "attractive" else self.kappa

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """View parameters as (n_features + 1, n_labels) unaries and (n_pairs,) pairs."""
        return theta[: self.n_unary].reshape(-1, self.n_labels), theta[self.n_unary :]

    def project(self, theta: Floats) -> Floats:
        """Return the nearest parameters of the right sign."""
        out = theta.copy()
        np.maximum(out[self.n_free :], 0.0, out=out[self.n_free :])
        return out

    def prior(self, theta: Floats) -> Floats:
        """Return ``A``: (n_labels, n_labels)."""
        A = np.zeros((self.n_labels, self.n_labels))
        i, j = self.edges.T
        A[i, j] = A[j, i] = self.scale * self.split(theta)[1]
        return A

    def unary(self, X: Any, theta: Floats) -> Floats:
        """Score each label by itself, ``W'x + b``: (n_samples, n_labels)."""
        W, _ = self.split(theta)
        return np.asarray(X @ W[:-1]) + self.constant * W[-1]

    def table(self, unary: Floats, theta: Floats) -> Modular | Pairwise:
        """Add the prior to scores of labels."""
        if not len(self.edges):
            return Modular(unary)
        degree = 2.0 * self.prior(theta).sum(axis=1)
        couplings = (-4.0 * self.scale) * self.split(theta)[1]
        return Pairwise(unary + degree, self.edges, couplings)

    def scores(self, X: Any, theta: Floats) -> Modular | Pairwise:
        """Score labelings of ``X`` (n_samples, n_features), dense or sparse."""
        return self.table(self.unary(X, theta), theta)

    def feature_sum(self, X: Any, Z: NDArray[Any], weight: Floats) -> Floats:
        """Return ``sum_n weight_n phi(x_n, z_n)``: (size,).

        O(entries of X times n_labels + n_samples n_labels^2); where few labels are on, those that
        are take the place of n_labels, if X is CSR and Z in {0, 1}.
        """
        labelings = np.issubdtype(Z.dtype, np.integer) or Z.dtype == bool
        few = labelings and FEW * np.count_nonzero(Z) <= Z.size
        if not (few and sparse.issparse(X) and X.format == "csr"):
            weighted = weight[:, None] * Z
            pairs = weighted.T @ Z if len(self.edges) else np.zeros((0, 0))
            return self.feature_of_moments(X, weighted, pairs)
        from colabel._kernels.labelings import label_sums
        from colabel._kernels.linear_scores import SparseRows

        first, second = np.zeros((self.n_features, self.n_labels)), np.zeros((self.n_labels,) * 2)
        queue, rows = np.empty(self.n_labels, np.int64), SparseRows(X.indptr, X.indices, X.data)
        label_sums(rows, np.ascontiguousarray(Z, dtype=np.int8), weight, queue, first, second)
        return self._feature(first, np.diagonal(second), second)

    def feature_of_moments(self, X: Any, first: Floats, second: Floats) -> Floats:
        """Return ``sum_n phi`` from first and second moments of labels in {0, 1}.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        first : ndarray of shape (n_samples, n_labels)
            Weighted means of the labels.
        second : ndarray of shape (n_labels, n_labels)
            Weighted sum over samples of the moments of pairs.
        """
        return self._feature(np.asarray(X.T @ first), first.sum(axis=0), second)

    def _feature(self, first: Floats, count: Floats, second: Floats) -> Floats:
        """Join sums over samples: features by labels, labels, pairs."""
        total = np.empty(self.size)
        W, pairs = self.split(total)
        W[:-1] = first
        W[-1] = self.constant * count
        i, j = self.edges.T
        # Twice the probability that the two labels differ: 1 - E y_i y_j, Eq. (33).
        pairs[:] = 2.0 * self.scale * (count[i] + count[j] - 2.0 * second[i, j])
        return total
