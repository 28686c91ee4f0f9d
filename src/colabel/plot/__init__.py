"""Pictures of models and results; matplotlib is imported when one is drawn."""

from colabel.plot._components import components
from colabel.plot._curves import accuracy_curves
from colabel.plot._pareto import time_accuracy
from colabel.plot._prior import label_prior
from colabel.plot._pyplot import pyplot
from colabel.plot._ranks import critical_difference
from colabel.plot.layout import pareto_front

__all__ = [
    "accuracy_curves",
    "components",
    "critical_difference",
    "label_prior",
    "pareto_front",
    "pyplot",
    "time_accuracy",
]
