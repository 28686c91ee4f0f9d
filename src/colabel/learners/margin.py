"""The regularised risk of a margin-rescaled structured support vector machine, and its oracle.

    J(theta) = lambda/2 |theta|^2 + R(theta),
    R(theta) = sum_n p_n max_z [loss(y_n, z) + <theta, phi(x_n, z) - phi(x_n, y_n)>]

is minimised over ``theta`` with non-negative couplings (Eq. 6 of Petterson and Caetano 2011). The
maximum is a loss-augmented decoding. A decoder that does not prove its answers gives a value
below the risk; its upper bounds give one above, which is what a duality gap has to be made of.

Where the oracle relaxes (Lajugie et al. 2015), the maximum runs over moments that labelings might
have, and more (Eq. 30): ``J`` is convex and never below the objective of the exact machine. Its
gradient has the maximiser's own moments in place of a labeling (Eqs. 31 to 33).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._rows import Span
from colabel.numerics.magnitude import squared_norms
from colabel.numerics.products import make_products
from colabel.results import Decoded, RelaxedSolution, Solution
from colabel.roles import Features, Floats, Labels, Loss, Model, Stage, Stages
from colabel.scores import Modular, Pairwise

if TYPE_CHECKING:
    from colabel._kernels.linear_scores import SparseRows

__all__ = ["MarginProblem", "MarginSolution", "Trace", "Violations"]

# Cells of a score table decoded together: few enough to stay in a cache.
CELLS = 2**18
# Cells of relaxed solutions that are held together.
RELAXED_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Violations:
    """What violates the margin most at some parameters, for all samples.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_labels), in {0, 1}
        Empty, (0, n_labels), where the oracle relaxes; as are the losses.
    losses : ndarray of shape (n_samples,)
    risk : float
        At the labelings found: at most the true risk.
    upper : float
        At least the true risk.
    certified : float
        Share of samples (by weight) whose labeling is proved to be a worst one; NaN where the
        oracle relaxes.
    proved : float
        The same by the certificate of the problem; NaN where it has none.
    feature : ndarray of shape (size,) or None
        Sum of the features of all samples, where the oracle relaxes.
    """

    labels: Labels
    losses: Floats
    risk: float
    upper: float
    certified: float
    proved: float = np.nan
    feature: Floats | None = None


@dataclass(frozen=True, eq=False)
class MarginSolution(Solution):
    """What learners of a ``MarginProblem`` return.

    ``history`` holds upper bounds of the objective, ``lower`` lower bounds of its minimum, and
    ``certified`` the share of constraints proved optimal, after each iteration; ``proved`` the
    share by the problem's own certificate, and is empty where there is none. ``gap`` is the
    difference between the objective at ``coef``, by the strongest oracle's upper bound, and the
    best lower bound. ``state`` is what a next call can start from.
    """

    lower: Floats = field(default_factory=lambda: np.zeros(0))
    certified: Floats = field(default_factory=lambda: np.zeros(0))
    proved: Floats = field(default_factory=lambda: np.zeros(0))
    state: object = None


class Trace:
    """Bounds and shares, iteration by iteration."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float, float]] = []

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, upper: float, lower: float, found: Violations) -> None:
        """Keep the bounds of an iteration, and what the oracle proved."""
        self.rows.append((upper, lower, found.certified, found.proved))

    def solution(
        self,
        coef: Floats,
        bound: float,
        tol: float,
        n_iter: int,
        state: object,
        *,
        lower: float = -np.inf,
    ) -> MarginSolution:
        """Return the solution ``coef``, whose objective is at most ``bound``.

        ``lower`` is a lower bound of the minimum that came last or from elsewhere.
        """
        history, bounds, certified, proved = np.array(self.rows, dtype=np.float64).T
        bounds = np.maximum.accumulate(np.append(bounds[:-1], max(bounds[-1], lower)))
        gap = bound - float(bounds[-1])
        proved = proved[:0] if np.isnan(proved).all() else proved
        converged = gap <= tol * abs(bound)
        return MarginSolution(
            coef, history, gap, converged, n_iter, bounds, certified, proved, state
        )


