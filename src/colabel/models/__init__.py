"""Models: score labelings.

A *specification* (``SubmodularPairs``) has the parameters; ``build`` makes of it the model for some
training rows (``LinearPairwise``).
"""

from sklearn.base import clone

from colabel.exceptions import UnknownNameError
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
    if isinstance(model, BaseModelSpec):
        return clone(model)
    if not isinstance(model, str) or model not in MODELS:
        raise UnknownNameError(
            f"model must be a model object or one of {', '.join(MODELS)}; got {model!r}"
        )
    return MODELS[model]()
