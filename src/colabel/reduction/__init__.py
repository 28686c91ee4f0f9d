"""Problem transformations: multi-label classification through ordinary classifiers."""

from colabel.reduction._binary_relevance import BinaryRelevance
from colabel.reduction._label_powerset import LabelPowerset
from colabel.reduction._logistic import BatchLogisticRegression
from colabel.reduction._scaled_svc import ScaledLinearSVC

__all__ = ["BatchLogisticRegression", "BinaryRelevance", "LabelPowerset", "ScaledLinearSVC"]
