"""A linear support vector machine that does not mind the scale of its features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.svm import LinearSVC

from colabel._one_target import check_one_target
from colabel._unchanged import unchanged_on_failure
from colabel.numerics.magnitude import check_magnitude, mean_squared_norm

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
        with unchanged_on_failure(self):
            X, classes, code, weight = check_one_target(self, X, y, sample_weight)
            check_magnitude(X)
            squared = mean_squared_norm(X, weight)
            scaled = {
                "C": self.C / squared,
                "intercept_scaling": self.intercept_scaling * np.sqrt(squared),
            }
            machine = LinearSVC(**{**self.get_params(), **scaled}).fit(X, classes[code], weight)
            for name, value in vars(machine).items():
                if name.endswith("_"):
                    setattr(self, name, value)
        return self
