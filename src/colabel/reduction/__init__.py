"""Problem transformations: multi-label classification through ordinary classifiers."""

from colabel.reduction._binary_relevance import BinaryRelevance
from colabel.reduction._boosting import BoostedClassifier
from colabel.reduction._chain import ClassifierChain
from colabel.reduction._chain_ensemble import ChainEnsemble
from colabel.reduction._dependency_network import ConditionalDependencyNetwork, NotErgodicWarning
from colabel.reduction._label_powerset import LabelPowerset
from colabel.reduction._logistic import BatchLogisticRegression
from colabel.reduction._probabilistic_chain import ProbabilisticClassifierChain
from colabel.reduction._rakel import RAkEL
from colabel.reduction._scaled_svc import ScaledLinearSVC

__all__ = [
    "BatchLogisticRegression",
    "BinaryRelevance",
    "BoostedClassifier",
    "ChainEnsemble",
    "ClassifierChain",
    "ConditionalDependencyNetwork",
    "LabelPowerset",
    "NotErgodicWarning",
    "ProbabilisticClassifierChain",
    "RAkEL",
    "ScaledLinearSVC",
]
