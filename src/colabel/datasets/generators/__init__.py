"""Synthetic multi-label data whose true distribution is known."""

from colabel.datasets.generators._common import Generated
from colabel.datasets.generators._label_sets import (
    LabelSetsData,
    LabelSetsTruth,
    make_label_sets,
)
from colabel.datasets.generators._mixture import (
    BernoulliMixtureData,
    BernoulliMixtureTruth,
    make_bernoulli_mixture,
)
from colabel.datasets.generators._pairwise import PairwiseData, PairwiseTruth, make_pairwise

__all__ = [
    "BernoulliMixtureData",
    "BernoulliMixtureTruth",
    "Generated",
    "LabelSetsData",
    "LabelSetsTruth",
    "PairwiseData",
    "PairwiseTruth",
    "make_bernoulli_mixture",
    "make_label_sets",
    "make_pairwise",
]
