"""Learners: set the parameters of a model by minimising the risk of a ``MarginProblem``."""

from colabel._part import make_part
from colabel.learners.averaged import AveragedDescent
from colabel.learners.base import BaseLearner
from colabel.learners.block_dual import BlockDual
from colabel.learners.cutting_plane import CuttingPlane
from colabel.learners.margin import MarginProblem, MarginSolution, Trace
from colabel.learners.quasi_newton import QuasiNewton
from colabel.learners.subgradient import SubgradientDescent
from colabel.roles import Loss, Model, Stages

__all__ = [
    "LEARNERS",
    "AveragedDescent",
    "BaseLearner",
    "BlockDual",
    "CuttingPlane",
    "MarginProblem",
    "MarginSolution",
    "QuasiNewton",
    "SubgradientDescent",
    "Trace",
    "make_learner",
    "optimal_learner",
]

LEARNERS: dict[str, type[BaseLearner]] = {
    "dual": BlockDual,
    "bmrm": CuttingPlane,
    "lbfgs": QuasiNewton,
    "averaged": AveragedDescent,
    "subgradient": SubgradientDescent,
}


def make_learner(learner: str | BaseLearner) -> BaseLearner:
    """Turn a learner or its name into a learner of the caller's own.

    Examples
    --------
    >>> make_learner("bmrm")
    CuttingPlane()
    """
    return make_part("a learner", learner, BaseLearner, LEARNERS)


def optimal_learner(model: Model, loss: Loss, oracles: Stages) -> BaseLearner:
    """Return the quickest learner that proves the optimum: dual ascent where it fits.

    Relaxations are nearly smooth, which suits L-BFGS; cutting planes take any parts.
    """
    if oracles.learning.relaxes:
        return QuasiNewton()
    dual = BlockDual()
    return CuttingPlane() if dual.refusal(model, loss, oracles) else dual
