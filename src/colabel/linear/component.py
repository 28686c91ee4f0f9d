"""The logistic regressions of one component of a mixture, from where the last M-step left them.

Here coefficients and, last, the intercept of a regression lie in one row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.linear.batch_lbfgs import MEMORY, Stopping
from colabel.linear.design import LARGEST_COPY
from colabel.linear.logistic import BATCH_BYTES, LinearFit, fit_logistic
from colabel.numerics.products import DenseProducts, Products

__all__ = ["Known", "Prior", "fit_component"]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# Distance of the objectives from their optima, relative to them, at which regressions stop.
TOL = 1e-5


@dataclass(frozen=True, eq=False)
class Prior:
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


@dataclass(frozen=True, eq=False)
class Known:
    """Regressions to start from: those of some labels, ascending."""

    labels: Index
    points: Floats


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
        tol=TOL,
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

    limits = Stopping(
        max_iter=steps,
        gap=0.5 * TOL,
        curvature=prior.penalty,
        rounding=8.0 * float(np.finfo(X.dtype).eps),
        floor=TOL * float(weight.sum()),
    ).limits()
    memory = max(min(MEMORY, steps), 1)
    settings = np.concatenate([limits, [prior.penalty, memory, least]])
    together = BATCH_BYTES // (8 * (lbfgs.HEAD + 2 * memory + 3) * (X.shape[1] + 1))
    parts = np.split(labels, range(max(together, 1), len(labels), max(together, 1)))
    fits = [
        logistic_fit.fit_component(
            X.X, Y, weight, part, known.labels, known.points, prior.center, settings
        )
        for part in parts
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
    return LinearFit(points[:, :-1], points[:, -1], np.zeros(0), np.zeros(0, dtype=bool), 0)
