"""Learners: set the parameters of a model by minimising the risk of a ``MarginProblem``."""

from colabel.learners.averaged import AveragedDescent
from colabel.learners.base import BaseLearner
from colabel.learners.block_dual import BlockDual
from colabel.learners.cutting_plane import CuttingPlane
from colabel.learners.margin import MarginProblem, MarginSolution, Trace
from colabel.learners.optimal import Optimal
from colabel.learners.quasi_newton import QuasiNewton
from colabel.learners.subgradient import SubgradientDescent

__all__ = [
    "LEARNERS",
    "AveragedDescent",
    "BaseLearner",
    "BlockDual",
    "CuttingPlane",
    "MarginProblem",
    "MarginSolution",
    "Optimal",
    "QuasiNewton",
    "SubgradientDescent",
    "Trace",
]

LEARNERS: dict[str, type[BaseLearner]] = {
    "optimal": Optimal,
    "dual": BlockDual,
    "bmrm": CuttingPlane,
    "lbfgs": QuasiNewton,
    "averaged": AveragedDescent,
    "subgradient": SubgradientDescent,
}
