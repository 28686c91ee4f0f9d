"""Bundle method for regularised risks (BMRM, Algorithm 1 of Petterson and Caetano 2011).

Every iteration decodes all samples and adds the plane that touches the risk there. In the paper
the plane is made of Equations 6 and 7, which contain the regulariser; a plane must be of the risk
alone, and shifted to touch it:

    a = sum_n p_n [phi(x_n, z_n) - phi(x_n, y_n)],   b = R(theta) - <a, theta>.

With a line search (after Franc and Sonnenburg 2009), a few points between the best so far and the
master's are looked at for a smaller objective, and one more plane is taken a little further on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colabel._parameters import check_choice
from colabel.learners.base import BaseLearner
from colabel.learners.bundle_master import Bundle
from colabel.learners.margin import MarginProblem, MarginSolution, Trace, Violations
from colabel.roles import Floats, Report, Stage

__all__ = ["CuttingPlane"]

# Bytes that planes may take.
PLANE_BYTES = 2**30
MOST_PLANES = 400
# Where the next plane is taken, between the best point and the master's (as in OCAS).
FORWARD = 0.1
# A line search ends where the slope is this share of the first one, or after so many decodings.
FLAT = 0.01
LOOKS = 8


class CuttingPlane(BaseLearner):
    """Learn by cutting planes; the duality gap is proved by the strongest oracle.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int, default=3000
        Most iterations; each decodes every sample once, up to ten times with ``line_search``.
    line_search : bool, default=False
        Look for better points on the way from the best point to the master's.

    Notes
    -----
    Memory: at most 400 planes, of as many numbers as there are parameters, or a gigabyte, and twice
    that while one is added.
    """

    def __init__(self, tol: float = 1e-3, max_iter: int = 3000, line_search: bool = False) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.line_search = line_search

    def check(self) -> None:
        super().check()
        check_choice(self.line_search, "line_search", (True, False))

    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
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
        run, trace = _Planes(problem, state), Trace()
        oracle = problem.oracles.quick
        best: _Point | None = None
        lower = -np.inf
        while len(trace) < self.max_iter:
            point = run.look(run.theta, oracle)
            if best is None or best.oracle is not oracle:
                best = point
            elif self.line_search:
                point = run.search(best, point)
            best = min(best, point, key=lambda p: p.value)
            lower = max(lower, run.master())
            trace.add(point.upper, lower, point.found)
            if report is not None:
                report(len(trace), best.upper, best.upper - lower)
            if best.value - lower <= self.tol * abs(best.value):
                if oracle is problem.oracles.learning:
                    break
                # Planes of the quick oracle lie below the risk, so they stay; its values do not.
                oracle = problem.oracles.learning
        assert best is not None
        bound = problem.verified(best.theta, best.upper, best.oracle)
        return trace.solution(best.theta, bound, self.tol, len(trace), run.planes())


@dataclass(frozen=True, eq=False)
class _Point:
    """Parameters, what an oracle found there, and the plane that touches the risk."""

    theta: Floats
    oracle: Stage
    found: Violations
    slope: Floats
    ridge: float

    @property
    def value(self) -> float:
        """The objective, by the labelings found."""
        return self.ridge + self.found.risk

    @property
    def upper(self) -> float:
        """A bound on the objective."""
        return self.ridge + self.found.upper


class _Planes:
    """The bundle of a problem and the point that its master problem is solved at."""

    def __init__(self, problem: MarginProblem, state: object) -> None:
        self.problem = problem
        size = problem.model.size
        most = int(min(MOST_PLANES, PLANE_BYTES // (8 * size)))
        self.bundle = Bundle(size, problem.model.n_free, problem.penalty, most)
        for a, b in state if isinstance(state, list) else ():
            self.bundle.add(a, b)
        if state:
            self.bundle.solve()
        self.theta = self.bundle.theta()

    def look(self, theta: Floats, oracle: Stage) -> _Point:
        """Decode at ``theta`` and add the plane that touches the risk there."""
        found = self.problem.violations(theta, oracle)
        a = self.problem.subgradient(found)
        self.bundle.add(a, found.risk - float(a @ theta))
        return _Point(theta, oracle, found, a, self.problem.ridge(theta))

    def master(self) -> float:
        """Solve the master problem; return its value, a lower bound."""
        self.bundle.solve()
        self.theta = self.bundle.theta()
        return self.bundle.value()

    def search(self, best: _Point, end: _Point) -> _Point:
        """Look for the least objective from ``best`` to ``end``, the master's point.

        The slope along the way rises; the next point is where it would vanish if it were linear
        between the last fall and the last rise. One more plane is taken a little beyond.
        """
        way = end.theta - best.theta
        fall, rise = self._slope(best, way), self._slope(end, way)
        low, high, at = 0.0, 1.0, end
        if rise <= 0.0 or fall >= 0.0:
            return end
        steep = rise
        for _ in range(LOOKS):
            spot = low + (high - low) * min(0.9, max(0.1, fall / (fall - rise)))
            at = self.look(best.theta + spot * way, end.oracle)
            slope = self._slope(at, way)
            if abs(slope) <= FLAT * steep:
                break
            if slope > 0.0:
                high, rise = spot, slope
            else:
                low, fall = spot, slope
        self.look((1.0 - FORWARD) * at.theta + FORWARD * end.theta, end.oracle)
        return at

    def _slope(self, point: _Point, way: Floats) -> float:
        """Return the slope of the objective at ``point`` along ``way``."""
        return float((self.problem.penalty * point.theta + point.slope) @ way)

    def planes(self) -> list[tuple[Floats, float]]:
        """Return the planes in use."""
        used = np.flatnonzero(self.bundle.weights[1:] > 0.0) + 1
        return [(self.bundle.A[j], float(self.bundle.b[j])) for j in used]
