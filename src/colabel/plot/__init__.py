"""Pictures of models and results; matplotlib is imported when one is drawn."""

from colabel.plot._components import components
from colabel.plot._pareto import pareto_front, time_accuracy
from colabel.plot._prior import label_prior
from colabel.plot._ranks import critical_difference

__all__ = ["components", "critical_difference", "label_prior", "pareto_front", "time_accuracy"]
