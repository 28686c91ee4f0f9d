"""Linear scores of labels with a quadratic prior on labelings (Lajugie et al. 2015).

    score(x, y) = 1/2 [y'(W'x + b) - y'Ay],    y in {-1, +1}^V,  A symmetric with a zero diagonal

``A_lm > 0`` repels two labels, ``A_lm < 0`` attracts them. The paper's Equation 3 is twice this:
halved, ``W'x + b`` without a prior is what each label's own classifier would say. In {0, 1} it is a
pairwise table with unaries ``W'x + b + 2 A1`` and couplings ``-4 A``, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._parameters import check_choice, check_real
from colabel.models.base import BaseModelSpec, LinearModel
from colabel.models.pairwise import LinearPairwise
from colabel.numerics.magnitude import mean_squared_norm
from colabel.roles import Features, Floats, Labels, Model
from colabel.scores import Modular, Pairwise

__all__ = ["QuadraticPrior", "SpinPairwise"]

Edges = NDArray[np.int64]

# Adding up labels one by one takes so many times as long, per label, as a matrix product.
FEW = 3


@dataclass(frozen=True, eq=False)
class SpinPairwise(LinearModel):
    """A linear model whose pairs of labels count where they differ: it attracts or repels.

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
    def edges(self) -> Edges:  # type: ignore[override]
        """All pairs ``i < j`` in lexicographic order: (n_pairs, 2)."""
        n_labels = self.n_labels if self.sign is not None else 0
        return np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int64)

    @property
    def n_free(self) -> int:
        """Number of parameters of any sign; those after them must be at least 0."""
        return self.n_unary if self.sign in ("attractive", "repulsive") else self.size

    @property
    def pair_scale(self) -> Floats:
        """Size of the feature of each pair: (n_pairs,)."""
        return np.full(len(self.edges), self.kappa)

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative."""
        return self.sign in ("attractive", None)

    @property
    def scale(self) -> float:
        """``A`` over the pair parameters."""
        return -self.kappa if self.sign == "attractive" else self.kappa

    def prior(self, theta: Floats) -> Floats:
        """Return ``A``: (n_labels, n_labels)."""
        A = np.zeros((self.n_labels, self.n_labels))
        i, j = self.edges.T
        A[i, j] = A[j, i] = self.scale * self.split(theta)[1]
        return A

    def table(self, unary: Floats, theta: Floats) -> Modular | Pairwise:
        """Add the prior to scores of labels."""
        if not len(self.edges):
            return Modular(unary)
        degree = 2.0 * self.prior(theta).sum(axis=1)
        couplings = (-4.0 * self.scale) * self.split(theta)[1]
        return Pairwise(unary + degree, self.edges, couplings)

    def pair_features(self, count: Floats, second: Floats) -> Floats:
        """Return the features of pairs from moments, each summed over samples: (n_pairs,)."""
        i, j = self.edges.T
        # Twice the probability that the two labels differ: 1 - E y_i y_j, Eq. (33).
        return 2.0 * self.scale * (count[i] + count[j] - 2.0 * second[i, j])

    def feature_sum(self, X: Features, Z: Labels | Floats, weight: Floats) -> Floats:
        """Return ``sum_n weight_n phi(x_n, z_n)``: (size,).

        O(entries of X times n_labels + n_samples n_labels^2); where few labels are on, those that
        are take the place of n_labels, if X is CSR and Z in {0, 1}.
        """
        labelings = np.issubdtype(Z.dtype, np.integer) or Z.dtype == bool
        few = labelings and FEW * np.count_nonzero(Z) <= Z.size
        if not (few and isinstance(X, sparse.csr_array)):
            return super().feature_sum(X, Z, weight)
        from colabel._kernels.labelings import label_sums

        first, second = np.zeros((self.n_features, self.n_labels)), np.zeros((self.n_labels,) * 2)
        queue, rows = np.empty(self.n_labels, np.int64), (X.indptr, X.indices, X.data)
        label_sums(rows, np.ascontiguousarray(Z, dtype=np.int8), weight, queue, first, second)
        return self.feature_of_sums(first, np.diagonal(second), second)


class QuadraticPrior(BaseModelSpec):
    """A prior on pairs of labels, learned with the weights of single labels.

    Parameters
    ----------
    sign : {"any", "attractive", "repulsive"} or None, default="any"
        What the prior may do; ``None`` is no prior, ``A = 0``.
    coupling_alpha : float, default=0.1
        Weight of the ridge penalty on ``A``, ``coupling_alpha / 2 |A|^2``.
    fit_intercept : bool, default=True
        Add a constant feature, penalised like the others.
    intercept_scaling : float, default=1.0
        Its value, in units of the norm of the rows; 0 is none.

    Examples
    --------
    >>> X, Y = np.array([[3.0], [4.0]]), np.array([[1, 0], [1, 1]], dtype=np.int8)
    >>> model, penalty = QuadraticPrior().build(X, Y, np.ones(2), alpha=0.016)
    >>> model.kappa, penalty
    (1.0, 0.2)
    """

    def __init__(
        self,
        *,
        sign: str | None = "any",
        coupling_alpha: float = 0.1,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
    ) -> None:
        super().__init__(fit_intercept=fit_intercept, intercept_scaling=intercept_scaling)
        self.sign = sign
        self.coupling_alpha = coupling_alpha

    @property
    def has_pairs(self) -> bool:
        """Whether the model may have scores of pairs; known before it is built."""
        return self.sign is not None

    @property
    def attractive(self) -> bool:
        """Whether no coupling can be negative; known before it is built."""
        return self.sign in ("attractive", None)

    def check(self) -> None:
        super().check()
        check_choice(self.sign, "sign", ("any", "attractive", "repulsive", None))
        check_real(self.coupling_alpha, "coupling_alpha", above=0.0)

    def build(self, X: Features, Y: Labels, weight: Floats, alpha: float) -> tuple[Model, float]:
        m2 = mean_squared_norm(X, weight)
        penalty = alpha * m2
        # |A|^2 counts each pair twice.
        kappa = float(np.sqrt(penalty / (2.0 * self.coupling_alpha)))
        constant = self._constant(float(np.sqrt(m2)))
        sizes = X.shape[1], Y.shape[1]
        if self.sign is None or Y.shape[1] < 2:  # one label has no pairs
            no_pairs = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
            return LinearPairwise(*sizes, *no_pairs, constant), penalty
        return SpinPairwise(*sizes, self.sign, kappa, constant), penalty
