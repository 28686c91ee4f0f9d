"""Multi-label classification that treats the labels together."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colabel.embedding import CPLST, PLST, CCAOutputCode, MaxMarginOutputCode
    from colabel.facets import (
        CooccurrenceDecomposition,
        CoupledSets,
        DualSetBoosting,
        IndependentDecomposition,
        LabelStacking,
        OnePerSetClassifier,
    )
    from colabel.mixture import BernoulliMixture, ConditionalBernoulliMixture
    from colabel.model_selection import TunedThreshold
    from colabel.neighbors import KNNClassifier, LargeMarginKNN, MLkNN
    from colabel.neural import BPMLL, MLRBF, RBFNetwork
    from colabel.persistence import load, save
    from colabel.reduction import (
        BinaryRelevance,
        ChainEnsemble,
        ClassifierChain,
        ConditionalDependencyNetwork,
        LabelPowerset,
        ProbabilisticClassifierChain,
        RAkEL,
    )
    from colabel.structured import (
        PairwiseCRF,
        QuadraticPriorSVC,
        RankSVM,
        StructuredSVC,
        SubmodularSVC,
        SubmodularSVCCV,
    )

__version__ = "0.2.0.dev0"

# Public names and the modules that define them, imported when first used: `import colabel` is
# quick, and a name costs only what it needs.
_HOME = {
    "BPMLL": "colabel.neural",
    "BernoulliMixture": "colabel.mixture",
    "BinaryRelevance": "colabel.reduction",
    "CCAOutputCode": "colabel.embedding",
    "ChainEnsemble": "colabel.reduction",
    "ClassifierChain": "colabel.reduction",
    "ConditionalBernoulliMixture": "colabel.mixture",
    "ConditionalDependencyNetwork": "colabel.reduction",
    "CooccurrenceDecomposition": "colabel.facets",
    "CoupledSets": "colabel.facets",
    "CPLST": "colabel.embedding",
    "DualSetBoosting": "colabel.facets",
    "IndependentDecomposition": "colabel.facets",
    "KNNClassifier": "colabel.neighbors",
    "LabelPowerset": "colabel.reduction",
    "LabelStacking": "colabel.facets",
    "LargeMarginKNN": "colabel.neighbors",
    "MaxMarginOutputCode": "colabel.embedding",
    "MLRBF": "colabel.neural",
    "MLkNN": "colabel.neighbors",
    "OnePerSetClassifier": "colabel.facets",
    "PairwiseCRF": "colabel.structured",
    "PLST": "colabel.embedding",
    "ProbabilisticClassifierChain": "colabel.reduction",
    "QuadraticPriorSVC": "colabel.structured",
    "RAkEL": "colabel.reduction",
    "RBFNetwork": "colabel.neural",
    "RankSVM": "colabel.structured",
    "StructuredSVC": "colabel.structured",
    "SubmodularSVC": "colabel.structured",
    "SubmodularSVCCV": "colabel.structured",
    "TunedThreshold": "colabel.model_selection",
    "load": "colabel.persistence",
    "save": "colabel.persistence",
}

__all__ = [
    "BPMLL",
    "CPLST",
    "MLRBF",
    "PLST",
    "BernoulliMixture",
    "BinaryRelevance",
    "CCAOutputCode",
    "ChainEnsemble",
    "ClassifierChain",
    "ConditionalBernoulliMixture",
    "ConditionalDependencyNetwork",
    "CooccurrenceDecomposition",
    "CoupledSets",
    "DualSetBoosting",
    "IndependentDecomposition",
    "KNNClassifier",
    "LabelPowerset",
    "LabelStacking",
    "LargeMarginKNN",
    "MLkNN",
    "MaxMarginOutputCode",
    "OnePerSetClassifier",
    "PairwiseCRF",
    "ProbabilisticClassifierChain",
    "QuadraticPriorSVC",
    "RAkEL",
    "RBFNetwork",
    "RankSVM",
    "StructuredSVC",
    "SubmodularSVC",
    "SubmodularSVCCV",
    "TunedThreshold",
    "__version__",
    "load",
    "save",
]


# Subpackages, so that `import colabel` is enough to write `colabel.datasets.load(...)`.
_SUBPACKAGES = (
    "datasets",
    "decoders",
    "embedding",
    "facets",
    "lab",
    "losses",
    "metrics",
    "mixture",
    "model_selection",
    "neighbors",
    "neural",
    "plot",
    "reduction",
    "structured",
)


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f"colabel.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'colabel' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES])
