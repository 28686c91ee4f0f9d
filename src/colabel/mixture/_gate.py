"""The gate: which components answer for an instance, by multinomial logistic regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.linear.design import Design, make_design
from colabel.linear.logistic import LinearFit, fit_softmax
from colabel.mixture._em import Run
from colabel.mixture._features import Features
from colabel.numerics.products import Products

__all__ = ["SoftmaxGate"]

Floats = NDArray[np.float64]


class SoftmaxGate(BaseEstimator):
    """``pi(z^k = 1 | x, alpha)`` of Eq. (6), fitted to soft targets.

    Parameters
    ----------
    features : Features
        Fitted.
    penalty : float
        Inverse variance of the Gaussian prior on the weights.
    steps : int
        L-BFGS steps of an M-step, from where the last one stopped.
    l1_ratio : float
        Share of an L1 penalty.
    """

    def __init__(
        self, features: Features, penalty: float, steps: int, l1_ratio: float = 0.0
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.steps = steps
        self.l1_ratio = l1_ratio
        self.solution: LinearFit | None = None
        self.prepared: tuple[Products, Design] | None = None
        self.alive = np.zeros(0, dtype=np.int64)

    def view(self, X: Any, dtype: Any = None) -> Products:
        """Matrix products of validated rows."""
        return self.features.products(X, dtype)

    def update(self, view: Products, gamma: Floats, weight: Floats, run: Run) -> None:
        """M-step, Eq. (9): match the responsibilities ``gamma`` (n_components, n_samples)."""
        alive = np.flatnonzero(gamma.any(axis=1))
        start = self.solution
        if start is not None and len(alive) < len(self.alive):
            kept = np.isin(self.alive, alive)
            start = LinearFit(
                start.coef[kept], start.intercept[kept], start.objective, start.converged, 0
            )
        self.alive, self.n_components = alive, len(gamma)
        self.solution = fit_softmax(
            self._prepare(view, weight),
            gamma[alive].T,
            penalty=(1.0 - self.l1_ratio) * self.penalty,
            l1=self.l1_ratio * self.penalty,
            start=start,
            max_iter=self.steps,
            tol=1e-5,
            run=run,
        )

    def _prepare(self, view: Products, weight: Floats) -> Design:
        """Centre the rows, which takes as long as a step of the solver, once for all M-steps."""
        if self.prepared is None or self.prepared[0] is not view:
            made = make_design(
                view, weight, self.penalty, len(self.alive), turn=False, max_iter=self.steps
            )
            self.prepared = view, made
        return self.prepared[1]

    def log_weights(self, view: Products, rows: slice) -> Floats:
        """``log pi`` of some rows: (n_components, n_rows); ``-inf`` for dead components."""
        assert self.solution is not None
        scores = view.scores(self.coef.astype(view.dtype, copy=False), rows).astype(np.float64)
        scores += self.solution.intercept[:, None]
        scores -= scores.max(axis=0)
        scores -= np.log(np.exp(scores).sum(axis=0))
        if len(self.alive) == self.n_components:
            return scores
        out = np.full((self.n_components, scores.shape[1]), -np.inf)
        out[self.alive] = scores
        return out

    def penalties(self) -> float:
        """Negative log of the prior on all weights, without its constant."""
        assert self.solution is not None
        square = 0.5 * float(np.einsum("cd,cd->", self.solution.coef, self.solution.coef))
        absolute = float(np.abs(self.solution.coef).sum())
        return self.penalty * ((1.0 - self.l1_ratio) * square + self.l1_ratio * absolute)

    @property
    def coef(self) -> Floats:
        """Weights of the components alive."""
        assert self.solution is not None
        return self.solution.coef

    def take_up(self, features: Features, coef: Floats, lift: Floats) -> None:
        """Go on with other features, weights that say the same of them, and higher intercepts."""
        assert self.solution is not None
        intercept = self.solution.intercept + lift
        self.features = features
        self.solution = replace(self.solution, coef=coef, intercept=intercept)

    def finish(self) -> None:
        """Forget what only the next M-step would need."""
        self.prepared = None
