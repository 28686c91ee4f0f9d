"""Linear models of labels and pairs of labels, and the parameters that they are built from."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel._parameters import check_choice, check_real
from colabel.numerics.magnitude import mean_squared_norm
from colabel.roles import Features, Floats, Labels, Model
from colabel.scores import Modular, Pairwise

__all__ = ["BaseModelSpec", "LinearModel", "row_unit"]


class LinearModel(ABC):
    """Scores ``<theta, phi(x, y)>`` with a weight for each feature and label, and for each pair.

    Parameters lie in one vector: (n_features + 1) by n_labels unaries, the last of each label for
    a constant feature, then the pairs. A subclass is a frozen dataclass with ``n_features``,
    ``n_labels``, ``constant`` and ``edges``; it defines ``table`` and ``pair_features``, which
    must agree: the score of a labeling is the product of parameters and features.
    """

    n_features: int
    n_labels: int
    constant: float
    edges: NDArray[np.int64]  # (n_pairs, 2), ``i < j`` in lexicographic order

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
        return self.size

    @property
    def pair_scale(self) -> Floats:
        """Size of the feature of each pair: (n_pairs,)."""
        return np.ones(len(self.edges))

    @property
    def emits(self) -> type[Modular] | type[Pairwise]:
        """The kind of table: a model without pairs is modular."""
        return Pairwise if len(self.edges) else Modular

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative."""
        return not len(self.edges)

    def split(self, theta: Floats) -> tuple[Floats, Floats]:
        """View parameters as (n_features + 1, n_labels) unaries and (n_pairs,) pairs."""
        return theta[: self.n_unary].reshape(-1, self.n_labels), theta[self.n_unary :]

    def project(self, theta: Floats) -> Floats:
        """Return the nearest parameters of the right signs."""
        out = theta.copy()
        np.maximum(out[self.n_free :], 0.0, out=out[self.n_free :])
        return out

    def unary(self, X: Features, theta: Floats) -> Floats:
        """Score each label by itself: (n_samples, n_labels)."""
        W, _ = self.split(theta)
        return np.asarray(X @ W[:-1]) + self.constant * W[-1]

    def scores(self, X: Features, theta: Floats) -> Modular | Pairwise:
        """Score labelings of ``X`` (n_samples, n_features), dense or sparse."""
        unary = self.unary(X, theta)
        return self.table(unary, theta) if len(self.edges) else Modular(unary)

    @abstractmethod
    def table(self, unary: Floats, theta: Floats) -> Modular | Pairwise:
        """Add the scores of pairs to unary scores."""

    @abstractmethod
    def pair_features(self, count: Floats, second: Floats) -> Floats:
        """Return the features of pairs from moments, each summed over samples: (n_pairs,).

        ``count`` (n_labels,) is how often labels are on, ``second`` (n_labels, n_labels) how often
        two of them are.
        """

    def feature_sum(self, X: Features, Z: Labels | Floats, weight: Floats) -> Floats:
        """Return ``sum_n weight_n phi(x_n, z_n)``: (size,). O(entries of X times n_labels)."""
        weighted = weight[:, None] * Z
        pairs = weighted.T @ Z if len(self.edges) else np.zeros((0, 0))
        return self.feature_of_moments(X, weighted, pairs)

    def feature_of_moments(self, X: Features, first: Floats, second: Floats) -> Floats:
        """Return ``sum_n phi`` from first and second moments of labels in {0, 1}.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
        first : ndarray of shape (n_samples, n_labels)
            Weighted means of the labels.
        second : ndarray of shape (n_labels, n_labels)
            Weighted sum over samples of the moments of pairs.
        """
        return self.feature_of_sums(np.asarray(X.T @ first), first.sum(axis=0), second)

    def feature_of_sums(self, first: Floats, count: Floats, second: Floats) -> Floats:
        """Join sums over samples: features by labels, labels, pairs."""
        total = np.empty(self.size)
        W, pairs = self.split(total)
        W[:-1] = first
        W[-1] = self.constant * count
        pairs[:] = self.pair_features(count, second) if len(self.edges) else 0.0
        return total


class BaseModelSpec(BaseEstimator, ABC):
    """Parameters of a model, to be built for training rows; subclasses define ``build``.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Add a constant feature, penalised like the others.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows; 0 is none.
    """

    def __init__(self, *, fit_intercept: bool = True, intercept_scaling: float = 1.0) -> None:
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling

    @property
    def has_pairs(self) -> bool:
        """Whether the model may have scores of pairs; known before it is built."""
        return True

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative; known before it is built."""
        return False

    @abstractmethod
    def build(self, X: Features, Y: Labels, weight: Floats, alpha: float) -> tuple[Model, float]:
        """Return the model for some rows, and the ridge penalty in its units.

        Parameters
        ----------
        X : csr_array of shape (n_samples, n_features)
        Y : ndarray of shape (n_samples, n_labels), in {0, 1}
        weight : ndarray of shape (n_samples,), positive
        alpha : float
            Weight of the ridge penalty, in units of the rows.
        """

    def check(self) -> None:
        """Refuse parameters that no data could make right."""
        check_choice(self.fit_intercept, "fit_intercept", (True, False))
        check_real(self.intercept_scaling, "intercept_scaling", least=0.0)

    def _constant(self, unit: float) -> float:
        return float(self.intercept_scaling) * unit if self.fit_intercept else 0.0


def row_unit(X: Features, weight: Floats) -> float:
    """Return the root of the mean squared norm of the rows."""
    return float(np.sqrt(mean_squared_norm(X, weight)))
