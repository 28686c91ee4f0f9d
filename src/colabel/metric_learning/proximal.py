"""Accelerated proximal gradients over positive semidefinite matrices (Algorithm 1, Liu and Tsang).

Minimises ``f(Q) + trace(Q) / 2`` over ``Q >= 0``, where ``f`` depends on ``Q`` through numbers that
are linear in it: at the extrapolated point they follow from those at the last two iterates, and
only a step that is tried needs new ones. Departures from the algorithm as printed: the proximal
step takes eigenvalues, not singular values; the step size is carried over from one iteration to
the next, and lengthened only where the loss curved much less along the last step than it might
have; where the objective rises, momentum starts anew; and the iteration ends after several small
changes of steps that could not have been longer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from colabel.results import Solution

__all__ = ["MetricProblem", "proximal_gradient", "shrink"]

Floats = NDArray[np.float64]

# Iterations with a small change, and none with a large one between them, that end the search.
PATIENCE = 3
# What such an iteration counts if longer steps are still to be had.
UNTRIED = 0.2
# Where the loss curved less than this share of tau along a step, a longer one is tried.
FLAT = 0.25
# At ties no step is short enough; the search ends here, in units of the first step.
LONGEST_TAU = 1e6
# Below this share of the spectrum it pays to compute that part alone.
FEW = 0.1


class MetricProblem(Protocol):
    """What the learner asks of ``f``."""

    def margins(self, Q: Floats) -> Floats:
        """Return the numbers, linear in ``Q``, on which ``f`` depends."""

    def loss(self, margins: Floats) -> float:
        """Return ``f``."""

    def gradient(self, margins: Floats) -> Floats:
        """Return the gradient of ``f`` by ``Q``: symmetric."""


def proximal_gradient(
    problem: MetricProblem,
    start: Floats,
    *,
    tau: float,
    eta: float = 0.4,
    tol: float = 1e-3,
    max_iter: int = 500,
    report: Callable[[int, float], None] | None = None,
) -> Solution:
    """Minimise ``f(Q) + trace(Q) / 2`` over positive semidefinite ``Q``.

    Parameters
    ----------
    problem : MetricProblem
    start : ndarray of shape (q, q), positive semidefinite
    tau : float
        Curvature to begin with: a step is the gradient over ``tau``.
    eta : float in (0, 1)
        ``tau`` is divided by it while a step is too long.
    tol : float
        Relative change of the objective that counts as small.
    max_iter : int
    report : callable or None
        Told iteration and objective.

    Returns
    -------
    Solution
        ``coef`` is a factor ``V`` of shape (q, rank) with ``Q = V V'``; ``history`` never rises.
        Without a bound: ``gap`` is NaN.

    Notes
    -----
    O(q^3) an iteration for the eigenvalues, beside what the problem costs.
    """
    state = _State.first(problem, start)
    momentum, still, curvature = 1.0, 0.0, tau
    longest = LONGEST_TAU * tau
    before, history, converged = state, [state.objective], False
    for n_iter in range(1, max_iter + 1):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = 0.0 if before is state else (momentum - 1.0) / following
        first = eta * tau if curvature <= FLAT * tau else tau
        new, used, curvature = _step(problem, state, before, ahead, first, eta, longest)
        tau = tau if new is None else used
        if new is None or new.objective > state.objective:
            if ahead == 0.0:
                # Not even a short step from here helps: a kink, or the rounding of an optimum.
                converged = new is not None or len(history) > 1
                break
            momentum, before = 1.0, state
            continue
        change = (state.objective - new.objective) / max(state.objective, np.finfo(float).tiny)
        momentum, before, state = following, state, new
        history.append(state.objective)
        if report is not None:
            report(n_iter, state.objective)
        # A short step changes little: it counts in full where a longer one was or would be refused.
        longest_yet = used > first or curvature > FLAT * tau
        still = still + (1.0 if longest_yet else UNTRIED) if change <= tol else 0.0  # Eq. (8)
        if still >= PATIENCE or state.objective == 0.0:
            converged = True
            break
    return Solution(state.factor, np.array(history), float("nan"), converged, n_iter)


class _State:
    """A point, the numbers that ``f`` takes there, and the objective."""

    def __init__(self, problem: MetricProblem, Q: Floats, factor: Floats) -> None:
        self.Q, self.factor = Q, factor
        self.margins = problem.margins(Q)
        self.loss = problem.loss(self.margins)
        self.objective = self.loss + 0.5 * float(np.trace(Q))  # Eq. (5)

    @classmethod
    def first(cls, problem: MetricProblem, Q: Floats) -> _State:
        values, vectors = eigh(Q)
        kept = values > 0.0
        return cls(problem, Q, vectors[:, kept] * np.sqrt(values[kept]))


def _step(
    problem: MetricProblem,
    state: _State,
    before: _State,
    ahead: float,
    tau: float,
    eta: float,
    longest: float,
) -> tuple[_State | None, float, float]:
    """Make the longest step from the extrapolated point that the quadratic model allows.

    Returns where it leads, its ``tau``, and how much the loss curved along it.
    """
    Z = state.Q + ahead * (state.Q - before.Q)
    margins = state.margins + ahead * (state.margins - before.margins)
    loss, gradient = problem.loss(margins), problem.gradient(margins)
    rank = state.factor.shape[1]
    while tau <= longest:
        Q, factor = shrink(Z - gradient / tau, 1.0 / (2.0 * tau), rank)
        new = _State(problem, Q, factor)
        move = Q - Z
        # Eq. (6), without the trace, which is on both sides: the loss may not curve more than tau.
        above = new.loss - loss - float(np.vdot(gradient, move)) - 1e-12 * abs(loss)
        square = float(np.vdot(move, move))
        curvature = 2.0 * above / square if square > 0.0 else 0.0
        if above <= 0.5 * tau * square:
            return new, tau, curvature
        tau /= eta
    return None, tau, tau


def shrink(G: Floats, by: float, rank: int) -> tuple[Floats, Floats]:
    """Lower the eigenvalues of ``G`` and drop those that end below zero: Eq. (7).

    Parameters
    ----------
    G : ndarray of shape (q, q)
        Its symmetric part counts.
    by : float
    rank : int
        How many are expected to be left.

    Returns
    -------
    Q : ndarray of shape (q, q)
    factor : ndarray of shape (q, r)
        ``Q = factor factor'``.
    """
    G = 0.5 * (G + G.T)
    if rank < FEW * len(G):
        values, vectors = eigh(G, subset_by_value=(by, np.inf), driver="evr", check_finite=False)
    else:
        values, vectors = eigh(G, check_finite=False, driver="evd")
    kept = values > by
    factor = vectors[:, kept] * np.sqrt(values[kept] - by)
    return factor @ factor.T, factor
