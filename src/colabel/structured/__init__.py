"""Structured prediction: models with scores for pairs of labels."""

from colabel.structured._pairwise_crf import PairwiseCRF
from colabel.structured._quadratic import QuadraticPriorSVC
from colabel.structured._rank_svm import RankSVM
from colabel.structured._structured import Parts, StructuredSVC
from colabel.structured._submodular import SubmodularSVC
from colabel.structured._submodular_cv import SubmodularSVCCV

__all__ = [
    "PairwiseCRF",
    "Parts",
    "QuadraticPriorSVC",
    "RankSVM",
    "StructuredSVC",
    "SubmodularSVC",
    "SubmodularSVCCV",
]
