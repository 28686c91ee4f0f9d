"""Logistic regressions in batches: every label of a problem, or a soft-target multinomial gate.

All regressions share the rows and their weights, so that one pair of matrix products serves them
all. Features are centred inside (the intercept is free, so the optimum is the same), which makes
raw, uncentred data as easy as standardised ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.learners.batch_lbfgs import MEMORY, Minimum, minimise
from colabel.learners.products import Products, make_products

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

    def take(self, columns: slice) -> LinearFit:
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
    weight: Floats | None = None,
    center: Floats | None = None,
    mask: NDArray[np.bool_] | None = None,
    start: LinearFit | None = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> LinearFit:
    """Fit one logistic regression to each column of ``Y``.

    Minimises, for each column ``c``, ``sum_n weight_n loss(y_nc, w_c . x_n + b_c) + penalty / 2
    |w_c - center_c|^2`` with the logistic loss; intercepts ``b`` are free.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features), or Products
    Y : array-like of shape (n_samples, n_columns), in [0, 1]
    penalty : float, positive
        Inverse variance of a Gaussian prior; ``1 / C`` of scikit-learn.
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
        A regression has converged once no component of the gradient exceeds ``tol`` times the sum
        of the weights (with centred features).

    Returns
    -------
    LinearFit

    Notes
    -----
    Convex, so the optimum is exact up to ``tol``. ``4 n_samples n_features n_columns`` flops an
    evaluation, about one evaluation a step, some 20 to 200 steps.
    """
    products = X if isinstance(X, Products) else make_products(X)
    Y = np.asarray(Y)
    fits = []
    for columns in _batches(products, Y.shape[1]):
        prior = None if center is None else center[columns]
        free = None if mask is None else mask[columns]
        problem = _Problem.build(products, Y[:, columns], penalty, weight, prior, free)
        first = problem.encode(None if start is None else start.take(columns), len(problem.targets))
        stopping = problem.stopping(max_iter, tol)
        found = minimise(problem.binary, first, problem.scale(0.25), **stopping)
        fits.append(problem.decode(found))
    return LinearFit.concatenate(fits)


def fit_softmax(
    X: Any,
    T: Any,
    *,
    penalty: float = 1.0,
    weight: Floats | None = None,
    start: LinearFit | None = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> LinearFit:
    """Fit a multinomial logistic regression to soft targets.

    Minimises ``sum_n weight_n sum_k T_nk (-log softmax_k(W x_n + b)) + penalty / 2 |W|^2``.

    Parameters
    ----------
    X, penalty, weight, start, max_iter, tol
        As for ``fit_logistic``.
    T : array-like of shape (n_samples, n_classes)
        Non-negative rows that sum to 1.
    """
    products = X if isinstance(X, Products) else make_products(X)
    problem = _Problem.build(products, np.asarray(T), penalty, weight, None, None)
    n_classes = np.shape(T)[1]
    first = problem.encode(start, n_classes).reshape(1, -1)
    # The Hessian of the softmax is at most half of the projection off the constant vector.
    scale = np.tile(problem.scale(0.5 * (1.0 - 1.0 / max(n_classes, 2))), n_classes)
    stopping = problem.stopping(max_iter, tol)
    return problem.decode(minimise(problem.softmax, first, scale, **stopping))


def _batches(products: Products, n_columns: int) -> list[slice]:
    n_samples, n_features = products.shape
    each = 8 * ((4 + 2 * MEMORY) * (n_features + 1) + 2 * n_samples)
    step = max(1, BATCH_BYTES // each)
    return [slice(i, i + step) for i in range(0, max(n_columns, 1), step)]


@dataclass(frozen=True, eq=False)
class _Problem:
    """The objective in centred features; a point holds coefficients and, last, the intercept."""

    products: Products
    targets: NDArray[Any]
    weight: Floats
    mean: Floats
    variance: Floats
    penalty: float
    center: Floats | None
    mask: NDArray[np.bool_] | None

    @classmethod
    def build(
        cls,
        products: Products,
        Y: NDArray[Any],
        penalty: float,
        weight: Floats | None,
        center: Floats | None,
        mask: NDArray[np.bool_] | None,
    ) -> _Problem:
        n = products.shape[0]
        weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
        targets = np.ascontiguousarray(Y.T, dtype=products.dtype)
        mean, variance = products.moments(weight)
        return cls(products, targets, weight, mean, variance, penalty, center, mask)

    def scale(self, bound: float) -> Floats:
        """Inverse of a bound on the Hessian's diagonal; ``bound`` is that of the loss."""
        total = bound * self.weight.sum()
        return 1.0 / np.append(total * self.variance + self.penalty, total)

    def stopping(self, max_iter: int, tol: float) -> dict[str, Any]:
        return {
            "max_iter": max_iter,
            "tol": tol * float(self.weight.sum()),
            "rounding": 8.0 * float(np.finfo(self.products.dtype).eps),
        }

    def encode(self, start: LinearFit | None, n_columns: int) -> Floats:
        if start is not None:
            return np.column_stack([start.coef, start.intercept + start.coef @ self.mean])
        first = np.zeros((n_columns, len(self.mean) + 1))
        if self.center is not None:
            first[:, :-1] = self.center
        return first

    def decode(self, found: Minimum) -> LinearFit:
        point = found.point.reshape(-1, len(self.mean) + 1)
        coef = np.ascontiguousarray(point[:, :-1])
        intercept = point[:, -1] - coef @ self.mean
        return LinearFit(coef, intercept, found.value, found.converged, found.n_iter)

    def binary(self, points: Floats, columns: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Values and gradients of the regressions of some columns."""
        from colabel._kernels.logistic import binary_loss

        targets = self.targets if len(columns) == len(self.targets) else self.targets[columns]
        loss = np.zeros(len(points))

        def step(scores: NDArray[Any], rows: slice) -> None:
            binary_loss(scores, targets[:, rows], self.weight[rows], loss)

        gradient = self._pass(points, step)
        away = points[:, :-1] if self.center is None else points[:, :-1] - self.center[columns]
        gradient[:, :-1] += self.penalty * away
        loss += 0.5 * self.penalty * np.einsum("cd,cd->c", away, away)
        if self.mask is not None:
            gradient[:, :-1] *= self.mask[columns]
        return loss, gradient

    def softmax(self, points: Floats, _: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Value and gradient of the one multinomial regression."""
        from colabel._kernels.logistic import softmax_loss

        points = points.reshape(len(self.targets), -1)
        loss = []

        def step(scores: NDArray[Any], rows: slice) -> None:
            loss.append(softmax_loss(scores, self.targets[:, rows], self.weight[rows]))

        gradient = self._pass(points, step)
        coef = points[:, :-1]
        gradient[:, :-1] += self.penalty * coef
        value = np.sum(loss) + 0.5 * self.penalty * np.einsum("cd,cd->", coef, coef)
        return np.array([value]), gradient.reshape(1, -1)

    def _pass(self, points: Floats, step: Any) -> Floats:
        """Score all rows, let ``step`` turn scores into residuals, and gather the gradient."""
        dtype = self.products.dtype
        coef = points[:, :-1].astype(dtype)
        offset = (points[:, -1] - points[:, :-1] @ self.mean).astype(dtype)[:, None]
        gradient = np.zeros(points.shape)
        for rows in self.products.blocks(len(points)):
            scores = self.products.scores(coef, rows)
            scores += offset
            step(scores, rows)
            gradient[:, :-1] += self.products.gradient(scores, rows)
            gradient[:, -1] += scores.sum(axis=1, dtype=np.float64)
        gradient[:, :-1] -= np.outer(gradient[:, -1], self.mean)
        return gradient
