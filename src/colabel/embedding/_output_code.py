"""Output codes of labels and projections of labels (Zhang and Schneider 2011, 2012).

The codeword of a labeling ``y`` has two parts: the labels themselves, predicted one by one by
logistic regressions, and projections ``v_k'y``, predicted by linear regressions with Gaussian
errors. Decoding weighs both: the score of ``y`` is quadratic, a table of label pairs.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._parameters import check_choice, check_real
from colabel.base import MultiLabelClassifier
from colabel.decoders import MeanField
from colabel.embedding._moments import residual_scatter
from colabel.embedding._sizes import check_components
from colabel.linear.logistic import fit_logistic
from colabel.linear.ridge import RidgeFit, fit_ridge
from colabel.numerics.magnitude import check_magnitude
from colabel.scores import Pairwise, ScoreTable

__all__ = ["OutputCode", "floored"]

Floats = NDArray[np.float64]

# A projection is never trusted more than this share of the labels' own variance along it.
LEAST_VARIANCE = 1e-3
# Nor more than this share of the mean variance of a label. Where labels exclude one another their
# sum hardly varies at all, and a share of that would tie the labels too tightly for mean field.
LEAST_SHARE = 0.05
# How far the logistic regressions may be from their optimum, relative to it.
LOGISTIC_TOL = 1e-6


class OutputCode(MultiLabelClassifier):
    """Base of the output codes: subclasses write ``_code``."""

    _table: ClassVar[type[Pairwise]] = Pairwise
    _decoder: ClassVar[str] = "mean_field"
    _sparse_labels: ClassVar[bool] = True
    _variances: ClassVar[tuple[str, ...]] = ("left_out", "training")

    n_components: int | float | None
    label_C: float
    alpha: float | None
    code_weight: float
    variance: str

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to features ``X`` and labels ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def _fit(self, X: Any, Y: Any, **fit_params: Any) -> None:
        check_magnitude(X)
        Y = sparse.csr_array(Y, dtype=np.float64)
        self._fit_labels(X, Y)
        fit = fit_ridge(X, Y, self.alpha)
        self.alpha_ = fit.alpha
        self.regression_coef_ = np.ascontiguousarray(fit.coef.T)
        self.regression_intercept_ = fit.intercept
        scatter = residual_scatter(fit, X, Y, left_out=self.variance == "left_out")
        self._keep_code(*self._code(X, Y, fit, scatter / Y.shape[0]))

    def _code(
        self, X: Any, Y: sparse.csr_array, fit: RidgeFit, residual: Floats
    ) -> tuple[Floats, Floats]:
        """Return projections ``V`` (n_labels, n_codes), and the precision of each prediction."""
        raise NotImplementedError

    def _fit_labels(self, X: Any, Y: sparse.csr_array) -> None:
        """Fit a logistic regression to each label; one with a single value keeps it."""
        n, q = Y.shape
        n_on = np.asarray(Y.sum(axis=0)).ravel()
        prior = np.log(n + 1.0)
        self.coef_ = np.zeros((q, X.shape[1]))
        self.intercept_ = np.where(n_on == n, prior, -prior)
        learnt = np.flatnonzero((n_on > 0) & (n_on < n))
        if len(learnt):
            found = fit_logistic(
                X, Y[:, learnt].toarray(), penalty=1.0 / self.label_C, tol=LOGISTIC_TOL
            )
            self.coef_[learnt], self.intercept_[learnt] = found.coef, found.intercept

    def _keep_code(self, V: Floats, precision: Floats) -> None:
        self.components_, self.precision_ = np.ascontiguousarray(V.T), precision
        B = (V * precision) @ V.T
        self.metric_ = 0.5 * (B + B.T)
        i, j = np.triu_indices(len(B), 1)
        kept = self.metric_[i, j] != 0.0
        self._edges = np.stack([i[kept], j[kept]], axis=1)
        self._pairs = self.metric_[i[kept], j[kept]]

    def _scores(self, X: Any) -> Pairwise:
        odds = np.asarray(X @ self.coef_.T) + self.intercept_
        z = np.asarray(X @ self.regression_coef_.T) + self.regression_intercept_
        # -weight / 2 (y - z)'B(y - z), up to what no label changes; y_l^2 = y_l.
        own = z @ self.metric_ - 0.5 * np.diag(self.metric_)
        return Pairwise(odds + self.code_weight * own, self._edges, -self.code_weight * self._pairs)

    def _column_scores(self, table: ScoreTable) -> Floats:
        if isinstance(self.decoder_, MeanField) and not self._target.one_dimensional:
            assert isinstance(table, Pairwise)
            return self.decoder_.log_odds(table)
        return super()._column_scores(table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_components(self.n_components)
        check_real(self.label_C, "label_C", above=0.0)
        if self.alpha is not None:
            check_real(self.alpha, "alpha", least=0.0)
        check_real(self.code_weight, "code_weight", least=0.0)
        check_choice(self.variance, "variance", self._variances)


def floored(error: Floats, V: Floats, within: Floats) -> Floats:
    """Return variances of errors along the columns of ``V``, none too small to be trusted.

    Parameters
    ----------
    error : ndarray of shape (n_codes,)
    V : ndarray of shape (n_labels, n_codes)
    within : ndarray of shape (n_labels, n_labels)
        Covariances of the labels.
    """
    spread = np.einsum("qk,qk->k", within @ V, V)
    usual = np.trace(within) / len(within) * np.einsum("qk,qk->k", V, V)
    return np.maximum(error, np.maximum(LEAST_VARIANCE * spread, LEAST_SHARE * usual))
