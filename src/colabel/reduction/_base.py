"""What problem transformations have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from colabel._meta import MetaClassifier
from colabel._sklearn import check_weight, routing_enabled, take_params, take_rows
from colabel._unchanged import unchanged_on_failure
from colabel.reduction._logistic import BatchLogisticRegression

__all__ = ["ReductionClassifier"]


class ReductionClassifier(MetaClassifier):
    """Base of the estimators that turn multi-label data into ordinary classification."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit to features ``X`` and labels ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
            Or whatever ``estimator`` takes.
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Rows of weight zero are left out.
        **fit_params : dict
            Passed on to the inner ``fit`` (by metadata routing, if that is enabled).

        Returns
        -------
        self
        """
        if sample_weight is not None:
            if not has_fit_parameter(self._inner(), "sample_weight"):
                name = type(self._inner()).__name__
                raise ValueError(f"{name} does not support sample_weight")
            sample_weight = check_weight(sample_weight, X)
            fit_params = {**fit_params, "sample_weight": sample_weight}
        with unchanged_on_failure(self):
            # Whether prediction uses probabilities is settled by what was fitted, not by what the
            # parameters are changed to afterwards.
            self._gives_probabilities = hasattr(self._inner(), "predict_proba")
            return super().fit(X, y, sample_weight=sample_weight, fit_params=fit_params)

    def _fit(self, X: Any, Y: Any, **given: Any) -> None:
        sample_weight = given["sample_weight"]
        params = self._route(X, given["fit_params"])["estimator"]
        if sample_weight is not None and not sample_weight.all():
            rows = np.flatnonzero(sample_weight)
            params = take_params(X, params, rows)
            X, Y, sample_weight = take_rows(X, rows), Y[rows], sample_weight[rows]
        self._fit_rows(X, Y, sample_weight, params)

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        """Learn from rows of positive weight; ``params`` are those of the inner ``fit``."""
        raise NotImplementedError

    def _inner(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        usual = self._usual()
        return usual.set_fit_request(sample_weight=True) if routing_enabled() else usual

    def _usual(self) -> BatchLogisticRegression:
        """Return the default of ``estimator``."""
        return BatchLogisticRegression()

    def _fresh(self) -> Any:
        return clone(self._inner())

    def _probabilistic(self) -> bool:
        known = getattr(self, "_gives_probabilities", None)
        return hasattr(self._inner(), "predict_proba") if known is None else known
