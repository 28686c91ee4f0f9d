"""Hamming loss: the share of labels that are wrong."""

from typing import ClassVar, Literal

import numpy as np

from colabel.losses.base import BaseLoss, Floats, Labels

__all__ = ["Hamming"]


class Hamming(BaseLoss):
    """``value(y, z) = |{l : y_l != z_l}| / n_labels``.

    Examples
    --------
    >>> import numpy as np
    >>> Hamming().value(np.array([[1, 0, 0, 0]]), np.array([[0, 1, 0, 0]]))
    array([0.5])
    """

    structure: ClassVar[Literal["modular", "counts"]] = "modular"

    def value(self, Y: Labels, Z: Labels) -> Floats:
        return np.mean((np.asarray(Y) > 0) != (np.asarray(Z) > 0), axis=1)

    def as_modular(self, Y: Labels) -> tuple[Floats, Floats]:
        """Return ``offset`` (n_samples,) and ``cost`` (n_samples, n_labels)."""
        Y = np.asarray(Y)
        share = 1.0 / max(Y.shape[1], 1)
        cost = Y * (-2.0 * share)
        cost += share
        return Y.mean(axis=1), cost

    def counts_table(self, n_true: int, n_labels: int) -> Floats:
        """Loss at ``[hits, false]``, as losses of counts have it."""
        hits, false = np.arange(n_true + 1)[:, None], np.arange(n_labels - n_true + 1)
        return (n_true - hits + false) / max(n_labels, 1)
