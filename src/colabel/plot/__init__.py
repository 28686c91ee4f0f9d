"""Pictures of models and results; matplotlib is imported when one is drawn."""

from colabel.plot._accuracy import accuracy_curves
from colabel.plot._components import components
from colabel.plot._pareto import pareto_front, time_accuracy
from colabel.plot._prior import label_prior
from colabel.plot._pyplot import pyplot
from colabel.plot._ranks import critical_difference, lay_out_ranks

__all__ = [
    "accuracy_curves",
    "components",
    "critical_difference",
    "label_prior",
    "lay_out_ranks",
    "pareto_front",
    "pyplot",
    "time_accuracy",
]
