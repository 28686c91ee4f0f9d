"""Tables of labelings that were drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colabel.scores import Support

__all__ = ["SampledSupport"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledSupport(Support):
    """Draws from a distribution, with better marginals than their frequencies.

    Parameters
    ----------
    labelings, scores, distribution, rest
        As in ``Support``.
    means : ndarray of shape (n_samples, n_labels)
        The marginals. Where the table has a ``rest``, they are moved to where the probabilities
        listed leave room for them.
    weights : ndarray of shape (n_samples, n_labelings) or None, default=None
        What the labelings weigh in expectations, where this is not their probability: those drawn
        stand for others, too. Divided by their sum.
    """

    means: Floats = field(kw_only=True)
    weights: Floats | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            total = self.weights.sum(axis=1, keepdims=True)
            object.__setattr__(self, "weights", self.weights / total)
        if self.rest is not None:
            object.__setattr__(self, "means", np.clip(self.means, *self.marginal_bounds()))

    @cached_property
    def log_p(self) -> Floats:
        if self.weights is None:
            return super().log_p
        with np.errstate(divide="ignore"):
            return np.log(self.weights)

    def marginals(self) -> Floats:
        return self.means
