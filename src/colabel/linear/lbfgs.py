"""Minimise many smooth convex functions at once, with L1 norms or without: L-BFGS.

The evaluations are Python's here, one for all problems that still run; ``_kernels.logistic_fit``
has the same loop for dense rows, without a step back into Python. A step is ``_kernels.lbfgs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from colabel._kernels.lbfgs import Limits, Memory

__all__ = ["Evaluate", "Minimum", "begin", "limits", "minimise"]

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats, NDArray[np.int64]], tuple[Floats, Floats]]

# Estimates of what is left above an optimum are low where variables are nearly dependent.
CAUTION = 0.01


def limits(
    max_iter: int,
    gap: float,
    curvature: float = 0.0,
    rounding: float = 1e-14,
    floor: float = 0.0,
) -> Limits:
    """Say when a problem is finished.

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
    from colabel._kernels.lbfgs import Limits

    estimate, flattest = max(CAUTION * gap, rounding), 1e300
    if curvature > 0.0:
        estimate, flattest = rounding, 1.0 / curvature
    return Limits(gap, estimate, rounding, float(floor), flattest, int(max_iter))


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

    @classmethod
    def of(cls, memory: Memory, evaluations: int) -> Minimum:
        """Read it from what the kernels remember."""
        from colabel._kernels import lbfgs

        counts = memory.counts
        return cls(
            memory.vectors[:, lbfgs.POINT].copy(),
            memory.numbers[:, lbfgs.VALUE].copy(),
            counts[:, lbfgs.STATUS] != lbfgs.RUNNING,
            int(counts[:, lbfgs.STEPS].max(initial=0)),
            evaluations,
        )


def begin(start: Floats, scale: Floats, with_norm: bool) -> Memory:
    """Make the memory of searches from ``start``."""
    from colabel._kernels import lbfgs

    memory = lbfgs.empty_memory(*start.shape, with_norm=with_norm)
    memory.vectors[:, lbfgs.POINT], memory.vectors[:, lbfgs.SCALE] = start, scale
    return memory


def minimise(
    evaluate: Evaluate,
    start: Floats,
    scale: Floats,
    ends: Limits,
    price: Floats | None = None,
) -> Minimum:
    """Minimise ``f_p(x) + sum_j price_pj |x_j|`` for each problem ``p``.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(points, problems)`` gives the values (a,) and gradients (a, n_parameters) of
        ``f`` for the problems named, each at its own point. Every call serves all problems still
        running.
    start : ndarray of shape (n_problems, n_parameters)
    scale : ndarray of shape (n_parameters,) or (n_problems, n_parameters), positive
        Rough inverse of the Hessian's diagonal.
    ends : Limits
        See ``limits``. With a norm, the least element of the subdifferential stands for the
        gradient.
    price : ndarray of shape (n_problems, n_parameters), not negative, or None
        Coefficients that the norm holds at zero are exactly zero.

    Returns
    -------
    Minimum

    Notes
    -----
    A problem that has finished leaves the batch. O(n_parameters) besides the evaluation, times the
    steps remembered.
    """
    from colabel._kernels.lbfgs import advance

    memory = begin(start, scale, price is not None)
    trial, active, evaluations = start.astype(np.float64), np.arange(len(start)), 0
    while len(active):
        value, gradient = evaluate(trial, active)
        evaluations += len(active)
        n_running = advance(memory, price, active, trial, value, gradient, ends)
        active, trial = active[:n_running], trial[:n_running]
    return Minimum.of(memory, evaluations)
