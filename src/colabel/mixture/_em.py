"""Expectation-maximisation of a gate and its experts (Algorithm 1 of Li et al. 2016)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Generic, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator

from colabel._rows import Span
from colabel._sklearn import take_rows
from colabel.linear.features import Features
from colabel.mixture._constants import unit_weight
from colabel.numerics.jobs import Run, in_turn
from colabel.numerics.products import Rows

__all__ = ["Component", "Experts", "Gate", "GatedMixture", "Maker", "TrainingData", "run_em"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
# Rows as a gate or experts want them.
View = TypeVar("View")
GateView = TypeVar("GateView")
ExpertsView = TypeVar("ExpertsView")
Made = TypeVar("Made")

# A component with less weight than this many rows is dead, and costs nothing from then on.
DEAD = 1e-3
# Scores of a block of rows in the E-step.
BLOCK_SCORES = 2**20


class Gate(Protocol[View]):
    """``pi(z^k = 1 | x)``: which components answer for a row."""

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> View:
        """Return validated rows as the gate wants them; double precision on demand."""

    def update(self, view: View, gamma: Floats, weight: Floats, run: Run) -> None:
        """M-step, Eq. (9): match responsibilities (K, n); a dead component's are zero."""

    def log_weights(self, view: View, rows: Span) -> Floats:
        """``log pi`` of some rows: (K, n_rows), ``-inf`` for dead components."""

    def penalties(self) -> float:
        """Negative log-density of the prior, up to a constant."""

    def finish(self) -> None:
        """Forget what only the next M-step would need."""


class Experts(Protocol[View]):
    """``b(y_l | x, beta_l^k)``: the labels' probabilities inside each component."""

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> View:
        """Return validated rows as the experts want them; double precision on demand."""

    def update(self, view: View, Y: Singles, gamma: Floats, run: Run) -> None:
        """M-step, Eq. (10), on labels (L, n) with responsibilities times weights (K, n)."""

    def log_likelihoods(self, view: View, Y: Singles, rows: Span) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (K, n_rows)."""

    def logits(self, view: View, rows: Span) -> Floats:
        """Log-odds of some rows: (n_rows, K, L)."""

    def penalties(self) -> float:
        """Negative log-density of the prior, up to a constant."""

    def finish(self) -> None:
        """Forget what only the next M-step would need."""


class Maker(Protocol):
    """A component with nothing left open."""

    def make_gate(self, data: TrainingData) -> Callable[[int], Gate]:
        """Return what makes the untrained gate of a seed; what seeds share is made once."""

    def make_experts(self, data: TrainingData) -> Callable[[int], Experts]:
        """Return what makes the untrained experts of a seed; what seeds share is made once."""


class Component:
    """Base of what a user gives as ``experts`` or ``gate``: settings that serve as either.

    Subclasses are makers (see ``Maker``), or override ``settled``.
    """

    @property
    def takes_nan(self) -> bool:
        """Whether missing values are welcome."""
        return False

    def check(self, role: str) -> None:
        """Refuse settings that no data could make right, for the role of this name."""
        raise NotImplementedError

    def as_gate(self) -> Component:
        """Return the gate of experts that come without one."""
        return self

    def settled(self, data: TrainingData, experts: Maker | None = None) -> Maker:
        """Choose what is left to the data; a gate is given its settled ``experts``."""
        return cast(Maker, self)


@runtime_checkable
class HasBlocks(Protocol):
    """Experts that say how rows are best cut for their scores."""

    def blocks(self, view: object) -> list[Span]:
        """Rows to score together."""


@runtime_checkable
class Linear(Protocol):
    """Gates and experts that are linear in features."""

    features: Features

    @property
    def coef(self) -> Floats: ...

    def take_up(self, features: Features, coef: Floats, lift: Floats) -> None:
        """Go on with other features, weights that say the same of them, and higher intercepts."""


class TrainingData:
    """Rows to train on, and what components have made of them.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    weight : ndarray of shape (n_samples,), positive

    Attributes
    ----------
    columns : ndarray of shape (n_labels, n_samples)
        Labels as the steps of EM want them.
    """

    def __init__(self, X: Rows, Y: NDArray[np.int8], weight: Floats) -> None:
        self.X, self.Y, self.weight = X, Y, weight
        self.columns = np.ascontiguousarray(Y.T, dtype=np.float32)
        self._made: dict[Hashable, object] = {}

    def take(self, rows: NDArray[np.int64]) -> TrainingData:
        """Keep some rows."""
        return TrainingData(take_rows(self.X, rows), self.Y[rows], self.weight[rows])

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what has been made of these data under this key, or make it."""
        if key not in self._made:
            self._made[key] = make()
        return cast(Made, self._made[key])


