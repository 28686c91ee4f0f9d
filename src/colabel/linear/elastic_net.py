"""Minimise many smooth convex functions, each with an L1 norm, at once: elastic nets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colabel.linear.batch_lbfgs import MEMORY, Evaluate, Minimum, Stopping, run

__all__ = ["minimise_l1"]

Floats = NDArray[np.float64]


def minimise_l1(
    evaluate: Evaluate,
    start: Floats,
    scale: Floats,
    price: Floats,
    stopping: Stopping,
) -> Minimum:
    """Minimise ``f_p(x) + sum_j price_pj |x_j|`` for each problem ``p``.

    Parameters
    ----------
    evaluate, start, scale, stopping
        As for ``batch_lbfgs.minimise``; for the gradient stands the least element of the
        subdifferential.
    price : ndarray of shape (n_parameters,) or (n_problems, n_parameters), not negative

    Returns
    -------
    Minimum
        Coefficients that the norm holds at zero are exactly zero.
    """
    from colabel._kernels import lbfgs, orthant

    vectors = np.empty((start.shape[0], lbfgs.HEAD + 2 * MEMORY + 2, start.shape[1]))
    vectors[:, lbfgs.SCALE], vectors[:, orthant.PRICE] = scale, price
    return run(orthant.advance, evaluate, start, vectors, stopping.limits())
