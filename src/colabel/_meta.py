"""What estimators around another classifier have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params, _num_samples, validate_data

from colabel.base import MultiLabelClassifier

__all__ = ["MetaClassifier"]


class MetaClassifier(MultiLabelClassifier):
    """Base of the estimators that wrap another one.

    ``X`` is handed to the inner classifier as it came, so that text, data frames with categories
    and missing values work wherever that classifier takes them. ``_inner()`` is that classifier,
    not fitted.
    """

    def _inner(self) -> Any:
        """Return the wrapped classifier, not fitted."""
        raise NotImplementedError

    def get_metadata_routing(self) -> MetadataRouter:
        """Route ``fit`` parameters to the inner ``fit``."""
        return MetadataRouter(owner=self).add(
            estimator=self._inner(),
            method_mapping=MethodMapping().add(caller="fit", callee="fit"),
        )

    def _route(self, X: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Choose the parameters that the inner ``fit`` gets."""
        if _routing_enabled():
            return dict(process_routing(self, "fit", **fit_params).estimator.fit)
        return _check_method_params(X, fit_params) if fit_params else {}

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
        (X,) = indexable(validate_data(self, X, reset=reset, skip_check_array=True))
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags
