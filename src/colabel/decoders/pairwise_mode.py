"""The best labeling of any pairwise table: the decoder that suits its couplings and size."""

from __future__ import annotations

from typing import ClassVar

from colabel.decoders.base import BaseDecoder
from colabel.decoders.branch_and_bound import BranchAndBound
from colabel.decoders.graph_cut import GraphCut
from colabel.decoders.mixing import Mixing
from colabel.results import Decoded
from colabel.scores import Pairwise, ScoreTable

__all__ = ["PairwiseMode"]


class PairwiseMode(BaseDecoder):
    """Graph cut where no labels repel, branch and bound for few labels, relaxation for many.

    What ``"subset"`` means for a pairwise table. The first two are exact (the second as far as its
    limit of nodes goes), and ``Decoded.certified`` tells for each sample.

    Parameters
    ----------
    max_labels : int, default=40
        Up to how many labels repulsive tables are searched to the end.

    Examples
    --------
    >>> table = Pairwise([[1.0, 0.8, -0.5]], edges=[[0, 1], [1, 2]], couplings=[-3.0, 1.0])
    >>> PairwiseMode().decode(table).labels
    array([[0, 1, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)

    def __init__(self, max_labels: int = 40) -> None:
        self.max_labels = max_labels

    def choose(self, scores: Pairwise) -> BaseDecoder:
        """Return the decoder that suits the table."""
        if scores.attractive:
            return GraphCut()
        return BranchAndBound() if scores.n_labels <= self.max_labels else Mixing()

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        return self.choose(scores).decode(scores, nonempty=nonempty)
