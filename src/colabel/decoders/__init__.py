"""Decoders: find the best labeling of a score table, with a bound on the best there is."""

from sklearn.base import clone

from colabel._measure_names import MEASURE_ALIASES
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
from colabel.messages import unknown_name
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


# The measure to get right, and the decoder that is optimal for it on a table that is a
# distribution. Subset accuracy asks for the mode, which each table finds in its own way.
TARGETS: dict[str, str] = {
    "hamming_loss": "marginal",
    "example_f1": "expected_f",
    "example_jaccard": "expected_jaccard",
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
        A decoder, a name in ``DECODERS``, or the measure to get right: ``"subset_accuracy"``,
        ``"hamming_loss"``, ``"example_f1"`` or ``"example_jaccard"``; or in short ``"subset"``,
        ``"hamming"``, ``"f1"`` or ``"jaccard"``.
    table : type or None
        The table to decode; it decides how the mode is found.

    Examples
    --------
    >>> make_decoder("threshold")
    Threshold()
    >>> make_decoder("example_f1")
    ExpectedF()
    """
    if isinstance(decoder, BaseDecoder):
        return clone(decoder)
    measure = MEASURE_ALIASES.get(str(decoder), str(decoder))
    name = TARGETS.get(measure, str(decoder))
    if measure == "subset_accuracy" and table in MODES:
        name = MODES[table]
    if name == "top_m":
        raise UnknownNameError(
            "top_m gives several labelings a sample, so it is no decoder: call predict_top_m(X, m) "
            "of the estimator, or colabel.decoders.top_m(table, m)"
        )
    if name not in DECODERS:
        what = "decoder must be a decoder object, its name or the measure to get right, not"
        raise unknown_name(what, decoder, ["subset_accuracy", *TARGETS, *DECODERS])
    return DECODERS[name]()
