"""The two matrix products of a linear model, for dense and sparse features.

Everything a batched solver asks of ``X`` is here: scores of some rows, and the gradient that their
residuals give. Another engine (a GPU, say) is another class with the same members.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["DenseProducts", "Products", "Rows", "SparseProducts", "make_products"]

Floats = NDArray[np.float64]
# Validated features: (n_samples, n_features), dense or CSR.
Rows: TypeAlias = NDArray[np.float64] | sparse.csr_array

# Scores worked on together: large enough for a matrix product, small enough for a cache.
BLOCK_SCORES = 2**17
LEAST_ROWS = 256
# Models multiplied together with a sparse matrix, so that their coefficients stay in the cache.
TOGETHER = 64
# What rounding may leave of the deviations from a mean, in units of the last digit of the mean.
LAST_DIGITS = 64
# Rows with fewer entries than this share of the features are multiplied with those alone.
FEW_ENTRIES = 0.25
# A sparse matrix with a larger share of entries is slower than a dense one, which may be so large.
DENSE_SHARE, DENSE_BYTES = 0.2, 2**28


class DenseProducts:
    """Products with a dense matrix of shape (n_samples, n_features)."""

    def __init__(self, X: NDArray[Any], dtype: Any) -> None:
        self.X = np.ascontiguousarray(X, dtype=dtype)
        self.dtype = np.dtype(dtype)
        self.shape = self.X.shape

    def blocks(self, n_columns: int) -> list[slice]:
        """Cut the rows so that the scores of ``n_columns`` models stay in the cache."""
        step = max(LEAST_ROWS, BLOCK_SCORES // max(n_columns, 1))
        return [slice(i, i + step) for i in range(0, self.shape[0], step)]

    def scores(self, coef: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return ``coef @ X[rows].T``, of shape (n_columns, n_rows)."""
        return np.asarray(coef @ self.X[rows].T)

    def gradient(self, residuals: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return ``residuals @ X[rows]``, of shape (n_columns, n_features)."""
        return np.asarray(residuals @ self.X[rows])

    def moments(self, weight: Floats) -> tuple[Floats, Floats]:
        """Weighted mean and variance of each feature; exactly zero where it is but rounding."""
        share = (weight / weight.sum()).astype(self.dtype)
        mean = share @ self.X
        rest, squares = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        for rows in self.blocks(self.shape[1]):
            centred = self.X[rows] - mean
            rest += share[rows] @ centred  # rounding of the mean
            squares += share[rows] @ np.square(centred, out=centred)
        variance, mean = squares - rest**2, mean.astype(np.float64) + rest
        rounding = LAST_DIGITS * np.finfo(self.dtype).eps
        return mean, np.where(variance > (rounding * mean) ** 2, variance, 0.0)

    def take(self, rows: NDArray[np.int64]) -> DenseProducts:
        """Keep some rows."""
        return DenseProducts(self.X[rows], self.dtype)


class SparseProducts:
    """Products with a CSR matrix of shape (n_samples, n_features)."""

    def __init__(self, X: Any, dtype: Any) -> None:
        self.X = sparse.csr_array(X, dtype=dtype)
        if not self.X.has_canonical_format:
            self.X = self.X.copy()  # the user's stays as it is
            self.X.sum_duplicates()
        self.dtype = np.dtype(dtype)
        self.shape = self.X.shape

    def blocks(self, n_columns: int) -> list[slice]:
        """Cut the rows so that the scores of ``n_columns`` models stay below 32 MB or so.

        Slicing a CSR matrix copies it, which is little beside a product with many columns.
        """
        step = max(LEAST_ROWS, 32 * BLOCK_SCORES // max(n_columns, 1))
        return [slice(i, i + step) for i in range(0, self.shape[0], step)]

    def scores(self, coef: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return ``coef @ X[rows].T``, of shape (n_columns, n_rows)."""
        part = self._part(rows)
        if part.nnz < FEW_ENTRIES * part.shape[1]:  # coefficients of other features are not read
            used, place = np.unique(part.indices, return_inverse=True)
            shape = part.shape[0], len(used)
            part = sparse.csr_array((part.data, place, part.indptr), shape=shape)
            coef = coef[:, used]
        return _multiply(part, coef)

    def gradient(self, residuals: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return ``residuals @ X[rows]``, of shape (n_columns, n_features)."""
        return _multiply(self._part(rows).T, residuals)

    def moments(self, weight: Floats) -> tuple[Floats, Floats]:
        """Weighted mean and variance of each feature; exactly zero where it is but rounding."""
        share = weight / weight.sum()
        mean = np.asarray(share @ self.X).astype(np.float64)
        centred = self.X.data - mean[self.X.indices]
        zeros = 1.0 - share @ self._entries(np.ones(len(centred)))
        zeros[np.bincount(self.X.indices, minlength=self.shape[1]) == self.shape[0]] = 0.0
        rest = share @ self._entries(centred) - zeros * mean  # rounding of the mean
        variance = share @ self._entries(centred**2) + zeros * mean**2 - rest**2
        mean += rest
        rounding = LAST_DIGITS * np.finfo(np.float64).eps
        return mean, np.where(variance > (rounding * mean) ** 2, variance, 0.0)

    def take(self, rows: NDArray[np.int64]) -> SparseProducts:
        """Keep some rows."""
        return SparseProducts(self.X[rows], self.dtype)

    def _entries(self, data: Floats) -> Any:
        return sparse.csr_array((data, self.X.indices, self.X.indptr), shape=self.shape)

    def _part(self, rows: slice) -> Any:
        return self.X if rows.start == 0 and rows.stop >= self.shape[0] else self.X[rows]


def _multiply(A: Any, rows: NDArray[Any]) -> NDArray[Any]:
    """Return ``rows @ A.T``, some rows at a time."""
    product = np.empty((len(rows), A.shape[0]), dtype=A.dtype)
    for i in range(0, len(rows), TOGETHER):
        product[i : i + TOGETHER] = (A @ np.ascontiguousarray(rows[i : i + TOGETHER].T)).T
    return product


Products = DenseProducts | SparseProducts


def make_products(X: Any, dtype: Any = np.float64) -> Products:
    """Choose the products for ``X``; the dtype is that of the matrix products."""
    if not sparse.issparse(X):
        return DenseProducts(X, dtype)
    n_entries = X.shape[0] * X.shape[1]
    if X.nnz > DENSE_SHARE * n_entries and n_entries * np.dtype(dtype).itemsize <= DENSE_BYTES:
        return DenseProducts(X.toarray(), dtype)
    return SparseProducts(X, dtype)
