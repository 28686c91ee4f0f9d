"""Decoders: find the best labeling of a score table, with a bound on the best there is."""

from sklearn.base import clone

from colabel.decoders.base import BaseDecoder
from colabel.decoders.branch_and_bound import BranchAndBound
from colabel.decoders.exhaustive import Exhaustive
from colabel.decoders.expected_f import ExpectedF
from colabel.decoders.expected_jaccard import ExpectedJaccard
from colabel.decoders.graph_cut import GraphCut
from colabel.decoders.marginal import Marginal
from colabel.decoders.mixing import Mixing
from colabel.decoders.mixture_mode import MixtureMode
from colabel.decoders.parametric_cut import ParametricCut, parametric_cut
from colabel.decoders.spectral import Spectral
from colabel.decoders.support_mode import SupportMode
from colabel.decoders.threshold import CardinalityThreshold, Threshold
from colabel.decoders.top_m import top_m
from colabel.exceptions import UnknownNameError

__all__ = [
    "DECODERS",
    "BaseDecoder",
    "BranchAndBound",
    "CardinalityThreshold",
    "Exhaustive",
    "ExpectedF",
    "ExpectedJaccard",
    "GraphCut",
    "Marginal",
    "Mixing",
    "MixtureMode",
    "ParametricCut",
    "Spectral",
    "SupportMode",
    "Threshold",
    "make_decoder",
    "parametric_cut",
    "top_m",
]

DECODERS: dict[str, type[BaseDecoder]] = {
    "threshold": Threshold,
    "cardinality_threshold": CardinalityThreshold,
    "exhaustive": Exhaustive,
    "support_mode": SupportMode,
    "mixture_mode": MixtureMode,
    "marginal": Marginal,
    "expected_f": ExpectedF,
    "expected_jaccard": ExpectedJaccard,
    "graph_cut": GraphCut,
    "spectral": Spectral,
    "mixing": Mixing,
    "branch_and_bound": BranchAndBound,
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
