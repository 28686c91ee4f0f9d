"""Quasi-Newton descent on a regularised risk that is smooth, or nearly so.

L-BFGS-B on the full batch. As the ridge makes the objective strongly convex, one gradient bounds
its minimum from below: for any ``theta'`` that the signs allow

    J(theta') >= J(theta) + <g, theta' - theta> + lambda/2 |theta' - theta|^2,

whose minimum is found coordinate by coordinate. The gap is therefore proved at no cost, wherever
the gradient vanishes; at a kink it stays open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize
from sklearn.base import BaseEstimator

from colabel.learners.margin import MarginProblem, MarginSolution

__all__ = ["QuasiNewton"]

Floats = NDArray[np.float64]


class QuasiNewton(BaseEstimator):
    """Learn by L-BFGS; the duality gap is that of strong convexity.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int, default=500
        Most evaluations; each decodes every sample once.
    memory : int, default=20
        Pairs of steps and gradients that the curvature is read off.

    Notes
    -----
    Memory: ``2 memory`` vectors of parameters.
    """

    def __init__(self, tol: float = 1e-3, max_iter: int = 500, memory: int = 20) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory

    def solve(
        self,
        problem: MarginProblem,
        state: Floats | None = None,
        report: Callable[[int, float, float], None] | None = None,
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : ndarray of shape (size,) or None
            Parameters to start from; zeros by default.
        report : callable or None
            Called with evaluation, objective and gap.

        Returns
        -------
        MarginSolution
        """
        run = _Descent(problem, self.tol, self.max_iter, report)
        size, n_free = problem.model.size, problem.model.n_free
        low = np.full(size, -np.inf)
        low[n_free:] = 0.0
        start = problem.model.project(np.zeros(size) if state is None else state)
        while run.goes_on():
            # A line search that fails at a kink ends L-BFGS; its memory is dropped, once or twice.
            before = run.best
            minimize(
                run.evaluate,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(low, np.inf),
                callback=run.stop,
                options={
                    "maxcor": self.memory,
                    "maxfun": self.max_iter,
                    "maxiter": self.max_iter,
                    "ftol": 0.0,
                    "gtol": 0.0,
                },
            )
            if before - run.best <= 0.1 * self.tol * abs(run.best):
                break
            start = run.coef
        return run.solution()


class _Descent:
    """The best parameters so far, and the best lower bound."""

    def __init__(
        self,
        problem: MarginProblem,
        tol: float,
        most: int,
        report: Callable[[int, float, float], None] | None,
    ) -> None:
        self.problem, self.tol, self.most, self.report = problem, tol, most, report
        self.best, self.lower = np.inf, -np.inf
        self.coef = np.zeros(problem.model.size)
        self.trace: list[tuple[float, ...]] = []

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Return objective and gradient; remember what they prove."""
        problem = self.problem
        found = problem.violations(theta, 1)
        value = problem.ridge(theta) + found.risk
        gradient = problem.penalty * theta + problem.subgradient(found)
        if value < self.best:
            self.best, self.coef = value, theta.copy()
        self.lower = max(self.lower, problem.lower_bound(theta, value, gradient))
        self.trace.append((value, self.lower, found.certified, found.proved))
        if self.report is not None:
            self.report(len(self.trace), self.best, self.best - self.lower)
        return value, gradient

    def goes_on(self) -> bool:
        """Whether the gap is open and evaluations are left."""
        open_gap = self.best - self.lower > self.tol * abs(self.best)
        return len(self.trace) < self.most and (not self.trace or open_gap)

    def stop(self, intermediate_result: object) -> None:
        """End L-BFGS."""
        if not self.goes_on():
            raise StopIteration

    def solution(self) -> MarginSolution:
        """Return what was found, its objective bounded by the strongest oracle."""
        problem = self.problem
        bound = problem.verified(self.coef, self.best, 1)
        history, lower, certified, proved = problem.trace(self.trace)
        gap, n_iter = bound - self.lower, len(self.trace)
        converged = gap <= self.tol * abs(bound)
        kept = (lower, certified, proved, self.coef)
        return MarginSolution(self.coef, history, gap, converged, n_iter, *kept)
