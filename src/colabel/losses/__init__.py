"""Losses: what a wrong labeling costs."""

from sklearn.base import clone

from colabel.exceptions import UnknownNameError
from colabel.losses.base import BaseLoss, CountsLoss
from colabel.losses.fbeta import FBeta
from colabel.losses.hamming import Hamming
from colabel.losses.jaccard import Jaccard
from colabel.losses.subset import Subset

__all__ = ["LOSSES", "BaseLoss", "CountsLoss", "FBeta", "Hamming", "Jaccard", "Subset", "make_loss"]

LOSSES: dict[str, type[BaseLoss]] = {
    "hamming": Hamming,
    "subset": Subset,
    "jaccard": Jaccard,
    "f1": FBeta,
    "fbeta": FBeta,
}


def make_loss(loss: str | BaseLoss) -> BaseLoss:
    """Turn a loss or its name into a loss of the caller's own.

    Examples
    --------
    >>> make_loss("f1")
    FBeta()
    """
    if isinstance(loss, BaseLoss):
        return clone(loss)
    if not isinstance(loss, str) or loss not in LOSSES:
        raise UnknownNameError(
            f"loss must be a loss object or one of {', '.join(LOSSES)}; got {loss!r}"
        )
    return LOSSES[loss]()
