"""The semidefinite relaxation with the number of labels fixed, by a search for its multiplier.

With a multiplier on ``1'u = beta`` the relaxed maximum

    h(lam) = max_X  value(X) + lam (1'u(X) - beta)

bounds the constrained one for every ``lam`` and touches it at its minimum: the relaxation is
convex, so there is no gap. Each solution X gives the tangent ``value(X) + lam (1'u(X) - beta)`` of
h; two solutions on either side of ``1'u = beta`` mix to one on it, whose value is the height at
which their tangents meet. The search goes to that point until height and h agree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colabel.decoders.base import Floats

__all__ = ["CLOSE", "solve_fixed_size"]

MAX_STEPS = 40
CLOSE = 1e-7


def solve_fixed_size(
    B: Floats,
    W: Floats,
    X: Floats,
    beta: float | Floats,
    climb: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]],
    close: float = CLOSE,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Maximise ``sum_i b_i u_i + sum_{i<j} W_ij U_ij`` over moments with ``1'u = beta``.

    Parameters
    ----------
    B : ndarray of shape (n_rows, n_labels)
    W : ndarray of shape (n_labels, n_labels)
    X : ndarray of shape (n_rows, rank, n_labels)
        Factors to start from; those at the best multiplier when the search ends.
    beta : float, or ndarray of shape (n_rows,), from -n_labels to n_labels
    climb : callable
        ``climb(B, W, X)`` solves the free relaxation from X, in place.
    close : float
        How close to its bound the solution must be, in units of all scores.

    Returns
    -------
    u, factors, value, multiplier : ndarrays
        Moments on the constraint (rank twice that of X), their value, and the best multiplier.
    """
    first = X.copy()
    ends = _Ends(B, W, X, beta, close)
    active = np.flatnonzero(~ends.closed())
    for _ in range(MAX_STEPS):
        if not len(active):
            break
        lam = ends.meeting()[active]
        # From the start, not from the last solution: that may have collapsed to a line.
        trial = first[active]
        climb(B[active] + lam[:, None], W, trial)
        ends.update(active, lam, trial, X)
        active = active[~ends.closed()[active]]
    return (*ends.mixture(), ends.best)


class _Ends:
    """For each row, a solution below and one above the size wanted."""

    def __init__(self, B: Floats, W: Floats, X: Floats, beta: float | Floats, close: float) -> None:
        self.close = close
        n_rows, n_labels = B.shape
        self.B, self.W, self.beta = B, W, np.broadcast_to(beta, n_rows)
        # From this multiplier on constant vectors solve the relaxation: their certificate is a
        # weighted Laplacian in which each label is tied to the constant by (|b_i + lam|) / 2, more
        # than twice what repels it.
        reach = 1.001 * np.max(np.abs(B) + 2.0 * np.abs(W).sum(axis=1), axis=1, initial=0.0)
        self.X = np.zeros((2, *X.shape))
        self.X[:, :, 0, :] = np.array([-1.0, 1.0])[:, None, None]
        self.scale = np.abs(B).sum(axis=1) + 0.5 * np.abs(W).sum()
        total = B.sum(axis=1)
        self.value = np.stack([-total, total]) + 0.5 * W.sum()
        self.excess = np.stack([-n_labels - self.beta, n_labels - self.beta])
        height = self.value + np.stack([-reach, reach]) * self.excess
        low = height[0] <= height[1]
        self.best = np.where(low, -reach, reach)
        self.height = np.where(low, height[0], height[1])
        X[:] = np.where(low[:, None, None], self.X[0], self.X[1])

    def share(self) -> Floats:
        """Weight of the lower solution in the mixture."""
        width = self.excess[1] - self.excess[0]
        return np.where(width > 0, self.excess[1] / np.where(width > 0, width, 1.0), 1.0)

    def meeting(self) -> Floats:
        """Multiplier at which the tangents meet."""
        width = self.excess[1] - self.excess[0]
        return (self.value[0] - self.value[1]) / np.where(width > 0, width, 1.0)

    def closed(self) -> NDArray[np.bool_]:
        """Tell which rows are solved."""
        share = self.share()
        value = share * self.value[0] + (1.0 - share) * self.value[1]
        return self.height - value <= self.close * self.scale

    def update(self, rows: NDArray[np.int64], lam: Floats, trial: Floats, X: Floats) -> None:
        """Put solutions at ``lam`` on their side, and in ``X`` where their bound is the best."""
        u = trial[:, 0, :]
        pairs = np.einsum("irl,irl->i", trial @ self.W, trial)
        value = np.einsum("il,il->i", self.B[rows], u) + 0.5 * pairs
        excess = u.sum(axis=1) - self.beta[rows]
        side = (excess > 0).astype(np.int64)
        self.X[side, rows], self.value[side, rows], self.excess[side, rows] = trial, value, excess
        height = value + lam * excess
        better = height < self.height[rows]
        self.height[rows[better]], self.best[rows[better]] = height[better], lam[better]
        X[rows[better]] = trial[better]

    def mixture(self) -> tuple[Floats, Floats, Floats]:
        """Return moments on the constraint: ``u``, factors of ``U``, and their value."""
        share = self.share()
        low, high = np.sqrt(share)[:, None, None], np.sqrt(1.0 - share)[:, None, None]
        factors = np.concatenate([low * self.X[0], high * self.X[1]], axis=1)
        u = share[:, None] * self.X[0, :, 0] + (1.0 - share)[:, None] * self.X[1, :, 0]
        return u, factors, share * self.value[0] + (1.0 - share) * self.value[1]
