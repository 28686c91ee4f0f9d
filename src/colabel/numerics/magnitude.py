"""How large features are: the unit of penalties, and what cannot be squared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["check_magnitude", "largest_magnitude", "mean_squared_norm", "scaled", "squared_norms"]

# A hundred million squares of this add up within double precision.
LARGEST = 1e150


def check_magnitude(X: Any) -> None:
    """Refuse features that a linear model cannot square and add up.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features), finite
    """
    largest = largest_magnitude(X)
    if largest > LARGEST:
        raise ValueError(
            f"X holds {largest:.3g}, whose square is beyond double precision; scale the features"
        )


def scaled(X: Any, scale: NDArray[np.float64]) -> Any:
    """Divide each feature of ``X``, dense or sparse; sparse rows stay sparse."""
    return sparse.csr_array(X.multiply(1.0 / scale)) if sparse.issparse(X) else X / scale


def squared_norms(X: Any) -> NDArray[np.float64]:
    """Return the squared norm of each row of ``X``, dense or sparse: (n_samples,)."""
    if not sparse.issparse(X):
        return np.einsum("nd,nd->n", X, X, dtype=np.float64)
    X = sparse.csr_array(X, dtype=np.float64)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def mean_squared_norm(X: Any, weight: NDArray[np.float64] | None = None) -> float:
    """Return the mean squared norm of the rows of ``X``, dense or sparse.

    It is 1 where rows are zero or too small or large to be squared: they have no unit.
    """
    squares = squared_norms(X)
    total = float(len(squares) if weight is None else weight.sum())
    sum_of_squares = float(squares.sum() if weight is None else weight @ squares)
    mean = sum_of_squares / total if total > 0.0 else 1.0
    return mean if np.finfo(float).tiny < mean < np.inf else 1.0


def largest_magnitude(X: Any) -> float:
    """Return the largest absolute value of ``X``, dense or sparse; 0 where it has none."""
    values = X.data if sparse.issparse(X) else X
    return float(max(np.max(values, initial=0.0), -np.min(values, initial=0.0)))
