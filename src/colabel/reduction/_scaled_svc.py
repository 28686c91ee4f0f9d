"""A linear support vector machine that does not mind the scale of its features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from colabel.learners.magnitude import mean_squared_norm

__all__ = ["ScaledLinearSVC"]


class ScaledLinearSVC(LinearSVC):
    """``LinearSVC`` fitted as if the rows of ``X`` had a mean squared norm of one.

    The right ``C`` of a linear machine falls as features grow: on word counts it is a hundredth of
    what it is on unit rows. Counting it in units of ``1 / mean(||x||^2)`` (SVM-light's default,
    Joachims 1999), and the penalised intercept in units of the root, makes ``C = 1`` a fair start
    everywhere: multiplying ``X`` by a number changes no prediction. Nothing is centred, so sparse
    data stay sparse. Parameters, attributes and methods are those of ``LinearSVC``.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> small, large = (ScaledLinearSVC().fit(X * unit, y) for unit in (0.01, 100.0))
    >>> bool(np.allclose(small.decision_function(X * 0.01), large.decision_function(X * 100.0)))
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit as ``LinearSVC`` does, at the scale of ``X``."""
        self._validate_params()
        squared = _mean_squared_norm(X, sample_weight)
        scaled = {
            "C": self.C / squared,
            "intercept_scaling": self.intercept_scaling * np.sqrt(squared),
        }
        machine = LinearSVC(**{**self.get_params(), **scaled}).fit(X, y, sample_weight)
        for name, value in vars(machine).items():
            if name.endswith("_"):
                setattr(self, name, value)
        return self


def _mean_squared_norm(X: Any, sample_weight: Any) -> float:
    """Mean squared row norm, 1 where it is not a positive number (``fit`` will say why)."""
    X = X if sparse.issparse(X) else np.asarray(X)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        return 1.0
    if weight is not None and (weight.shape != X.shape[:1] or weight.dtype.kind not in "biuf"):
        return 1.0
    return mean_squared_norm(X, weight)
