"""Synthetic multi-label data whose true distribution is known."""

from colabel.datasets.generators._common import Generated
from colabel.datasets.generators._facets import (
    FacetsData,
    FacetsTruth,
    make_facets,
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
    "FacetsData",
    "FacetsTruth",
    "Generated",
    "PairwiseData",
    "PairwiseTruth",
    "make_bernoulli_mixture",
    "make_facets",
    "make_pairwise",
]
