"""The master problem of cutting planes with a ridge and sign constraints, solved in its dual.

    min over theta, couplings >= 0, of  lambda/2 |theta|^2 + max(0, max_j <a_j, theta> + b_j)

has the dual ``max b'w - lambda/2 |theta(w)|^2`` over weights ``w >= 0`` of sum 1 (the plane 0 among
them), with ``theta(w) = -sum_j w_j a_j / lambda``, couplings below zero set to zero. The dual is
concave and piecewise quadratic. Newton steps on the planes in use, with an exact line search and
one plane let in at a time, are finite on each piece and start from the last solution.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bundle"]

Floats = NDArray[np.float64]

# The master is solved when its gap is below this share of the largest offset of a plane.
TOLERANCE = 1e-10
MOST_STEPS = 500
# Planes of no weight for so many solutions are dropped.
PATIENCE = 25


class Bundle:
    """Cutting planes, their dual weights, and the parameters that these give.

    Parameters
    ----------
    size, n_free : int
        Number of parameters, and of those at the beginning that may have any sign.
    penalty : float
        ``lambda``.
    most : int
        Planes to keep. Where there are more, those of least weight are replaced by their mean,
        which is a plane too, so that the lower bound does not fall.
    """

    def __init__(self, size: int, n_free: int, penalty: float, most: int) -> None:
        self.penalty, self.n_free, self.most = penalty, n_free, max(3, most)
        self.A, self.b = np.zeros((1, size)), np.zeros(1)
        self.gram, self.weights, self.idle = np.zeros((1, 1)), np.ones(1), np.zeros(1, dtype=int)

    def add(self, a: Floats, b: float) -> None:
        """Add the plane ``<a, theta> + b``."""
        if len(self.b) >= self.most:
            self._merge()
        self._append(a, b, 0.0)

    def theta(self) -> Floats:
        """Return the parameters at the current weights."""
        theta = self.weights @ self.A / -self.penalty
        np.maximum(theta[self.n_free :], 0.0, out=theta[self.n_free :])
        return theta

    def value(self) -> float:
        """Return the dual value: a lower bound of the objective's minimum."""
        return self._dual(self.weights, self.weights @ self.A[:, self.n_free :])

    def solve(self) -> float:
        """Maximise the dual; return by how much it may still be short. Drops idle planes."""
        gap = self._ascend()
        self.idle = np.where(self.weights > 0.0, 0, self.idle + 1)
        self.idle[0] = 0
        self._keep(self.idle <= PATIENCE)
        return gap

    def _ascend(self) -> float:
        in_use = self.weights > 0.0
        gap, enough = np.inf, TOLERANCE * float(np.abs(self.b).max())
        for _ in range(MOST_STEPS):
            gradient, shadow = self._gradient()
            top = int(np.argmax(gradient))
            gap = float(gradient[top] - self.weights @ gradient)
            if gap <= enough:
                break
            # A plane comes in when those in use have less to gain among themselves.
            if np.ptp(gradient[in_use]) <= 0.1 * (gradient[top] - gradient[in_use].max()):
                in_use[top] = True
            direction = self._newton(np.flatnonzero(in_use), gradient, shadow)
            if not self._step(direction, gradient, in_use):
                self._pair_step(gradient, in_use)
        return gap

    def _gradient(self) -> tuple[Floats, Floats]:
        """Return ``<a_j, theta> + b_j``, and ``-lambda`` times the couplings before the sign."""
        pairs = self.A[:, self.n_free :]
        shadow = self.weights @ pairs
        slack = self.gram @ self.weights - pairs @ np.maximum(-shadow, 0.0)
        return self.b - slack / self.penalty, shadow

    def _pair_step(self, gradient: Floats, in_use: NDArray[np.bool_]) -> None:
        """Move weight from the plane of least value to that of most: where Newton's step fails."""
        used = np.flatnonzero(self.weights > 0.0)
        low, high = used[np.argmin(gradient[used])], int(np.argmax(gradient))
        direction = np.zeros(len(self.weights))
        direction[high], direction[low] = 1.0, -1.0
        in_use[high] = True
        self._step(direction, gradient, in_use)

    def _newton(self, used: NDArray[np.int64], gradient: Floats, shadow: Floats) -> Floats:
        """Maximise the quadratic piece over weights of the same sum on the planes ``used``."""
        active = self.A[np.ix_(used, self.n_free + np.flatnonzero(shadow < 0.0))]
        hessian = (self.gram[np.ix_(used, used)] + active @ active.T) / self.penalty
        k = len(used)
        system = np.ones((k + 1, k + 1))
        # Planes may be dependent; the ridge picks a direction, and a bound then stops it.
        system[:k, :k] = hessian + 1e-12 * (hessian.diagonal().max() + 1.0) * np.eye(k)
        system[k, k] = 0.0
        direction = np.zeros(len(self.weights))
        direction[used] = np.linalg.solve(system, np.append(gradient[used], 0.0))[:k]
        return direction

    def _step(self, direction: Floats, gradient: Floats, in_use: NDArray[np.bool_]) -> bool:
        """Go to the maximum along ``direction``; a plane whose weight vanishes leaves."""
        slope = float(direction @ gradient)
        falling = np.flatnonzero(direction < 0.0)
        if slope <= 0.0 or not len(falling):
            return False
        ratios = self.weights[falling] / -direction[falling]
        limit = float(ratios.min())
        amount = self._line(direction, slope, limit)
        self.weights = np.maximum(self.weights + amount * direction, 0.0)
        if amount >= limit:
            gone = falling[ratios <= limit]
            self.weights[gone] = 0.0
            in_use[gone] = False
        self.weights /= self.weights.sum()
        return True

    def _line(self, direction: Floats, slope: float, limit: float) -> float:
        """Maximise the dual along ``direction``: its slope is piecewise linear and falls."""
        pairs = self.A[:, self.n_free :]
        at, move = self.weights @ pairs, direction @ pairs
        bend = float(direction @ self.gram @ direction)
        linear = slope - float(np.maximum(-at, 0.0) @ move) / self.penalty

        def rise(t: float) -> float:
            kept = np.maximum(-(at + t * move), 0.0)
            return linear - (t * bend - float(kept @ move)) / self.penalty

        if rise(limit) >= 0.0:
            return limit
        with np.errstate(divide="ignore", invalid="ignore"):
            breaks = -at / move
        breaks = np.sort(breaks[(breaks > 0.0) & (breaks < limit)])
        low, high = 0.0, limit
        for t in breaks:
            if rise(t) >= 0.0:
                low = t
            else:
                high = t
                break
        top, bottom = rise(low), rise(high)
        return low + (high - low) * top / (top - bottom) if top > bottom else low

    def _dual(self, weights: Floats, shadow: Floats) -> float:
        square = float(weights @ self.gram @ weights) + float(
            np.square(np.maximum(-shadow, 0.0)).sum()
        )
        return float(weights @ self.b) - 0.5 * square / self.penalty

    def _append(self, a: Floats, b: float, weight: float) -> None:
        self.A, self.b = np.vstack([self.A, a]), np.append(self.b, b)
        product = self.A[:, : self.n_free] @ a[: self.n_free]
        gram = np.zeros((len(self.b), len(self.b)))
        gram[:-1, :-1] = self.gram
        gram[-1, :] = gram[:, -1] = product
        self.gram = gram
        self.weights = np.append(self.weights, weight)
        self.idle = np.append(self.idle, 0)

    def _keep(self, mask: NDArray[np.bool_]) -> None:
        if not mask.all():
            self.A, self.b, self.idle = self.A[mask], self.b[mask], self.idle[mask]
            self.gram, self.weights = self.gram[np.ix_(mask, mask)], self.weights[mask]

    def _merge(self) -> None:
        """Replace the half of the planes with the least weight by their mean."""
        order = 1 + np.argsort(self.weights[1:], kind="stable")
        out = order[: max(1, len(order) // 2)]
        weight = float(self.weights[out].sum())
        share = self.weights[out] / weight if weight > 0.0 else np.full(len(out), 1.0 / len(out))
        a, b = share @ self.A[out], float(share @ self.b[out])
        mask = np.ones(len(self.b), dtype=bool)
        mask[out] = False
        self._keep(mask)
        self._append(a, b, weight)
