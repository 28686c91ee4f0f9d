"""Logistic regressions as experts and as the gate (Section 3.1 of Li et al. 2016)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator

from colabel._parameters import check_choice, check_real, check_whole
from colabel._rows import Span
from colabel.linear.design import DenseDesign, ProductsDesign, make_design
from colabel.linear.features import Features, FeatureScale
from colabel.linear.logistic import (
    Known,
    LinearFit,
    Prior,
    fit_component,
    fit_logistic,
    fit_softmax,
)
from colabel.mixture._constants import Constants, constant_log_likelihoods
from colabel.mixture._em import Component, Maker, TrainingData
from colabel.numerics.jobs import Run
from colabel.numerics.products import Products, Rows

__all__ = ["Logistic", "LogisticExperts", "Regressions", "SoftmaxGate"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Flags = NDArray[np.bool_]
Index = NDArray[np.int64]

# Variances of the priors that are left open.
EXPERT_VARIANCE, GATE_VARIANCE = 10.0, 3.0
# Rows of the smallest responsibilities, up to this share of a component's weight, are left out
# (of large problems: those in single precision).
DROPPED = 1e-4


class Logistic(Component, BaseEstimator):
    """Logistic regressions as experts or gate of a ``ConditionalBernoulliMixture``.

    What a gate leaves open (None) is that of logistic experts, but for the variance.

    Parameters
    ----------
    variance : float or None, default=None
        Variance of the Gaussian prior on the weights: large is little regularised. For features as
        ``scale`` leaves them. None is 10 for experts and 3 for a gate; the gate's matters most.
    l1_ratio : float or None, default=None
        Share of an L1 penalty, as in an elastic net; None is 0.
    prior : {"zero", "shared"}, default="zero"
        Mean of the experts' prior. ``"shared"`` shrinks the experts of all components towards the
        weights of binary relevance, which helps with many labels and few rows.
    scale : {"auto", "columns"}, bool or None, default=None
        True: divide the features by one number, the root mean square distance of the rows from
        their mean, so that variances mean the same in any unit. ``"columns"``: divide each feature
        by its standard deviation before. ``"auto"``, and None: do so where these are far apart
        (their geometric mean is below a twentieth of the root mean square), unless binary relevance
        with the experts' variance, over three folds, then predicts rows held out worse by more than
        two standard errors; where they are near nothing is fitted. Sparse data stay sparse.
    max_iter : int or None, default=None
        Steps of the solver in an M-step, from where the last one stopped; None is 10.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.mixture import ConditionalBernoulliMixture
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> clf = ConditionalBernoulliMixture(
    ...     10, experts=Logistic(prior="shared"), gate=Logistic(variance=1.0), random_state=0
    ... )
    >>> bool(clf.fit(train.X, train.Y).score(test.X, test.Y) > 0.2)
    True
    """

    def __init__(
        self,
        variance: float | None = None,
        *,
        l1_ratio: float | None = None,
        prior: str = "zero",
        scale: bool | str | None = None,
        max_iter: int | None = None,
    ) -> None:
        self.variance = variance
        self.l1_ratio = l1_ratio
        self.prior = prior
        self.scale = scale
        self.max_iter = max_iter

    def check(self, role: str) -> None:
        """Refuse settings that no data could make right."""
        if self.variance is not None:
            check_real(self.variance, "variance of Logistic", above=0.0)
        if self.l1_ratio is not None:
            check_real(self.l1_ratio, "l1_ratio of Logistic", least=0.0, below=1.0)
        if self.max_iter is not None:
            check_whole(self.max_iter, "max_iter of Logistic", least=1)
        check_choice(self.scale, "scale of Logistic", ("auto", "columns", True, False, None))
        check_choice(self.prior, "prior of Logistic", ("zero", "shared"))
        if role == "gate" and self.prior == "shared":
            raise ValueError("prior='shared' of Logistic is for experts: a gate predicts no labels")

    def as_gate(self) -> Logistic:
        """Return the gate of experts that come without one."""
        return Logistic()

    def settled(self, data: TrainingData, experts: Maker | None = None) -> Regressions:
        """Fill in what is open, and choose the scale: once, for experts and gate."""
        usual = EXPERT_VARIANCE if experts is None else GATE_VARIANCE
        variance = usual if self.variance is None else self.variance
        others = experts if isinstance(experts, Regressions) else USUAL
        scale = others.scale if self.scale is None else self.scale
        if scale == "auto":
            scaler = FeatureScale("auto", variance if experts is None else EXPERT_VARIANCE)
            fit = partial(scaler.fit, data.X, data.Y, data.weight)
            scale = data.once("scale", fit).chosen
        return Regressions(
            1.0 / variance,
            others.l1_ratio if self.l1_ratio is None else self.l1_ratio,
            self.prior,
            scale,
            others.max_iter if self.max_iter is None else self.max_iter,
        )


@dataclass(frozen=True)
class Regressions:
    """``Logistic`` with nothing left open; ``penalty`` is the inverse of the variance."""

    penalty: float
    l1_ratio: float
    prior: str
    scale: bool | str
    max_iter: int

    def make_gate(self, data: TrainingData) -> Callable[[int], SoftmaxGate]:
        """Return what makes the untrained gate of a seed."""
        features = self._features(data)
        return lambda seed: SoftmaxGate(features, self.penalty, self.max_iter, self.l1_ratio)

    def make_experts(self, data: TrainingData) -> Callable[[int], LogisticExperts]:
        """Return what makes the untrained experts of a seed."""
        features, center = self._features(data), None
        if self.prior == "shared":
            rows = features.products(data.X)
            center = fit_logistic(rows, data.Y, penalty=self.penalty, weight=data.weight)
        settings = self.penalty, self.max_iter, self.l1_ratio, center
        return lambda seed: LogisticExperts(features, *settings)

    def _features(self, data: TrainingData) -> Features:
        """Return the features of experts and gate, the same where their settings are."""
        scale, rotate = self.scale, self.l1_ratio == 0.0
        make = partial(Features(scale, rotate).fit, data.X, data.weight)
        return data.once(("features", scale, rotate), make)


# What ``Logistic`` leaves open, if no experts say otherwise.
USUAL = Regressions(1.0 / EXPERT_VARIANCE, l1_ratio=0.0, prior="zero", scale="auto", max_iter=10)


class LinearPart(BaseEstimator):
    """What a gate and experts of logistic regressions have in common.

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

    Attributes
    ----------
    points : ndarray of shape (n_regressions, n_features + 1)
        Coefficients and, last, intercept of each, for one matrix product.
    """

    def __init__(
        self, features: Features, penalty: float, steps: int, l1_ratio: float = 0.0
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.steps = steps
        self.l1_ratio = l1_ratio
        self.points = np.zeros((0, 1))

    @property
    def coef(self) -> Floats:
        """Coefficients of all regressions."""
        return self.points[:, :-1]

    @property
    def intercept(self) -> Floats:
        """Intercepts of all regressions."""
        return self.points[:, -1]

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> Products:
        """Matrix products of validated rows."""
        return self.features.products(X, dtype)

    def take_up(self, features: Features, coef: Floats, lift: Floats) -> None:
        """Go on with other features, weights that say the same of them, and higher intercepts."""
        self.features, self.points = features, np.column_stack([coef, self.intercept + lift])

    def _products(self, view: Products, rows: Span) -> NDArray[np.float64] | NDArray[np.float32]:
        """Scores of some rows without intercepts, in the precision of the view."""
        return view.scores(self.coef.astype(view.dtype, copy=False), rows)

    def _price(self, square: Floats | float, absolute: Floats | float) -> Floats | float:
        """Negative log of the prior, given half of squares and absolute values of weights."""
        return self.penalty * ((1.0 - self.l1_ratio) * square + self.l1_ratio * absolute)


class SoftmaxGate(LinearPart):
    """``pi(z^k = 1 | x, alpha)`` of Eq. (6), fitted to soft targets; see ``LinearPart``."""

    def __init__(
        self, features: Features, penalty: float, steps: int, l1_ratio: float = 0.0
    ) -> None:
        super().__init__(features, penalty, steps, l1_ratio)
        self.prepared: tuple[Products, DenseDesign | ProductsDesign] | None = None
        self.alive = np.zeros(0, dtype=np.int64)

    def update(self, view: Products, gamma: Floats, weight: Floats, run: Run) -> None:
        """M-step, Eq. (9): match the responsibilities ``gamma`` (n_components, n_samples)."""
        alive = np.flatnonzero(gamma.any(axis=1))
        known = self.points[np.isin(self.alive, alive)]
        self.alive, self.n_components = alive, len(gamma)
        found = fit_softmax(
            self._prepare(view, weight),
            gamma[alive].T,
            penalty=(1.0 - self.l1_ratio) * self.penalty,
            l1=self.l1_ratio * self.penalty,
            start=LinearFit.at(known) if len(known) else None,
            max_iter=self.steps,
            tol=1e-5,
            run=run,
        )
        self.points = np.column_stack([found.coef, found.intercept])

    def _prepare(self, view: Products, weight: Floats) -> DenseDesign | ProductsDesign:
        """Centre the rows, which takes as long as a step of the solver, once for all M-steps."""
        if self.prepared is None or self.prepared[0] is not view:
            made = make_design(
                view, weight, self.penalty, len(self.alive), turn=False, max_iter=self.steps
            )
            self.prepared = view, made
        return self.prepared[1]

    def log_weights(self, view: Products, rows: Span) -> Floats:
        """``log pi`` of some rows: (n_components, n_rows); ``-inf`` for dead components."""
        scores = self._products(view, rows).astype(np.float64)
        scores += self.intercept[:, None]
        scores -= scores.max(axis=0)
        scores -= np.log(np.exp(scores).sum(axis=0))
        if len(self.alive) == self.n_components:
            return scores
        out = np.full((self.n_components, scores.shape[1]), -np.inf)
        out[self.alive] = scores
        return out

    def penalties(self) -> float:
        """Negative log of the prior on all weights, without its constant."""
        coef = np.ascontiguousarray(self.coef)
        square = 0.5 * float(np.einsum("cd,cd->", coef, coef))
        return float(self._price(square, float(np.abs(coef).sum())))

    def finish(self) -> None:
        """Forget what only the next M-step would need."""
        self.prepared = None


class LogisticExperts(LinearPart):
    """``b(y_l | x, beta_l^k)``: Eq. (6)'s binary predictors, one weighted regression each.

    Parameters
    ----------
    features, penalty, steps, l1_ratio
        See ``LinearPart``; regressions lie component by component.
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
        super().__init__(features, penalty, steps, l1_ratio)
        self.center = center
        self.varies = np.zeros((0, 0), dtype=bool)

    def update(self, view: Products, Y: Singles, gamma: Floats, run: Run) -> None:
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
        self._set(np.concatenate(run(self._fits(view, Y, gamma, varies))), varies)
        if self.center is not None and before.size:
            # From the center, fitting need not come below the constant that was there before.
            new = varies & ~before
            self._drop(new, constants.cost[new] < cost(*np.nonzero(new)))
        self.constant = constants.log_odds
        self.constants_prior = float(constants.prior[~self.varies].sum())

    def _fits(
        self, view: Products, Y: Singles, gamma: Floats, varies: Flags
    ) -> list[Callable[[], Floats]]:
        """Fits of the components, as jobs."""
        least = _least_weights(gamma, DROPPED if view.dtype == np.float32 else 0.0)
        prior, known = self._prior(view.shape[1]), self._known(len(gamma), view.shape[1])
        labels = map(np.flatnonzero, varies)
        each = zip(gamma, labels, least, known, strict=True)
        return [
            partial(fit_component, view, Y, weight, labels, low, prior, start, self.steps)
            for weight, labels, low, start in each
        ]

    def _set(self, points: Floats, varies: Flags) -> None:
        self.points, self.varies = points, varies
        self.component, self.label = (index.astype(np.int64) for index in np.nonzero(varies))

    def _drop(self, some: Flags, dropped: Flags) -> None:
        """Give up those of some regressions that are marked."""
        if dropped.any():
            varies = self.varies.copy()
            varies[some] = ~dropped
            self._set(self.points[varies[self.varies]], varies)

    def blocks(self, view: Products) -> list[Span]:
        """Rows to score together."""
        return view.blocks(max(self.constant.shape[0], len(self.points)))

    def log_likelihoods(self, view: Products, Y: Singles, rows: Span) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (n_components, n_rows)."""
        from colabel._kernels.logistic import log_likelihoods

        Y = np.ascontiguousarray(Y[:, rows])
        out = constant_log_likelihoods(self.constant, self.varies, Y)
        if len(self.points):
            scores = self._products(view, rows)
            scores += self.intercept[:, None].astype(view.dtype)
            log_likelihoods(scores, Y, self.component, self.label, out)
        return out

    def logits(self, view: Products, rows: Span) -> Floats:
        """Log-odds of each label in each component: (n_rows, n_components, n_labels)."""
        n = len(range(*rows.indices(view.shape[0])))
        out = np.tile(self.constant, (n, 1, 1))
        if len(self.points):
            scores = self._products(view, rows) + self.intercept[:, None]
            out[:, self.component, self.label] = scores.T
        return out

    def penalties(self) -> float:
        """Negative log of the priors on weights and constants, without the former's constant."""
        return float(self._penalties(slice(None)).sum()) + self.constants_prior

    def _penalties(self, experts: Span | Index) -> Floats:
        """Negative log of the prior on the weights of some experts."""
        coef, label = self.coef[experts], self.label[experts]
        away = coef if self.center is None else coef - self.center.coef[label]
        square = 0.5 * np.einsum("cd,cd->c", away, away)
        absolute = np.abs(away).sum(axis=1) if self.l1_ratio else 0.0
        return np.asarray(self._price(square, absolute))

    def _cost(
        self, view: Products, Y: Singles, gamma: Floats, component: Index, label: Index
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
