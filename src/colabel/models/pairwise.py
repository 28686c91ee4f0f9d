"""Linear scores of labels and non-negative scores of pairs of labels (Petterson and Caetano 2011).

    score(x, y) = sum_i y_i <x, theta1_i> + sum_{i<j} C_ij theta2_ij y_i y_j,   theta2 >= 0

with ``C_ij`` the normalised number of times that two labels go together, for the pairs that do so
most often. ``x`` may have one more feature, a constant, which is part of the model like the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from colabel._parameters import check_real, check_whole
from colabel.models.base import BaseModelSpec, LinearModel, row_unit
from colabel.roles import Features, Floats, Labels
from colabel.scores import Modular, Pairwise

__all__ = ["IndependentLabels", "LinearPairwise", "SubmodularPairs", "frequent_pairs"]

Edges = NDArray[np.int64]

# Entries of a dense intermediate result.
BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class LinearPairwise(LinearModel):
    """A linear model whose pairs of labels attract each other where both are on.

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
    def n_free(self) -> int:
        """Number of parameters of any sign; those after them, of pairs, must be at least 0."""
        return self.n_unary

    @property
    def pair_scale(self) -> Floats:
        """Size of the feature of each pair: (n_pairs,)."""
        return self.strength

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative: always."""
        return True

    def couplings(self, theta: Floats) -> Floats:
        """Return what each pair adds where both its labels are on: (n_pairs,)."""
        return self.strength * self.split(theta)[1]

    def table(self, unary: Floats, theta: Floats) -> Modular | Pairwise:
        """Return unary scores with the couplings; a model without pairs is modular."""
        if not len(self.edges):
            return Modular(unary)
        return Pairwise(unary, self.edges, self.couplings(theta))

    def pair_features(self, count: Floats, second: Floats) -> Floats:
        """Return the features of pairs from moments, each summed over samples: (n_pairs,)."""
        i, j = self.edges.T
        return self.strength * second[i, j]

    def feature_sum(self, X: Features, Z: Labels | Floats, weight: Floats) -> Floats:
        """Return ``sum_n weight_n phi(x_n, z_n)``: (size,). O(entries of X times n_labels)."""
        total = np.zeros(self.size)
        W, pairs = self.split(total)
        weighted = weight[:, None] * Z
        W[:-1] = X.T @ weighted
        W[-1] = self.constant * weighted.sum(axis=0)
        pairs[:] = self.strength * self._pair_counts(Z, weight)
        return total

    def _pair_counts(self, Z: Labels | Floats, weight: Floats) -> Floats:
        step = max(1, BLOCK // max(1, len(self.edges)))
        total = np.zeros(len(self.edges))
        for i in range(0, len(Z), step):
            some = Z[i : i + step]
            total += weight[i : i + step] @ (some[:, self.edges[:, 0]] * some[:, self.edges[:, 1]])
        return total


class IndependentLabels(BaseModelSpec):
    """Labels without couplings: what violates the margin is found by sorting.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Add a constant feature, penalised like the others.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows; 0 is none.

    Examples
    --------
    >>> X, Y = np.array([[3.0], [4.0]]), np.array([[1, 0], [1, 1]], dtype=np.int8)
    >>> model, penalty = IndependentLabels().build(X, Y, np.ones(2), alpha=0.5)
    >>> model.n_labels, model.emits.__name__, round(penalty, 6)
    (2, 'Modular', 12.5)
    """

    @property
    def has_pairs(self) -> bool:
        """Whether the model may have scores of pairs: no."""
        return False

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative: always."""
        return True

    def build(
        self, X: Features, Y: Labels, weight: Floats, alpha: float
    ) -> tuple[LinearPairwise, float]:
        unit = row_unit(X, weight)
        constant = self._constant(unit)
        edges, strength = self._pairs(Y, weight, float(np.sqrt(unit**2 + constant**2)))
        model = LinearPairwise(X.shape[1], Y.shape[1], edges, strength, constant)
        return model, alpha * (unit**2 + constant**2)

    def _pairs(self, Y: Labels, weight: Floats, unit: float) -> tuple[Edges, Floats]:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)


class SubmodularPairs(IndependentLabels):
    """Pairs of labels that attract each other, those that go together most often.

    Penalty, constant feature and pair features are in units of the data: with ``m2`` the mean
    squared norm of the rows (the constant included), ``lambda = alpha m2`` and the feature of a
    pair is ``coupling_scale sqrt(m2) C_ij``. Features in other units need no other parameters.

    Parameters
    ----------
    pairs : float, int or None, default=None
        How many pairs are coupled: a share (float), a number (int), or twice as many as labels
        (``None``).
    coupling_scale : float, default=1.0
        The larger, the less couplings are penalised.
    fit_intercept : bool, default=True
        Add a constant feature, penalised like the others.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows; 0 is none.

    Examples
    --------
    >>> X, Y = np.array([[3.0], [4.0]]), np.array([[1, 0], [1, 1]], dtype=np.int8)
    >>> model, _ = SubmodularPairs().build(X, Y, np.ones(2), alpha=0.5)
    >>> model.edges, model.strength
    (array([[0, 1]]), array([5.]))
    """

    def __init__(
        self,
        *,
        pairs: float | int | None = None,
        coupling_scale: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
    ) -> None:
        super().__init__(fit_intercept=fit_intercept, intercept_scaling=intercept_scaling)
        self.pairs = pairs
        self.coupling_scale = coupling_scale

    @property
    def has_pairs(self) -> bool:
        """Whether the model may have scores of pairs: yes."""
        return True

    def check(self) -> None:
        super().check()
        check_real(self.coupling_scale, "coupling_scale", above=0.0)
        if isinstance(self.pairs, Integral):
            check_whole(self.pairs, "pairs", least=0)
        elif self.pairs is not None:
            check_real(self.pairs, "pairs", least=0.0, most=1.0)

    def _pairs(self, Y: Labels, weight: Floats, unit: float) -> tuple[Edges, Floats]:
        edges, C = frequent_pairs(Y, self.pairs, weight)
        return edges, self.coupling_scale * unit * C


def frequent_pairs(
    Y: ArrayLike, pairs: float | int | None = None, weight: Floats | None = None
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
