"""Minimise many smooth convex functions at once: limited-memory BFGS on shared evaluations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MEMORY", "Evaluate", "Minimum", "Stopping", "minimise", "run", "summarise"]

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]]

# Steps remembered: more help little on logistic losses, and cost memory.
MEMORY = 12
# Estimates of what is left above an optimum are low where variables are nearly dependent.
CAUTION = 0.01


@dataclass(frozen=True)
class Stopping:
    """When a problem is finished.

    Parameters
    ----------
    max_iter : int
        Steps allowed to each problem.
    gap : float
        A problem has converged where its value is this close to the optimum, relative to itself.
    curvature : float
        Least eigenvalue of all Hessians, where that is known: it proves ``gap``. Variables of
        smaller ``scale`` inverse are taken to have that. Where it is zero, the estimate of a
        quasi-Newton step has to do, with caution.
    rounding : float
        Relative error of the values, above which a rise counts as a rise.
    floor : float
        Least value that ``gap`` is relative to, for optima of zero.
    """

    max_iter: int
    gap: float
    curvature: float = 0.0
    rounding: float = 1e-14
    floor: float = 0.0

    def limits(self) -> Floats:
        """As the kernels want it."""
        estimate, flattest = max(CAUTION * self.gap, self.rounding), 1e300
        if self.curvature > 0.0:
            estimate, flattest = self.rounding, 1.0 / self.curvature
        limits = [self.gap, estimate, self.rounding, self.floor, flattest, self.max_iter]
        return np.array(limits)


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where each problem stopped.

    Parameters
    ----------
    point : ndarray of shape (n_problems, n_parameters)
    value : ndarray of shape (n_problems,)
    converged : ndarray of shape (n_problems,), bool
        Whether the value is as close to the optimum as was asked, or as rounding lets it be.
    n_iter : int
        Steps of the slowest problem.
    evaluations : int
        Summed over problems.
    """

    point: Floats
    value: Floats
    converged: NDArray[np.bool_]
    n_iter: int
    evaluations: int


def minimise(evaluate: Evaluate, start: Floats, scale: Floats, stopping: Stopping) -> Minimum:
    """Minimise ``n_problems`` functions of ``n_parameters`` variables each.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(points, problems)`` gives the values (a,) and gradients (a, n_parameters) of the
        problems named, each at its own point. Every call serves all problems still running.
    start : ndarray of shape (n_problems, n_parameters)
    scale : ndarray of shape (n_parameters,) or (n_problems, n_parameters), positive
        Rough inverse of the Hessian's diagonal.
    stopping : Stopping

    Returns
    -------
    Minimum

    Notes
    -----
    A problem that has finished leaves the batch. O(n_parameters * MEMORY) besides the evaluation.
    """
    from colabel._kernels import lbfgs

    vectors = np.empty((start.shape[0], lbfgs.HEAD + 2 * MEMORY, start.shape[1]))
    vectors[:, lbfgs.SCALE] = scale
    return run(lbfgs.advance, evaluate, start, vectors, stopping.limits())


def run(
    advance: Any, evaluate: Evaluate, start: Floats, vectors: Floats, limits: Floats
) -> Minimum:
    """Evaluate and ``advance`` (a kernel) until no problem is left; ``vectors`` are its memory."""
    from colabel._kernels import lbfgs

    n_problems = len(start)
    numbers = np.zeros((n_problems, lbfgs.RHO + MEMORY))
    counts = np.zeros((n_problems, lbfgs.COUNTS), dtype=np.int64)
    counts[:, lbfgs.STEPS] = -1
    trial = np.array(start, dtype=np.float64)
    active, evaluations = np.arange(n_problems), 0
    while len(active):
        value, gradient = evaluate(trial, active)
        evaluations += len(active)
        n_running = advance(vectors, numbers, counts, active, trial, value, gradient, limits)
        active, trial = active[:n_running], trial[:n_running]
    return summarise(vectors, numbers, counts, evaluations)


def summarise(
    vectors: Floats, numbers: Floats, counts: NDArray[np.int64], evaluations: int
) -> Minimum:
    """Read where each problem stopped from the memory of the kernels."""
    from colabel._kernels import lbfgs

    return Minimum(
        vectors[:, lbfgs.POINT].copy(),
        numbers[:, lbfgs.VALUE].copy(),
        counts[:, lbfgs.STATUS] != lbfgs.RUNNING,
        int(counts[:, lbfgs.STEPS].max(initial=0)),
        evaluations,
    )
