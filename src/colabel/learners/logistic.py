"""Logistic regressions in batches: every label of a problem, or a soft-target multinomial gate.

All regressions share the rows and their weights, so that one pair of matrix products serves them
all. Each starts at the base rate of its target, and L-BFGS from the inverse of the Hessian's
diagonal there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.learners.batch_lbfgs import MEMORY, Evaluate, Minimum, Stopping, minimise
from colabel.learners.design import Design, make_design
from colabel.learners.elastic_net import minimise_l1
from colabel.learners.products import Products

__all__ = ["LinearFit", "fit_logistic", "fit_softmax"]

Floats = NDArray[np.float64]

# Memory of one batch of columns, for targets and what L-BFGS remembers.
BATCH_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Coefficients of a batch of linear models.

    Parameters
    ----------
    coef : ndarray of shape (n_columns, n_features)
    intercept : ndarray of shape (n_columns,)
    objective : ndarray of shape (n_columns,), or (1,) for a multinomial model
        Loss and penalty at the solution.
    converged : ndarray of bool, like ``objective``
    n_iter : int
        Steps of the slowest regression.
    """

    coef: Floats
    intercept: Floats
    objective: Floats
    converged: NDArray[np.bool_]
    n_iter: int

    def take(self, columns: Any) -> LinearFit:
        """Keep some columns of independent regressions."""
        return LinearFit(
            self.coef[columns],
            self.intercept[columns],
            self.objective[columns],
            self.converged[columns],
            self.n_iter,
        )

    @classmethod
    def concatenate(cls, fits: list[LinearFit]) -> LinearFit:
        """Join independent regressions."""
        if len(fits) == 1:
            return fits[0]
        return cls(
            np.concatenate([fit.coef for fit in fits]),
            np.concatenate([fit.intercept for fit in fits]),
            np.concatenate([fit.objective for fit in fits]),
            np.concatenate([fit.converged for fit in fits]),
            max(fit.n_iter for fit in fits),
        )


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
    n_columns`` flops an evaluation, about one evaluation a step, some 10 to 200 steps.
    """
    X, Y, weight = _rows_that_count(X, np.asarray(Y), weight)
    turn = mask is None and l1 == 0.0
    design = make_design(X, weight, penalty, Y.shape[1], turn=turn, max_iter=max_iter)
    fits = []
    for columns in _batches(design, Y.shape[1]):
        problem = _Problem(
            design, Y[:, columns], penalty, _take(center, columns), _take(mask, columns)
        )
        log_odds = np.log(problem.rate) - np.log1p(-problem.rate)
        first = problem.first(None if start is None else start.take(columns), log_odds)
        fits.append(problem.decode(problem.solve(problem.binary, first, l1, max_iter, tol)))
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
) -> LinearFit:
    """Fit a multinomial logistic regression to soft targets.

    Minimises ``sum_n weight_n sum_k T_nk (-log softmax_k(W x_n + b)) + penalty / 2 |W|^2 + l1
    |W|_1``.

    Parameters
    ----------
    X, penalty, l1, weight, start, max_iter, tol
        As for ``fit_logistic``.
    T : array-like of shape (n_samples, n_classes)
        Non-negative rows that sum to 1.

    Returns
    -------
    LinearFit
    """
    X, T, weight = _rows_that_count(X, np.asarray(T), weight)
    design = make_design(X, weight, penalty, T.shape[1], turn=l1 == 0.0, max_iter=max_iter)
    problem = _Problem(design, T, penalty)
    first = problem.first(start, np.log(problem.rate)).reshape(1, -1)
    return problem.decode(problem.solve(problem.softmax, first, l1, max_iter, tol))


def _rows_that_count(X: Any, Y: NDArray[Any], weight: Any) -> tuple[Any, NDArray[Any], Floats]:
    """Leave out rows of no weight."""
    if weight is None:
        return X, Y, np.ones(len(Y))
    weight = np.asarray(weight, dtype=np.float64)
    if weight.all():
        return X, Y, weight
    rows = np.flatnonzero(weight)
    return X.take(rows) if isinstance(X, Products) else X[rows], Y[rows], weight[rows]


def _batches(design: Design, n_columns: int) -> list[slice]:
    each = 8 * ((5 + 2 * MEMORY) * (len(design.variance) + 1) + 2 * len(design.weight))
    step = max(1, BATCH_BYTES // each)
    return [slice(i, i + step) for i in range(0, max(n_columns, 1), step)]


def _take(rows: NDArray[Any] | None, columns: slice) -> NDArray[Any] | None:
    return None if rows is None else rows[columns]


class _Problem:
    """The smooth part of the objective; points are differences from the center of the prior.

    Parameters
    ----------
    design : Design
    Y : ndarray of shape (n_samples, n_columns)
    penalty : float
    center, mask : ndarray of shape (n_columns, n_features) or None
    """

    def __init__(
        self,
        design: Design,
        Y: NDArray[Any],
        penalty: float,
        center: Floats | None = None,
        mask: NDArray[np.bool_] | None = None,
    ) -> None:
        self.design, self.weight = design, design.weight
        self.targets = np.ascontiguousarray(Y.T, dtype=design.dtype)
        self.penalty = penalty
        self.ridge = np.append(np.full(len(design.variance), penalty), 0.0)
        self.center = center if center is None or mask is None else center * mask
        zero = np.zeros(len(self.targets))
        self.origin = None if self.center is None else design.encode(self.center, zero)
        self.mask = None if mask is None else np.column_stack([mask, zero == 0.0])
        self.total = float(self.weight.sum())
        # Shares of the targets, drawn a little to one half: that of a constant is not 0 or 1.
        self.rate = (self.targets @ self.weight + 0.5) / (self.total + 1.0)

    def first(self, start: LinearFit | None, intercept: Floats) -> Floats:
        """Points to start from; without any, slopes of the center and the ``intercept`` given."""
        if start is None:
            points = np.zeros((len(intercept), len(self.ridge)))
            points[:, -1] = intercept if self.origin is None else intercept - self.origin[:, -1]
            return points
        coef = start.coef if self.mask is None else start.coef * self.mask[:, :-1]
        away = coef if self.center is None else coef - self.center
        return self.design.encode(away, start.intercept)

    def scale(self) -> Floats:
        """Inverse of the Hessian's diagonal at the base rates: (n_columns, n_directions + 1)."""
        bend = (self.rate * (1.0 - self.rate) * self.total)[:, None]
        hessian = bend * np.append(self.design.variance, 1.0) + self.ridge
        return np.divide(1.0, hessian, out=np.ones(hessian.shape), where=hessian > 0.0)

    def solve(
        self, evaluate: Evaluate, first: Floats, l1: float, steps: int, tol: float
    ) -> Minimum:
        """Minimise, the problems being rows of ``first``."""
        stopping = Stopping(
            max_iter=steps,
            # Half, for the curvature of the intercept is but that at the base rate.
            gap=0.5 * tol,
            curvature=self.penalty,
            rounding=8.0 * float(np.finfo(self.design.dtype).eps),
            floor=tol * self.total,
        )
        scale = self.scale().reshape(first.shape)
        if l1 == 0.0:
            return minimise(evaluate, first, scale, stopping)
        price = np.tile(np.append(np.full(len(self.ridge) - 1, l1), 0.0), len(self.targets))
        return minimise_l1(evaluate, first, scale, price.reshape(first.shape), stopping)

    def decode(self, found: Minimum) -> LinearFit:
        """Models of the original features."""
        coef, intercept = self.design.decode(found.point.reshape(-1, len(self.ridge)))
        coef = coef if self.center is None else coef + self.center
        return LinearFit(coef, intercept, found.value, found.converged, found.n_iter)

    def binary(self, points: Floats, columns: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Values and gradients of the regressions of some columns."""
        from colabel._kernels.logistic import binary_loss

        loss = np.zeros(len(points))

        def step(scores: NDArray[Any], first: int) -> None:
            binary_loss(scores, self.targets, self.weight, columns, first, loss)

        moved = points if self.origin is None else points + self.origin[columns]
        residual = self.design.gradient(moved, step)
        gradient = points * self.ridge
        loss += 0.5 * np.einsum("cd,cd->c", gradient, points)
        gradient += residual
        if self.mask is not None:
            gradient *= self.mask[columns]
        return loss, gradient

    def softmax(self, points: Floats, _: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Value and gradient of the one multinomial regression."""
        from colabel._kernels.logistic import softmax_loss

        loss = []

        def step(scores: NDArray[Any], first: int) -> None:
            loss.append(softmax_loss(scores, self.targets, self.weight, first))

        points = points.reshape(len(self.targets), -1)
        residual = self.design.gradient(points, step)
        gradient = points * self.ridge
        value = np.sum(loss) + 0.5 * np.einsum("cd,cd->", gradient, points)
        gradient += residual
        return np.array([value]), gradient.reshape(1, -1)
