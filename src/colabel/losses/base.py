"""What every loss is: the cost of predicting ``Z`` where ``Y`` is true."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.exceptions import IncompatibleError

__all__ = ["BaseLoss", "CountsLoss"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Counts = NDArray[np.int64]


class BaseLoss(BaseEstimator, ABC):
    """A loss in [0, 1], zero where prediction and truth agree.

    ``structure`` says how a decoder can add it to a score table:

    ``"modular"``
        ``as_modular(Y)`` gives ``offset, cost`` with ``value(Y, Z) = offset + sum_l cost_l Z_l``.
    ``"counts"``
        ``counts_table(n_true, n_labels)`` gives the loss for every number of hits and false
        alarms; ``n_true`` is the number of true labels.
    """

    structure: ClassVar[Literal["modular", "counts"]]

    @abstractmethod
    def value(self, Y: Labels, Z: Labels) -> Floats:
        """Loss of each sample: (n_samples,)."""

    @property
    def depends_on_counts(self) -> bool:
        """Whether there is a ``counts_table``."""
        return type(self).counts_table is not BaseLoss.counts_table

    def counts_table(self, n_true: int, n_labels: int) -> Floats:
        """Loss at ``[hits, false]``: (n_true + 1, n_labels - n_true + 1)."""
        raise IncompatibleError(f"{type(self).__name__} does not depend on counts alone")

    def as_modular(self, Y: Labels) -> tuple[Floats, Floats]:
        """Return ``offset`` (n_samples,) and ``cost`` (n_samples, n_labels)."""
        raise IncompatibleError(f"{type(self).__name__} is no sum over labels")


class CountsLoss(BaseLoss):
    """A loss that depends only on the numbers of true, hit and falsely predicted labels."""

    structure: ClassVar[Literal["modular", "counts"]] = "counts"

    @abstractmethod
    def of_counts(self, n_true: Counts, hits: Counts, false: Counts) -> Floats:
        """Loss for broadcastable arrays of counts."""

    def value(self, Y: Labels, Z: Labels) -> Floats:
        true, on = np.asarray(Y) > 0, np.asarray(Z) > 0
        hits, false = (true & on).sum(axis=1), (~true & on).sum(axis=1)
        return self.of_counts(true.sum(axis=1), hits, false)

    def counts_table(self, n_true: int, n_labels: int) -> Floats:
        """Loss at ``[hits, false]``: (n_true + 1, n_labels - n_true + 1)."""
        hits = np.arange(n_true + 1)[:, None]
        false = np.arange(n_labels - n_true + 1)[None, :]
        return np.ascontiguousarray(self.of_counts(np.asarray(n_true), hits, false))
