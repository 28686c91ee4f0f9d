"""The risk of a margin-rescaled machine whose inner maximum is relaxed (Lajugie et al. 2015).

    J(theta) = lambda/2 |theta|^2 + sum_n p_n [max_{(u, U)} {loss + score} - score of the truth]

The maximum runs over moments that labelings might have, and more (Eq. 30): ``J`` is convex and
never below the objective of the exact machine. Its gradient has the maximiser's own moments in
place of a labeling (Eqs. 31 to 33).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.learners.augment import relaxed_augmented
from colabel.learners.margin import MarginProblem, Violations

__all__ = ["RelaxedProblem"]

Floats = NDArray[np.float64]

# Cells of the relaxed solutions that are held together.
CELLS = 2**22


class RelaxedProblem(MarginProblem):
    """A ``MarginProblem`` whose oracle relaxes; ``oracles`` are three times the same relaxation.

    The last one, which proves the objective, may be of a finer tolerance.

    Notes
    -----
    O(entries of X times n_labels) an evaluation, a relaxation for each sample, and
    O(n_samples rank n_labels^2) for the second moments.
    """

    def violations(self, theta: Floats, oracle: int) -> Violations:
        """Solve the relaxation for all samples, and sum up: values, a bound, moments.

        ``oracle`` 2 proves the bound; else it is the value itself.
        """
        certify = oracle == 2
        n_labels = self.model.n_labels
        first, second = np.empty((self.n_samples, n_labels)), np.zeros((n_labels, n_labels))
        risk, upper = 0.0, 0.0
        step = max(1, CELLS // n_labels**2)
        for rows, table in self.tables(theta, np.arange(self.n_samples), step):
            found = relaxed_augmented(self.oracles[oracle], self.loss, table, self.Y[rows], certify)
            share = self.share[rows]
            first[rows] = share[:, None] * found.mean
            second += _second_moments(found, share)
            risk += float(share @ found.value)
            upper += float(share @ (found.upper_bound if certify else found.value))
        of_truth = float(self.truth @ theta)
        feature = self.model.feature_of_moments(self.features, first, second)
        risks = risk - of_truth, upper - of_truth
        return Violations(self.Y, np.zeros(0), *risks, float("nan"), feature=feature)

    def sample_subgradient(self, theta: Floats, n: Any) -> tuple[float, Floats]:
        """Return the mean relaxed hinge of one or some samples, and its gradient."""
        rows = np.atleast_1d(n)
        x, truth = self.features[rows], self.Y[rows]
        weight = self.share[rows] * (self.n_samples / len(rows))
        table = self.model.scores(x, theta)
        found = relaxed_augmented(self.oracles[1], self.loss, table, truth, False)
        first, second = weight[:, None] * found.mean, _second_moments(found, weight)
        of_truth = self.model.feature_sum(x, truth, weight)
        slope = self.model.feature_of_moments(x, first, second) - of_truth
        return float(weight @ found.value) - float(of_truth @ theta), slope

    def proves(self, oracle: int) -> bool:
        """Whether an oracle bounds its values: those found in training prove nothing."""
        return oracle == 2

    def subgradient(self, found: Violations) -> Floats:
        """Return the gradient of the risk (Eqs. 31 to 33)."""
        assert found.feature is not None
        return found.feature - self.truth


def _second_moments(found: Any, share: Floats) -> Floats:
    """Return ``sum_n p_n E[y y']`` for labels in {0, 1}, from moments in {-1, +1}."""
    n_rows, rank, n_labels = found.factors.shape
    F = (np.sqrt(share)[:, None, None] * found.factors).reshape(n_rows * rank, n_labels)
    first = share @ found.u
    return 0.25 * (share.sum() + first[:, None] + first + F.T @ F)
