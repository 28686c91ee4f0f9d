"""Maps from features to codewords, the space in which rows and label sets can be compared.

A codeword is a row's ridge regression on all labels, ``z = P'x + b``. Codewords of the training
rows can be had, in closed form, as if the map had not seen the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.linear.ridge import fit_ridge

__all__ = ["CodewordMap", "Codewords", "fit_ridge_map"]

Floats = NDArray[np.float64]

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
    """A fitted map, ``z = P'x + b``.

    Parameters
    ----------
    P : ndarray of shape (d, n_labels)
    b : ndarray of shape (n_labels,)
    alpha : float
        Weight of the penalty.
    """

    P: Floats
    b: Floats
    alpha: float


def fit_ridge_map(
    X: Any, Y: sparse.csr_array, alpha: float | None, fit_intercept: bool
) -> tuple[CodewordMap, Codewords]:
    """Regress the labels on the features; return the map, and codewords held out in closed form."""
    fit = fit_ridge(X, Y, alpha, fit_intercept=fit_intercept)
    freedom = np.maximum(1.0 - fit.leverage, LEAST_FREEDOM)
    # Leaving row i out: z_i = y_i - (y_i - P'x_i) / (1 - h_i).
    held_out = Codewords(X, fit.coef, fit.intercept, 1.0 / freedom, 1.0 - 1.0 / freedom)
    return CodewordMap(fit.coef, fit.intercept, fit.alpha), held_out