class MarginProblem:
    """Data, model, loss, penalty and oracle: what a learner minimises.

    Parameters
    ----------
    model : Model
    loss : BaseLoss
    oracles : Stages
        The searches for violated labelings, or for moments.
    X : csr_array of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), int8
    weight : ndarray of shape (n_samples,), positive
    penalty : float
        ``lambda``.
    """

    def __init__(
        self,
        model: Model,
        loss: Loss,
        oracles: Stages,
        X: sparse.csr_array,
        Y: Labels,
        weight: Floats,
        penalty: float,
    ) -> None:
        self.model, self.loss, self.oracles = model, loss, oracles
        self.X, self.Y, self.penalty = X, Y, float(penalty)
        self.share = weight / weight.sum()
        self.norms = squared_norms(X) + model.constant**2
        # For sums over samples: a full matrix where it is quicker.
        self.features: Features = make_products(X).X
        self.truth = model.feature_sum(self.features, Y, self.share)

    @cached_property
    def rows(self) -> SparseRows:
        """``X`` as kernels take it."""
        from colabel._kernels.linear_scores import SparseRows

        X = self.X
        return SparseRows(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.Y)

    @property
    def sorts(self) -> bool:
        """Whether labelings may be looked for by sorting besides: the oracle proves its own."""
        counts = self.loss.structure == "counts"
        return counts and self.proves(self.oracles.learning)

    def proves(self, oracle: Stage) -> bool:
        """Whether there is no stronger bound than that of an oracle."""
        return oracle is self.oracles.proof

    def tables(self, theta: Floats, step: int) -> Iterator[tuple[Span, Modular | Pairwise]]:
        """Score all samples, at most ``step`` of them at a time."""
        for i in range(0, self.n_samples, step):
            some = slice(i, i + step)
            yield some, self.model.scores(self.features[some], theta)

    def violations(self, theta: Floats, oracle: Stage) -> Violations:
        """Ask the oracle about all samples, and sum up: the risk, a bound on it, what was found."""
        sum_up = self._sum_moments if oracle.relaxes else self._sum_labelings
        return sum_up(theta, oracle)

    def _sum_labelings(self, theta: Floats, oracle: Stage) -> Violations:
        parts = []
        step = max(1, CELLS // self.model.n_labels)
        for some, table in self.tables(theta, step):
            part = oracle.find(table, self.loss, self.Y[some])
            assert isinstance(part, Decoded)
            parts.append(part)
        found = Decoded.concatenate(parts)
        of_truth = float(self.truth @ theta)
        return Violations(
            found.labels,
            self.loss.value(self.Y, found.labels),
            float(self.share @ found.value) - of_truth,
            float(self.share @ found.upper_bound) - of_truth,
            self.share_of(found.certified),
            self._proved(theta, found.labels, oracle),
        )

    def _sum_moments(self, theta: Floats, oracle: Stage) -> Violations:
        n_labels = self.model.n_labels
        first, second = np.empty((self.n_samples, n_labels)), np.zeros((n_labels, n_labels))
        risk, upper = 0.0, 0.0
        step = max(1, RELAXED_CELLS // n_labels**2)
        for rows, table in self.tables(theta, step):
            found = oracle.find(table, self.loss, self.Y[rows])
            assert isinstance(found, RelaxedSolution)
            share = self.share[rows]
            first[rows] = share[:, None] * found.mean
            second += found.sum_of_pairs(share)
            risk += float(share @ found.value)
            upper += float(share @ found.upper_bound)
        of_truth = float(self.truth @ theta)
        feature = self.model.feature_of_moments(self.features, first, second)
        risks = risk - of_truth, upper - of_truth
        return Violations(self.Y[:0], np.zeros(0), *risks, np.nan, feature=feature)

    def _proved(self, theta: Floats, labels: Labels, oracle: Stage) -> float:
        """Return the share of samples for which the certificate holds; NaN without one."""
        certificate = self.oracles.certificate
        if certificate is None or self.proves(oracle):
            return np.nan
        table = self.model.scores(self.X, theta)
        assert isinstance(table, Pairwise)
        return self.share_of(certificate(table, self.Y, labels, self.loss))

    def subgradient(self, found: Violations) -> Floats:
        """Return the subgradient of the risk where ``found`` are the violations (Eq. 7)."""
        if found.feature is not None:  # Eqs. 31 to 33 of 2015
            return found.feature - self.truth
        return self.model.feature_sum(self.features, found.labels, self.share) - self.truth

    def evaluate(
        self, theta: Floats, oracle: Stage | None = None
    ) -> tuple[float, Floats, Violations]:
        """Return the objective by what an oracle finds, a subgradient, and what was found.

        ``None`` asks the one to learn with.
        """
        found = self.violations(theta, self.oracles.learning if oracle is None else oracle)
        slope = self.penalty * theta + self.subgradient(found)
        return self.ridge(theta) + found.risk, slope, found

    def sample_subgradient(
        self, theta: Floats, rows: NDArray[np.int64] | int
    ) -> tuple[float, Floats]:
        """Return the mean hinge of one or some samples, and a subgradient of it."""
        rows = np.atleast_1d(rows)
        x, truth = self.features[rows], self.Y[rows]
        weight = self.share[rows] * (self.n_samples / len(rows))
        table = self.model.scores(x, theta)
        found = self.oracles.learning.find(table, self.loss, truth)
        of_truth = self.model.feature_sum(x, truth, weight)
        if isinstance(found, Decoded):
            feature = self.model.feature_sum(x, found.labels, weight)
        else:
            first, second = weight[:, None] * found.mean, found.sum_of_pairs(weight)
            feature = self.model.feature_of_moments(x, first, second)
        return float(weight @ found.value) - float(of_truth @ theta), feature - of_truth

    def strong_bound(self, theta: Floats, value: float, gradient: Floats) -> float:
        """Bound the minimum from below by strong convexity: ``value`` is the objective there.

        It is never negative: the truth violates no margin.
        """
        nearest = self.model.project(theta - gradient / self.penalty)
        step = nearest - theta
        rounding = 8.0 * np.spacing(abs(value))
        return max(0.0, value + float(gradient @ step) + self.ridge(step) - rounding)

    def share_of(self, rows: NDArray[np.bool_]) -> float:
        """Return the weight of some samples in that of all, rounded to at most 1."""
        return min(1.0, float(self.share @ rows))

    def ridge(self, theta: Floats) -> float:
        """Return ``lambda/2 |theta|^2``."""
        return 0.5 * self.penalty * float(theta @ theta)

    def verified(self, theta: Floats, upper: float, oracle: Stage) -> float:
        """Bound the objective by the strongest oracle, where ``upper`` is that of another one."""
        if self.proves(oracle):
            return upper
        return self.ridge(theta) + self.violations(theta, self.oracles.proof).upper
