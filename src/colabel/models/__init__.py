"""Models: score labelings.

A *specification* (``SubmodularPairs``) has the parameters; ``build`` makes of it the model for some
training rows (``LinearPairwise``).
"""

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
    "row_unit",
]

MODELS: dict[str, type[BaseModelSpec]] = {
    "independent": IndependentLabels,
    "submodular": SubmodularPairs,
    "quadratic": QuadraticPrior,
}
