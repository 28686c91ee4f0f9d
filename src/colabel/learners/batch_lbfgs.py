"""Minimise many smooth convex functions at once: limited-memory BFGS on shared evaluations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MEMORY", "Minimum", "minimise"]

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]]

# Steps remembered: more help little on logistic losses, and cost memory.
MEMORY = 8


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where each problem stopped.

    Parameters
    ----------
    point : ndarray of shape (n_problems, n_parameters)
    value : ndarray of shape (n_problems,)
    converged : ndarray of shape (n_problems,), bool
        Whether the gradient fell below the tolerance, or rounding forbids a better point.
    n_iter : int
        Steps of the slowest problem.
    """

    point: Floats
    value: Floats
    converged: NDArray[np.bool_]
    n_iter: int


def minimise(
    evaluate: Evaluate,
    start: Floats,
    scale: Floats,
    *,
    max_iter: int,
    tol: float,
    rounding: float = 1e-14,
) -> Minimum:
    """Minimise ``n_problems`` functions of ``n_parameters`` variables each.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(points, problems)`` gives the values (a,) and gradients (a, n_parameters) of the
        problems named, each at its own point. Every call serves all problems still running.
    start : ndarray of shape (n_problems, n_parameters)
    scale : ndarray of shape (n_parameters,)
        Rough inverse of the Hessian's diagonal.
    max_iter : int
        Steps allowed to each problem.
    tol : float
        Largest absolute component of the gradient at a minimum.
    rounding : float
        Relative error of the values, above which a rise counts as a rise.

    Returns
    -------
    Minimum

    Notes
    -----
    A problem that has finished leaves the batch. O(n_parameters * MEMORY) besides the evaluation.
    """
    from colabel._kernels import lbfgs

    n_problems, size = start.shape
    vectors = np.zeros((n_problems, lbfgs.HEAD + 2 * MEMORY, size))
    vectors[:, lbfgs.TRIAL] = start
    numbers = np.zeros((n_problems, lbfgs.RHO + MEMORY))
    counts = np.zeros((n_problems, 4), dtype=np.int64)
    counts[:, lbfgs.STEPS] = -1
    limits = np.array([tol, rounding])
    active = np.arange(n_problems)
    while len(active):
        value, gradient = evaluate(vectors[active, lbfgs.TRIAL], active)
        lbfgs.advance(vectors, numbers, counts, active, value, gradient, scale, limits)
        running = counts[active, lbfgs.STATUS] == lbfgs.RUNNING
        active = active[running & (counts[active, lbfgs.STEPS] < max_iter)]
    return Minimum(
        vectors[:, lbfgs.POINT].copy(),
        numbers[:, lbfgs.VALUE].copy(),
        counts[:, lbfgs.STATUS] != lbfgs.RUNNING,
        int(counts[:, lbfgs.STEPS].max(initial=0)),
    )
