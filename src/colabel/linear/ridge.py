"""Ridge regression of labels with its own strength, and how much each row bent the fit.

One eigendecomposition of the smaller of ``X'X`` and ``XX'`` serves every strength of the penalty,
the choice among them, and the leverage of each row, by which predictions of the row's own fit turn
into those of a fit without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

__all__ = ["RidgeFit", "fit_ridge"]

Floats = NDArray[np.float64]

# Strengths tried, in units of the mean eigenvalue.
STRENGTHS = 10.0 ** np.arange(-6.0, 3.01, 0.25)
# With fewer degrees of freedom left, as a share of the rows, there is nothing to judge by.
LEAST_FREEDOM = 1e-6
# Entries of a block of rows.
BLOCK = 2**23


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """A linear map from features to labels.

    Parameters
    ----------
    coef : ndarray of shape (n_features, n_labels)
        ``P``.
    intercept : ndarray of shape (n_labels,)
    alpha : float
        Weight of the penalty ``alpha |P|^2`` beside the sum of squared errors.
    leverage : ndarray of shape (n_samples,)
        Share of each training row in its own prediction.
    """

    coef: Floats
    intercept: Floats
    alpha: float
    leverage: Floats

    def predict(self, X: Any) -> Floats:
        """Return ``P'x`` of each row: (n_samples, n_labels)."""
        return np.asarray(X @ self.coef) + self.intercept


def fit_ridge(
    X: Any, Y: Any, alpha: float | None = None, *, fit_intercept: bool = True
) -> RidgeFit:
    """Minimise ``|X P + 1 b' - Y|^2 + alpha |P|^2``; ``b`` is free.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    Y : array or sparse array of shape (n_samples, n_labels)
    alpha : float or None
        Not negative (0 is least squares of the smallest norm); None is chosen by generalised
        cross-validation.
    fit_intercept : bool, default=True

    Notes
    -----
    ``O(m^2 (n + d) + m^3)`` with ``m`` the smaller of samples ``n`` and features ``d``, whatever
    the number of strengths tried. Exact.

    Examples
    --------
    >>> X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [3.0], [5.0]])
    >>> fit = fit_ridge(X, Y, 0.0)
    >>> fit.coef.round(6), fit.intercept.round(6)
    (array([[2.]]), array([1.]))
    """
    n, d = X.shape
    x_mean = np.asarray(X.mean(axis=0)).ravel() if fit_intercept else np.zeros(d)
    y_mean = np.asarray(Y.mean(axis=0)).ravel() if fit_intercept else np.zeros(Y.shape[1])
    rows = X if sparse.issparse(X) else X - x_mean
    shift = x_mean if sparse.issparse(X) else np.zeros(d)
    parts = _primal(rows, shift, Y, y_mean) if d <= n else _dual(rows, shift, Y, y_mean)
    total = _square_sum(Y, y_mean)
    if alpha is None:
        alpha = _choose(parts, total, n, fit_intercept)
    coef = parts.coef(alpha)
    leverage = parts.leverage(alpha) + (1.0 / n if fit_intercept else 0.0)
    return RidgeFit(coef, y_mean - x_mean @ coef, float(alpha), np.minimum(leverage, 1.0))


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """The centred features ``L S R'`` and the labels in their basis.

    Parameters
    ----------
    square : ndarray of shape (r,)
        ``S^2``, positive.
    right : ndarray of shape (d, r)
        ``R`` (primal), or ``Xc' L`` = ``R S`` (dual).
    labels : ndarray of shape (r, q)
        ``R'Xc'Yc`` (primal), or ``L'Yc``: what ``(S^2 + alpha)^-1`` goes between.
    rows, shift : array or sparse array of shape (n, d), and ndarray of shape (d,)
        ``X`` and what is to be taken off its rows.
    left : ndarray of shape (n, r) or None
        ``L``; None where it is cheaper to form it in blocks (primal).
    energy : ndarray of shape (r,)
        ``|l_j'Yc|^2``.
    """

    square: Floats
    right: Floats
    labels: Floats
    rows: Any
    shift: Floats
    left: Floats | None
    energy: Floats

    def coef(self, alpha: float) -> Floats:
        return self.right @ (self.labels / (self.square + alpha)[:, None])

    def leverage(self, alpha: float) -> Floats:
        kept = self.square / (self.square + alpha)
        if self.left is not None:
            return self.left**2 @ kept
        out = np.empty(self.rows.shape[0])
        step = max(1, BLOCK // max(1, len(self.square)))
        for i in range(0, len(out), step):
            turned = np.asarray(self.rows[i : i + step] @ self.right) - self.shift @ self.right
            out[i : i + step] = turned**2 @ (kept / self.square)
        return out


def _primal(rows: Any, shift: Floats, Y: Any, y_mean: Floats) -> _Spectrum:
    n = rows.shape[0]
    gram = rows.T @ rows
    gram = (gram.toarray() if sparse.issparse(gram) else gram) - n * np.outer(shift, shift)
    product = rows.T @ Y
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    sums = np.asarray(rows.sum(axis=0)).ravel()
    product = product - np.outer(sums, y_mean)
    square, right = _eigen(gram, n)
    labels = right.T @ product
    energy = np.einsum("rq,rq->r", labels, labels) / square
    return _Spectrum(square, right, labels, rows, shift, None, energy)


def _dual(rows: Any, shift: Floats, Y: Any, y_mean: Floats) -> _Spectrum:
    gram = rows @ rows.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    if np.any(shift):
        along = np.asarray(rows @ shift)
        gram = gram - along[:, None] - along + shift @ shift
    square, left = _eigen(gram, rows.shape[1])
    labels = (Y.T @ left).T - np.outer(left.sum(axis=0), y_mean)
    right = np.asarray(rows.T @ left) - np.outer(shift, left.sum(axis=0))
    energy = np.einsum("rq,rq->r", labels, labels)
    return _Spectrum(square, right, labels, rows, shift, left, energy)


def _eigen(gram: Floats, n_other: int) -> tuple[Floats, Floats]:
    """Return eigenvalues that stand out of the rounding, and their vectors."""
    square, vectors = eigh(gram, overwrite_a=True, check_finite=False)
    least = max(len(gram), n_other) * np.finfo(float).eps * max(float(square[-1]), 0.0)
    kept = square > max(least, np.finfo(float).tiny)
    return square[kept], np.ascontiguousarray(vectors[:, kept])


def _square_sum(Y: Any, y_mean: Floats) -> float:
    values = Y.data if sparse.issparse(Y) else np.asarray(Y)
    return max(float(np.sum(values * values)) - Y.shape[0] * float(y_mean @ y_mean), 0.0)


def _choose(parts: _Spectrum, total: float, n: int, fit_intercept: bool) -> float:
    """Return the strength of the smallest ``|error|^2 / (n - degrees of freedom)^2``."""
    if not len(parts.square):
        return 1.0
    alphas = STRENGTHS * float(parts.square.mean())
    keeps = parts.square / (parts.square + alphas[:, None])
    error = total - (parts.energy * (1.0 - (1.0 - keeps) ** 2)).sum(axis=1)
    freedom = n - fit_intercept - keeps.sum(axis=1)
    # As many degrees of freedom as rows: nothing is left to judge by.
    score = np.maximum(error, 0.0) / np.maximum(freedom, LEAST_FREEDOM * n) ** 2
    return float(alphas[np.argmin(np.where(freedom > LEAST_FREEDOM * n, score, np.inf))])
