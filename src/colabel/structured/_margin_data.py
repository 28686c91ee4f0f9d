"""Training data of a structured support vector machine, ready for any penalty and scale.

Penalty, constant feature and pair features are in units of the data: with ``m2`` the mean squared
norm of the rows (the constant included), ``lambda = alpha m2`` and the feature of a pair is ``scale
sqrt(m2) C_ij``. Features in other units then need no other parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.decoders import BaseDecoder, GraphCut, Threshold
from colabel.decoders.certificate import algorithm_3
from colabel.learners.margin import MarginProblem
from colabel.losses import BaseLoss
from colabel.models import LinearPairwise, frequent_pairs
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.magnitude import mean_squared_norm

__all__ = ["MarginData", "MarginSettings"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


@dataclass(frozen=True)
class MarginSettings:
    """What does not change along a path of penalties and scales."""

    loss: BaseLoss
    couplings: bool
    pairs: float | int | None
    intercept: float
    oracle: str
    max_cuts: int


class MarginData:
    """Distinct rows, their units, and the pairs of labels that are coupled.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), int8
    weight : ndarray of shape (n_samples,) or None
    settings : MarginSettings
    """

    def __init__(self, X: Any, Y: Labels, weight: Floats | None, settings: MarginSettings) -> None:
        self.settings = settings
        self.X, self.Y, self.weight = distinct_rows(X, Y, weight)
        self.edges, self.C = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
        if settings.couplings:
            self.edges, self.C = frequent_pairs(self.Y, settings.pairs, self.weight)
        self.unit = np.sqrt(mean_squared_norm(self.X, self.weight))
        self.constant = settings.intercept * self.unit
        self.m2 = self.unit**2 + self.constant**2

    def problem(self, alpha: float, scale: float) -> MarginProblem:
        """Return the problem of a penalty and a scale of the couplings."""
        strength = scale * np.sqrt(self.m2) * self.C
        n_features, n_labels = self.X.shape[1], self.Y.shape[1]
        model = LinearPairwise(n_features, n_labels, self.edges, strength, self.constant)
        data = (self.X, self.Y, self.weight)
        published = self.settings.oracle == "algorithm2" and len(self.edges)
        proof = algorithm_3 if published else None
        loss = self.settings.loss
        return MarginProblem(model, loss, self.oracles(), *data, alpha * self.m2, proof)

    def oracles(self) -> tuple[BaseDecoder, BaseDecoder, BaseDecoder]:
        """Return the oracle to begin with, to learn with, and to verify with."""
        if not len(self.edges):
            exact: BaseDecoder = Threshold()
            return exact, exact, exact
        strongest = GraphCut("certified", self.settings.max_cuts)
        if self.settings.loss.structure == "modular":
            return strongest, strongest, strongest
        if self.settings.oracle == "algorithm2":
            published = GraphCut("alg2")
            return published, published, strongest
        return GraphCut("nested"), strongest, strongest

    def same(self, other: MarginData) -> bool:
        """Whether the rows are those of ``other``."""
        return (
            self.Y.shape == other.Y.shape
            and self.X.shape == other.X.shape
            and self.X.nnz == other.X.nnz
            and np.array_equal(self.X.data, other.X.data)
            and np.array_equal(self.X.indptr, other.X.indptr)
            and np.array_equal(self.X.indices, other.X.indices)
            and np.array_equal(self.Y, other.Y)
            and np.array_equal(self.weight, other.weight)
        )
