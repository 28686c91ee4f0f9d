"""The quickest learner that proves the optimum of a problem."""

from __future__ import annotations

from colabel.learners.base import BaseLearner
from colabel.learners.block_dual import BlockDual
from colabel.learners.cutting_plane import CuttingPlane
from colabel.learners.margin import MarginProblem, MarginSolution
from colabel.learners.quasi_newton import QuasiNewton
from colabel.roles import Loss, Model, Report, Stages

__all__ = ["Optimal"]


class Optimal(BaseLearner):
    """Dual ascent where it fits, L-BFGS for relaxations, cutting planes for all else.

    Relaxations are nearly smooth, which suits L-BFGS; cutting planes take any parts.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int or None, default=None
        Most passes; ``None`` is that of the learner chosen.
    random_state : int or None, default=None
        Seeds the order of visits; ``None`` is 0, or drawn by the machine.
    """

    def __init__(
        self, tol: float = 1e-3, max_iter: int | None = None, random_state: int | None = None
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def chosen(self, model: Model, loss: Loss, oracles: Stages) -> BaseLearner:
        """Return the learner that suits the parts."""
        dual = BlockDual(self.tol, random_state=self.random_state)
        learner: BlockDual | CuttingPlane | QuasiNewton = dual
        if oracles.learning.relaxes:
            learner = QuasiNewton(self.tol)
        elif dual.refusal(model, loss, oracles):
            learner = CuttingPlane(self.tol)
        if self.max_iter is not None:
            learner.max_iter = self.max_iter
        return learner

    def solve(
        self, problem: MarginProblem, state: object = None, report: Report | None = None
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : object or None
            That of a solution of a similar problem.
        report : callable or None
            Called with iteration, objective and gap.

        Returns
        -------
        MarginSolution
        """
        learner = self.chosen(problem.model, problem.loss, problem.oracles)
        return learner.solve(problem, state, report)
