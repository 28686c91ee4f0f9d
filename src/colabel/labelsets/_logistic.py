"""The usual classifier of a label set."""

from __future__ import annotations

from typing import Any, Self

from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

__all__ = ["ScaledLogisticRegression"]


class ScaledLogisticRegression(LogisticRegression):
    """``LogisticRegression`` fitted to features of one scale, told in the scale they came in.

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
