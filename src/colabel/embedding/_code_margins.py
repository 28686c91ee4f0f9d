"""What maximum margin output codes lose, and planes below it (Zhang and Schneider 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colabel.metric_learning.metric_bundle import Plane

__all__ = ["CodeMargins"]

Floats = NDArray[np.float64]

# Sweeps over the labels in one call; a row that needs more goes on in the next.
MOST_SWEEPS = 100


class CodeMargins:
    """``R(Q) = C/n sum_i max over y in [0, 1]^q of |y_i - y|_1 + |y_i - z_i|_Q^2 - |y - z_i|_Q^2``.

    Each maximum is a concave quadratic program over a box: labelings in between are allowed
    ("over-generating"), so ``R`` is an upper bound of the loss over labelings, and convex.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    Z : ndarray of shape (n_samples, n_labels)
        Codewords ``P'x``.
    C : float
    tol : float
        To which share of the mean loss the programs are solved.

    Attributes
    ----------
    worst : ndarray of shape (n_samples, n_labels)
        The maximisers of the last call, where the next one starts.
    """

    def __init__(self, Y: Floats, Z: Floats, C: float, tol: float) -> None:
        self.Y, self.Z, self.weight = Y, Z, C / len(Y)
        self.error = Y - Z
        self.scatter = self.error.T @ self.error
        self.worst = 1.0 - Y
        self.tol, self.mean_loss = tol, float(Y.shape[1])

    def __call__(self, Q: Floats) -> Plane:
        """Solve the programs at ``Q``; return the plane of their solutions."""
        from colabel._kernels.box_qp import box_rows

        gaps = np.empty(len(self.Y))
        # Slope of c'y - (y - z)'Q(y - z), where c'y is the loss but for a constant.
        slopes = (1.0 - 2.0 * self.Y) - 2.0 * ((self.worst - self.Z) @ Q)
        enough = self.tol * self.mean_loss
        box_rows(np.ascontiguousarray(Q), self.worst, slopes, enough, MOST_SWEEPS, gaps)
        away = self.worst - self.Z
        offset = self.weight * float(np.abs(self.Y - self.worst).sum())
        gradient = self.weight * (self.scatter - away.T @ away)
        value = offset + float(np.vdot(gradient, Q)) + self.weight * float(gaps.sum())
        self.mean_loss = value / (self.weight * len(self.Y))
        return Plane(value, offset, gradient)
