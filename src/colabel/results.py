"""What decoders and learners give back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Decoded", "RelaxedSolution", "Solution"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Decoded:
    """The best labeling found for each sample, its value, and a bound no labeling can pass.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_labels), int8, in {0, 1}
    value : ndarray of shape (n_samples,)
        The decoder's objective at ``labels``.
    upper_bound : ndarray of shape (n_samples,)
        No labeling has a larger objective.
    """

    labels: NDArray[np.int8]
    value: NDArray[np.float64]
    upper_bound: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """``upper_bound - value``, at least 0."""
        # Equal infinities have no gap, though their difference is no number.
        open_ = self.upper_bound > self.value
        return np.subtract(self.upper_bound, self.value, out=np.zeros(len(open_)), where=open_)

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Which answers are proved optimal: the bound is their value, to a relative 1e-9."""
        size = np.minimum(np.abs(self.value), np.abs(self.upper_bound))
        return np.isfinite(self.value) & (self.gap <= 1e-9 * size)

    @classmethod
    def exact(cls, labels: NDArray[np.int8], value: NDArray[np.float64]) -> Decoded:
        """Build the result of an exact decoder, whose value is its own bound."""
        return cls(labels, value, value)

    @classmethod
    def concatenate(cls, parts: list[Decoded]) -> Decoded:
        """Join the results of consecutive blocks of samples."""
        return cls(
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.value for part in parts]),
            np.concatenate([part.upper_bound for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class RelaxedSolution:
    """Maximiser of a relaxation: moments that labels in {-1, +1} might have.

    Parameters
    ----------
    u : ndarray of shape (n_samples, n_labels)
        First moments.
    factors : ndarray of shape (n_samples, rank, n_labels)
        Second moments are ``U = factors' factors``.
    value : ndarray of shape (n_samples,)
        The relaxed score at ``(u, U)``.
    upper_bound : ndarray of shape (n_samples,)
        Proved: no labeling scores more.
    """

    u: Floats
    factors: Floats
    value: Floats
    upper_bound: Floats

    @property
    def U(self) -> Floats:
        """Second moments: (n_samples, n_labels, n_labels)."""
        return np.einsum("irl,irm->ilm", self.factors, self.factors, optimize=True)

    @property
    def mean(self) -> Floats:
        """First moments of labels in {0, 1}: the gradient of ``value`` in the unary scores."""
        return 0.5 * (1.0 + self.u)

    def sum_of_pairs(self, weight: Floats) -> Floats:
        """Return ``sum_n weight_n E[y y']`` for labels in {0, 1}: (n_labels, n_labels)."""
        n_rows, rank, n_labels = self.factors.shape
        F = (np.sqrt(weight)[:, None, None] * self.factors).reshape(n_rows * rank, n_labels)
        first = weight @ self.u
        return 0.25 * (weight.sum() + first[:, None] + first + F.T @ F)

    def pairs(self, edges: np.ndarray) -> Floats:
        """Moments of ``y_l y_m`` over edges: the gradient of ``value`` in the couplings.

        Returns
        -------
        ndarray of shape (n_samples, n_edges)
        """
        first, second = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
        both = np.einsum("ire,ire->ie", self.factors[:, :, first], self.factors[:, :, second])
        return 0.25 * (1.0 + self.u[:, first] + self.u[:, second] + both)


@dataclass(frozen=True, eq=False)
class Solution:
    """What every learner returns.

    Parameters
    ----------
    coef : ndarray of shape (n_parameters,)
    history : ndarray of shape (n_iter,)
        Objective after each iteration.
    gap : float
        Proved distance from the optimum; ``nan`` where the learner has no bound.
    converged : bool
    n_iter : int
    """

    coef: NDArray[np.float64]
    history: NDArray[np.float64]
    gap: float
    converged: bool
    n_iter: int
