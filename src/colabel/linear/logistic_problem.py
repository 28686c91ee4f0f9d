"""The objectives of a batch of logistic regressions on one design, and their minima."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from colabel.linear.design import DenseDesign, ProductsDesign
from colabel.linear.lbfgs import Minimum, begin, limits, minimise
from colabel.numerics.jobs import Run, in_turn

if TYPE_CHECKING:
    from colabel._kernels.lbfgs import Limits

__all__ = ["LinearFit", "Problem", "stopping"]

Floats = NDArray[np.float64]


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

    @classmethod
    def at(cls, points: Floats) -> LinearFit:
        """Where to start: coefficients and, last, intercepts of each model."""
        return cls(points[:, :-1], points[:, -1], np.zeros(0), np.zeros(0, dtype=bool), 0)

    def take(self, columns: Any) -> LinearFit:
        """Keep some columns of independent regressions."""
        coef, intercept, objective, converged = (part[columns] for part in self._by_column())
        return LinearFit(coef, intercept, objective, converged, self.n_iter)

    def features(self, index: NDArray[Any]) -> LinearFit:
        """Keep some features."""
        return replace(self, coef=self.coef[:, index])

    def among(self, index: NDArray[Any], coef: Floats) -> LinearFit:
        """Put the features back among others, whose coefficients ``coef`` has."""
        coef[:, index] = self.coef
        return replace(self, coef=coef)

    @classmethod
    def concatenate(cls, fits: list[LinearFit]) -> LinearFit:
        """Join independent regressions."""
        if len(fits) == 1:
            return fits[0]
        parts = zip(*(fit._by_column() for fit in fits), strict=True)
        coef, intercept, objective, converged = map(np.concatenate, parts)
        return cls(coef, intercept, objective, converged, max(fit.n_iter for fit in fits))

    def _by_column(self) -> tuple[NDArray[Any], ...]:
        return self.coef, self.intercept, self.objective, self.converged


class Problem:
    """The smooth part of the objective; points are differences from the center of the prior.

    Parameters
    ----------
    design : DenseDesign or ProductsDesign
    Y : ndarray of shape (n_samples, n_columns)
    penalty : float
    center, mask : ndarray of shape (n_columns, n_features) or None
    """

    def __init__(
        self,
        design: DenseDesign | ProductsDesign,
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

    def solve_binary(self, first: Floats, l1: float, steps: int, tol: float) -> Minimum:
        """Minimise independent regressions, the rows of ``first``."""
        ends, price = self._stopping(steps, tol), self._price(l1)
        if isinstance(self.design, DenseDesign):
            return self._solve_dense(self.design, first, price, ends)
        evaluate = partial(self.binary, self.design)
        return minimise(evaluate, first, self.scale(), ends, price)

    def solve_softmax(
        self, first: Floats, l1: float, steps: int, tol: float, run: Run | None = None
    ) -> Minimum:
        """Minimise one multinomial regression, whose classes are the rows of ``first``."""
        ends, price = self._stopping(steps, tol), self._price(l1)
        evaluate = partial(self.softmax, run or in_turn)
        first, scale = first.reshape(1, -1), self.scale().reshape(1, -1)
        price = None if price is None else price.reshape(1, -1)
        return minimise(evaluate, first, scale, ends, price)

    def _stopping(self, steps: int, tol: float) -> Limits:
        return stopping(steps, tol, self.penalty, self.design.dtype, self.total)

    def _price(self, l1: float) -> Floats | None:
        """Weights of the L1 norm; intercepts are free."""
        if l1 == 0.0:
            return None
        return np.tile(np.append(np.full(len(self.design.variance), l1), 0.0), (len(self.rate), 1))

    def _solve_dense(
        self, design: DenseDesign, first: Floats, price: Floats | None, ends: Limits
    ) -> Minimum:
        """Minimise without a step back into Python."""
        from colabel._kernels.logistic_fit import solve

        none = np.zeros((0, first.shape[1]))
        origin = none if self.origin is None else self.origin
        mask = none if self.mask is None else self.mask.astype(np.float64)
        memory = begin(first, self.scale(), price is not None)
        batch = design.batch(self.targets)
        return Minimum.of(memory, solve(batch, self.penalty, origin, mask, price, memory, ends))

    def decode(self, found: Minimum) -> LinearFit:
        """Models of the original features."""
        coef, intercept = self.design.decode(found.point.reshape(-1, len(self.ridge)))
        coef = coef if self.center is None else coef + self.center
        return LinearFit(coef, intercept, found.value, found.converged, found.n_iter)

    def binary(
        self, design: ProductsDesign, points: Floats, columns: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Values and gradients of the regressions of some columns."""
        from colabel._kernels.logistic import binary_loss

        loss, residual = np.zeros(len(points)), np.zeros(points.shape)
        moved = points if self.origin is None else points + self.origin[columns]
        for rows, scores in design.scores(moved):  # which the kernel turns into residuals
            binary_loss(scores, self.targets, self.weight, columns, rows.start, loss)
            design.add_gradient(residual, scores, rows)
        design.centre(residual)
        gradient = points * self.ridge
        loss += 0.5 * np.einsum("cd,cd->c", gradient, points)
        gradient += residual
        if self.mask is not None:
            gradient *= self.mask[columns]
        return loss, gradient

    def softmax(self, run: Run, points: Floats, _: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Value and gradient of the one multinomial regression."""
        points = points.reshape(len(self.targets), -1)
        gradient = points * self.ridge
        value = 0.5 * np.einsum("cd,cd->", gradient, points)
        if isinstance(self.design, DenseDesign):
            parts = self._softmax_parts(self.design, points, run)
        else:
            parts = [self._softmax_whole(self.design, points)]
        for loss, part in parts:
            value += loss
            gradient += part
        return np.array([value]), gradient.reshape(1, -1)

    def _softmax_parts(
        self, design: DenseDesign, points: Floats, run: Run
    ) -> list[tuple[float, Floats]]:
        from colabel._kernels.logistic_fit import softmax_rows

        near, batch = points.astype(design.dtype), design.batch(self.targets)
        return run([partial(softmax_rows, near, batch, *ends) for ends in design.parts(len(near))])

    def _softmax_whole(self, design: ProductsDesign, points: Floats) -> tuple[float, Floats]:
        from colabel._kernels.logistic import softmax_loss

        losses, gradient = [], np.zeros(points.shape)
        for rows, scores in design.scores(points):  # which the kernel turns into residuals
            losses.append(softmax_loss(scores, self.targets, self.weight, rows.start))
            design.add_gradient(gradient, scores, rows)
        design.centre(gradient)
        return float(np.sum(losses)), gradient


def stopping(steps: int, tol: float, penalty: float, dtype: DTypeLike, total: float) -> Limits:
    """When regressions on rows of a total weight are finished."""
    # Half, for the curvature of the intercept is but that at the base rate.
    gap, rounding = 0.5 * tol, 8.0 * float(np.finfo(dtype).eps)
    return limits(steps, gap, curvature=penalty, rounding=rounding, floor=tol * total)
