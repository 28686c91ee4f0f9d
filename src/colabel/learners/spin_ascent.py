"""Dual ascent for a model with a quadratic prior.

What ``colabel.learners.ascent`` does for sparse pairs that attract, for all pairs of labels:
``colabel._kernels.spin_ascent``. Where the prior has a sign, the multipliers of that demand are a
block of their own: between sweeps they are set to their best value, which clips the prior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colabel.learners.ascent import Ascent, PlaneCache, count_tables
from colabel.learners.margin import MarginProblem
from colabel.roles import Floats, Labels, SpinPairs

__all__ = ["SpinAscent"]

# Samples visited between two updates of the multipliers.
CHUNK = 256
CLIP: dict[str | None, np.ufunc] = {"attractive": np.maximum, "repulsive": np.minimum}


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
        from colabel._kernels.planes import Fresh
        from colabel._kernels.spin_ascent import SpinTheta, ascend_spins

        problem, gap, fresh = self.problem, 0.0, self._fresh(labels, losses)
        data, settings = (problem.rows, problem.norms, self.cache.arrays), self._settings()
        for i in range(0, len(order), CHUNK):
            some = slice(i, i + CHUNK)
            new = Fresh(fresh.bits[some], fresh.losses[some])
            theta = SpinTheta(self.W, self.C, self.degree, self.spins.kappa**2)
            gap += ascend_spins(*data, new, self.tables, theta, settings, order[some], self.work)
            self._clip()
        return gap
