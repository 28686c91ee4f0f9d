"""Convex functions of positive semidefinite matrices, minimised by cutting planes.

Minimises ``trace(Q) / 2 + R(Q)`` over ``Q >= 0`` for a convex ``R >= 0`` that is known through
planes below it, ``R(Q) >= a_t + <G_t, Q>``. A master problem minimises the highest plane near the
best point so far, ``+ mu / 2 |Q - Q_c|^2``; its dual has a weight ``w_t`` for each plane, and the
eigenvalues of ``Q_c - (I / 2 + sum_t w_t G_t) / mu`` below zero are dropped. Weights with
``I / 2 + sum_t w_t G_t >= 0`` prove that no ``Q`` has an objective below ``sum_t w_t a_t``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import nnls

from colabel.results import Solution

__all__ = ["Plane", "minimise_planes"]

Floats = NDArray[np.float64]

# Planes to remember. The plane of all weights stands in for those that are dropped.
MOST_PLANES = 30
# Share of the decrease promised by the planes that makes a point the new best one, and share at
# which the planes are trusted further away.
SERIOUS, GOOD = 0.1, 0.5
# Steps of a master problem, and the share of its promise to which it is solved.
MASTER_STEPS, MASTER_TOL = 25, 0.02
# Points in a row without success after which the planes are trusted less far away.
PATIENCE = 5
# Planes after which an objective that has hardly changed, and has little to gain by the planes, is
# settled, proof or not.
SETTLED = 25


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane below ``R``, touching it, or nearly so, where it was asked for.

    Parameters
    ----------
    value : float
        Upper bound of ``R`` there.
    offset : float
    gradient : ndarray of shape (q, q), symmetric
    """

    value: float
    offset: float
    gradient: Floats


def minimise_planes(
    plane_at: Callable[[Floats], Plane],
    start: Floats,
    *,
    tol: float = 1e-2,
    max_iter: int = 200,
    report: Callable[[int, float, float], None] | None = None,
) -> Solution:
    """Minimise ``trace(Q) / 2 + R(Q)`` over positive semidefinite ``Q``.

    Parameters
    ----------
    plane_at : callable
        Returns a plane at ``Q``.
    start : ndarray of shape (q, q), positive definite
    tol : float
        Stop where the gap is below this share of the objective; or where 25 planes have lowered
        it by less than a tenth of that, and promise no more than it.
    max_iter : int
        Most planes to ask for.
    report : callable or None
        Told iteration, objective and gap.

    Returns
    -------
    Solution
        ``coef`` is a factor ``V`` of shape (q, rank) with ``Q = V V'``; ``history`` never rises;
        ``gap`` is proved.

    Notes
    -----
    O(q^3) for each of the up to 25 eigendecompositions of a master problem, beside the planes.
    """
    center = _Point.of(start)
    found = plane_at(center.Q)
    best, lower = center.objective(found), 0.0
    slope = 0.5 * np.eye(len(start)) + found.gradient
    bundle = _Bundle(found, mu=float(np.linalg.norm(slope) / np.linalg.norm(start)))
    history, misses, converged, n_iter = [best], 0, False, 0
    for n_iter in range(1, max_iter + 1):
        point, model = bundle.solve(center, best)
        lower, promise = max(lower, bundle.proof()), best - model
        past = history[max(0, len(history) - 1 - SETTLED)]
        still = len(history) > SETTLED and past - best <= 0.1 * tol * best
        if best - lower <= tol * best or (still and promise <= tol * best):
            converged = True
            break
        found = plane_at(point.Q)
        gain = best - point.objective(found)
        bundle.add(found)
        misses = 0 if gain >= SERIOUS * promise else misses + 1
        if gain >= GOOD * promise:
            bundle.mu *= 0.5
        elif gain < -promise or misses >= PATIENCE:
            # Too far: the planes are not trusted there.
            bundle.mu *= 2.0
            misses = 0
        if gain >= SERIOUS * promise > 0.0:
            center, best = point, best - gain
        history.append(best)
        if report is not None:
            report(n_iter, best, best - lower)
    return Solution(center.factor, np.array(history), best - lower, converged, n_iter)


@dataclass(frozen=True, eq=False)
class _Point:
    """``Q = factor factor'``."""

    Q: Floats
    factor: Floats

    @classmethod
    def of(cls, M: Floats) -> _Point:
        """Return the nearest positive semidefinite matrix."""
        values, vectors = eigh(0.5 * (M + M.T), check_finite=False, driver="evd")
        factor = vectors[:, values > 0.0] * np.sqrt(values[values > 0.0])
        return cls(factor @ factor.T, factor)

    def objective(self, plane: Plane) -> float:
        return 0.5 * float(np.trace(self.Q)) + plane.value


