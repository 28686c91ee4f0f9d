"""Dual ascent for a model with a quadratic prior.

What ``colabel.learners.ascent`` does for sparse pairs that attract, for all pairs of labels:
``colabel._kernels.spin_ascent``. Where the prior has a sign, the multipliers of that demand are a
block of their own: between sweeps they are set to their best value, which clips the prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.learners.ascent import STEPS, Ascent, PlaneCache, count_tables
from colabel.learners.margin import MarginProblem
from colabel.roles import Floats, Labels, SpinPairs

__all__ = ["SpinAscent"]

# Samples visited between two updates of the multipliers.
CHUNK = 256
CLIP: dict[str | None, Any] = {"attractive": np.maximum, "repulsive": np.minimum}


class SpinAscent(Ascent):
    """Dual weights, and couplings as a matrix."""

    def __init__(
        self, problem: MarginProblem, state: PlaneCache | None, n_planes: int, seed: int
    ) -> None:
        from colabel._kernels.spin_ascent import spin_workspace

        self._start(problem, state, n_planes, seed)
        assert isinstance(problem.model, SpinPairs)
        self.spins = problem.model
        self.W = self.spins.split(self.free)[0].copy()
        self.tables = count_tables(problem)
        self.exact = False
        self.work = spin_workspace(self.cache.planes.shape[1], self.spins.n_labels)
        self.C = -4.0 * self.spins.prior(self.free)
        self.multiplier = np.zeros_like(self.C)
        self.degree = np.zeros(len(self.C))
        self._clip()

    def theta(self) -> Floats:
        """Return the parameters: the prior is of the right sign."""
        i, j = self.spins.edges.T
        return np.concatenate([self.W.ravel(), self.C[i, j] / (-4.0 * self.spins.scale)])

    def _clip(self) -> None:
        """Set the multipliers to their best value for the weights as they are."""
        free = self.C - self.multiplier
        sign = self.spins.sign
        self.C = free.copy() if sign == "any" else CLIP[sign](free, 0.0)
        self.multiplier = self.C - free
        self.degree[:] = self.C.sum(axis=1)

    def _sweep(
        self,
        order: NDArray[np.int64],
        labels: Labels | None = None,
        losses: Floats | None = None,
    ) -> float:
        from colabel._kernels.spin_ascent import ascend_spins

        problem, gap = self.problem, 0.0
        if labels is None or losses is None:
            labels, losses = problem.Y[:0], np.zeros(0)
        planes = np.packbits(labels, axis=1, bitorder="little")
        model, cache = self.spins, self.cache.arrays
        numbers = np.array([problem.penalty, model.constant, STEPS, 1e-14, model.kappa**2])
        for i in range(0, len(order), CHUNK):
            fresh: tuple[Any, ...] = (planes[i : i + CHUNK], losses[i : i + CHUNK])
            theta = (self.W, self.C, self.degree)
            some = order[i : i + CHUNK]
            gap += ascend_spins(
                problem.rows, cache, fresh, self.tables, theta, numbers, some, self.work
            )
            self._clip()
        return gap
