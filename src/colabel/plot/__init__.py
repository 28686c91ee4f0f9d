"""Pictures of models and results; matplotlib is imported when one is drawn."""

from colabel.plot._components import components

__all__ = ["components"]
