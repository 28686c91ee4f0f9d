"""One unit for all features, or one for each: the choice, where their spreads are far apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.learners.distinct_rows import distinct_rows
from colabel.learners.logistic import fit_logistic
from colabel.learners.products import make_products
from colabel.mixture._features import Features

__all__ = ["choose_scale", "units_differ"]

Floats = NDArray[np.float64]

# The question is asked if the geometric mean of the spreads is below this share of their root mean
# square. Columns of one kind and counts of rare words have .09 and more in the field's data,
# columns of many kinds .04 and less; so may the principal components of a smooth matrix, which had
# better stay as they are.
FAR_APART = 0.05
# Fewer rows than this cannot answer it.
LEAST_ROWS = 30


def choose_scale(X: Any, Y: NDArray[np.int8], weight: Floats, variance: float) -> bool | str:
    """Return ``"columns"`` if features, each in its own unit, predict labels better, else True.

    If spreads are far apart, logistic regressions of the labels apart are fitted to two rows of
    three in either way, and asked about the third.

    Parameters
    ----------
    X, Y, weight
        Training data; weights are positive.
    variance : float
        Of the prior of the regressions' weights.

    Notes
    -----
    Two fits of binary relevance, or none. Neither the order of the rows nor a row twice, instead of
    a weight of two, changes the answer.
    """
    if not units_differ(make_products(X).moments(weight)[1]):
        return True
    rows, Y, weight = distinct_rows(X, Y, weight)
    if len(Y) < LEAST_ROWS:
        return True
    X = rows if sparse.issparse(X) else rows.toarray()
    one, each = (_held_out(scale, X, Y, weight, variance) for scale in (True, "columns"))
    return "columns" if each > one else True


def units_differ(variance: Floats) -> bool:
    """Whether some features are lost beside others that vary more."""
    spread = np.sqrt(variance[variance > 0])
    if not len(spread):
        return False
    spread /= spread.max()
    return bool(np.exp(np.log(spread).mean()) < FAR_APART * np.sqrt((spread**2).mean()))


def _held_out(
    scale: bool | str, X: Any, Y: NDArray[np.int8], weight: Floats, variance: float
) -> float:
    """Mean log-likelihood of the label sets of every third row."""
    out = np.arange(len(Y)) % 3 == 2
    kept = ~out
    features = Features(scale).fit(X[kept], weight[kept])
    products = features.products(X[kept])
    fit = fit_logistic(products, Y[kept], penalty=1.0 / variance, weight=weight[kept], tol=1e-4)
    rows = features.products(X[out])
    scores = (
        rows.scores(fit.coef.astype(rows.dtype), slice(0, int(out.sum()))) + fit.intercept[:, None]
    )
    log_p = -np.logaddexp(0.0, np.where(Y[out].T > 0, -scores, scores)).sum(axis=0)
    return float(np.average(log_p, weights=weight[out]))
