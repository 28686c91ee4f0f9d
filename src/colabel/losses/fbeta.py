"""F-beta loss: one minus the weighted harmonic mean of precision and recall."""

import numpy as np

from colabel.losses.base import Counts, CountsLoss, Floats

__all__ = ["FBeta"]


class FBeta(CountsLoss):
    """``value(y, z) = 1 - (1 + beta^2) |y and z| / (beta^2 |y| + |z|)``, 0 where both are empty.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of recall against precision; positive.

    Examples
    --------
    >>> import numpy as np
    >>> FBeta().value(np.array([[1, 1, 0, 0]]), np.array([[1, 0, 1, 0]]))
    array([0.5])
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def of_counts(self, n_true: Counts, hits: Counts, false: Counts) -> Floats:
        weight = self.beta * self.beta
        below = weight * n_true + hits + false
        score = (1.0 + weight) * hits / np.where(below > 0, below, 1.0)
        return np.where(below > 0, 1.0 - score, 0.0)
