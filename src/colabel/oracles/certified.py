"""Labelings that violate the margin, searched until they are proved the worst or a limit is met."""

from __future__ import annotations

from colabel._parameters import check_whole
from colabel.decoders import (
    BaseDecoder,
    BranchAndBound,
    Exhaustive,
    GraphCut,
    Mixing,
    Spectral,
)
from colabel.oracles.base import BaseOracle, DecoderStage, same_stages
from colabel.roles import Loss, Model, ModelSpec, Stages

__all__ = ["Certified", "MinCut"]

# Up to so many labels, all labelings are listed in training, and up to so many to prove the result.
FEW_LABELS, LISTED_LABELS = 10, 16
# Up to so many, the semidefinite relaxation bounds what flips have found: 20 ms a sample for 53.
SOME_LABELS = 60
# Nodes of a search tree where steps are as noisy as samples are. The labelings found are the best
# already after the first (100 of 100 rows of bibtex, 159 labels, at the dearest parameters seen in
# training); the others would prove it.
ROUGH_NODES = 3


class Certified(BaseOracle):
    """Search that proves its answers: sorting, graph cuts, branch and bound, or listing.

    Exact without pairs, and with pairs that attract where ``limit`` is not reached (losses that
    are affine in the hits, as F-beta and Jaccard; Hamming; subset). Repulsion: branch and bound for
    modular losses. Any other loss of counts, with any pairs: all labelings of up to 10 labels (16
    to prove the result); beyond, rounded relaxations with honest bounds.

    Parameters
    ----------
    limit : int, default=1000
        Most graph cuts, or nodes of a search tree, for one sample.

    Examples
    --------
    >>> import numpy as np
    >>> from colabel.losses import FBeta
    >>> from colabel.models import IndependentLabels
    >>> X, Y = np.array([[3.0], [4.0]]), np.array([[1, 0], [1, 1]], dtype=np.int8)
    >>> model, _ = IndependentLabels().build(X, Y, np.ones(2), alpha=0.5)
    >>> Certified().stages(model, FBeta()).proof.decoder
    Threshold()
    """

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit

    def check(self) -> None:
        check_whole(self.limit, "limit", least=0)

    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        cut = GraphCut("certified", int(self.limit))
        if model.attractive and not cut.cannot_add(loss):
            if loss.structure == "modular":
                return same_stages(cut)
            exact = DecoderStage(cut)
            return Stages(DecoderStage(GraphCut("nested")), exact, exact)
        if loss.structure == "modular":
            return self._tree_search(rough)
        if model.n_labels <= FEW_LABELS:
            return same_stages(Exhaustive())
        # No search is known that proves these: a sphere's rounding, flipped until nothing gains, is
        # judged by the sphere, or by a tighter relaxation in the end.
        sphere = DecoderStage(Spectral())
        strongest = _strongest(model.n_labels)
        no_better = rough or isinstance(strongest, Spectral)
        return Stages(sphere, sphere, sphere if no_better else DecoderStage(strongest))

    def _tree_search(self, rough: bool) -> Stages:
        exact = BranchAndBound(int(self.limit))
        if rough and self.limit > ROUGH_NODES:
            quick = DecoderStage(BranchAndBound(ROUGH_NODES, relax=False))
            return Stages(quick, quick, DecoderStage(exact))
        return same_stages(exact)


class MinCut(Certified):
    """``Certified`` by graph cuts alone, as published: pairs that attract, and losses they can add.

    Parameters
    ----------
    limit : int, default=1000
        Most graph cuts for one sample.

    Examples
    --------
    >>> MinCut()
    MinCut()
    """

    def refusal(self, model: ModelSpec, loss: Loss) -> str:
        if not model.attractive:
            return "a minimum cut needs labels that only attract: choose another sign or oracle"
        return GraphCut().cannot_add(loss)


def _strongest(n_labels: int) -> BaseDecoder:
    """Return what bounds the objective best in bearable time, for losses of counts."""
    if n_labels <= LISTED_LABELS:
        return Exhaustive()
    return Mixing() if n_labels <= SOME_LABELS else Spectral()