class _Bundle:
    """Planes, their weights, and the master problem."""

    def __init__(self, first: Plane, mu: float) -> None:
        q = len(first.gradient)
        # The plane 0 is below every R.
        self.a, self.G = np.array([0.0, first.offset]), np.stack([np.zeros((q, q)), first.gradient])
        self.gram, self.weights, self.mu = np.zeros((2, 2)), np.array([0.0, 1.0]), mu
        self.gram[1, 1] = np.vdot(first.gradient, first.gradient)

    def add(self, plane: Plane) -> None:
        """Remember a plane; where there are too many, all weights become one plane."""
        if len(self.a) >= MOST_PLANES:
            self._drop()
        self._append(plane.offset, plane.gradient, 0.0)

    def solve(self, center: _Point, best: float) -> tuple[_Point, float]:
        """Minimise the highest plane near ``center``; return the point, and what planes say there.

        ``best`` is the objective at ``center``. The dual of the master problem is concave, with
        a curvature of at most that of its quadratic part: steps maximise with that curvature.
        """
        half = 0.5 * np.eye(len(center.Q))
        ahead, before, momentum = self.weights, self.weights, 1.0
        for _ in range(MASTER_STEPS):
            point = _Point.of(center.Q - (half + np.tensordot(ahead, self.G, 1)) / self.mu)
            heights = self.a + np.einsum("tij,ij->t", self.G, point.Q, optimize=True)
            model = 0.5 * float(np.trace(point.Q)) + float(heights.max())
            weights = _step(ahead, heights, self.gram / self.mu)
            if heights.max() - ahead @ heights <= MASTER_TOL * (best - model):
                break
            # Momentum, anew where it leads back.
            back = float((ahead - weights) @ (weights - before)) > 0.0
            following = 1.0 if back else 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            push = 0.0 if back else (momentum - 1.0) / following
            ahead, before, momentum = weights + push * (weights - before), weights, following
        self.weights = weights
        return point, model

    def proof(self) -> float:
        """Return a lower bound of the objective that the weights prove."""
        lowest = float(np.linalg.eigvalsh(np.tensordot(self.weights, self.G, 1))[0])
        # With the plane 0 in the mixture until I / 2 + sum_t w_t G_t has no eigenvalue below 0.
        share = 1.0 if lowest >= -0.5 else -0.5 / lowest
        return share * float(self.weights @ self.a)

    def _drop(self) -> None:
        """Keep the plane 0, the mean of all by weight, and the half with the most weight."""
        a, G = float(self.weights @ self.a), np.tensordot(self.weights, self.G, 1)
        order = 1 + np.argsort(-self.weights[1:], kind="stable")[: MOST_PLANES // 2]
        kept = np.append(0, np.sort(order))
        self.a, self.G, self.gram = self.a[kept], self.G[kept], self.gram[np.ix_(kept, kept)]
        self.weights = np.zeros(len(kept))
        self._append(a, G, 1.0)

    def _append(self, a: float, G: Floats, weight: float) -> None:
        self.a, self.G = np.append(self.a, a), np.concatenate([self.G, G[None]])
        gram = np.zeros((len(self.a), len(self.a)))
        gram[:-1, :-1] = self.gram
        gram[-1] = gram[:, -1] = np.einsum("tij,ij->t", self.G, G, optimize=True)
        self.gram, self.weights = gram, np.append(self.weights, weight)


def _step(at: Floats, heights: Floats, curvature: Floats) -> Floats:
    """Maximise ``heights'(w - at) - (w - at)'curvature (w - at) / 2`` over weights of sum 1.

    With ``curvature = R'R`` it is the point of least norm in a polytope, which is a problem of
    least squares without negative coefficients.
    """
    size = float(max(curvature.diagonal().max(), 1e-12 * np.abs(heights).max()))
    size = max(size, np.finfo(float).tiny)
    R = np.linalg.cholesky(curvature / size + 1e-10 * np.eye(len(at))).T
    target = np.linalg.solve(R.T, heights / size) + R @ at
    corners = R - target[:, None]
    corners /= np.linalg.norm(corners, axis=0).min() + np.finfo(float).tiny
    system = np.vstack([corners, np.ones(len(at))])
    weights, _ = nnls(system, np.append(np.zeros(len(at)), 1.0), maxiter=100 * len(at))
    return weights / weights.sum()
