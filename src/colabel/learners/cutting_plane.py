"""Bundle method for regularised risks (BMRM, Algorithm 1 of Petterson and Caetano 2011).

Every iteration decodes all samples and adds the plane that touches the risk there. In the paper
the plane is made of Equations 6 and 7, which contain the regulariser; a plane must be of the risk
alone, and shifted to touch it:

    a = sum_n p_n [phi(x_n, z_n) - phi(x_n, y_n)],   b = R(theta) - <a, theta>.

With a line search (Franc and Sonnenburg 2009), the objective is minimised between the best point so
far and the master's, and the next plane is taken close to that minimum; the best objective then
falls steadily.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.learners.bundle_master import Bundle
from colabel.learners.margin import MarginProblem, MarginSolution, Violations

__all__ = ["CuttingPlane"]

Floats = NDArray[np.float64]

# Bytes that planes may take.
PLANE_BYTES = 2**30
MOST_PLANES = 400
# Where the next plane is taken, between the best point and the master's (as in OCAS).
FORWARD = 0.1
# Decodings of one line search.
LOOKS = 3


class CuttingPlane(BaseEstimator):
    """Learn by cutting planes; the duality gap is proved by the strongest oracle.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int, default=2000
        Most iterations; each decodes every sample once, or a few times with ``line_search``.
    line_search : bool, default=False
        Minimise along the way from the best point to the master's.

    Notes
    -----
    Memory: at most 400 planes, of as many numbers as there are parameters, or a gigabyte.
    """

    def __init__(self, tol: float = 1e-3, max_iter: int = 2000, line_search: bool = False) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.line_search = line_search

    def solve(
        self,
        problem: MarginProblem,
        state: Any = None,
        report: Callable[[int, float, float], None] | None = None,
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : list of (a, b) or None
            Planes of a solution for the same samples, model and loss, with any penalty.
        report : callable or None
            Called with iteration, objective and gap.

        Returns
        -------
        MarginSolution
        """
        run = _Planes(problem, state)
        oracle = problem.first
        trace: list[tuple[float, ...]] = []
        best, coef, lower = np.inf, run.theta, -np.inf
        while len(trace) < self.max_iter:
            theta = run.theta
            found = run.look(theta, oracle)
            if self.line_search and trace:
                theta, found = run.search(coef, theta, found, oracle)
            value, upper = problem.ridge(theta) + np.array([found.risk, found.upper])
            if value < best:
                best, bound, coef = value, upper, theta
            lower = max(lower, run.master())
            trace.append((upper, lower, found.certified, found.proved))
            if report is not None:
                report(len(trace), bound, bound - lower)
            if best - lower <= self.tol * abs(best):
                if oracle == 1:
                    break
                # Planes of the quick oracle lie below the risk, so they stay.
                oracle, best = 1, np.inf
        bound = problem.verified(coef, bound, oracle)
        history, lower_bounds, certified, proved = problem.trace(trace)
        gap, n_iter = bound - lower, len(trace)
        converged = gap <= self.tol * abs(bound)
        kept = (lower_bounds, certified, proved, run.planes())
        return MarginSolution(coef, history, gap, converged, n_iter, *kept)


class _Planes:
    """The bundle of a problem and the point that its master problem is solved at."""

    def __init__(self, problem: MarginProblem, state: Any) -> None:
        self.problem = problem
        size = problem.model.size
        most = int(min(MOST_PLANES, PLANE_BYTES // (8 * size)))
        self.bundle = Bundle(size, size - len(problem.model.edges), problem.penalty, most)
        for a, b in state or ():
            self.bundle.add(a, b)
        if state:
            self.bundle.solve()
        self.theta = self.bundle.theta()

    def look(self, theta: Floats, oracle: int) -> Violations:
        """Decode at ``theta`` and add the plane that touches the risk there."""
        found = self.problem.violations(theta, oracle)
        a = self.problem.subgradient(found.labels)
        self.slope = a
        self.bundle.add(a, found.risk - float(a @ theta))
        return found

    def master(self) -> float:
        """Solve the master problem; return its value, a lower bound."""
        self.bundle.solve()
        self.theta = self.bundle.theta()
        return self.bundle.value()

    def search(
        self, best: Floats, theta: Floats, found: Violations, oracle: int
    ) -> tuple[Floats, Violations]:
        """Minimise the objective from ``best`` to ``theta``, where the violations are ``found``.

        The slope along the way rises; between a fall and a rise the next point is where it would
        vanish if it were linear. One more plane is taken a little beyond the minimum.
        """
        problem, way = self.problem, theta - best
        low, high = 0.0, 1.0
        slope = problem.penalty * float(theta @ way) + float(self.slope @ way)
        spot, at = 1.0, (theta, found)
        if slope <= 0.0:
            return at
        steep = slope
        shallow = -abs(slope)
        for _ in range(LOOKS):
            spot = low + (high - low) * min(0.9, max(0.1, -shallow / (steep - shallow)))
            point = best + spot * way
            at = (point, self.look(point, oracle))
            slope = problem.penalty * float(point @ way) + float(self.slope @ way)
            if abs(slope) <= 0.1 * steep:
                break
            if slope > 0.0:
                high, steep = spot, slope
            else:
                low, shallow = spot, slope
        beyond = (1.0 - FORWARD) * at[0] + FORWARD * theta
        self.look(beyond, oracle)
        return at

    def planes(self) -> list[tuple[Floats, float]]:
        """Return the planes in use."""
        used = np.flatnonzero(self.bundle.weights[1:] > 0.0) + 1
        return [(self.bundle.A[j], float(self.bundle.b[j])) for j in used]
