"""Second moments of centred features and labels, without making either dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["centred_product", "label_scatter"]

Floats = NDArray[np.float64]


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
