"""Mixtures of Bernoullis over labelings, and what they say about one sample."""

from colabel.mixture._bernoulli import BernoulliMixture
from colabel.mixture._boosted_trees import BoostedTrees
from colabel.mixture._conditional import ConditionalBernoulliMixture
from colabel.mixture._explain import NEAR_ZERO, Explanation, explain

__all__ = [
    "NEAR_ZERO",
    "BernoulliMixture",
    "BoostedTrees",
    "ConditionalBernoulliMixture",
    "Explanation",
    "explain",
]
