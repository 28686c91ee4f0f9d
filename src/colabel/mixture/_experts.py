"""Logistic experts: K components with one logistic regression for each label that varies there."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.linear.component import Known, Prior, fit_component
from colabel.linear.logistic import LinearFit
from colabel.mixture._constants import Constants, constant_log_likelihoods
from colabel.mixture._em import Run
from colabel.mixture._features import Features
from colabel.numerics.products import Products

__all__ = ["LogisticExperts"]

Floats = NDArray[np.float64]

# Rows of the smallest responsibilities, up to this share of a component's weight, are left out
# (of large problems: those in single precision).
DROPPED = 1e-4


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
        self.varies = np.zeros((0, 0), dtype=bool)

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
        constants = Constants.of(Y, gamma)
        before, cost = self.varies, partial(self._cost, view, Y, gamma)
        varies = constants.settle(before, cost)
        least = _least_weights(gamma, DROPPED if view.dtype == np.float32 else 0.0)
        prior, known = self._prior(view.shape[1]), self._known(len(gamma), view.shape[1])
        jobs = [
            partial(
                fit_component,
                view,
                Y,
                gamma[k],
                np.flatnonzero(varies[k]),
                least[k],
                prior,
                known[k],
                self.steps,
            )
            for k in range(len(gamma))
        ]
        # One row a regression, coefficients and intercept, for one matrix product.
        self._set(np.concatenate(run(jobs)), varies)
        if self.center is not None and before.size:
            # From the center, fitting need not come below the constant that was there before.
            new = varies & ~before
            self._drop(new, constants.cost[new] < cost(*np.nonzero(new)))
        self.constant = constants.log_odds
        self.constants_prior = float(constants.prior[~self.varies].sum())

    def _set(self, points: Floats, varies: NDArray[np.bool_]) -> None:
        self.points, self.varies = points, varies
        self.component, self.label = (index.astype(np.int64) for index in np.nonzero(varies))

    def _drop(self, some: NDArray[np.bool_], dropped: NDArray[np.bool_]) -> None:
        """Give up those of some regressions that are marked."""
        if dropped.any():
            varies = self.varies.copy()
            varies[some] = ~dropped
            self._set(self.points[varies[self.varies]], varies)

    @property
    def coef(self) -> Floats:
        """Coefficients of all regressions, component by component."""
        return self.points[:, :-1]

    @property
    def intercept(self) -> Floats:
        """Intercepts of all regressions."""
        return self.points[:, -1]

    def blocks(self, view: Products) -> list[slice]:
        """Rows to score together."""
        return view.blocks(max(self.constant.shape[0], len(self.points)))

    def log_likelihoods(self, view: Products, Y: NDArray[np.float32], rows: slice) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (n_components, n_rows)."""
        from colabel._kernels.logistic import log_likelihoods

        Y = np.ascontiguousarray(Y[:, rows])
        out = constant_log_likelihoods(self.constant, self.varies, Y)
        if len(self.points):
            scores = view.scores(self.coef.astype(view.dtype, copy=False), rows)
            scores += self.intercept[:, None].astype(view.dtype)
            log_likelihoods(scores, Y, self.component, self.label, out)
        return out

    def logits(self, view: Products, rows: slice) -> Floats:
        """Log-odds of each label in each component: (n_rows, n_components, n_labels)."""
        n = len(range(*rows.indices(view.shape[0])))
        out = np.tile(self.constant, (n, 1, 1))
        if len(self.points):
            scores = (
                view.scores(self.coef.astype(view.dtype, copy=False), rows)
                + self.intercept[:, None]
            )
            out[:, self.component, self.label] = scores.T
        return out

    def penalties(self) -> float:
        """Negative log of the priors on weights and constants, without the former's constant."""
        return float(self._penalties(slice(None)).sum()) + self.constants_prior

    def _penalties(self, experts: Any) -> Floats:
        """Negative log of the prior on the weights of some experts."""
        coef, label = self.coef[experts], self.label[experts]
        away = coef if self.center is None else coef - self.center.coef[label]
        square = 0.5 * np.einsum("cd,cd->c", away, away)
        absolute = np.abs(away).sum(axis=1) if self.l1_ratio else 0.0
        return self.penalty * ((1.0 - self.l1_ratio) * square + self.l1_ratio * absolute)

    def _cost(
        self, view: Products, Y: NDArray[np.float32], gamma: Floats, component: Any, label: Any
    ) -> Floats:
        """Negative log-likelihood of labels by their experts, and the experts' penalties."""
        from colabel._kernels.logistic import log_likelihoods

        if not len(label):
            return np.zeros(0)
        place = np.cumsum(self.varies).reshape(self.varies.shape) - 1
        experts = place[component, label]
        coef, intercept = self.coef[experts].astype(view.dtype), self.intercept[experts]
        own, cost = np.arange(len(experts)), self._penalties(experts)
        for rows in view.blocks(len(experts)):
            scores = view.scores(coef, rows) + intercept[:, None].astype(view.dtype)
            out = np.zeros(scores.shape)
            log_likelihoods(scores, np.ascontiguousarray(Y[:, rows]), own, label, out)
            cost -= np.einsum("cn,cn->c", gamma[component, rows], out)
        return cost

    def take_up(self, features: Features, coef: Floats, lift: Floats) -> None:
        """Go on with other features, weights that say the same of them, and higher intercepts."""
        self.features, self.points = features, np.column_stack([coef, self.intercept + lift])

    def finish(self) -> None:
        """Forget what only the next M-step would need."""
        self.center = None

    def _prior(self, n_features: int) -> Prior:
        center = np.zeros((0, n_features + 1))
        if self.center is not None:
            center = np.column_stack([self.center.coef, self.center.intercept])
        l1 = self.l1_ratio * self.penalty
        return Prior((1.0 - self.l1_ratio) * self.penalty, l1, center)

    def _known(self, n_components: int, n_features: int) -> list[Known]:
        """Return the regressions of each component that the last M-step fitted."""
        if not len(self.varies):
            return [Known(np.zeros(0, np.int64), np.zeros((0, n_features + 1)))] * n_components
        ends = np.searchsorted(self.component, np.arange(n_components + 1))
        parts = [slice(*ends[k : k + 2]) for k in range(n_components)]
        return [Known(self.label[part], self.points[part]) for part in parts]


def _least_weights(gamma: Floats, share: float) -> Floats:
    """Return the least weight that counts in each component.

    All smaller weights together are at most a share of the component's; zeros never count.
    """
    order = np.sort(gamma, axis=1)
    below = (np.cumsum(order, axis=1) <= share * order.sum(axis=1, keepdims=True)).sum(axis=1)
    below = np.minimum(below, gamma.shape[1] - 1)
    return np.maximum(order[np.arange(len(gamma)), below], np.finfo(np.float64).tiny)
