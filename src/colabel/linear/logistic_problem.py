"""The objectives of a batch of logistic regressions on one design, and their minima."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.linear.batch_lbfgs import MEMORY, Minimum, Stopping, minimise, summarise
from colabel.linear.design import DenseDesign, Design
from colabel.linear.elastic_net import minimise_l1
from colabel.numerics.jobs import Run, in_turn

__all__ = ["LinearFit", "Problem"]

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

    def take(self, columns: Any) -> LinearFit:
        """Keep some columns of independent regressions."""
        return LinearFit(
            self.coef[columns],
            self.intercept[columns],
            self.objective[columns],
            self.converged[columns],
            self.n_iter,
        )

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
        return cls(
            np.concatenate([fit.coef for fit in fits]),
            np.concatenate([fit.intercept for fit in fits]),
            np.concatenate([fit.objective for fit in fits]),
            np.concatenate([fit.converged for fit in fits]),
            max(fit.n_iter for fit in fits),
        )


class Problem:
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

    def solve_binary(self, first: Floats, l1: float, steps: int, tol: float) -> Minimum:
        """Minimise independent regressions, the rows of ``first``."""
        stopping = self._stopping(steps, tol)
        if l1 > 0.0:
            return minimise_l1(self.binary, first, self.scale(), self._price(l1), stopping)
        if isinstance(self.design, DenseDesign):
            return self._solve_dense(self.design, first, stopping)
        return minimise(self.binary, first, self.scale(), stopping)

    def solve_softmax(
        self, first: Floats, l1: float, steps: int, tol: float, run: Run | None = None
    ) -> Minimum:
        """Minimise one multinomial regression, whose classes are the rows of ``first``."""
        stopping, evaluate = self._stopping(steps, tol), partial(self.softmax, run or in_turn)
        first, scale = first.reshape(1, -1), self.scale().reshape(1, -1)
        if l1 == 0.0:
            return minimise(evaluate, first, scale, stopping)
        return minimise_l1(evaluate, first, scale, self._price(l1).reshape(1, -1), stopping)

    def _stopping(self, steps: int, tol: float) -> Stopping:
        return Stopping(
            max_iter=steps,
            # Half, for the curvature of the intercept is but that at the base rate.
            gap=0.5 * tol,
            curvature=self.penalty,
            rounding=8.0 * float(np.finfo(self.design.dtype).eps),
            floor=tol * self.total,
        )

    def _price(self, l1: float) -> Floats:
        price = np.full((len(self.targets), len(self.ridge)), l1)
        price[:, -1] = 0.0
        return price

    def _solve_dense(self, design: DenseDesign, first: Floats, stopping: Stopping) -> Minimum:
        """Minimise without a step back into Python."""
        from colabel._kernels import lbfgs, logistic_fit

        vectors = np.empty((len(first), lbfgs.HEAD + 2 * MEMORY, first.shape[1]))
        vectors[:, lbfgs.POINT], vectors[:, lbfgs.SCALE] = first, self.scale()
        none = np.zeros((0, first.shape[1]))
        found = logistic_fit.solve(
            design.rows,
            design.columns,
            design.step,
            self.targets,
            self.weight,
            none if self.origin is None else self.origin,
            none if self.mask is None else self.mask.astype(np.float64),
            vectors,
            np.append(stopping.limits(), self.penalty),
        )
        return summarise(vectors, *found)

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

    def softmax(self, run: Run, points: Floats, _: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Value and gradient of the one multinomial regression."""
        points = points.reshape(len(self.targets), -1)
        gradient = points * self.ridge
        value = 0.5 * np.einsum("cd,cd->", gradient, points)
        if isinstance(self.design, DenseDesign):
            parts = self._softmax_parts(self.design, points, run)
        else:
            parts = self._softmax_whole(points)
        for loss, part in parts:
            value += loss
            gradient += part
        return np.array([value]), gradient.reshape(1, -1)

    def _softmax_parts(self, design: DenseDesign, points: Floats, run: Run) -> list[Any]:
        from colabel._kernels.logistic_fit import softmax_rows

        near = points.astype(design.dtype)
        data = design.rows, design.columns, design.step, self.targets, self.weight
        jobs = [partial(softmax_rows, near, *data, *ends) for ends in design.parts(len(points))]
        return run(jobs)

    def _softmax_whole(self, points: Floats) -> list[Any]:
        from colabel._kernels.logistic import softmax_loss

        loss = []

        def step(scores: NDArray[Any], first: int) -> None:
            loss.append(softmax_loss(scores, self.targets, self.weight, first))

        gradient = self.design.gradient(points, step)
        return [(float(np.sum(loss)), gradient)]
