"""Quasi-Newton descent on a regularised risk that is smooth, or nearly so, then cutting planes.

L-BFGS-B on the full batch. As the ridge makes the objective strongly convex, one gradient bounds
its minimum from below: for any ``theta'`` that the signs allow

    J(theta') >= J(theta) + <g, theta' - theta> + lambda/2 |theta' - theta|^2,

whose minimum is found coordinate by coordinate. The gap is therefore proved at no cost, wherever
the gradient vanishes. At a kink it does not, and L-BFGS stalls: the planes met on the way then
start a bundle, which needs fewer to close the gap than one that begins with none.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, minimize

from colabel.learners.base import BaseLearner
from colabel.learners.cutting_plane import MOST_PLANES, PLANE_BYTES, CuttingPlane
from colabel.learners.margin import MarginProblem, MarginSolution, Trace
from colabel.roles import Floats, Report

__all__ = ["QuasiNewton", "Start"]

# L-BFGS has stalled when so many evaluations gained less than this share of the tolerance.
PATIENCE, LITTLE = 20, 0.1
# Share of the tolerance that values may take up where a stronger oracle bounds them in the end.
UNPROVED = 0.9


@dataclass(frozen=True, eq=False)
class Start:
    """Parameters to start from, and a lower bound of the minimum that is known."""

    coef: Floats
    lower: float = -np.inf


class QuasiNewton(BaseLearner):
    """Learn by L-BFGS; the duality gap is that of strong convexity, or of a bundle.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int, default=1000
        Most evaluations; each decodes every sample once.
    memory : int, default=20
        Pairs of steps and gradients that the curvature is read off.

    Notes
    -----
    Memory: ``2 memory`` vectors of parameters, and the last planes: 100 or half a gigabyte at most.
    """

    def __init__(self, tol: float = 1e-3, max_iter: int = 1000, memory: int = 20) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory

    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : Start or None
            Parameters to start from; zeros by default.
        report : callable or None
            Called with evaluation, objective and gap.

        Returns
        -------
        MarginSolution
        """
        size = problem.model.size
        start = state if isinstance(state, Start) else Start(np.zeros(size))
        run = _Descent(problem, self, report, start.lower)
        low = np.full(size, -np.inf)
        low[problem.model.n_free :] = 0.0
        options = {"maxcor": self.memory, "maxfun": self.max_iter, "maxiter": self.max_iter}
        # A line search goes on past ``maxfun``.
        with suppress(_SpentError):
            minimize(
                run.evaluate,
                problem.model.project(start.coef),
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(low, np.inf),
                callback=run.stop,
                options=options | {"ftol": 0.0, "gtol": 0.0},
            )
        return run.finish()


class _SpentError(Exception):
    """No evaluations are left."""


class _Descent:
    """The best parameters so far, the best lower bound, and the last planes."""

    def __init__(
        self, problem: MarginProblem, learner: QuasiNewton, report: Report | None, lower: float
    ) -> None:
        self.problem, self.learner, self.report = problem, learner, report
        self.best, self.bound, self.lower = np.inf, np.inf, lower
        self.coef = np.zeros(problem.model.size)
        self.goal = learner.tol * (1.0 if problem.proves(problem.oracles.learning) else UNPROVED)
        self.trace = Trace()
        most = min(MOST_PLANES // 4, PLANE_BYTES // (16 * problem.model.size))
        self.planes: deque[tuple[Floats, float]] = deque(maxlen=max(2, most))

    def evaluate(self, theta: Floats) -> tuple[float, Floats]:
        """Return objective and gradient; remember what they prove."""
        if len(self.trace) >= self.learner.max_iter:
            raise _SpentError
        problem = self.problem
        value, gradient, found = problem.evaluate(theta)
        upper = problem.ridge(theta) + found.upper
        a = gradient - problem.penalty * theta
        self.planes.append((a, found.risk - float(a @ theta)))
        if value < self.best:
            self.best, self.bound, self.coef = value, upper, theta.copy()
        self.lower = max(self.lower, problem.strong_bound(theta, value, gradient))
        self.trace.add(self.bound, self.lower, found)
        if self.report is not None:
            self.report(len(self.trace), self.best, self.best - self.lower)
        return value, gradient

    def stop(self, intermediate_result: object) -> None:
        """End L-BFGS where the gap is closed, or hardly anything is gained any more."""
        past = self.trace.rows[-PATIENCE][0] if len(self.trace) > PATIENCE else np.inf
        stalled = past - self.best <= LITTLE * self.goal * abs(self.best)
        if stalled or not self.is_open() or len(self.trace) >= self.learner.max_iter:
            raise StopIteration

    def is_open(self) -> bool:
        """Whether the gap is too wide."""
        return self.best - self.lower > self.goal * abs(self.best)

    def finish(self) -> MarginSolution:
        """Close the gap by cutting planes, if it is open; return what was found."""
        left = self.learner.max_iter - len(self.trace)
        if self.is_open() and left > 0:
            bundle = CuttingPlane(self.goal, left)
            found = bundle.solve(self.problem, [*self.planes], self.report)
            shares = found.certified, np.full(len(found.history), np.nan)
            self.trace.rows += zip(found.history, found.lower, *shares, strict=True)
            self.lower = max(self.lower, float(found.lower.max()))
            bound = float(found.lower.max()) + found.gap
            if bound < self.bound:
                self.coef = found.coef
                return self.solution(bound)
        oracle = self.problem.oracles.learning
        return self.solution(self.problem.verified(self.coef, self.bound, oracle))

    def solution(self, bound: float) -> MarginSolution:
        """Return what was found; ``bound`` is on its objective, by the strongest oracle."""
        state = Start(self.coef)
        tol, n_iter = self.learner.tol, len(self.trace)
        return self.trace.solution(self.coef, bound, tol, n_iter, state, lower=self.lower)
