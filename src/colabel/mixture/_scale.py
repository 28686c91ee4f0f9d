"""One unit for all features, or one for each: the choice, where their spreads are far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.linear.logistic import fit_logistic
from colabel.mixture._features import Features
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.products import make_products

__all__ = ["choose_scale", "units_differ"]

Floats = NDArray[np.float64]

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


def choose_scale(X: Any, Y: NDArray[np.int8], weight: Floats, variance: float) -> bool | str:
    """Return ``"columns"`` if features have units of their own, True if one number is for all.

    Where spreads are near, it is one. Where they are far apart, it is one for each, unless logistic
    regressions of the labels apart speak against it: with one for each, rows held out are less
    likely by more than two standard errors.

    Parameters
    ----------
    X, Y, weight
        Training data; weights are positive.
    variance : float
        Of the prior of the regressions' weights.

    Notes
    -----
    Six fits of binary relevance to two thirds of the rows, or none. Rows are dealt to folds in
    an order that depends neither on theirs, nor on that of the features or their unit, nor on a row
    being there twice, instead of having a weight of two; so neither does the answer.
    """
    if not units_differ(make_products(X).moments(weight)[1]):
        return True
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


def _skews(X: Any, weight: Floats) -> Floats:
    """Sum of the cubes of each row's standardised features, up to a constant.

    Few rows that differ have the same; shares, say, have the same sum.
    """
    mean, variance = make_products(X).moments(weight)
    unit = np.where(variance > 0, 1.0 / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
    if not sparse.issparse(X):
        return np.asarray((((X - mean) * unit) ** 3).sum(axis=1))
    zero = np.where(np.bincount(X.indices, minlength=len(mean)) < X.shape[0], -mean * unit, 0.0)
    cubes = ((X.data - mean[X.indices]) * unit[X.indices]) ** 3 - (zero**3)[X.indices]
    return np.asarray(sparse.csr_array((cubes, X.indices, X.indptr), X.shape).sum(axis=1))


def _held_out(
    scale: bool | str,
    X: Any,
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