def run_em(
    model: GatedMixture,
    data: TrainingData,
    gamma: Floats,
    n_steps: int,
    tol: float,
    run: Run = in_turn,
    watch: Callable[[int, float], None] | None = None,
) -> Floats:
    """Train a mixture by EM (Algorithm 1); return its objective after each step.

    Parameters
    ----------
    model : GatedMixture
    data : TrainingData
    gamma : ndarray of shape (n_components, n_samples)
        Responsibilities to start from.
    n_steps : int
        At most.
    tol : float
        A step that gains less than this share of the objective is the last.
    run : callable
        Does independent jobs.
    watch : callable or None
        Called after each step with its number and the objective.
    """
    views = model.views(data.X)
    history: list[float] = []
    for step in range(1, n_steps + 1):
        model.maximise(views, data.columns, gamma, data.weight, run)
        gamma, log_likelihood = model.expect(views, data.columns, run)
        history.append(model.objective(log_likelihood, data.weight))
        if watch is not None:
            watch(step, history[-1])
        if step > 1 and history[-2] - history[-1] < tol * abs(history[-1]):
            break
    model.finish()
    return np.array(history)


class GatedMixture(BaseEstimator, Generic[GateView, ExpertsView]):
    """``p(y | x) = sum_k pi_k(x) prod_l b(y_l | x, beta_l^k)``, Eq. (6).

    Parameters
    ----------
    gate : Gate
    experts : Experts

    Attributes
    ----------
    alive : ndarray of shape (n_alive,)
        Components that have not died out.
    """

    def __init__(self, gate: Gate[GateView], experts: Experts[ExpertsView]) -> None:
        self.gate = gate
        self.experts = experts

    def views(self, X: Rows, dtype: DTypeLike | None = None) -> tuple[GateView, ExpertsView]:
        """Rows as the gate and the experts want them; one object where they want the same."""
        gate = self.gate.view(X, dtype)
        shared = getattr(self.gate, "features", None)
        if shared is not None and shared is getattr(self.experts, "features", None):
            return gate, cast(ExpertsView, gate)
        return gate, self.experts.view(X, dtype)

    def maximise(
        self,
        views: tuple[GateView, ExpertsView],
        Y: Singles,
        gamma: Floats,
        weight: Floats,
        run: Run,
    ) -> None:
        """M-step: gate and experts, from where they stand."""
        total = gamma @ weight
        self.alive = np.flatnonzero(total >= min(DEAD * unit_weight(weight), total.max()))
        dead = np.setdiff1d(np.arange(len(gamma)), self.alive)
        if len(dead):
            gamma = gamma.copy()
            gamma[dead] = 0.0
            gamma /= gamma.sum(axis=0)
        # Eqs. (9) and (10) share nothing, so the gate need not wait for the experts.
        run(
            [
                partial(self.gate.update, views[0], gamma, weight, run),
                partial(self.experts.update, views[1], Y, gamma * weight, run),
            ]
        )

    def expect(
        self, views: tuple[GateView, ExpertsView], Y: Singles, run: Run = in_turn
    ) -> tuple[Floats, Floats]:
        """E-step, Eq. (8), in log space: responsibilities (K, n) and log-likelihoods (n,)."""
        parts = run([partial(self._expect, views, Y, rows) for rows in self._blocks(views, Y)])
        gamma, log_likelihood = zip(*parts, strict=True)
        return np.concatenate(gamma, axis=1), np.concatenate(log_likelihood)

    def _blocks(self, views: tuple[GateView, ExpertsView], Y: Singles) -> list[Span]:
        """Cut the rows; the same way for any number of threads, for the sake of rounding."""
        n_labels, n = Y.shape
        if isinstance(self.experts, HasBlocks):
            return self.experts.blocks(views[1])
        step = max(1, BLOCK_SCORES // n_labels)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _expect(
        self, views: tuple[GateView, ExpertsView], Y: Singles, rows: Span
    ) -> tuple[Floats, Floats]:
        joint = self.gate.log_weights(views[0], rows)
        joint += self.experts.log_likelihoods(views[1], Y, rows)
        top = joint.max(axis=0)  # finite, that of a component alive
        gamma = np.exp(np.subtract(joint, top, out=joint), out=joint)
        total = gamma.sum(axis=0)
        gamma /= total  # Eq. (8)
        return gamma, top + np.log(total)

    def objective(self, log_likelihood: Floats, weight: Floats) -> float:
        """Eq. (7) at the posterior, which is the negative log-likelihood, with the penalties."""
        return float(-log_likelihood @ weight) + self.gate.penalties() + self.experts.penalties()

    def finish(self) -> None:
        """Forget what only the next M-step would need."""
        self.gate.finish()
        self.experts.finish()
        self._rotate_back()

    def _rotate_back(self) -> None:
        """Keep weights of the user's features, where they are fewer than those of a rotation."""
        linear = [part for part in (self.gate, self.experts) if isinstance(part, Linear)]
        for features in {id(part.features): part.features for part in linear}.values():
            parts = [part for part in linear if part.features is features]
            if features.rotation is None:
                continue
            if sum(len(part.coef) for part in parts) <= features.rotation.shape[1]:
                plain = features.untouched()
                for part in parts:
                    part.take_up(plain, *features.returned(part.coef))

    def table(self, X: Rows) -> tuple[Floats, Floats]:
        """``log pi`` (n, n_alive) and log-odds (n, n_alive, L) of validated rows."""
        # In double precision a row scores the same alone as among others.
        views = self.views(X, np.float64)
        rows = slice(0, X.shape[0])
        log_weights = self.gate.log_weights(views[0], rows)[self.alive]
        return log_weights.T, self.experts.logits(views[1], rows)[:, self.alive]
