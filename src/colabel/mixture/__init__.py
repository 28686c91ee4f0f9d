"""Mixtures of Bernoullis over labelings, and what they say about one sample."""

from colabel.mixture._bernoulli import BernoulliMixture
from colabel.mixture._boosting import BoostedTrees
from colabel.mixture._conditional import ConditionalBernoulliMixture
from colabel.mixture._explain import NEAR_ZERO, Explanation, explain
from colabel.mixture._logistic import Logistic

__all__ = [
    "NEAR_ZERO",
    "BernoulliMixture",
    "BoostedTrees",
    "ConditionalBernoulliMixture",
    "Explanation",
    "Logistic",
    "explain",
]
