"""Algorithms 2 and 3 of Petterson and Caetano (2011), as published."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colabel.decoders import GraphCut, algorithm_3
from colabel.losses.fbeta import FBeta
from colabel.oracles.base import BaseOracle, DecoderStage
from colabel.roles import Labels, Loss, Model, ModelSpec, Stages
from colabel.scores import Pairwise

__all__ = ["Algorithm2"]


class Algorithm2(BaseOracle):
    """Graph cuts that add F-beta as published, and the certificate of the paper.

    The worst labeling is found in less than half of the cases, which costs accuracy. The objective
    is bounded by a certified search.

    Parameters
    ----------
    limit : int, default=1000
        Most graph cuts for one sample, in that search.

    Examples
    --------
    >>> Algorithm2(limit=10)
    Algorithm2(limit=10)
    """

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit

    def refusal(self, model: ModelSpec, loss: Loss) -> str:
        if not isinstance(loss, FBeta):
            return f"Algorithm 2 can add F-beta only, not {type(loss).__name__}"
        return "" if model.attractive else "Algorithm 2 needs labels that only attract"

    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        published = DecoderStage(GraphCut("alg2"))
        proof = DecoderStage(GraphCut("certified", int(self.limit)))
        return Stages(published, published, proof, _certificate)


def _certificate(scores: Pairwise, Y: Labels, labels: Labels, loss: Loss) -> NDArray[np.bool_]:
    return algorithm_3(scores, Y, labels, loss.counts_table)
