"""Decoders: find the best labeling of a score table, with a bound on the best there is."""

from sklearn.base import clone

from colabel.decoders.base import BaseDecoder
from colabel.decoders.branch_and_bound import BranchAndBound
from colabel.decoders.certificate import algorithm_3
from colabel.decoders.exhaustive import Exhaustive
from colabel.decoders.expected_f import ExpectedF
from colabel.decoders.expected_jaccard import ExpectedJaccard
from colabel.decoders.graph_cut import GraphCut
from colabel.decoders.marginal import Marginal
from colabel.decoders.mean_field import MeanField
from colabel.decoders.mixing import Mixing
from colabel.decoders.mixture_mode import MixtureMode
from colabel.decoders.one_per_set import OnePerSet
from colabel.decoders.pairwise_mode import PairwiseMode
from colabel.decoders.parametric_cut import ParametricCut, parametric_cut, total_variation
from colabel.decoders.spectral import Spectral
from colabel.decoders.support_mode import SupportMode
from colabel.decoders.threshold import CardinalityThreshold, Threshold
from colabel.decoders.top_m import top_m
from colabel.exceptions import UnknownNameError
from colabel.scores import Mixture, Modular, Pairwise, ScoreTable, Support

__all__ = [
    "DECODERS",
    "TARGETS",
    "BaseDecoder",
    "BranchAndBound",
    "CardinalityThreshold",
    "Exhaustive",
    "ExpectedF",
    "ExpectedJaccard",
    "GraphCut",
    "Marginal",
    "MeanField",
    "Mixing",
    "MixtureMode",
    "OnePerSet",
    "PairwiseMode",
    "ParametricCut",
    "Spectral",
    "SupportMode",
    "Threshold",
    "algorithm_3",
    "make_decoder",
    "parametric_cut",
    "top_m",
    "total_variation",
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
    "mean_field": MeanField,
    "mixing": Mixing,
    "branch_and_bound": BranchAndBound,
    "pairwise_mode": PairwiseMode,
    "one_per_set": OnePerSet,
}


# What a user wants to get right, and the decoder that is optimal for it on a table that is a
# distribution. ``subset`` is the mode, which each table finds in its own way.
TARGETS: dict[str, str] = {
    "hamming": "marginal",
    "f1": "expected_f",
    "jaccard": "expected_jaccard",
}
MODES: dict[type[ScoreTable], str] = {
    Modular: "threshold",
    Pairwise: "pairwise_mode",
    Mixture: "mixture_mode",
    Support: "support_mode",
}


def make_decoder(decoder: str | BaseDecoder, table: type[ScoreTable] | None = None) -> BaseDecoder:
    """Turn a decoder, its name or the measure to get right into a decoder of the caller's own.

    Parameters
    ----------
    decoder : BaseDecoder or str
        A decoder, a name in ``DECODERS``, or a target: ``"subset"``, ``"hamming"``, ``"f1"`` or
        ``"jaccard"``.
    table : type or None
        The table to decode; tells what ``"subset"`` means.

    Examples
    --------
    >>> make_decoder("threshold")
    Threshold()
    >>> make_decoder("f1")
    ExpectedF()
    """
    if isinstance(decoder, BaseDecoder):
        return clone(decoder)
    if decoder == "subset" and table in MODES:
        decoder = MODES[table]
    elif isinstance(decoder, str):
        decoder = TARGETS.get(decoder, decoder)
    if decoder == "top_m":
        raise UnknownNameError(
            "top_m gives several labelings a sample, so it is no decoder: call predict_top_m(X, m) "
            "of the estimator, or colabel.decoders.top_m(table, m)"
        )
    if not isinstance(decoder, str) or decoder not in DECODERS:
        raise UnknownNameError(
            "decoder must be a decoder object, a measure (subset, hamming, f1, jaccard) or one of "
            f"{', '.join(DECODERS)}; got {decoder!r}"
        )
    return DECODERS[decoder]()
