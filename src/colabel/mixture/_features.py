"""Features as experts and gate see them: in units, single precision, no idle directions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from sklearn.base import BaseEstimator

from colabel.numerics.products import DenseProducts, Products, make_products

__all__ = ["Features"]

Floats = NDArray[np.float64]

# More rows than this, and the rotation would cost more than it saves.
MOST_ROWS = 6000
# Entries from which on single precision is worth its rounding errors.
SINGLE = 2**17
# Standard deviations from zero, from which on it loses what rows say that keep their mean.
OFFSET = 1e4
# Directions with less than this share of the largest variance are rounding errors, ...
RANK_TOL = 1e-10
# ... or, where means are taken off squares, with less than this share of the squares.
ROUNDING = 8.0 * np.finfo(np.float64).eps


class Features(BaseEstimator):
    """Scale features, and rotate them to the row space where rows are few.

    One number for all features keeps the geometry as it is, and gives a penalty the same meaning in
    any unit. Where each has a unit of its own, that geometry is an accident, and each is divided by
    its spread first. Either way sparse data stay sparse. With fewer rows than features, models with
    an L2 penalty and a free intercept live in the span of the centred rows: in an orthonormal basis
    of it the problem is the same, and smaller. Rows that are not sparse are centred in double
    precision.

    Parameters
    ----------
    scale : "columns" or bool
        True: divide by the root mean square distance of the rows from their mean; ``"columns"``:
        divide each feature by its standard deviation before.
    rotate : bool, default=True
        Whether the model's penalty lets features be rotated, as L2 does.

    Attributes
    ----------
    unit : float
    columns : ndarray of shape (n_features,) or None
        What each feature is multiplied by.
    dtype : type
        Precision of training.
    shift : ndarray of shape (n_features,) or None
        Mean of the rows times ``columns``, which is taken off; ``None`` where that would make
        sparse rows dense.
    rotation : ndarray of shape (n_features, rank) or None
    """

    def __init__(self, scale: bool | str, rotate: bool = True) -> None:
        self.scale = scale
        self.rotate = rotate
        self.unit = 1.0
        self.columns: Floats | None = None
        self.dtype: type[np.floating[Any]] = np.float64
        self.shift: Floats | None = None
        self.rotation: Floats | None = None

    def fit(self, X: Any, weight: Floats) -> Self:
        """Learn the units, the mean and the basis."""
        products = make_products(X)
        mean, variance = products.moments(weight)
        if self.scale == "columns":
            self.columns = 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0))
            mean, variance = mean * self.columns, (variance > 0).astype(np.float64)
        if self.scale and variance.any():
            self.unit = float(np.sqrt(variance.sum()))
        n, d = X.shape
        if self.rotate and n < d and n <= MOST_ROWS:
            self.rotation = _row_space(self._in_columns(X), mean, weight)
        if self.rotation is not None or isinstance(products, DenseProducts):
            self.shift = mean
        near = np.abs(mean) <= OFFSET * np.where(variance > 0, np.sqrt(variance), self.unit)
        if n * d > SINGLE and (self.shift is not None or near.all()):
            self.dtype = np.float32
        return self

    def products(self, X: Any, dtype: Any = None) -> Products:
        """Make the matrix products of validated rows; in training's precision if not told."""
        dtype = self.dtype if dtype is None else dtype
        X = self._in_columns(X)
        if self.shift is None:
            return make_products(X / self.unit, dtype)
        if sparse.issparse(X) and self.rotation is not None:
            rows = np.asarray(X @ self.rotation) - self.shift @ self.rotation
        else:
            rows = (X.toarray() if sparse.issparse(X) else X) - self.shift
            rows = rows if self.rotation is None else rows @ self.rotation
        rows /= self.unit
        return make_products(rows, dtype)

    def untouched(self) -> Features:
        """Make features that are the rows as they are, for weights that ``returned`` gives."""
        return Features(scale=False)

    def returned(self, coef: Floats) -> tuple[Floats, Floats]:
        """Turn weights of rotated features (n_models, rank) into those of the user's.

        Returns
        -------
        coef : ndarray of shape (n_models, n_features)
        lift : ndarray of shape (n_models,)
            What is to be added to the intercepts.
        """
        assert self.rotation is not None
        assert self.shift is not None
        coef = coef / self.unit @ self.rotation.T
        lift = -coef @ self.shift
        return coef if self.columns is None else coef * self.columns, lift

    def _in_columns(self, X: Any) -> Any:
        """Return rows with each feature in its own unit."""
        if self.columns is None:
            return X
        if not sparse.issparse(X):
            return X * self.columns
        return sparse.csr_array((X.data * self.columns[X.indices], X.indices, X.indptr), X.shape)


def _row_space(X: Any, mean: Floats, weight: Floats) -> Floats:
    """Orthonormal basis (n_features, rank) of the span of the centred rows, by their Gram matrix.

    Weights turn the basis to where repeated rows would, so that the solver takes the same path.
    """
    root = np.sqrt(weight)
    sparse_rows = sparse.issparse(X)
    if sparse_rows:
        X = sparse.csr_array(X.multiply(root[:, None]))
        along, gram = X @ mean, (X @ X.T).toarray()
        rounding = ROUNDING * gram.trace()
        gram -= np.outer(along, root) + np.outer(root, along)
        gram += np.outer(root, root) * (mean @ mean)
    else:
        X = (X - mean) * root[:, None]
        gram, rounding = X @ X.T, 0.0
    values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    least = max(RANK_TOL * values[-1], rounding, np.finfo(np.float64).tiny)
    turn = vectors[:, values > least] / np.sqrt(values[values > least])
    basis = np.asarray(X.T @ turn)
    return basis - np.outer(mean, root @ turn) if sparse_rows else basis
