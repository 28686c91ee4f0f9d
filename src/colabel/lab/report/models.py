"""Pictures of models, where they were kept: label graphs and components of mixtures."""

from __future__ import annotations

from dataclasses import dataclass

from colabel.lab.report.reading import Run

__all__ = ["ModelPicture", "model_pictures"]


@dataclass(frozen=True)
class ModelPicture:
    """A picture and its words."""

    caption: str
    uri: str


def model_pictures(run: Run) -> list[ModelPicture]:
    """Draw the models that were kept and that have something to draw."""
    return []
