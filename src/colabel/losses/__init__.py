"""Losses: what a wrong labeling costs."""

import re

from colabel._part import make_part
from colabel.losses.base import BaseLoss, CountsLoss
from colabel.losses.fbeta import FBeta
from colabel.losses.hamming import Hamming
from colabel.losses.jaccard import Jaccard
from colabel.losses.subset import Subset

__all__ = ["LOSSES", "BaseLoss", "CountsLoss", "FBeta", "Hamming", "Jaccard", "Subset", "make_loss"]

BETA = re.compile(r"f([1-9]\d*(\.\d+)?|0\.\d*[1-9]\d*)")

LOSSES: dict[str, type[BaseLoss]] = {
    "hamming": Hamming,
    "subset": Subset,
    "jaccard": Jaccard,
    "f1": FBeta,
    "fbeta": FBeta,
}


def make_loss(loss: str | BaseLoss) -> BaseLoss:
    """Turn a loss or its name into a loss of the caller's own; ``"f2"`` is F-beta of beta 2.

    Examples
    --------
    >>> make_loss("f1"), make_loss("f0.5")
    (FBeta(), FBeta(beta=0.5))
    """
    if isinstance(loss, str) and loss not in LOSSES and BETA.fullmatch(loss):
        return FBeta(float(loss[1:]))
    return make_part("a loss", loss, BaseLoss, LOSSES)
