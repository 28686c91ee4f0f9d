"""The most probable labeling of a finite distribution."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.decoders.base import BaseDecoder
from colabel.results import Decoded
from colabel.scores import ScoreTable, Support

__all__ = ["SupportMode", "ordered_support"]


class SupportMode(BaseDecoder):
    """Choose the labeling of highest score in the support. Exact, O(n_labelings) per sample.

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
        order = ordered_support(scores, nonempty)
        best = order[np.argmax(scores.scores[:, order], axis=1)]
        value = scores.scores[np.arange(scores.n_samples), best]
        return Decoded.exact(scores.labelings[best], value)


def ordered_support(scores: Support, nonempty: bool) -> NDArray[np.intp]:
    """Return the labelings' indices, fewest labels first: argmax takes the first of equal scores.

    ``nonempty`` leaves the empty labeling out, and raises where it is the only one.
    """
    count = scores.labelings.sum(axis=1)
    order = np.argsort(count, kind="stable")
    if nonempty:
        order = order[count[order] > 0]
        if not len(order):
            raise ValueError("no labeling to choose from: the only labeling known is the empty one")
    return order
