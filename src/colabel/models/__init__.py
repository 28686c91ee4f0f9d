"""Models: score labelings."""

from colabel.models.pairwise import LinearPairwise, frequent_pairs
from colabel.models.spin_pairwise import SpinPairwise

__all__ = ["LinearPairwise", "SpinPairwise", "frequent_pairs"]
