"""Logistic regression that fits all its labels in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from colabel._one_target import ScoringClassifier, check_one_target
from colabel._parameters import check_real, check_whole
from colabel._sklearn import check_weight
from colabel._unchanged import unchanged_on_failure
from colabel.linear.log_linear import fit_multinomial
from colabel.linear.logistic import LinearFit, fit_logistic, fit_softmax
from colabel.messages import warn_user
from colabel.numerics.magnitude import check_magnitude

__all__ = ["BatchLogisticRegression"]

# Labels solved together: what they take as bytes. Sparse labels are never dense as a whole.
TOGETHER_BYTES = 2**26


class BatchLogisticRegression(ScoringClassifier):
    """Logistic regression with an elastic-net penalty, fitted to any number of labels at once.

    The optimum is that of scikit-learn's ``LogisticRegression(C=C, l1_ratio=l1_ratio)``. The labels
    of a ``BinaryRelevance`` or a chain share the rows of ``X``, so one pair of matrix products
    serves them all; features are centred and scaled inside, so that raw data converge as
    standardised ones do.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty: without an L1 part, the variance of a Gaussian prior on the
        coefficients. The intercept is not penalised.
    l1_ratio : float in [0, 1], default=0.0
        Share of ``|w|_1`` in the penalty ``((1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1) / C``; with
        any, coefficients of features that do not help are exactly zero.
    max_iter : int, default=1000
    tol : float, default=1e-8
        Distance of the objective from its optimum, relative to it, that is aimed at.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_features)
        One row for two classes.
    intercept_ : ndarray of shape (1 or n_classes,)
    classes_ : ndarray of shape (n_classes,)
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> BatchLogisticRegression().fit(X, y).predict_proba([[0.0]]).round(2)
    array([[0.81, 0.19]])
    """

    def __init__(
        self, C: float = 1.0, *, l1_ratio: float = 0.0, max_iter: int = 1000, tol: float = 1e-8
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one target of two or more classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        """
        with unchanged_on_failure(self):
            X, self.classes_, code, weight = check_one_target(self, X, y, sample_weight)
            if len(self.classes_) == 2:
                found = self._solve(fit_logistic, X, code[:, None], weight)
            elif self.l1_ratio == 0:
                found = self._solve(_fit_classes, X, code, weight)
            else:
                found = self._solve(fit_softmax, X, np.eye(len(self.classes_))[code], weight)
            self.coef_, self.intercept_, self.n_iter_ = found.coef, found.intercept, found.n_iter
        return self

    def fit_labels(
        self, X: Any, columns: Iterable[NDArray[Any]], sample_weight: Any = None
    ) -> list[Self]:
        """Fit 0/1 targets that share ``X``, all together; return one fitted regression each.

        Every column holds both values.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        columns, fitted = iter(columns), []
        together = max(1, TOGETHER_BYTES // X.shape[0])
        while part := [*islice(columns, together)]:
            found = self._solve(fit_logistic, X, np.column_stack(part), sample_weight)
            fitted += [self._column(found, c) for c in range(len(part))]
        return fitted

    @staticmethod
    def score_labels(fitted: list[BatchLogisticRegression], X: Any) -> NDArray[np.float64]:
        """Log-odds of several fitted targets by one matrix product: (n_samples, n_targets)."""
        X = validate_data(fitted[0], X, accept_sparse="csr", dtype=np.float64, reset=False)
        coef = np.concatenate([one.coef_ for one in fitted])
        return np.asarray(X @ coef.T) + np.concatenate([one.intercept_ for one in fitted])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.asarray(X @ self.coef_.T) + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithm of the probability of each class, finite however small that is."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return log_softmax(scores, axis=1)

    def _solve(
        self, fit: Callable[..., LinearFit], X: Any, Y: NDArray[Any], sample_weight: Any
    ) -> LinearFit:
        check_magnitude(X)
        weight = None if sample_weight is None else check_weight(sample_weight, X)
        found = fit(X, Y, weight=weight, **self._options())
        self._warn(found)
        return found

    def _options(self) -> dict[str, Any]:
        if not (isinstance(self.C, float) and np.isposinf(self.C)):
            check_real(self.C, "C", above=0.0)
        check_real(self.l1_ratio, "l1_ratio", least=0.0, most=1.0)
        check_whole(self.max_iter, "max_iter", least=1)
        check_real(self.tol, "tol", least=0.0)
        return {
            "penalty": (1.0 - self.l1_ratio) / self.C,
            "l1": self.l1_ratio / self.C,
            "max_iter": self.max_iter,
            "tol": self.tol,
        }

    def _warn(self, found: LinearFit) -> None:
        if not found.converged.all():
            warn_user(
                f"{np.sum(~found.converged)} of {len(found.converged)} logistic regressions did "
                f"not converge in {self.max_iter} steps; scale the features or raise max_iter",
                ConvergenceWarning,
            )

    def _column(self, found: LinearFit, column: int) -> Self:
        one = type(self)(**self.get_params(deep=False))
        one.coef_, one.intercept_ = found.coef[column : column + 1], found.intercept[[column]]
        one.classes_, one.n_iter_ = np.array([0, 1]), found.n_iter
        one.n_features_in_ = found.coef.shape[1]
        if hasattr(self, "feature_names_in_"):
            one.feature_names_in_ = self.feature_names_in_
        return one


def _fit_classes(X: Any, code: NDArray[Any], *, l1: float, **options: Any) -> LinearFit:
    """Fit classes without an L1 part, in coordinates that converge faster than ``fit_softmax``."""
    return fit_multinomial(X, code, **options)
