"""Features as linear models had better see them: in units, in single precision, of full rank.

One number for all features keeps the geometry as it is, and gives a penalty the same meaning in any
unit. Where each has a unit of its own, that geometry is an accident, and each is divided by its
spread first. Either way sparse data stay sparse.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import linalg, sparse
from sklearn.base import BaseEstimator

from colabel.linear.logistic import fit_logistic
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.products import DenseProducts, Products, Rows, make_products

__all__ = ["FeatureScale", "Features", "units_differ"]

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
# The question is asked if the geometric mean of the spreads is below this share of their root mean
# square. Columns of one kind and counts of rare words have .09 and more in the field's data,
# columns of many kinds .04 and less; so may the principal components of a smooth matrix, which had
# better stay as they are.
FAR_APART = 0.05
N_FOLDS = 3
# Standard errors of a difference that is not luck.
CLEARLY = 2.0
# Largest log-odds of a label, so that no single row decides for all.
SUREST = 10.0


class FeatureScale(BaseEstimator):
    """Divide features by one number for all, or each by its spread before.

    Parameters
    ----------
    scale : {"auto", "columns"} or bool, default="auto"
        True: divide by the root mean square distance of the rows from their mean; ``"columns"``:
        divide each feature by its standard deviation before; ``"auto"``: one of them, see
        Notes.
    variance : float, default=10.0
        Of the prior of the regressions that ``"auto"`` is chosen by.

    Attributes
    ----------
    chosen : "columns" or bool
    unit : float
    columns : ndarray of shape (n_features,) or None
        What each feature is multiplied by.
    mean, spread : ndarray of shape (n_features,)
        Means and variances of the features times ``columns``.
    dense : bool
        Whether the rows are multiplied as dense ones.

    Notes
    -----
    ``"auto"`` is True where spreads are near. Where they are far apart, it is ``"columns"``, unless
    logistic regressions of the labels apart speak against it: with one unit for each feature, rows
    held out are less likely by more than two standard errors. Six fits of binary relevance to two
    thirds of the rows, or none. Rows are dealt to folds in an order that depends neither on theirs,
    nor on that of the features or their unit, nor on a row being there twice, instead of having a
    weight of two; so neither does the answer.
    """

    def __init__(self, scale: bool | str = "auto", variance: float = 10.0) -> None:
        self.scale = scale
        self.variance = variance
        self.chosen = scale
        self.unit = 1.0
        self.columns: Floats | None = None

    def fit(self, X: Rows, Y: NDArray[np.int8] | None, weight: Floats) -> Self:
        """Learn the units; labels are asked for by ``"auto"`` alone."""
        products = make_products(X)
        self.dense = isinstance(products, DenseProducts)
        self.mean, self.spread = products.moments(weight)
        if self.scale == "auto":
            self.chosen = True
            if Y is not None and units_differ(self.spread):
                self.chosen = _better_scale(X, Y, weight, self.variance)
        if self.chosen == "columns":
            self.columns = 1.0 / np.sqrt(np.where(self.spread > 0, self.spread, 1.0))
            self.mean = self.mean * self.columns
            self.spread = (self.spread > 0).astype(np.float64)
        if self.chosen and self.spread.any():
            self.unit = float(np.sqrt(self.spread.sum()))
        return self

    def transform(self, X: Rows) -> Rows:
        """Scale rows."""
        return self.in_columns(X) / self.unit

    def in_columns(self, X: Rows) -> Rows:
        """Return rows with each feature in its own unit, before they are divided by one number."""
        if self.columns is None:
            return X
        if isinstance(X, np.ndarray):
            return X * self.columns
        return sparse.csr_array((X.data * self.columns[X.indices], X.indices, X.indptr), X.shape)


class Features(BaseEstimator):
    """Scale features, and rotate them to the row space where rows are few.

    With fewer rows than features, models with an L2 penalty and a free intercept live in the span
    of the centred rows: in an orthonormal basis of it the problem is the same, and smaller. Rows
    that are not sparse are centred in double precision.

    Parameters
    ----------
    scale : "columns" or bool
        See ``FeatureScale``.
    rotate : bool, default=True
        Whether the model's penalty lets features be rotated, as L2 does.

    Attributes
    ----------
    scaler : FeatureScale
    dtype : type
        Precision of training.
    shift : ndarray of shape (n_features,) or None
        Mean of the rows in columns, which is taken off; ``None`` where that would make sparse rows
        dense.
    rotation : ndarray of shape (n_features, rank) or None
    """

    def __init__(self, scale: bool | str, rotate: bool = True) -> None:
        self.scale = scale
        self.rotate = rotate
        self.scaler = FeatureScale(scale)
        self.dtype: DTypeLike = np.float64
        self.shift: Floats | None = None
        self.rotation: Floats | None = None

    def fit(self, X: Rows, weight: Floats) -> Self:
        """Learn the units, the mean and the basis."""
        self.scaler.fit(X, None, weight)
        mean, variance = self.scaler.mean, self.scaler.spread
        n, d = X.shape
        if self.rotate and n < d and n <= MOST_ROWS:
            self.rotation = _row_space(self.scaler.in_columns(X), mean, weight)
        if self.rotation is not None or self.scaler.dense:
            self.shift = mean
        near = np.abs(mean) <= OFFSET * np.where(variance > 0, np.sqrt(variance), self.scaler.unit)
        if n * d > SINGLE and (self.shift is not None or near.all()):
            self.dtype = np.float32
        return self

    def products(self, X: Rows, dtype: DTypeLike | None = None) -> Products:
        """Make the matrix products of validated rows, in training's precision by default."""
        dtype = self.dtype if dtype is None else dtype
        if self.shift is None:
            return make_products(self.scaler.transform(X), dtype)
        X = self.scaler.in_columns(X)
        if self.rotation is not None and not isinstance(X, np.ndarray):
            rows = np.asarray(X @ self.rotation) - self.shift @ self.rotation
        else:
            rows = (X if isinstance(X, np.ndarray) else X.toarray()) - self.shift
            rows = rows if self.rotation is None else rows @ self.rotation
        rows /= self.scaler.unit
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
        coef = coef / self.scaler.unit @ self.rotation.T
        lift = -coef @ self.shift
        return coef if self.scaler.columns is None else coef * self.scaler.columns, lift


