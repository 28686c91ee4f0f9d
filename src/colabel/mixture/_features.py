"""Features as experts and gate see them: one scale, single precision, no idle directions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import BaseEstimator

from colabel.learners.products import Products, make_products

__all__ = ["Features"]

# More rows than this, and the rotation would cost more than it saves.
MOST_ROWS = 6000
# Entries from which on single precision is worth its rounding errors.
SINGLE = 2**17
# Directions with less than this share of the largest variance are rounding errors.
RANK_TOL = 1e-10


class Features(BaseEstimator):
    """Scale features by one number, and rotate them to the row space where rows are few.

    One number for all features keeps sparse data sparse and the geometry as it is, and gives a
    penalty the same meaning in any unit. With fewer rows than features, models with an L2 penalty
    live in the span of the rows: in an orthonormal basis of it the problem is the same, and
    smaller.

    Parameters
    ----------
    scale : bool
        Divide by the root mean square distance of the rows from their mean.
    rotate : bool, default=True
        Whether the model's penalty lets features be rotated, as L2 does.

    Attributes
    ----------
    unit : float
    dtype : type
        Precision of training.
    rotation : ndarray of shape (n_features, rank) or None
    """

    def __init__(self, scale: bool, rotate: bool = True) -> None:
        self.scale = scale
        self.rotate = rotate
        self.unit = 1.0
        self.dtype: type[np.floating[Any]] = np.float64
        self.rotation: NDArray[np.float64] | None = None

    def fit(self, X: Any, weight: NDArray[np.float64]) -> Self:
        """Learn the scale and the basis."""
        if self.scale:
            spread = make_products(X).moments(weight)[1].sum()
            self.unit = float(np.sqrt(spread)) if spread > 0.0 else 1.0
        n, d = X.shape
        if self.rotate and n < d and n <= MOST_ROWS:
            self.rotation = _row_space(X, weight)
        if n * d > SINGLE:
            self.dtype = np.float32
        return self

    def products(self, X: Any, dtype: Any = None) -> Products:
        """Make the matrix products of validated rows; in training's precision if not told."""
        X = X if self.rotation is None else np.asarray(X @ self.rotation)
        return make_products(X / self.unit, self.dtype if dtype is None else dtype)

    def untouched(self) -> Features:
        """Make features that are the rows as they are, for weights that ``returned`` gives."""
        return Features(scale=False)

    def returned(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn weights of these features (n_models, rank) into those of the user's."""
        coef = coef / self.unit
        return coef if self.rotation is None else coef @ self.rotation.T


def _row_space(X: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Orthonormal basis (n_features, rank) of the span of the rows, by their Gram matrix.

    Weights turn the basis to where repeated rows would, so that the solver takes the same path.
    """
    root = np.sqrt(weight)
    X = X.multiply(root[:, None]).tocsr() if sparse.issparse(X) else X * root[:, None]
    gram = X @ X.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    kept = values > RANK_TOL * max(values[-1], np.finfo(np.float64).tiny)
    return np.asarray(X.T @ (vectors[:, kept] / np.sqrt(values[kept])))
