"""Logistic regressions in batches: every label of a problem, or a soft-target multinomial gate.

All regressions share the rows and their weights, so that one pair of matrix products serves them
all. Each starts at the base rate of its target, and L-BFGS from the inverse of the Hessian's
diagonal there.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.linear.design import LARGEST_COPY, DenseDesign, ProductsDesign, make_design
from colabel.linear.logistic_problem import LinearFit, Problem, stopping
from colabel.numerics.blas import one_blas_thread
from colabel.numerics.jobs import Run
from colabel.numerics.products import DenseProducts, Products

__all__ = ["Known", "LinearFit", "Prior", "fit_component", "fit_logistic", "fit_softmax"]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# Memory of one batch of columns, for targets and what L-BFGS remembers.
BATCH_BYTES = 2**28
# Distance of the objectives from their optima, relative to them, at which regressions of a
# component stop.
COMPONENT_TOL = 1e-5


class Prior(NamedTuple):
    """What regressions are drawn to, and how strongly.

    Parameters
    ----------
    penalty, l1 : float
        Weights of the squared norm (a half of it) and of the L1 norm.
    center : ndarray of shape (n_labels, n_features + 1), or (0, n_features + 1) for zeros
        The mean of the prior; its intercepts are but where labels start.
    """

    penalty: float
    l1: float
    center: Floats


class Known(NamedTuple):
    """Regressions to start from: those of some labels, ascending."""

    labels: Index
    points: Floats


def fit_logistic(
    X: Any,
    Y: Any,
    *,
    penalty: float = 1.0,
    l1: float = 0.0,
    weight: Floats | None = None,
    center: Floats | None = None,
    mask: NDArray[np.bool_] | None = None,
    start: LinearFit | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> LinearFit:
    """Fit one logistic regression to each column of ``Y``.

    Minimises, for each column ``c``, ``sum_n weight_n loss(y_nc, w_c . x_n + b_c) + penalty / 2
    |w_c - center_c|^2 + l1 |w_c - center_c|_1`` with the logistic loss; intercepts ``b`` are free.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or Products
        Where it pays, the features of an array or matrix are turned inside.
    Y : array-like of shape (n_samples, n_columns), in [0, 1]
    penalty : float, not negative
        Inverse variance of a Gaussian prior; ``1 / C`` of scikit-learn.
    l1 : float, not negative
        Of an elastic net: coefficients are exactly those of the center where it holds them.
    weight : ndarray of shape (n_samples,) or None
        Non-negative, of positive sum.
    center : ndarray of shape (n_columns, n_features) or None
        Mean of the prior; zero if ``None``.
    mask : ndarray of shape (n_columns, n_features), bool, or None
        Coefficients that may differ from zero.
    start : LinearFit or None
        Where to start.
    max_iter : int
    tol : float
        Distance of the objective from its optimum, relative to it, that is aimed at.

    Returns
    -------
    LinearFit

    Notes
    -----
    Convex; a regression stops where the curvature of its penalty proves that no more than ``tol``
    is left (without a ridge penalty, where an estimate says so), or where rounding hides what is
    left, at 1e-6 or so of the objective for products in single precision. ``4 n_samples n_features
    n_columns`` flops an evaluation, about one evaluation a step, some 10 to 200 steps. Words that
    no row of a sparse matrix has cost nothing, and have the coefficients of the center.
    """
    X, Y, weight = _rows_that_count(X, np.asarray(Y), weight)
    fit = partial(_fit_columns, penalty=penalty, l1=l1, max_iter=max_iter, tol=tol)
    seen = _seen(X)
    if seen is None:
        return fit(X, Y, weight, center, mask, start)
    own = _take(center, (slice(None), seen)), _take(mask, (slice(None), seen))
    start = None if start is None else start.features(seen)
    inner = fit(X[:, seen], Y, weight, *own, start)
    rest = np.zeros((Y.shape[1], X.shape[1])) if center is None else np.array(center)
    return inner.among(seen, rest if mask is None else rest * mask)


def _fit_columns(
    X: Any,
    Y: NDArray[Any],
    weight: Floats,
    center: Floats | None,
    mask: NDArray[np.bool_] | None,
    start: LinearFit | None,
    *,
    penalty: float,
    l1: float,
    max_iter: int,
    tol: float,
) -> LinearFit:
    """Fit as ``fit_logistic``, to features that all count, in batches of columns."""
    turn = mask is None and l1 == 0.0
    design = make_design(X, weight, penalty, Y.shape[1], turn=turn, max_iter=max_iter)
    fits = []
    for columns in _batches(design, Y.shape[1]):
        own = _take(center, columns), _take(mask, columns)
        problem = Problem(design, Y[:, columns], penalty, *own)
        log_odds = np.log(problem.rate) - np.log1p(-problem.rate)
        first = problem.first(None if start is None else start.take(columns), log_odds)
        with one_blas_thread():
            found = problem.solve_binary(first, l1, max_iter, tol)
        fits.append(problem.decode(found))
    return LinearFit.concatenate(fits)


def fit_softmax(
    X: Any,
    T: Any,
    *,
    penalty: float = 1.0,
    l1: float = 0.0,
    weight: Floats | None = None,
    start: LinearFit | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
    run: Run | None = None,
) -> LinearFit:
    """Fit a multinomial logistic regression to soft targets.

    Minimises ``sum_n weight_n sum_k T_nk (-log softmax_k(W x_n + b)) + penalty / 2 |W|^2 + l1
    |W|_1``.

    Parameters
    ----------
    X, penalty, l1, weight, start, max_iter, tol
        As for ``fit_logistic``; or ``X`` is a Design, which has the weights.
    T : array-like of shape (n_samples, n_classes)
        Non-negative rows that sum to 1.
    run : callable or None
        Does independent jobs, given as a list, and returns their results: parts of the rows.

    Returns
    -------
    LinearFit
    """
    T = np.asarray(T)
    if not isinstance(X, DenseDesign | ProductsDesign):
        X, T, weight = _rows_that_count(X, T, weight)
        X = make_design(X, weight, penalty, T.shape[1], turn=l1 == 0.0, max_iter=max_iter)
    problem = Problem(X, T, penalty)
    first = problem.first(start, np.log(problem.rate))
    with one_blas_thread():
        found = problem.solve_softmax(first, l1, max_iter, tol, run)
    return problem.decode(found)


def fit_component(
    X: Products,
    Y: NDArray[np.float32],
    weight: Floats,
    labels: Index,
    least: float,
    prior: Prior,
    known: Known,
    steps: int,
) -> Floats:
    """Fit the regressions of some labels to the rows that a component answers for.

    Coefficients and, last, the intercept of a regression lie in one row, of where to start as well.

    Parameters
    ----------
    X : Products
    Y : ndarray of shape (n_labels, n_samples)
    weight : ndarray of shape (n_samples,)
    labels : ndarray
        Labels to fit, ascending.
    least : float, positive
        Rows of less weight are left out.
    prior : Prior
    known : Known
        Other labels start at the center of the prior or, without one, with their base rate.
    steps : int
        Of L-BFGS.

    Returns
    -------
    ndarray of shape (len(labels), n_features + 1)

    Notes
    -----
    Dense features and a ridge penalty take one call that holds no lock, so that components can be
    fitted on several threads.
    """
    if not len(labels):
        return np.empty((0, X.shape[1] + 1))
    if isinstance(X, DenseProducts) and prior.l1 == 0.0 and X.X.nbytes <= LARGEST_COPY:
        return _fit_dense(X, Y, weight, labels, least, prior, known, steps)
    rows = np.flatnonzero(weight >= least)
    center = prior.center[labels, :-1] if len(prior.center) else None
    found = fit_logistic(
        X.take(rows),
        Y[np.ix_(labels, rows)].T,
        penalty=prior.penalty,
        l1=prior.l1,
        weight=weight[rows],
        center=center,
        start=_start(labels, prior, known),
        max_iter=steps,
        tol=COMPONENT_TOL,
    )
    return np.column_stack([found.coef, found.intercept])


def _fit_dense(
    X: DenseProducts,
    Y: NDArray[np.float32],
    weight: Floats,
    labels: Index,
    least: float,
    prior: Prior,
    known: Known,
    steps: int,
) -> Floats:
    from colabel._kernels import lbfgs, logistic_fit

    total = float(weight.sum())
    ends = stopping(steps, COMPONENT_TOL, prior.penalty, X.dtype, total)
    n_pairs = max(min(lbfgs.MEMORY, steps), 1)
    together = max(BATCH_BYTES // (8 * (lbfgs.HEAD + 2 * n_pairs + 3) * (X.shape[1] + 1)), 1)
    fits = [
        logistic_fit.fit_component(X.X, Y, weight, part, least, prior, known, ends)
        for part in np.split(labels, range(together, len(labels), together))
    ]
    return fits[0] if len(fits) == 1 else np.concatenate(fits)


def _start(labels: Index, prior: Prior, known: Known) -> LinearFit | None:
    """Where regressions start; ``None`` if all of them are new, and at their base rates."""
    _, here, there = np.intersect1d(labels, known.labels, return_indices=True)
    if not len(here) and not len(prior.center):
        return None
    points = np.zeros((len(labels), known.points.shape[1]))
    if len(prior.center):
        points[:] = prior.center[labels]
    points[here] = known.points[there]
    return LinearFit.at(points)


def _rows_that_count(X: Any, Y: NDArray[Any], weight: Any) -> tuple[Any, NDArray[Any], Floats]:
    """Leave out rows of no weight."""
    if weight is None:
        return X, Y, np.ones(len(Y))
    weight = np.asarray(weight, dtype=np.float64)
    if weight.all():
        return X, Y, weight
    rows = np.flatnonzero(weight)
    return X.take(rows) if isinstance(X, Products) else X[rows], Y[rows], weight[rows]


def _seen(X: Any) -> NDArray[np.intp] | None:
    """Words that some row has, of a vocabulary that has others; ``None`` for all features."""
    if not sparse.issparse(X):
        return None
    seen = np.flatnonzero(np.bincount(sparse.csr_array(X).indices, minlength=X.shape[1]))
    return seen if 0 < len(seen) < X.shape[1] else None


def _batches(design: DenseDesign | ProductsDesign, n_columns: int) -> list[slice]:
    from colabel._kernels.lbfgs import MEMORY

    each = 8 * ((5 + 2 * MEMORY) * (len(design.variance) + 1) + 2 * len(design.weight))
    step = max(1, BATCH_BYTES // each)
    return [slice(i, i + step) for i in range(0, max(n_columns, 1), step)]


def _take(rows: NDArray[Any] | None, index: Any) -> NDArray[Any] | None:
    return None if rows is None else rows[index]
