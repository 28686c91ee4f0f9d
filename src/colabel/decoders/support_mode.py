"""The most probable labeling of a finite distribution."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from colabel.decoders.base import BaseDecoder, Labels
from colabel.results import Decoded
from colabel.scores import ScoreTable, Support

__all__ = ["SupportMode", "ordered_labelings"]

ONLY_EMPTY = "no labeling to choose from: the only labeling known is the empty one"


class SupportMode(BaseDecoder):
    """Choose the labeling of highest score in the support. Exact, O(n_labelings) per sample.

    Where a table has a ``rest``, labelings that it leaves out may be better: the bound tells, and
    the answer is certified if none can be.

    Examples
    --------
    >>> from colabel.scores import Support
    >>> SupportMode().decode(Support([[0, 0], [1, 1]], [[-1.0, -0.5]])).labels
    array([[1, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Support,)
    exact: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ()

    def _decode(self, scores: Support, nonempty: bool) -> Decoded:  # type: ignore[override]
        count = scores.labelings.sum(axis=-1, dtype=np.int64)
        allowed = count >= int(nonempty)
        if not allowed.any(axis=-1).all():
            raise ValueError(ONLY_EMPTY)
        values = np.where(allowed, scores.scores, -np.inf)
        value = values.max(axis=1)
        equal = allowed & (values == value[:, None])
        best = np.argmin(np.where(equal, count, scores.n_labels + 1), axis=1)
        bound = value if scores.rest is None else np.maximum(value, scores.rest)
        return Decoded(scores.pick(best), value, bound)


def ordered_labelings(scores: Support, nonempty: bool) -> Labels:
    """Return the labelings of any sample, fewest labels first: argmax takes the first of equals.

    ``nonempty`` leaves the empty labeling out, and raises where it is the only one.
    """
    labelings = scores.labelings
    if scores.own_labelings:
        labelings = np.unique(labelings.reshape(-1, scores.n_labels), axis=0)
    count = labelings.sum(axis=1, dtype=np.int64)
    order = np.argsort(count, kind="stable")
    order = order[count[order] >= int(nonempty)]
    if not len(order):
        raise ValueError(ONLY_EMPTY)
    return labelings[order]
