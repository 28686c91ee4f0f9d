"""The classifier of one facet: the usual one, fits of any to class numbers, its probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from colabel._sklearn import n_rows, one_score_per_class
from colabel.facets._targets import Codes

__all__ = [
    "Floats",
    "ScaledLogisticRegression",
    "class_log_probs",
    "fit_classes",
    "fit_each",
    "usual_classifier",
    "weight_name",
]

Floats = NDArray[np.float64]


class ScaledLogisticRegression(LogisticRegression):
    """``LogisticRegression`` fitted to features of one scale, with coefficients for those given.

    So units do not matter, and few steps are enough. Dense features are centred for the fit as
    well; sparse ones stay sparse. Parameters, attributes and methods are those of
    ``LogisticRegression``.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[101.0], [102.0], [103.0], [104.0]]), np.array([0, 0, 1, 1])
    >>> units = np.array([[1e3], [1e-3]])
    >>> large, small = (ScaledLogisticRegression().fit(X * unit, y) for unit in units)
    >>> bool(np.allclose(large.predict_proba(X * 1e3), small.predict_proba(X * 1e-3)))
    True
    """

    coef_: Any
    intercept_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit as ``LogisticRegression`` does, at the scale of ``X``."""
        scaler = StandardScaler(with_mean=not sparse.issparse(X))
        super().fit(scaler.fit_transform(X, sample_weight=sample_weight), y, sample_weight)
        self.coef_ = self.coef_ / scaler.scale_
        if scaler.with_mean:
            self.intercept_ = self.intercept_ - self.coef_ @ scaler.mean_
        return self


def usual_classifier() -> ScaledLogisticRegression:
    """Return a logistic regression on features of one scale.

    It is solved so far that dense features, which are centred, and sparse ones agree to 1e-5.
    """
    return ScaledLogisticRegression(max_iter=1000, tol=1e-6)


def fit_each(
    tasks: Iterable[tuple[Any, Any, Codes, Floats | None]], n_jobs: int | None
) -> list[Any]:
    """Fit classifiers to features, class numbers and weights: the tasks of ``fit_classes``."""
    return list(Parallel(n_jobs=n_jobs)(delayed(fit_classes)(*task) for task in tasks))


def fit_classes(base: Any, X: Any, code: Codes, weight: Floats | None) -> Any:
    """Fit a clone of ``base`` to class numbers; to a single class no more than that class."""
    if np.all(code == code[0]):
        return DummyClassifier().fit(X, code)
    params = {} if weight is None else {weight_name(base): weight}
    return one_score_per_class(clone(base)).fit(X, code, **params)


def class_log_probs(estimator: Any, X: Any, n_classes: int) -> Floats:
    """Return log-probabilities (n_samples, n_classes); ``-inf`` for classes never seen.

    Of a classifier without probabilities the softmax of its scores, or all for the class
    predicted.
    """
    out = np.full((n_rows(X), n_classes), -np.inf)
    seen = estimator.classes_
    if hasattr(estimator, "predict_proba"):
        with np.errstate(divide="ignore"):
            out[:, seen] = np.log(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        out[:, seen] = log_softmax(scores, axis=1)
    else:
        out[np.arange(len(out)), estimator.predict(X)] = 0.0
    return out


def weight_name(base: Any) -> str:
    """Return the name under which ``fit`` of ``base`` takes sample weights."""
    if isinstance(base, Pipeline) and has_fit_parameter(base.steps[-1][1], "sample_weight"):
        return f"{base.steps[-1][0]}__sample_weight"
    if not has_fit_parameter(base, "sample_weight"):
        raise ValueError(f"{type(base).__name__} does not support sample_weight")
    return "sample_weight"
