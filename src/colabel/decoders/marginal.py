"""The labeling with the most labels right on average."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from colabel.decoders.base import BaseDecoder, Floats, Labels
from colabel.results import Decoded
from colabel.scores import Mixture, Modular, ScoreTable, Support

__all__ = ["Marginal"]

# Probabilities this close to one half are one half but for rounding: the label stays off.
TIE = 1e-13


class Marginal(BaseDecoder):
    """Turn on every label more probable than not: the answer for Hamming loss. Exact.

    The objective is the expected share of labels that are right,
    ``sum_l P(y_l = z_l) / n_labels``. O(n_labels) per sample beyond the marginals.

    Where a ``Support`` leaves probability out (its ``rest``), the marginals are the table's and
    the bound that of the larger distribution: the answer is certified if the table holds it all.

    Examples
    --------
    >>> from colabel.scores import Support
    >>> table = Support([[1, 0], [0, 1], [1, 1]], np.log([[0.4, 0.3, 0.3]]))
    >>> found = Marginal().decode(table)
    >>> found.labels, found.value
    (array([[1, 1]], dtype=int8), array([0.65]))
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular, Mixture, Support)
    exact: ClassVar[bool] = True
    needs_distribution: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ()

    def _objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        p = scores.marginals()
        return _mean(np.where(Z > 0, p, 1.0 - p))

    def _decode(self, scores: ScoreTable, nonempty: bool) -> Decoded:
        p = scores.marginals()
        on = p > 0.5 + TIE
        if nonempty:
            empty = np.flatnonzero(~on.any(axis=1))
            on[empty, np.argmax(p[empty], axis=1)] = True
        value = _mean(np.where(on, p, 1.0 - p))
        return Decoded(on.astype(np.int8), value, value + _doubt(scores, p))


def _doubt(scores: ScoreTable, p: Floats) -> Floats:
    """How far the expected share of any labeling may be from the truth."""
    if not isinstance(scores, Support) or scores.rest is None or not scores.n_labels:
        return np.zeros(len(p))
    least, most = scores.marginal_bounds()
    return _mean(np.maximum(np.maximum(p - least, most - p), 0.0))


def _mean(right: Floats) -> Floats:
    if right.shape[1] == 0:
        return np.ones(len(right))
    return np.asarray(right.mean(axis=1), dtype=np.float64)
