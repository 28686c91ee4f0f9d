"""Maps from features to codewords, the space in which rows and label sets can be compared.

A codeword is a row's regression on all labels, ``z = P'f(x) + b``, where ``f`` are the features
themselves, those of a kernel, or probabilities of logistic regressions. Codewords of the training
rows can be had as if the map had not seen the row: in closed form where the map is a ridge
regression, else from fits without some of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.kernel_approximation import Nystroem

from colabel.linear.logistic import LinearFit, fit_logistic
from colabel.linear.ridge import fit_ridge

__all__ = ["CodewordMap", "Codewords", "fit_kernel_map", "fit_logistic_map", "fit_ridge_map"]

Floats = NDArray[np.float64]

# Parts that a map without a closed form is fitted without, one after the other.
FOLDS = 5
# A row that its own fit predicts perfectly says nothing about a fit without it.
LEAST_FREEDOM = 1e-3


@dataclass(frozen=True, eq=False)
class Codewords:
    """Codewords of the training rows, ``z_i = scale_i (P'f_i + b) + own_i y_i``, in parts.

    The last term takes a row's own labels out of its codeword.

    Parameters
    ----------
    features : array or CSR array of shape (n_samples, d)
    P : ndarray of shape (d, n_labels)
    b : ndarray of shape (n_labels,)
    scale, own : ndarray of shape (n_samples,)
    """

    features: Any
    P: Floats
    b: Floats
    scale: Floats
    own: Floats

    def times(self, V: Floats, Y: sparse.csr_array) -> Floats:
        """Return ``V'z`` of each row: (n_samples, r)."""
        found = np.asarray(self.features @ (self.P @ V))
        found += self.b @ V
        found *= self.scale[:, None]
        if np.any(self.own):
            found += np.asarray(Y.multiply(self.own[:, None]).tocsr() @ V)
        return found


@dataclass(frozen=True, eq=False)
class CodewordMap:
    """A fitted map, ``z = P'f(x) + b``.

    Parameters
    ----------
    P : ndarray of shape (d, n_labels)
    b : ndarray of shape (n_labels,)
    alpha : float
        Weight of the penalty.
    kernel : Nystroem or None
        Features of a kernel.
    logistic : tuple of (coef, intercept) or None
        Logistic regressions whose probabilities are the features.
    """

    P: Floats
    b: Floats
    alpha: float
    kernel: Any = None
    logistic: tuple[Floats, Floats] | None = None

    def features(self, X: Any) -> Any:
        """Return ``f(x)`` of each row."""
        if self.kernel is not None:
            return self.kernel.transform(X)
        return X if self.logistic is None else _probabilities(*self.logistic, X)


def fit_ridge_map(
    X: Any, Y: sparse.csr_array, alpha: float | None, fit_intercept: bool, kernel: Any = None
) -> tuple[CodewordMap, Codewords]:
    """Regress the labels on the features; return the map, and codewords held out in closed form."""
    fit = fit_ridge(X, Y, alpha, fit_intercept=fit_intercept)
    freedom = np.maximum(1.0 - fit.leverage, LEAST_FREEDOM)
    # Leaving row i out: z_i = y_i - (y_i - P'x_i) / (1 - h_i).
    held_out = Codewords(X, fit.coef, fit.intercept, 1.0 / freedom, 1.0 - 1.0 / freedom)
    return CodewordMap(fit.coef, fit.intercept, fit.alpha, kernel), held_out


def fit_kernel_map(
    X: Any,
    Y: sparse.csr_array,
    alpha: float | None,
    kernel: str,
    gamma: float | None,
    n_landmarks: int,
    rng: np.random.RandomState,
) -> tuple[CodewordMap, Codewords]:
    """Regress on the features of a kernel; exact where there are as many landmarks as rows."""
    gamma = _usual_gamma(X) if gamma is None else gamma
    options = {} if kernel in ("linear", "cosine") else {"gamma": gamma}
    n_components = min(n_landmarks, X.shape[0])
    found = Nystroem(kernel, n_components=n_components, random_state=rng, **options).fit(X)
    return fit_ridge_map(found.transform(X), Y, alpha, True, found)


def fit_logistic_map(
    X: Any, Y: sparse.csr_array, alpha: float | None, rng: np.random.RandomState
) -> tuple[CodewordMap, Codewords]:
    """Fit logistic regressions, to all rows and to all but one of five parts, five times."""
    penalty = 1.0 if alpha is None else alpha
    n, q = Y.shape
    whole = _fit_logistic(X, Y, penalty)
    part = rng.permutation(n) % min(FOLDS, n)
    held_out = np.empty((n, q))
    for fold in range(part.max() + 1):
        out = part == fold
        found = _fit_logistic(X[~out], Y[~out], penalty) if n > 1 else whole
        held_out[out] = _probabilities(found.coef, found.intercept, X[out])
    as_is = CodewordMap(np.eye(q), np.zeros(q), penalty, logistic=(whole.coef, whole.intercept))
    return as_is, Codewords(held_out, as_is.P, as_is.b, np.ones(n), np.zeros(n))


def _fit_logistic(X: Any, Y: sparse.csr_array, penalty: float) -> LinearFit:
    return fit_logistic(X, Y.toarray(), penalty=penalty, tol=1e-4)


def _probabilities(coef: Floats, intercept: Floats, X: Any) -> Floats:
    return expit(np.asarray(X @ coef.T) + intercept)


def _usual_gamma(X: Any) -> float:
    square = X.multiply(X).mean() if sparse.issparse(X) else np.mean(X * X)
    variance = float(square - X.mean() ** 2)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
