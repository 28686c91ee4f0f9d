"""What experts of every kind share: constants for labels that do not vary, rows that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Constants", "constant_log_likelihoods", "rows_that_count", "unit_weight"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Index = NDArray[np.int64]

# Rows whose responsibility is below this share of a component's mean are left out, which are at
# most this share of its weight.
DROPPED = 1e-3
# A label on (or off) in fewer rows than this inside a component may be a constant there.
RARE = 0.5
# Pseudo-observations of the base rate behind a constant.
PRIOR = 1e-2


@dataclass(frozen=True, eq=False)
class Constants:
    """What each label of each component would be as a constant; arrays are (K, L).

    Parameters
    ----------
    log_odds : ndarray
        Finite: smoothed towards the base rates, which a component without rows falls back to.
    rare : ndarray of bool
        Whether so few rows have the label on, or off, that a constant may stand for it.
    prior : ndarray
        Negative log-density of the smoothing, a Beta prior; zero in a component without rows.
    cost : ndarray
        The component's negative log-likelihood of the label, and the prior.
    """

    log_odds: Floats
    rare: Flags
    prior: Floats
    cost: Floats

    @classmethod
    def of(cls, Y: NDArray[np.float32], gamma: Floats) -> Self:
        """Take them from an M-step's data.

        Parameters
        ----------
        Y : ndarray of shape (n_labels, n_samples), in {0, 1}
        gamma : ndarray of shape (n_components, n_samples)
            Responsibilities times sample weights; a dead component's row is zero.
        """
        unit = unit_weight(gamma.sum(axis=0))  # responsibilities add up to one
        is_one = Y.T.astype(np.float64)
        # Each a sum of its own: their difference from a total would be rounding where all are on.
        on, off = gamma @ is_one, gamma @ (1.0 - is_one)
        total = gamma.sum(axis=1, keepdims=True)
        # A label that no row has on, or all rows, is as rare as half a row more would make it.
        least = 0.5 * unit / (total.sum() + unit)
        rates = (np.maximum(part.sum(axis=0) / total.sum(), least) for part in (on, off))
        prior_on, prior_off = (PRIOR * unit * rate for rate in rates)
        log_odds = np.log(on + prior_on) - np.log(off + prior_off)
        is_on, is_off = np.logaddexp(0.0, -log_odds), np.logaddexp(0.0, log_odds)
        prior = np.where(total > 0, prior_on * is_on + prior_off * is_off, 0.0)
        rare = np.minimum(on, off) < RARE * unit
        return cls(log_odds, rare, prior, on * is_on + off * is_off + prior)

    def settle(self, varies: Flags, fitted_cost: Callable[[Index, Index], Floats]) -> Flags:
        """Return the labels to fit, given those that were fitted in the last M-step, if any.

        A rare label becomes a constant only where this costs no more than the expert it had, so
        that the objective of EM does not rise.

        Parameters
        ----------
        varies : ndarray of shape (n_components, n_labels), or without elements
        fitted_cost : callable
            Given components and labels of experts, what these cost on the M-step's data.
        """
        if not varies.size:
            return ~self.rare
        component, label = np.nonzero(varies & self.rare)
        settled = ~self.rare
        if len(label):
            dearer = self.cost[component, label] > fitted_cost(component, label)
            settled[component[dearer], label[dearer]] = True
        return settled


def unit_weight(weight: Floats) -> float:
    """Weight of a row that counts as one: one, or the mean where weights are smaller than that.

    Weights of 2 are rows twice; weights that add up to one still tell rows from no rows.
    """
    return min(1.0, float(weight.mean()))


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
        Sample weights: to repeat a row counts the same as to weigh it.
    """
    return np.flatnonzero(share >= DROPPED * np.average(share, weights=weight))
