"""Losses: what a wrong labeling costs."""

from colabel.losses.base import BaseLoss, CountsLoss
from colabel.losses.fbeta import FBeta
from colabel.losses.hamming import Hamming
from colabel.losses.jaccard import Jaccard
from colabel.losses.subset import Subset

__all__ = ["LOSSES", "BaseLoss", "CountsLoss", "FBeta", "Hamming", "Jaccard", "Subset"]

LOSSES: dict[str, type[BaseLoss]] = {
    "hamming": Hamming,
    "subset": Subset,
    "jaccard": Jaccard,
    "f1": FBeta,
}
