"""The regularised risk of a margin-rescaled structured support vector machine, and its oracle.

    J(theta) = lambda/2 |theta|^2 + R(theta),
    R(theta) = sum_n p_n max_z [loss(y_n, z) + <theta, phi(x_n, z) - phi(x_n, y_n)>]

is minimised over ``theta`` with non-negative couplings (Eq. 6 of Petterson and Caetano 2011). The
maximum is a loss-augmented decoding. A decoder that does not prove its answers gives a value
below the risk; its upper bounds give one above, which is what a duality gap has to be made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colabel.learners.augment import loss_augmented
from colabel.numerics.magnitude import squared_norms
from colabel.numerics.products import make_products
from colabel.results import Decoded, Solution

if TYPE_CHECKING:
    from colabel._kernels.linear_scores import SparseRows

__all__ = ["MarginProblem", "MarginSolution", "Violations"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# Cells of a score table decoded together: few enough to stay in a cache.
CELLS = 2**18


@dataclass(frozen=True, eq=False)
class Violations:
    """The labelings that violate the margin most at some parameters, for all samples.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_labels), in {0, 1}
    losses : ndarray of shape (n_samples,)
    risk : float
        At the labelings found: at most the true risk.
    upper : float
        At least the true risk.
    certified : float
        Share of samples (by weight) whose labeling is proved to be a worst one.
    proved : float
        The same by the certificate of the problem; NaN where it has none.
    feature : ndarray of shape (size,) or None
        Sum of the features of all samples, where it is that of no labelings.
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
    state: Any = None


class MarginProblem:
    """Data, model, loss, penalty and oracles: what a learner minimises.

    Parameters
    ----------
    model : LinearPairwise
    loss : BaseLoss
    oracles : tuple of three BaseDecoder
        A quick one to begin with, the one to learn with, and the strongest there is, whose bound
        has the last word. They may be the same object.
    X : csr_array of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), int8
    weight : ndarray of shape (n_samples,), positive
    penalty : float
        ``lambda``.
    certificate : callable or None
        ``certificate(scores, Y, labels, counts_table)`` tells which labelings it proves worst.
    """

    def __init__(
        self,
        model: Any,
        loss: Any,
        oracles: tuple[Any, Any, Any],
        X: Any,
        Y: Labels,
        weight: Floats,
        penalty: float,
        certificate: Callable[..., NDArray[np.bool_]] | None = None,
    ) -> None:
        self.model, self.loss, self.oracles = model, loss, oracles
        self.certificate = certificate
        self.X, self.Y, self.penalty = X, Y, float(penalty)
        self.share = weight / weight.sum()
        self.norms = squared_norms(X) + model.constant**2
        # For sums over samples: a full matrix where it is quicker.
        self.features = make_products(X).X
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
    def first(self) -> int:
        """Place of the oracle to begin with."""
        return int(self.oracles[0] is self.oracles[1])

    @property
    def sorts(self) -> bool:
        """Whether labelings may be looked for by sorting besides: the oracle proves its own."""
        return self.loss.structure == "counts" and self.oracles[1] is self.oracles[2]

    def tables(
        self, theta: Floats, rows: NDArray[np.int64], step: int
    ) -> Iterator[tuple[NDArray[np.int64], Any]]:
        """Score the samples ``rows``, at most ``step`` of them at a time."""
        from colabel._kernels.linear_scores import score_rows

        W, _ = self.model.split(theta)
        for i in range(0, len(rows), step):
            some = rows[i : i + step]
            if isinstance(self.features, np.ndarray):
                unary = self.model.unary(self.features[some], theta)
            else:
                unary = np.empty((len(some), self.model.n_labels))
                score_rows(self.rows, W, self.model.constant, some, unary)
            yield some, self.model.table(unary, theta)

    def decode(self, theta: Floats, rows: NDArray[np.int64], oracle: int) -> Decoded:
        """Find the labeling that violates the margin most, for the samples ``rows``."""
        step = max(1, CELLS // self.model.n_labels)
        return Decoded.concatenate(
            [
                loss_augmented(self.oracles[oracle], self.loss, table, self.Y[some])
                for some, table in self.tables(theta, rows, step)
            ]
        )

    def violations(self, theta: Floats, oracle: int) -> Violations:
        """Decode all samples, and sum up: the risk and a bound on it."""
        found = self.decode(theta, np.arange(self.n_samples), oracle)
        of_truth = float(self.truth @ theta)
        return Violations(
            found.labels,
            self.loss.value(self.Y, found.labels),
            float(self.share @ found.value) - of_truth,
            float(self.share @ found.upper_bound) - of_truth,
            self.share_of(found.certified),
            self._proved(theta, found.labels, oracle),
        )

    def _proved(self, theta: Floats, labels: Labels, oracle: int) -> float:
        """Return the share of samples for which the certificate holds."""
        if self.certificate is None or oracle == 2:
            return np.nan
        table = self.model.scores(self.X, theta)
        holds = self.certificate(table, self.Y, labels, self.loss.counts_table)
        return self.share_of(holds)

    def trace(self, rows: list[tuple[float, ...]]) -> tuple[Floats, Floats, Floats, Floats]:
        """Return upper and lower bounds and shares certified and proved, iteration by iteration."""
        upper, lower, certified, proved = np.array(rows, dtype=np.float64).T
        return upper, lower, certified, proved[:0] if self.certificate is None else proved

    def subgradient(self, found: Violations) -> Floats:
        """Return the subgradient of the risk where ``found`` are the violations (Eq. 7)."""
        return self.model.feature_sum(self.features, found.labels, self.share) - self.truth

    def evaluate(self, theta: Floats, oracle: int = 1) -> tuple[float, Floats, Violations]:
        """Return the objective by the labelings found, a subgradient, and what was found."""
        found = self.violations(theta, oracle)
        slope = self.penalty * theta + self.subgradient(found)
        return self.ridge(theta) + found.risk, slope, found

    def sample_subgradient(self, theta: Floats, n: Any) -> tuple[float, Floats]:
        """Return the mean hinge of one or some samples, and a subgradient of it."""
        rows = np.atleast_1d(n)
        weight = self.share[rows] * (self.n_samples / len(rows))
        found = self.decode(theta, rows, 1)
        x, sums = self.features[rows], self.model.feature_sum
        slope = sums(x, found.labels, weight) - sums(x, self.Y[rows], weight)
        loss = float(weight @ self.loss.value(self.Y[rows], found.labels))
        return loss + float(slope @ theta), slope

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

    def proves(self, oracle: int) -> bool:
        """Whether there is no stronger bound than that of an oracle."""
        return self.oracles[oracle] is self.oracles[2]

    def verified(self, theta: Floats, upper: float, oracle: int) -> float:
        """Bound the objective by the strongest oracle, where ``upper`` is that of another one."""
        if self.proves(oracle):
            return upper
        return self.ridge(theta) + self.violations(theta, 2).upper
