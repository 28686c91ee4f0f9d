"""Logistic experts: K components with one logistic regression for each label that varies there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.learners.logistic import LinearFit, fit_logistic
from colabel.learners.products import Products
from colabel.mixture._constants import constant_log_likelihoods, smoothed_log_odds
from colabel.mixture._em import Run
from colabel.mixture._features import Features

__all__ = ["LogisticExperts"]

Floats = NDArray[np.float64]

# Rows of the smallest responsibilities, up to this share of a component's weight, are left out
# (of large problems: those in single precision).
DROPPED = 1e-4


@dataclass(frozen=True, eq=False)
class _Component:
    """The regressions of one component: those of ``labels``."""

    labels: NDArray[np.int64]
    fit: LinearFit


class LogisticExperts(BaseEstimator):
    """``b(y_l | x, beta_l^k)``: Eq. (6)'s binary predictors, one weighted regression each.

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
    center : LinearFit or None
        Weights shared by all components, which is where the prior of each has its mean.
    """

    def __init__(
        self,
        features: Features,
        penalty: float,
        steps: int,
        l1_ratio: float = 0.0,
        center: LinearFit | None = None,
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.steps = steps
        self.l1_ratio = l1_ratio
        self.center = center
        self.components: Sequence[_Component | None] = []

    def view(self, X: Any, dtype: Any = None) -> Products:
        """Matrix products of validated rows."""
        return self.features.products(X, dtype)

    def update(self, view: Products, Y: NDArray[np.float32], gamma: Floats, run: Run) -> None:
        """M-step, Eq. (10): fit each component to the rows it answers for.

        Parameters
        ----------
        view : Products
        Y : ndarray of shape (n_labels, n_samples)
        gamma : ndarray of shape (n_components, n_samples)
            Responsibilities times sample weights; a dead component's row is zero.
        run : callable
            Runs jobs, in any order.
        """
        self.constant, varies = smoothed_log_odds(Y, gamma)
        before = self.components or [None] * len(gamma)
        jobs = [
            partial(self._fit, view, Y, gamma[k], np.flatnonzero(varies[k]), before[k])
            for k in range(len(gamma))
        ]
        self.components = run(jobs)
        self._join()

    def log_likelihoods(self, view: Products, Y: NDArray[np.float32], rows: slice) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (n_components, n_rows)."""
        from colabel._kernels.logistic import log_likelihoods

        out = constant_log_likelihoods(self.constant, self.varies, Y[:, rows])
        if len(self.coef):
            scores = view.scores(self.coef.astype(view.dtype), rows)
            scores += self.intercept[:, None].astype(view.dtype)
            log_likelihoods(scores, Y[:, rows], self.component, self.label, out)
        return out

    def logits(self, view: Products, rows: slice) -> Floats:
        """Log-odds of each label in each component: (n_rows, n_components, n_labels)."""
        n = len(range(*rows.indices(view.shape[0])))
        out = np.tile(self.constant, (n, 1, 1))
        if len(self.coef):
            scores = view.scores(self.coef.astype(view.dtype), rows) + self.intercept[:, None]
            out[:, self.component, self.label] = scores.T
        return out

    def penalties(self) -> float:
        """Negative log of the prior on all weights, without its constant."""
        total = 0.0
        for part in self.components:
            if part is not None:
                coef = part.fit.coef
                away = coef if self.center is None else coef - self.center.coef[part.labels]
                square = 0.5 * float(np.einsum("cd,cd->", away, away))
                total += (1.0 - self.l1_ratio) * square + self.l1_ratio * float(np.abs(away).sum())
        return self.penalty * total

    def _fit(
        self,
        X: Products,
        Y: NDArray[np.float32],
        weight: Floats,
        labels: NDArray[np.int64],
        before: _Component | None,
    ) -> _Component | None:
        if not len(labels):
            return None
        rows = _rows_that_count(weight, DROPPED if X.dtype == np.float32 else 0.0)
        center = None if self.center is None else self.center.coef[labels]
        fit = fit_logistic(
            X.take(rows),
            Y[np.ix_(labels, rows)].T,
            penalty=(1.0 - self.l1_ratio) * self.penalty,
            l1=self.l1_ratio * self.penalty,
            weight=weight[rows],
            center=center,
            start=self._start(labels, before, X.shape[1]),
            max_iter=self.steps,
            tol=1e-5,
        )
        return _Component(labels, fit)

    def _start(
        self, labels: NDArray[np.int64], before: _Component | None, n_features: int
    ) -> LinearFit | None:
        """Start from the last M-step's weights; a label new to the component from the prior."""
        if before is None:
            return None if self.center is None else self.center.take(labels)
        coef, intercept = np.zeros((len(labels), n_features)), np.zeros(len(labels))
        if self.center is not None:
            coef[:], intercept[:] = self.center.coef[labels], self.center.intercept[labels]
        _, here, there = np.intersect1d(labels, before.labels, return_indices=True)
        coef[here], intercept[here] = before.fit.coef[there], before.fit.intercept[there]
        return LinearFit(coef, intercept, np.zeros(0), np.zeros(0, dtype=bool), 0)

    def finish(self) -> None:
        """Forget what only the next M-step would need."""
        self.components = []
        self.center = None

    def _join(self) -> None:
        """Gather the regressions of all components for one matrix product."""
        parts = [(k, part) for k, part in enumerate(self.components) if part is not None]
        self.varies = np.zeros(self.constant.shape, dtype=bool)
        for k, part in parts:
            self.varies[k, part.labels] = True
        self.component, self.label = (index.astype(np.int64) for index in np.nonzero(self.varies))
        coef = [part.fit.coef for _, part in parts]
        self.coef = np.concatenate(coef) if coef else np.zeros((0, 0))
        intercept = [part.fit.intercept for _, part in parts]
        self.intercept = np.concatenate(intercept) if coef else np.zeros(0)


def _rows_that_count(weight: Floats, share: float) -> NDArray[np.int64]:
    """Return the rows left when the smallest weights, a share of the total, are dropped."""
    order = np.argsort(weight)
    below = np.searchsorted(np.cumsum(weight[order]), share * weight.sum(), side="right")
    return np.sort(order[below:])
