"""Nearest neighbours that vote on labels, in the space of the features or a learned one."""

from colabel.neighbors._knn import KNNClassifier
from colabel.neighbors._lmknn import LargeMarginKNN
from colabel.neighbors._mlknn import MLkNN

__all__ = ["KNNClassifier", "LargeMarginKNN", "MLkNN"]