def _better_scale(X: Rows, Y: NDArray[np.int8], weight: Floats, variance: float) -> bool | str:
    """Choose between one unit and one for each feature by rows held out."""
    rows, Y, weight = distinct_rows(X, Y, weight)
    rows = rows if sparse.issparse(X) else rows.toarray()
    different, place = np.unique(_skews(rows, weight), return_inverse=True)
    if len(different) < 2:
        return "columns"
    gain = np.zeros(len(Y))
    for i in range(min(N_FOLDS, len(different))):
        out = place % N_FOLDS == i
        one, each = (
            _held_out(scale, rows, Y, weight, variance, out) for scale in (True, "columns")
        )
        gain[out] = each - one
    share = weight / weight.sum()
    error = np.linalg.norm(share * (gain - share @ gain))
    return True if share @ gain < -CLEARLY * error else "columns"


def units_differ(variance: Floats) -> bool:
    """Whether some features are lost beside others that vary more."""
    variance = variance[variance > 0]
    if not len(variance):
        return False
    return bool(np.exp(0.5 * np.log(variance).mean()) < FAR_APART * np.sqrt(variance.mean()))


def _skews(X: Rows, weight: Floats) -> Floats:
    """Sum of the cubes of each row's standardised features, up to a constant.

    Few rows that differ have the same; shares, say, have the same sum.
    """
    mean, variance = make_products(X).moments(weight)
    unit = np.where(variance > 0, 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
    if isinstance(X, np.ndarray):
        return np.asarray((((X - mean) * unit) ** 3).sum(axis=1))
    zero = np.where(np.bincount(X.indices, minlength=len(mean)) < X.shape[0], -mean * unit, 0.0)
    cubes = ((X.data - mean[X.indices]) * unit[X.indices]) ** 3 - (zero**3)[X.indices]
    return np.asarray(sparse.csr_array((cubes, X.indices, X.indptr), X.shape).sum(axis=1))


def _held_out(
    scale: bool | str,
    X: Rows,
    Y: NDArray[np.int8],
    weight: Floats,
    variance: float,
    out: NDArray[np.bool_],
) -> Floats:
    """Log-likelihoods of the label sets of rows held out.

    Labels that are the same in all other rows tell nothing, and are left out. No label is surer
    than log-odds of ``SUREST``.
    """
    kept = ~out
    Y = Y[:, Y[kept].min(axis=0) < Y[kept].max(axis=0)]
    features = Features(scale).fit(X[kept], weight[kept])
    products = features.products(X[kept])
    fit = fit_logistic(products, Y[kept], penalty=1.0 / variance, weight=weight[kept], tol=1e-4)
    rows = features.products(X[out])
    scores = (
        rows.scores(fit.coef.astype(rows.dtype), slice(0, int(out.sum()))) + fit.intercept[:, None]
    )
    scores = np.clip(scores, -SUREST, SUREST)
    return np.asarray(-np.logaddexp(0.0, np.where(Y[out].T > 0, -scores, scores)).sum(axis=0))


def _row_space(X: Rows, mean: Floats, weight: Floats) -> Floats:
    """Orthonormal basis (n_features, rank) of the span of the centred rows, by their Gram matrix.

    Weights turn the basis to where repeated rows would, so that the solver takes the same path.
    """
    root = np.sqrt(weight)
    sparse_rows = not isinstance(X, np.ndarray)
    if isinstance(X, np.ndarray):
        X = (X - mean) * root[:, None]
        gram, rounding = X @ X.T, 0.0
    else:
        X = sparse.csr_array(X.multiply(root[:, None]))
        along, gram = X @ mean, (X @ X.T).toarray()
        rounding = ROUNDING * gram.trace()
        gram -= np.outer(along, root) + np.outer(root, along)
        gram += np.outer(root, root) * (mean @ mean)
    values, vectors = linalg.eigh(gram, overwrite_a=True, check_finite=False)
    least = max(RANK_TOL * values[-1], rounding, np.finfo(np.float64).tiny)
    turn = vectors[:, values > least] / np.sqrt(values[values > least])
    basis = np.asarray(X.T @ turn)
    return basis - np.outer(mean, root @ turn) if sparse_rows else basis
