"""What estimators around another classifier have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import validate_data

from colabel._sklearn import n_rows, routing_enabled, take_params
from colabel.base import BaseClassifier, MultiLabelClassifier

__all__ = ["MetaClassifier", "WrappingClassifier"]


class WrappingClassifier(BaseClassifier):
    """Base of the estimators that wrap another one: ``_inner()``, not fitted."""

    estimator: Any

    def _inner(self) -> Any:
        """Return the wrapped classifier, not fitted."""
        return self.estimator

    def _check_parameters(self) -> None:
        super()._check_parameters()
        inner = self._inner()
        if not hasattr(inner, "fit") or not is_classifier(inner):
            raise ValueError(f"estimator must be a scikit-learn classifier; got {inner!r}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            inner = get_tags(self._inner())
        except (AttributeError, TypeError):
            return tags  # no estimator at all; ``fit`` says so
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


class MetaClassifier(WrappingClassifier, MultiLabelClassifier):
    """Base of the estimators of labelings that wrap another one.

    ``X`` is handed to the inner classifier as it came, so that text, data frames with categories
    and missing values work wherever that classifier takes them.
    """

    def get_metadata_routing(self) -> MetadataRouter:
        """Route ``fit`` parameters to the inner ``fit``; ``sample_weight`` is used here too."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._inner(), method_mapping=mapping)

    def _route(self, X: Any, fit_params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Choose the parameters that the parts get: ``{"estimator": ..., "splitter": ...}``."""
        if routing_enabled():
            routed = process_routing(self, "fit", **fit_params)
            split = getattr(routed, "splitter", None)
            return {
                "estimator": dict(routed.estimator.fit),
                "splitter": dict(split.split) if split is not None else {},
            }
        groups = {"groups": fit_params["groups"]} if "groups" in fit_params else {}
        rest = {key: value for key, value in fit_params.items() if key != "groups"}
        return {"estimator": take_params(X, rest), "splitter": groups}

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Check what does not depend on the inner classifier, and leave ``X`` as it is."""
        if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "biuf":
            raise ValueError(
                "Expected 2D array, got 1D array instead. Reshape your data with "
                "X.reshape(-1, 1) if it has a single feature or X.reshape(1, -1) if it is a "
                "single sample."
            )
        if n_rows(X) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        (X,) = indexable(validate_data(self, X, reset=reset, skip_check_array=True))
        return X
