"""Second moments of centred features and labels, without making either dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.linear.ridge import RidgeFit

__all__ = ["centred_product", "label_scatter", "residual_scatter"]

Floats = NDArray[np.float64]

# Entries of a block of rows.
BLOCK = 2**23
# A row that its own fit predicts perfectly says nothing about a fit without it.
LEAST_FREEDOM = 1e-6


def label_scatter(Y: sparse.csr_array) -> Floats:
    """Return ``Z'Z`` of the centred labels ``Z``: (n_labels, n_labels)."""
    mean = np.asarray(Y.mean(axis=0)).ravel()
    return (Y.T @ Y).toarray() - Y.shape[0] * np.outer(mean, mean)


def centred_product(X: Any, Y: sparse.csr_array) -> Floats:
    """Return ``X'Z`` for the centred labels ``Z``: (n_features, n_labels)."""
    product = X.T @ Y
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    total = np.asarray(X.sum(axis=0)).ravel()
    return product - np.outer(total, np.asarray(Y.mean(axis=0)).ravel())


def residual_scatter(fit: RidgeFit, X: Any, Y: sparse.csr_array, *, left_out: bool) -> Floats:
    """Return ``R'R`` of the errors ``R`` of a regression, in blocks of rows.

    With ``left_out``, errors are those of fits without the row.
    """
    scatter = np.zeros((Y.shape[1], Y.shape[1]))
    step = max(1, BLOCK // Y.shape[1])
    for i in range(0, Y.shape[0], step):
        rows = slice(i, i + step)
        R = Y[rows].toarray() - fit.predict(X[rows])
        if left_out:
            R /= np.maximum(1.0 - fit.leverage[rows], LEAST_FREEDOM)[:, None]
        scatter += R.T @ R
    return scatter
