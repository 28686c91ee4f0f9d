"""What estimators built on top of any scikit-learn classifier have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import (
    _check_method_params,
    _num_samples,
    check_consistent_length,
    has_fit_parameter,
    validate_data,
)

from colabel.base import MultiLabelClassifier

__all__ = ["ReductionClassifier"]


class ReductionClassifier(MultiLabelClassifier):
    """Base of the estimators that turn multi-label data into ordinary classification.

    ``X`` is handed to the inner classifier as it came, so that text, data frames with categories
    and missing values work wherever that classifier takes them.
    """

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
        params = self._route(X, sample_weight, fit_params)
        return super().fit(X, y, **params)

    def _route(self, X: Any, sample_weight: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        if sample_weight is not None:
            check_consistent_length(X, sample_weight)
            fit_params = {**fit_params, "sample_weight": sample_weight}
        if _routing_enabled():
            return dict(process_routing(self, "fit", **fit_params).estimator.fit)
        if sample_weight is not None and not has_fit_parameter(
            self._base_estimator(), "sample_weight"
        ):
            raise ValueError(
                f"{type(self._base_estimator()).__name__} does not support sample_weight"
            )
        return _check_method_params(X, fit_params) if fit_params else {}

    def get_metadata_routing(self) -> MetadataRouter:
        """Route ``fit`` parameters to the inner ``fit``."""
        return MetadataRouter(owner=self).add(
            estimator=self._base_estimator(),
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )

    def _base_estimator(self) -> Any:
        """Return the user's classifier (never fitted itself), or the default one."""
        if self.estimator is None:
            return LogisticRegression(max_iter=1000)
        if not is_classifier(self.estimator):
            raise ValueError(f"estimator must be a scikit-learn classifier; got {self.estimator!r}")
        return clone(self.estimator)

    def _probabilistic(self) -> bool:
        return hasattr(self._base_estimator(), "predict_proba")

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Check what does not depend on the inner classifier, and leave ``X`` as it is."""
        if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data with "
                "X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a "
                "single sample."
            )
        if _num_samples(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return validate_data(self, X, reset=reset, skip_check_array=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base_estimator())
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags
