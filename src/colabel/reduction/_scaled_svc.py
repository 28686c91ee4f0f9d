"""A linear support vector machine whose default fits features of any scale."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils.validation import _num_samples

__all__ = ["ScaledLinearSVC"]


class ScaledLinearSVC(LinearSVC):
    """``LinearSVC`` with ``C`` counted in units of ``1 / mean(||x||^2)``.

    The right ``C`` of a linear machine falls as features grow: on word counts it is a hundredth of
    what it is on unit rows. Dividing by the mean squared norm of the training rows (SVM-light's
    default, Joachims 1999) makes ``C = 1`` a fair start everywhere. Parameters, attributes and
    methods are those of ``LinearSVC``.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[100.0], [200.0], [300.0], [400.0]]), np.array([0, 0, 1, 1])
    >>> ScaledLinearSVC().fit(X, y).predict(X)
    array([0, 0, 1, 1])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit as ``LinearSVC`` does, at ``C / mean(||x||^2)``."""
        # The objective is ||w||^2 / 2 + C sum_i weight_i loss_i: weights scale C.
        weight = np.ones(_num_samples(X)) if sample_weight is None else np.asarray(sample_weight)
        return super().fit(X, y, weight / _mean_squared_norm(X))


def _mean_squared_norm(X: Any) -> float:
    """Mean squared row norm, 1 where it is not a positive number (``fit`` will say why)."""
    n_samples = _num_samples(X)
    if sparse.issparse(X):
        values = X.data if X.format in ("csr", "csc", "coo") else sparse.csr_array(X).data
    else:
        values = np.asarray(X)
    if values.dtype.kind not in "biuf" or n_samples == 0:
        return 1.0
    values = values.astype(np.float64, copy=False)
    mean = float(np.vdot(values, values)) / n_samples
    return mean if np.isfinite(mean) and mean > 0 else 1.0
