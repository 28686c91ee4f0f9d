"""Expectation-maximisation of a gate and its experts (Algorithm 1 of Li et al. 2016)."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.mixture._constants import unit_weight
from colabel.mixture._crew import runner
from colabel.numerics.jobs import Run, in_turn

__all__ = ["Experts", "Gate", "GatedMixture", "Run", "runner"]

Floats = NDArray[np.float64]

# A component with less weight than this many rows is dead, and costs nothing from then on.
DEAD = 1e-3
# Scores of a block of rows in the E-step.
BLOCK_SCORES = 2**20


class Gate(Protocol):
    """``pi(z^k = 1 | x)``: which components answer for a row."""

    def view(self, X: Any, dtype: Any = None) -> Any:
        """Return validated rows as the gate wants them; double precision on demand."""

    def update(self, view: Any, gamma: Floats, weight: Floats, run: Run) -> None:
        """M-step, Eq. (9): match responsibilities (K, n); a dead component's are zero."""

    def log_weights(self, view: Any, rows: slice) -> Floats:
        """``log pi`` of some rows: (K, n_rows), ``-inf`` for dead components."""

    def penalties(self) -> float:
        """Negative log-density of the prior, up to a constant."""

    def finish(self) -> None:
        """Forget what only the next M-step would need."""


class Experts(Protocol):
    """``b(y_l | x, beta_l^k)``: the labels' probabilities inside each component."""

    def view(self, X: Any, dtype: Any = None) -> Any:
        """Return validated rows as the experts want them; double precision on demand."""

    def update(self, view: Any, Y: NDArray[np.float32], gamma: Floats, run: Run) -> None:
        """M-step, Eq. (10), on labels (L, n) with responsibilities times weights (K, n)."""

    def log_likelihoods(self, view: Any, Y: NDArray[np.float32], rows: slice) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (K, n_rows)."""

    def logits(self, view: Any, rows: slice) -> Floats:
        """Log-odds of some rows: (n_rows, K, L)."""

    def penalties(self) -> float:
        """Negative log-density of the prior, up to a constant."""

    def finish(self) -> None:
        """Forget what only the next M-step would need."""


@runtime_checkable
class HasBlocks(Protocol):
    """Experts that say how rows are best cut for their scores."""

    def blocks(self, view: Any) -> list[slice]:
        """Rows to score together."""


@runtime_checkable
class Linear(Protocol):
    """Gates and experts that are linear in features."""

    features: Any
    coef: Floats

    def take_up(self, features: Any, coef: Floats, lift: Floats) -> None:
        """Go on with other features, weights that say the same of them, and higher intercepts."""


class GatedMixture(BaseEstimator):
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

    def __init__(self, gate: Gate, experts: Experts) -> None:
        self.gate = gate
        self.experts = experts

    def views(self, X: Any, dtype: Any = None) -> tuple[Any, Any]:
        """Rows as the gate and the experts want them; one object where they want the same."""
        gate = self.gate.view(X, dtype)
        shared = getattr(self.gate, "features", None)
        if shared is not None and shared is getattr(self.experts, "features", None):
            return gate, gate
        return gate, self.experts.view(X, dtype)

    def maximise(
        self, views: Any, Y: NDArray[np.float32], gamma: Floats, weight: Floats, run: Run
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
        self, views: Any, Y: NDArray[np.float32], run: Run = in_turn
    ) -> tuple[Floats, Floats]:
        """E-step, Eq. (8), in log space: responsibilities (K, n) and log-likelihoods (n,)."""
        parts = run([partial(self._expect, views, Y, rows) for rows in self._blocks(views, Y)])
        gamma, log_likelihood = zip(*parts, strict=True)
        return np.concatenate(gamma, axis=1), np.concatenate(log_likelihood)

    def _blocks(self, views: Any, Y: NDArray[np.float32]) -> list[slice]:
        """Cut the rows; the same way for any number of threads, for the sake of rounding."""
        n_labels, n = Y.shape
        if isinstance(self.experts, HasBlocks):
            return self.experts.blocks(views[1])
        step = max(1, BLOCK_SCORES // n_labels)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def _expect(self, views: Any, Y: NDArray[np.float32], rows: slice) -> tuple[Floats, Floats]:
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
        if not linear or linear[0].features.rotation is None:
            return
        features = linear[0].features
        if sum(len(part.coef) for part in linear) <= features.rotation.shape[1]:
            plain = features.untouched()
            for part in linear:
                part.take_up(plain, *features.returned(part.coef))

    def table(self, X: Any) -> tuple[Floats, Floats]:
        """``log pi`` (n, n_alive) and log-odds (n, n_alive, L) of validated rows."""
        # In double precision a row scores the same alone as among others.
        views = self.views(X, np.float64)
        rows = slice(0, X.shape[0])
        log_weights = self.gate.log_weights(views[0], rows)[self.alive]
        return log_weights.T, self.experts.logits(views[1], rows)[:, self.alive]
