"""Models: score labelings."""

from colabel.models.pairwise import LinearPairwise, frequent_pairs

__all__ = ["LinearPairwise", "frequent_pairs"]
