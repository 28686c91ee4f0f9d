"""Any scikit-learn classifier as expert or as gate.

Classifiers are fitted anew in each M-step, on the rows that count, with responsibilities as
weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.special import logit
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from colabel._rows import Span
from colabel._sklearn import take_rows
from colabel.mixture._constants import (
    Constants,
    constant_log_likelihoods,
    rows_that_count,
)
from colabel.mixture._em import Component, TrainingData
from colabel.numerics.jobs import Run
from colabel.numerics.products import Rows

__all__ = ["AnyClassifier", "ClassifierExperts", "ClassifierGate", "check_classifier"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Index = NDArray[np.int64]


class Classifier(Protocol):
    """A scikit-learn classifier with probabilities, as far as it is used here."""

    classes_: Index

    def fit(self, X: Rows, y: ArrayLike) -> Self: ...

    def predict_proba(self, X: Rows) -> Floats: ...


# A row teaches the gate about a component that answers for at least this share of it.
LEAST_SHARE = 1e-3


def check_classifier(role: str, estimator: object) -> None:
    """Refuse what cannot serve as ``role``: no probabilities, or no sample weights.

    Parameters
    ----------
    role : str
        Name of the parameter, for the message.
    estimator : object
    """
    if not is_classifier(estimator):
        raise ValueError(f"{role} must be a scikit-learn classifier; got {estimator!r}")
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(f"{role} must have predict_proba, which {estimator!r} lacks")
    if _weight_name(estimator) is None:
        raise ValueError(f"{role} must take sample_weight in fit, which {estimator!r} does not")


@dataclass(frozen=True, eq=False)
class AnyClassifier(Component):
    """A classifier as experts or gate, the same for both: not fitted, and left so."""

    estimator: Classifier

    @property
    def takes_nan(self) -> bool:
        """Whether the classifier says of itself that it takes missing values."""
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    def check(self, role: str) -> None:
        """Refuse what cannot serve: no probabilities, or no sample weights."""
        check_classifier(role, self.estimator)

    def make_gate(self, data: TrainingData) -> Callable[[int], ClassifierGate]:
        """Return what makes the untrained gate of a seed."""
        return partial(ClassifierGate, self.estimator)

    def make_experts(self, data: TrainingData) -> Callable[[int], ClassifierExperts]:
        """Return what makes the untrained experts of a seed."""
        return partial(ClassifierExperts, self.estimator)


class ClassifierExperts(BaseEstimator):
    """``b(y_l | x, beta_l^k)``: a classifier for each label that varies in a component.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` and ``sample_weight``; not fitted, and left so.
    seed : int
        For its random states, where it leaves them open.
    """

    def __init__(self, estimator: Classifier, seed: int) -> None:
        self.estimator = estimator
        self.seed = seed

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> Rows:
        """Rows as they are."""
        return X

    def update(self, view: Rows, Y: Singles, gamma: Floats, run: Run) -> None:
        """M-step, Eq. (10): fit each component to the rows it answers for.

        Parameters
        ----------
        view : ndarray or csr_array of shape (n_samples, n_features)
        Y : ndarray of shape (n_labels, n_samples)
        gamma : ndarray of shape (n_components, n_samples)
            Responsibilities times sample weights; a dead component's row is zero.
        run : callable
            Runs jobs, in any order.
        """
        constants = Constants.of(Y, gamma)
        self.constant, varies = constants.log_odds, ~constants.rare
        # As many rows cannot show that a probability is closer to 0 or 1 than half of one.
        self.floor = 0.5 / (gamma.sum(axis=1) + 1.0)
        total = gamma.sum(axis=0)  # responsibilities add up to one: the sample weights
        jobs = [
            partial(self._fit, view, Y, gamma[k], total, np.flatnonzero(varies[k]))
            for k in range(len(gamma))
        ]
        found = enumerate(run(jobs))
        self.fits = [(k, label, fit) for k, fits in found for label, fit in fits]
        self.varies = np.zeros_like(varies)
        for k, label, _ in self.fits:
            self.varies[k, label] = True
        self.constants_prior = float(constants.prior[~self.varies].sum())

    def log_likelihoods(self, view: Rows, Y: Singles, rows: Span) -> Floats:
        """``log prod_l b(y_nl | x_n, beta_l^k)`` of some rows: (n_components, n_rows)."""
        X, Y = take_rows(view, rows), Y[:, rows]
        out = constant_log_likelihoods(self.constant, self.varies, Y)
        for k, label, fit in self.fits:
            p = self._probability(k, fit, X)
            out[k] += np.log(np.where(Y[label] > 0, p, 1.0 - p))
        return out

    def logits(self, view: Rows, rows: Span) -> Floats:
        """Log-odds of each label in each component: (n_rows, n_components, n_labels)."""
        X = take_rows(view, rows)
        out = np.tile(self.constant, (X.shape[0], 1, 1))
        for k, label, fit in self.fits:
            out[:, k, label] = logit(self._probability(k, fit, X))
        return out

    def penalties(self) -> float:
        """Negative log of the prior on constants; classifiers regularise as they like."""
        return self.constants_prior

    def finish(self) -> None:
        """Nothing is kept for another M-step."""

    def _fit(
        self, X: Rows, Y: Singles, weight: Floats, total: Floats, labels: Index
    ) -> list[tuple[int, Classifier]]:
        """Fit a component's classifiers; labels constant on the rows that count have none."""
        if not len(labels):
            return []
        rows = rows_that_count(weight / total, total)
        X, on, weight = take_rows(X, rows), Y[:, rows] > 0, weight[rows]
        return [
            (int(label), _fit(self.estimator, self.seed, X, on[label].astype(np.int64), weight))
            for label in labels
            if on[label].any() and not on[label].all()
        ]

    def _probability(self, k: int, fit: Classifier, X: Rows) -> Floats:
        p = _probabilities(fit, X, 2)[1]
        return np.clip(p, self.floor[k], 1.0 - self.floor[k])


class ClassifierGate(BaseEstimator):
    """``pi(z^k = 1 | x, alpha)`` of Eq. (6) by a classifier whose classes are the components.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` and ``sample_weight``; not fitted, and left so.
    seed : int
        For its random states, where it leaves them open.
    """

    def __init__(self, estimator: Classifier, seed: int) -> None:
        self.estimator = estimator
        self.seed = seed

    def view(self, X: Rows, dtype: DTypeLike | None = None) -> Rows:
        """Rows as they are."""
        return X

    def update(self, view: Rows, gamma: Floats, weight: Floats, run: Run) -> None:
        """M-step, Eq. (9): fit to each row as often as components answer for it.

        Parameters
        ----------
        view : ndarray or csr_array of shape (n_samples, n_features)
        gamma : ndarray of shape (n_components, n_samples)
            Responsibilities; a dead component's row is zero.
        weight : ndarray of shape (n_samples,)
        run : callable
            Not used: there is one job.
        """
        self.alive, self.n_components = np.flatnonzero(gamma.any(axis=1)), len(gamma)
        self.floor = 0.5 / (weight.sum() + 1.0) / len(gamma)
        answers = gamma >= np.minimum(LEAST_SHARE, gamma.max(axis=0))
        component, row = np.nonzero(answers)
        share = gamma[component, row] * weight[row]
        self.only = int(component[0]) if (component == component[0]).all() else None
        if self.only is None:
            X = take_rows(view, row)
            self.fit = _fit(self.estimator, self.seed, X, component, share)

    def log_weights(self, view: Rows, rows: Span) -> Floats:
        """``log pi`` of some rows: (n_components, n_rows); ``-inf`` for dead components."""
        X = take_rows(view, rows)
        if self.only is None:
            p = _probabilities(self.fit, X, self.n_components)
        else:  # a classifier of one class is refused by most
            p = np.zeros((self.n_components, X.shape[0]))
            p[self.only] = 1.0
        p = np.maximum(p[self.alive], self.floor)
        out = np.full((self.n_components, X.shape[0]), -np.inf)
        out[self.alive] = np.log(p / p.sum(axis=0))
        return out

    def penalties(self) -> float:
        """Zero: what the classifier regularises is its own affair."""
        return 0.0

    def finish(self) -> None:
        """Nothing is kept for another M-step."""


def _fit(estimator: Classifier, seed: int, X: Rows, y: Index, weight: Floats) -> Classifier:
    """Fit a copy of the estimator, with its open random states fixed."""
    fit = clone(estimator)
    states = [key for key, value in fit.get_params().items() if value is None]
    fit.set_params(**{key: seed for key in states if key.split("__")[-1] == "random_state"})
    name = _weight_name(fit)
    assert name is not None
    # The weights are responsibilities, which no user asks for or routes.
    with config_context(enable_metadata_routing=False):
        return fit.fit(X, y, **{name: weight})


def _probabilities(fit: Classifier, X: Rows, n_classes: int) -> Floats:
    """Probability of each class, 0 where the classifier has not seen it: (n_classes, n_rows)."""
    out = np.zeros((n_classes, X.shape[0]))
    out[fit.classes_] = fit.predict_proba(X).T
    if not np.isfinite(out).all():
        raise ValueError(f"predict_proba of {type(fit).__name__} gives NaN on these data")
    return out


def _weight_name(estimator: object) -> str | None:
    """Name under which ``fit`` takes sample weights: that of the last step of a pipeline."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = _weight_name(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None
