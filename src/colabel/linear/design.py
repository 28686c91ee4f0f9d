"""The rows of a linear model with an intercept, in coordinates that suit a method of gradients.

A point holds one coefficient a direction and, last, the intercept, all for centred features: the
intercept is free, so the optimum is the same, and raw data are as easy as centred ones. Where it
pays, the directions are those of ``eigenbasis``, in which the Hessian of a model without slopes is
diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.linear.eigenbasis import LARGEST_ORDER, LARGEST_ROWS, Eigenbasis, eigenbasis
from colabel.numerics.products import DenseProducts, Products, make_products

if TYPE_CHECKING:
    from colabel._kernels.logistic_fit import Batch

__all__ = ["DenseDesign", "Design", "ProductsDesign", "make_design"]

Floats = NDArray[np.float64]

# Larger rows are not copied.
LARGEST_COPY = 2**28
# Multiplications in a matrix product that are worth a job of their own.
PART = 2 * 10**6
# What turning costs and saves, in flops of a matrix product: an entry of a sparse matrix beside one
# of a dense matrix, a parameter's share of an L-BFGS step, an eigendecomposition of order one.
SPARSE_ENTRY, PARAMETER, EIGEN = 6.0, 450.0, 9.0
# Evaluations of the objective with and without.
EVALUATIONS_TURNED, EVALUATIONS = 15, 40


class Design:
    """Rows, and what takes models of the features to points and back.

    Parameters
    ----------
    weight : ndarray of shape (n_rows,)
    mean : ndarray of shape (n_features,)
    variance : ndarray of shape (n_directions,)
    dtype : dtype
        Of the matrix products.
    basis : Eigenbasis or None
        ``None`` if the directions are the features.
    """

    def __init__(
        self, weight: Floats, mean: Floats, variance: Floats, dtype: Any, basis: Eigenbasis | None
    ) -> None:
        self.weight, self.mean, self.variance = weight, mean, variance
        self.dtype, self.basis = np.dtype(dtype), basis

    def encode(self, coef: Floats, intercept: Floats) -> Floats:
        """Points of models; of their coefficients, what the rows cannot show is left out."""
        inner = coef
        if self.basis is not None and self.basis.turn is not None:
            rows = self.basis.columns
            inner = (coef if rows is None else np.asarray(rows @ coef.T).T) @ self.basis.turn
        return np.column_stack([inner, intercept + coef @ self.mean])

    def decode(self, points: Floats) -> tuple[Floats, Floats]:
        """Coefficients and intercepts of points."""
        coef = points[:, :-1]
        if self.basis is not None:
            coef = self.basis.coefficients(coef.T).T
        return np.ascontiguousarray(coef), points[:, -1] - coef @ self.mean


class DenseDesign(Design):
    """Centred rows and a column of ones, in both orders, so that no product rearranges them.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_directions)
    weight, mean, basis
        As for ``Design``; rows in a basis are centred already.
    n_points : int
        Points to be multiplied with.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_directions + 1)
    columns : ndarray of shape (n_rows * (n_directions + 1),)
        The same ``step`` rows at a time, each block transposed.
    step : int
    """

    def __init__(
        self,
        rows: NDArray[Any],
        weight: Floats,
        mean: Floats,
        n_points: int,
        basis: Eigenbasis | None = None,
    ) -> None:
        from colabel._kernels.logistic_fit import block_rows

        n, size = rows.shape[0], rows.shape[1] + 1
        self.rows = np.ones((n, size), dtype=rows.dtype)
        centred = self.rows[:, :-1]
        np.subtract(rows, 0.0 if basis else mean.astype(rows.dtype), out=centred)
        self.step = block_rows(n, size, max(n_points, 1))
        self.columns = np.empty(n * size, dtype=rows.dtype)
        for start in range(0, n, self.step):
            block = self.rows[start : start + self.step].T
            self.columns[start * size : start * size + block.size] = block.ravel()
        variance = (weight / weight.sum()).astype(rows.dtype) @ np.square(centred)
        super().__init__(weight, mean, variance.astype(np.float64), rows.dtype, basis)

    def batch(self, targets: NDArray[Any]) -> Batch:
        """Rows and what is to be fitted to them, as the kernels want it."""
        from colabel._kernels.logistic_fit import Batch

        return Batch(self.rows, self.columns, self.step, targets, self.weight)

    def parts(self, n_points: int) -> list[tuple[int, int]]:
        """Cut the rows, between blocks, into parts that are worth a thread's while."""
        n, size = self.rows.shape
        n_parts = max(n * size * n_points // PART, 1)
        length = -(-n // (n_parts * self.step)) * self.step
        return [(start, min(start + length, n)) for start in range(0, n, length)]


class ProductsDesign(Design):
    """Rows as they are, sparse or too large to copy; the mean is taken off the results."""

    def __init__(self, products: Products, weight: Floats) -> None:
        self.products = products
        super().__init__(weight, *products.moments(weight), products.dtype, None)

    def scores(self, points: Floats) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield some rows and their scores (n_points, n_rows), block by block."""
        coef = points[:, :-1].astype(self.dtype)
        offset = (points[:, -1] - points[:, :-1] @ self.mean).astype(self.dtype)[:, None]
        for rows in self.products.blocks(len(points)):
            scores = self.products.scores(coef, rows)
            scores += offset
            yield rows, scores

    def add_gradient(self, total: Floats, residuals: NDArray[Any], rows: slice) -> None:
        """Add what residuals of some rows give to gradients; ``centre`` these in the end."""
        total[:, :-1] += self.products.gradient(residuals, rows)
        total[:, -1] += residuals.sum(axis=1, dtype=np.float64)

    def centre(self, total: Floats) -> None:
        """Turn gradients by features into those by centred ones."""
        total[:, :-1] -= np.outer(total[:, -1], self.mean)


def make_design(
    X: Any, weight: Floats, penalty: float, n_columns: int, *, turn: bool, max_iter: int
) -> DenseDesign | ProductsDesign:
    """Choose the design for ``X``.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features), or Products
        Products are taken in the coordinates they have.
    weight : ndarray of shape (n_rows,), positive
    penalty : float
        Weight of the ridge penalty.
    n_columns : int
        Models to be fitted.
    turn : bool
        Whether other directions than the features may be chosen.
    max_iter : int
        Steps allowed to each model.
    """
    if not isinstance(X, Products):
        if turn and penalty > 0.0 and _turning_pays(X, n_columns, max_iter):
            basis = eigenbasis(X, weight, np.ones((X.shape[0], 1)), penalty)
            if basis.turn is not None:
                mean = np.asarray(weight @ X) / weight.sum()
                return DenseDesign(basis.rows, weight, mean, n_columns, basis)
        X = make_products(X)
    if isinstance(X, DenseProducts) and X.X.nbytes <= LARGEST_COPY:
        mean = (weight / weight.sum()).astype(X.dtype) @ X.X
        return DenseDesign(X.X, weight, mean.astype(np.float64), n_columns)
    return ProductsDesign(X, weight)


def _turning_pays(X: Any, n_columns: int, max_iter: int) -> bool:
    n, d = X.shape
    order = min(n, d)
    if order > LARGEST_ORDER or 8 * n * order > LARGEST_ROWS:
        return False
    entries = SPARSE_ENTRY * X.nnz if sparse.issparse(X) else float(n * d)
    once = 3.0 * order * (entries if n < d else n * d) + EIGEN * order**3
    turned = n_columns * order * (4.0 * n + PARAMETER)
    plain = n_columns * (4.0 * entries + PARAMETER * d)
    return once + min(max_iter, EVALUATIONS_TURNED) * turned < min(max_iter, EVALUATIONS) * plain
