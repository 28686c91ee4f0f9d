"""What experts of every kind share: constants for labels that do not vary, rows that count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["constant_log_likelihoods", "rows_that_count", "smoothed_log_odds"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Rows whose responsibility is below this share of a component's mean are left out, which are at
# most this share of its weight.
DROPPED = 1e-3
# A label on (or off) in fewer rows than this inside a component is a constant there.
RARE = 0.5
# Pseudo-observations of the base rate behind a constant.
PRIOR = 1e-2


def smoothed_log_odds(Y: NDArray[np.float32], gamma: Floats) -> tuple[Floats, Flags]:
    """Log-odds of each label in each component, and whether the label varies there.

    Parameters
    ----------
    Y : ndarray of shape (n_labels, n_samples), in {0, 1}
    gamma : ndarray of shape (n_components, n_samples)
        Responsibilities times sample weights; a dead component's row is zero.

    Returns
    -------
    constant : ndarray of shape (n_components, n_labels)
        Finite: smoothed towards the base rates, which a component without rows falls back to.
    varies : ndarray of shape (n_components, n_labels)
    """
    on = gamma @ Y.T.astype(np.float64)
    total = gamma.sum(axis=1, keepdims=True)
    base = on.sum(axis=0) / total.sum()
    off = total - on
    constant = np.log(on + PRIOR * base + 1e-9) - np.log(off + PRIOR * (1.0 - base) + 1e-9)
    return constant, (on >= RARE) & (off >= RARE)


def constant_log_likelihoods(constant: Floats, varies: Flags, Y: NDArray[np.float32]) -> Floats:
    """Log-likelihood of the labels that do not vary: (n_components, n_samples)."""
    steady = np.where(varies, 0.0, constant)
    never = np.where(varies, 0.0, np.logaddexp(0.0, constant)).sum(axis=1)
    return steady @ Y - never[:, None]


def rows_that_count(share: Floats, weight: Floats) -> NDArray[np.int64]:
    """Return the rows that a component answers for, but for a negligible share of its weight.

    Parameters
    ----------
    share : ndarray of shape (n_samples,)
        Responsibilities of the component.
    weight : ndarray of shape (n_samples,)
        Sample weights. To repeat a row is the same as to weigh it.
    """
    return np.flatnonzero(share >= DROPPED * np.average(share, weights=weight))
