"""Jaccard loss: one minus intersection over union."""

import numpy as np

from colabel.losses.base import Counts, CountsLoss, Floats

__all__ = ["Jaccard"]


class Jaccard(CountsLoss):
    """``value(y, z) = 1 - |y and z| / |y or z|``, 0 where both are empty.

    Examples
    --------
    >>> import numpy as np
    >>> Jaccard().value(np.array([[1, 1, 0]]), np.array([[0, 1, 0]]))
    array([0.5])
    """

    def of_counts(self, n_true: Counts, hits: Counts, false: Counts) -> Floats:
        union = n_true + false
        return np.where(union > 0, 1.0 - hits / np.maximum(union, 1), 0.0)
