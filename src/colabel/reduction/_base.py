"""What problem transformations have in common."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_consistent_length, has_fit_parameter

from colabel._meta import MetaClassifier

__all__ = ["ReductionClassifier"]


class ReductionClassifier(MetaClassifier):
    """Base of the estimators that turn multi-label data into ordinary classification."""

    estimator: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit to features ``X`` and labels ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
            Or whatever ``estimator`` takes.
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.
        sample_weight : array-like of shape (n_samples,) or None, default=None
        **fit_params : dict
            Passed on to the inner ``fit`` (by metadata routing, if that is enabled).

        Returns
        -------
        self
        """
        if sample_weight is not None:
            inner = self._inner()
            if not has_fit_parameter(inner, "sample_weight"):
                raise ValueError(f"{type(inner).__name__} does not support sample_weight")
            check_consistent_length(X, sample_weight)
            fit_params = {**fit_params, "sample_weight": sample_weight}
        return super().fit(X, y, **self._route(X, fit_params))

    def _inner(self) -> Any:
        if self.estimator is None:
            return LogisticRegression(max_iter=1000)
        if not is_classifier(self.estimator):
            raise ValueError(f"estimator must be a scikit-learn classifier; got {self.estimator!r}")
        return clone(self.estimator)

    def _probabilistic(self) -> bool:
        return hasattr(self._inner(), "predict_proba")
