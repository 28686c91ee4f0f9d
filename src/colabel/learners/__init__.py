"""Learners: set the parameters of a model."""

from colabel.learners.augment import loss_augmented

__all__ = ["loss_augmented"]
