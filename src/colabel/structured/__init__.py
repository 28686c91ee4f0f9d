"""Structured prediction: models with scores for pairs of labels."""

from colabel.structured._pairwise_crf import PairwiseCRF

__all__ = ["PairwiseCRF"]
