"""Subset 0/1 loss: every labeling but the true one is equally wrong."""

import numpy as np

from colabel.losses.base import Counts, CountsLoss, Floats

__all__ = ["Subset"]


class Subset(CountsLoss):
    """``value(y, z) = [y != z]``.

    Examples
    --------
    >>> import numpy as np
    >>> Subset().value(np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 1]]))
    array([0., 1.])
    """

    def of_counts(self, n_true: Counts, hits: Counts, false: Counts) -> Floats:
        return np.where((hits == n_true) & (false == 0), 0.0, 1.0)
