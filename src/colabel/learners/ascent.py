"""Dual weights of labelings, sample by sample: what block-coordinate dual ascent works on.

Each sample remembers the labelings that once violated its margin most and their dual weights. A
pass visits the samples one by one, looks for a worse labeling by sorting, and moves weight between
those it knows (``colabel._kernels.plane_ascent``). The dual value never falls, and couplings stay
non-negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colabel.learners.margin import MarginProblem
from colabel.roles import Floats, Labels, ProductPairs

if TYPE_CHECKING:
    from colabel._kernels.planes import Fresh, Planes, Settings
    from colabel._kernels.worst_labeling import CountLosses

__all__ = ["Ascent", "PlaneCache", "count_tables"]

# Bytes that the remembered labelings of all samples may take.
CACHE_BYTES = 2**29
LEAST_PLANES = 8
# Steps of one visit; passes end where the gap on labelings known has fallen to this share of the
# whole gap.
STEPS, EASE = 20, 0.2
# Few samples are visited more often in a pass, as it takes no time: at least so many visits.
VISITS = 1000


class PlaneCache:
    """Labelings that samples remember, with dual weights; the truth is the first of each.

    Parameters
    ----------
    problem : MarginProblem
    n_planes : int
        Most labelings of a sample.
    """

    def __init__(self, problem: MarginProblem, n_planes: int) -> None:
        n, n_labels = problem.Y.shape
        each = 16 + -(-n_labels // 8)
        n_planes = max(LEAST_PLANES, min(n_planes, CACHE_BYTES // (n * each)))
        packed = np.packbits(problem.Y, axis=1, bitorder="little")
        self.planes = np.zeros((n, n_planes, packed.shape[1]), dtype=np.uint8)
        self.weights, self.losses = np.zeros((n, n_planes)), np.zeros((n, n_planes))
        self.counts = np.ones(n, dtype=np.int64)
        self.planes[:, 0], self.weights[:, 0] = packed, problem.share

    @property
    def arrays(self) -> Planes:
        """What the kernel takes."""
        from colabel._kernels.planes import Planes

        return Planes(self.planes, self.weights, self.losses, self.counts)

    def loss(self) -> float:
        """Return the loss of the labelings, weighted: the linear part of the dual."""
        return float(np.einsum("np,np->", self.weights, self.losses))

    def free(self, problem: MarginProblem) -> Floats:
        """Return ``lambda`` times the parameters, but for the sign of the couplings."""
        total = problem.truth.copy()
        n_labels = problem.model.n_labels
        for p in range(int(self.counts.max(initial=0))):
            on = np.flatnonzero(self.weights[:, p])
            bits = np.unpackbits(
                self.planes[on, p], axis=1, count=n_labels, bitorder="little"
            ).astype(np.float64)
            total -= problem.model.feature_sum(problem.X[on], bits, self.weights[on, p])
        return total

    def shrink(self, problem: MarginProblem) -> None:
        """Give the truth as much weight as the dual likes best, the others in proportion.

        At another penalty, the weights of the last solution are too large or too small together.
        """
        ridge = problem.ridge(problem.model.project(self.free(problem) / problem.penalty))
        loss = self.loss()
        if ridge > 0.0 and loss < 2.0 * ridge:
            share = max(0.0, loss / (2.0 * ridge))
            total = self.weights.sum(axis=1)
            self.weights *= share
            self.weights[:, 0] += (1.0 - share) * total


class Ascent:
    """Dual weights and the parameters that go with them."""

    def __init__(
        self, problem: MarginProblem, state: PlaneCache | None, n_planes: int, seed: int
    ) -> None:
        from colabel._kernels.plane_ascent import Pairs, ascent_workspace

        self._start(problem, state, n_planes, seed)
        model = problem.model
        assert isinstance(model, ProductPairs)
        self.model = model
        start = np.searchsorted(model.edges[:, 0], np.arange(model.n_labels + 1)).astype(np.int64)
        heads = np.ascontiguousarray(model.edges[:, 1], dtype=np.int64)
        self.pairs = Pairs(start, heads, model.strength)
        self.tables = count_tables(problem) if problem.sorts else None
        self.exact = problem.sorts and not len(heads)
        self.work = ascent_workspace(self.cache.planes.shape[1], model.n_labels, len(heads))

    def _start(
        self, problem: MarginProblem, state: PlaneCache | None, n_planes: int, seed: int
    ) -> None:
        self.problem = problem
        self.cache = PlaneCache(problem, n_planes) if state is None else state
        if state is not None:
            self.cache.shrink(problem)
        self.free = self.cache.free(problem) / problem.penalty
        self.random = np.random.RandomState(seed)
        self.visits = -(-VISITS // problem.n_samples)

    def theta(self) -> Floats:
        """Return the parameters: couplings are not negative."""
        return self.problem.model.project(self.free)

    def dual(self) -> float:
        """Return the dual value, a lower bound of the objective's minimum."""
        return self.cache.loss() - self.problem.ridge(self.theta())

    def take_up(self, labels: Labels, losses: Floats) -> None:
        """Visit all samples with new labelings."""
        order = self.random.permutation(self.problem.n_samples)
        self._sweep(order, labels[order], losses[order])

    def passes(self, enough: float, gap: float, most: int) -> int:
        """Make passes until the gap seems small; return how many.

        The gap is that of each sample on arrival, by what it knows or finds by sorting: an
        estimate, and free. ``enough`` is small, and so is a small part of ``gap``.
        """
        goal = enough if self.exact else max(enough, EASE * gap)
        n = self.problem.n_samples
        for visit in range(most * self.visits):
            if self._sweep(self.random.permutation(n)) <= goal:
                return visit // self.visits + 1
        return most

    def _sweep(
        self,
        order: NDArray[np.int64],
        labels: Labels | None = None,
        losses: Floats | None = None,
    ) -> float:
        """Visit samples, with a new labeling for each or looking for one; return their gap."""
        from colabel._kernels.plane_ascent import ascend, ascend_sorting

        problem, fresh = self.problem, self._fresh(labels, losses)
        data = problem.rows, problem.norms, self.cache.arrays
        rest = *self.model.split(self.free), self.pairs, self._settings(), order, self.work
        if not len(fresh.losses) and self.tables is not None:
            return float(ascend_sorting(*data, self.tables, *rest))
        return float(ascend(*data, fresh, *rest))

    def _fresh(self, labels: Labels | None, losses: Floats | None) -> Fresh:
        from colabel._kernels.planes import Fresh

        if labels is None or losses is None:
            labels, losses = self.problem.Y[:0], np.zeros(0)
        return Fresh(np.packbits(labels, axis=1, bitorder="little"), losses)

    def _settings(self) -> Settings:
        from colabel._kernels.planes import Settings

        return Settings(self.problem.penalty, float(self.problem.model.constant), STEPS, 1e-14)


def count_tables(problem: MarginProblem) -> CountLosses:
    """Return the loss by counts as the kernel takes it."""
    from colabel._kernels.worst_labeling import CountLosses

    n_labels = problem.model.n_labels
    starts, steps = np.zeros(n_labels + 1, dtype=np.int64), np.zeros(n_labels + 1)
    parts, size = [], 0
    for n_true in np.unique(problem.Y.sum(axis=1, dtype=np.int64)):
        table = problem.loss.counts_table(int(n_true), n_labels)
        starts[n_true], steps[n_true] = size, np.diff(table, axis=1).max(initial=0.0)
        parts.append(table.ravel())
        size += table.size
    return CountLosses(np.concatenate(parts), starts, steps)
