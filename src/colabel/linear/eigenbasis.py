"""Coordinates in which a penalised linear model is well conditioned, without changing its optimum.

A ridge penalty does not mind an orthogonal change of coordinates, and free (unpenalised) columns
such as the intercept may be projected out of the others. Both together make the weighted second
moments of the features diagonal, so that a method of gradients needs tens of steps where it would
need hundreds. With more columns than rows only the row space is kept, where the optimum lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Eigenbasis", "eigenbasis"]

Floats = NDArray[np.float64]

# Beyond these an eigendecomposition (cubic) or its dense rows (bytes) cost more than they save.
LARGEST_ORDER = 4096
LARGEST_ROWS = 2**29
# Rounding of eigenvalues, as a share of the largest, and the share of the penalty that hides it.
ROUNDING = 8.0 * np.finfo(np.float64).eps
HIDDEN = 1e-4
# Singular values below this share of the largest count as zero.
RANK = 1e-10


@dataclass(frozen=True, eq=False)
class Eigenbasis:
    """Features in new coordinates, less what the free columns explain of them.

    Parameters
    ----------
    rows : ndarray or sparse array of shape (n_rows, n_directions)
    shift : ndarray of shape (n_directions,)
        Weighted means that ``rows`` still hold; zero unless the coordinates are the old ones.
    spectrum : ndarray of shape (n_directions,)
        Weighted sum of squares of each direction.
    turn : ndarray, or None for the old coordinates
        (n_columns, n_directions), or (n_rows, n_directions) where the row space is the smaller.
    columns : array or sparse array, or None
        The features, where ``turn`` combines rows.
    """

    rows: Any
    shift: Floats
    spectrum: Floats
    turn: Floats | None = None
    columns: Any = None

    def scores(self, Z: Floats) -> Floats:
        """Score all rows with coefficients ``Z`` (n_directions, k): (n_rows, k)."""
        return np.asarray(self.rows @ Z) - self.shift @ Z

    def coefficients(self, Z: Floats) -> Floats:
        """Express coefficients ``Z`` (n_directions, k) in the old coordinates: (n_columns, k)."""
        if self.turn is None:
            return Z
        turned = self.turn @ Z
        return turned if self.columns is None else np.asarray(self.columns.T @ turned)


def eigenbasis(X: Any, weight: Floats, free: Floats, penalty: float) -> Eigenbasis:
    """Choose coordinates for the columns of ``X`` beside the ``free`` ones.

    Parameters
    ----------
    X : array or sparse array of shape (n_rows, n_columns)
    weight : ndarray of shape (n_rows,), positive
    free : ndarray of shape (n_rows, n_free)
        Unpenalised columns of the model, a constant among their combinations.
    penalty : float
        Weight of the ridge penalty on coefficients. Where the rounding of the eigenvalues is not
        small beside it (features of very different scale), the old coordinates are kept.

    Returns
    -------
    Eigenbasis

    Notes
    -----
    O(n m^2 + m^3) with ``n = n_rows`` and ``m = min(n_rows, n_columns)``, once.
    """
    smaller = min(X.shape)
    if smaller <= LARGEST_ORDER and 8 * X.shape[0] * smaller <= LARGEST_ROWS:
        choose = _turn_columns if X.shape[1] <= X.shape[0] else _combine_rows
        basis, blur = choose(X, np.sqrt(weight)[:, None], free)
        if blur <= HIDDEN * penalty:
            return basis
    return _keep(X, weight)


def _turn_columns(X: Any, root: Floats, free: Floats) -> tuple[Eigenbasis, float]:
    """Turn the columns by the eigenvectors of their second moments; say how rounded those are."""
    scaled = root * (X.toarray() if sparse.issparse(X) else X)
    outside = _span(root * free)
    scaled -= outside @ (outside.T @ scaled)
    spectrum, turn = np.linalg.eigh(scaled.T @ scaled)
    spectrum = np.maximum(spectrum, 0.0)
    rows = scaled @ turn
    rows /= root
    basis = Eigenbasis(rows, np.zeros(len(spectrum)), spectrum, turn)
    return basis, ROUNDING * float(spectrum.max(initial=0.0))


def _combine_rows(X: Any, root: Floats, free: Floats) -> tuple[Eigenbasis, float]:
    """Combine rows by the eigenvectors of their inner products, those of no length left out."""
    outside = _span(root * free)
    kernel, blur = _inner_products(X, root, outside)
    spectrum, vectors = np.linalg.eigh(kernel)
    kept = spectrum > blur
    spectrum, vectors = spectrum[kept], vectors[:, kept]
    # Of the shortest ones rounding leaves a part along the free columns, and ``X`` has its means.
    vectors -= outside @ (outside.T @ vectors)
    rows = vectors * np.sqrt(spectrum) / root
    turn = root * vectors / np.sqrt(spectrum)
    return Eigenbasis(rows, np.zeros(len(spectrum)), spectrum, turn, X), blur


def _inner_products(X: Any, root: Floats, outside: Floats) -> tuple[Floats, float]:
    """Inner products of the scaled rows less their free part, and the rounding they carry."""
    if not sparse.issparse(X):
        scaled = root * X
        rounding = (ROUNDING * np.linalg.norm(scaled)) ** 2
        scaled -= outside @ (outside.T @ scaled)
        kernel = scaled @ scaled.T
        return kernel, float(rounding + ROUNDING * np.linalg.norm(kernel))
    kernel = (X @ X.T).toarray() * root * root.T
    rounding = ROUNDING * np.linalg.norm(kernel)
    kernel -= outside @ (outside.T @ kernel)
    kernel -= (kernel @ outside) @ outside.T
    return kernel, float(rounding)


def _keep(X: Any, weight: Floats) -> Eigenbasis:
    """Keep the coordinates."""
    mean = np.asarray(weight @ X) / weight.sum()
    if sparse.issparse(X):
        squares = np.asarray(weight @ X.multiply(X))
    else:
        squares = np.einsum("n,nd,nd->d", weight, X, X)
    return Eigenbasis(X, mean, np.maximum(squares - weight.sum() * mean**2, 0.0))


def _span(columns: Floats) -> Floats:
    """Orthonormal basis of the span of ``columns``."""
    left, singular, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, singular > RANK * singular[0]]
