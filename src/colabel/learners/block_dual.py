"""Block-coordinate dual ascent in the space of labels, with cached planes.

Passes of ``colabel.learners.ascent`` over the samples; every few of them all samples are decoded at
the current parameters, which gives the objective and the labelings that sorting overlooks where
labels are coupled.
"""

from __future__ import annotations

import numpy as np

from colabel.learners.ascent import Ascent, PlaneCache
from colabel.learners.base import BaseLearner
from colabel.learners.margin import MarginProblem, MarginSolution, Trace
from colabel.learners.spin_ascent import SpinAscent
from colabel.roles import Loss, Model, ProductPairs, Report, SpinPairs, Stages

__all__ = ["BlockDual"]

# Passes between two looks at the objective.
CHECK = 10


class BlockDual(BaseLearner):
    """Learn by block-coordinate dual ascent; the duality gap is proved by the strongest oracle.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int, default=1000
        Most passes.
    n_planes : int, default=60
        Most labelings that a sample remembers; fewer where they would take more than half a
        gigabyte together.
    random_state : int or None, default=None
        Seeds the order of visits; ``None`` is 0, or drawn by the machine.

    Notes
    -----
    Memory: the features once, 16 bytes and a bit a label for each labeling remembered (8 for each
    sample at least), and scores of all labels for a block of samples. A pass
    costs O(n_labels) an entry of ``X``, a sort of the labels a sample, and steps between labelings
    known. Decodings of all samples count as passes too.
    """

    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_planes: int = 60,
        random_state: int | None = None,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.n_planes = n_planes
        self.random_state = random_state

    def refusal(self, model: Model, loss: Loss, oracles: Stages) -> str:
        name = type(model).__name__
        if oracles.learning.relaxes:
            return "BlockDual learns from labelings, and this oracle relaxes: take QuasiNewton"
        signs = model.attractive and model.n_free == model.n_unary
        if not (isinstance(model, SpinPairs) or (isinstance(model, ProductPairs) and signs)):
            return f"BlockDual learns LinearPairwise and SpinPairwise models, not {name}"
        if isinstance(model, SpinPairs) and not loss.depends_on_counts:
            what = type(loss).__name__
            return f"BlockDual learns {name} with losses of counts, not {what}: take CuttingPlane"
        return ""

    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : PlaneCache or None
            Of a solution for the same samples, with any penalty and strengths. It is changed.
        report : callable or None
            Called with pass, objective and gap.

        Returns
        -------
        MarginSolution
        """
        run = self._begin(problem, state)
        trace, oracle = Trace(), problem.oracles.quick
        best, coef, n_iter = np.inf, run.theta(), 0
        while n_iter < self.max_iter:
            n_iter += 1
            theta, dual = run.theta(), run.dual()
            found = problem.violations(theta, oracle)
            value, upper = problem.ridge(theta) + np.array([found.risk, found.upper])
            if value < best:
                best, bound, coef, judge = value, upper, theta, oracle
            trace.add(upper, dual, found)
            if report is not None:
                report(n_iter, bound, bound - dual)
            enough = self.tol * abs(best)
            if best - dual > enough:
                run.take_up(found.labels, found.losses)
                most = min(CHECK, self.max_iter - n_iter)
                n_iter += run.passes(0.5 * enough, best - dual, most)
            elif oracle is problem.oracles.learning:
                break
            else:
                # Converged for the quick oracle: go on with the one to learn with.
                oracle, best = problem.oracles.learning, np.inf
        bound = problem.verified(coef, bound, judge)
        return trace.solution(coef, bound, self.tol, n_iter, run.cache)

    def _begin(self, problem: MarginProblem, state: object) -> Ascent:
        cache = state if isinstance(state, PlaneCache) else None
        ascent = SpinAscent if isinstance(problem.model, SpinPairs) else Ascent
        return ascent(problem, cache, self.n_planes, self.random_state or 0)
