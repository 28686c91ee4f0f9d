"""Pictures of models and results; matplotlib is imported when one is drawn."""

from colabel.plot._components import components
from colabel.plot._prior import label_prior

__all__ = ["components", "label_prior"]
