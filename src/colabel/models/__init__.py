"""Models: score labelings.

A *specification* (``SubmodularPairs``) has the parameters; ``build`` makes of it the model for some
training rows (``LinearPairwise``).
"""

from colabel._part import make_part
from colabel.models.base import BaseModelSpec, LinearModel, row_unit
from colabel.models.pairwise import (
    IndependentLabels,
    LinearPairwise,
    SubmodularPairs,
    frequent_pairs,
)
from colabel.models.spin_pairwise import QuadraticPrior, SpinPairwise

__all__ = [
    "MODELS",
    "BaseModelSpec",
    "IndependentLabels",
    "LinearModel",
    "LinearPairwise",
    "QuadraticPrior",
    "SpinPairwise",
    "SubmodularPairs",
    "frequent_pairs",
    "make_model",
    "row_unit",
]

MODELS: dict[str, type[BaseModelSpec]] = {
    "independent": IndependentLabels,
    "submodular": SubmodularPairs,
    "quadratic": QuadraticPrior,
}


def make_model(model: str | BaseModelSpec) -> BaseModelSpec:
    """Turn a model or its name into a model of the caller's own.

    Examples
    --------
    >>> make_model("quadratic")
    QuadraticPrior()
    """
    return make_part("a model", model, BaseModelSpec, MODELS)
