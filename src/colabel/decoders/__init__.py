"""Decoders: find the best labeling of a score table, with a bound on the best there is."""

from sklearn.base import clone

from colabel.decoders.base import BaseDecoder
from colabel.decoders.exhaustive import Exhaustive
from colabel.decoders.support_mode import SupportMode
from colabel.decoders.threshold import CardinalityThreshold, Threshold
from colabel.exceptions import UnknownNameError

__all__ = [
    "DECODERS",
    "BaseDecoder",
    "CardinalityThreshold",
    "Exhaustive",
    "SupportMode",
    "Threshold",
    "make_decoder",
]

DECODERS: dict[str, type[BaseDecoder]] = {
    "threshold": Threshold,
    "cardinality_threshold": CardinalityThreshold,
    "exhaustive": Exhaustive,
    "support_mode": SupportMode,
}


def make_decoder(decoder: str | BaseDecoder) -> BaseDecoder:
    """Turn a decoder or its name into a decoder of the caller's own.

    Examples
    --------
    >>> make_decoder("threshold")
    Threshold()
    """
    if isinstance(decoder, BaseDecoder):
        return clone(decoder)
    if not isinstance(decoder, str) or decoder not in DECODERS:
        raise UnknownNameError(
            f"decoder must be a decoder object or one of {', '.join(DECODERS)}; got {decoder!r}"
        )
    return DECODERS[decoder]()
