"""Block-coordinate dual ascent in the space of labels, with cached planes.

Each sample remembers the labelings that once violated its margin most and their dual weights. A
pass visits the samples one by one, looks for a worse labeling by sorting, and moves weight between
those it knows (``colabel._kernels.plane_ascent``). Every few passes all samples are decoded at the
current parameters, which gives the objective and the labelings that sorting overlooks where labels
are coupled. The dual value never falls, and couplings stay non-negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.learners.margin import MarginProblem, MarginSolution

if TYPE_CHECKING:
    from colabel._kernels.planes import Fresh, Planes, Settings
    from colabel._kernels.worst_labeling import CountLosses

__all__ = ["Ascent", "BlockDual", "PlaneCache", "count_tables"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# Bytes that the remembered labelings of all samples may take.
CACHE_BYTES = 2**29
LEAST_PLANES = 8
# Steps of one visit; passes between two looks at the objective, fewer where the gap on labelings
# known has fallen to this share of the whole gap.
STEPS, CHECK, EASE = 20, 10, 0.2
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


class BlockDual(BaseEstimator):
    """Learn by block-coordinate dual ascent; the duality gap is proved by the strongest oracle.

    Parameters
    ----------
    tol : float, default=1e-3
        Stop where the gap is this share of the objective.
    max_iter : int, default=200
        Most passes.
    n_planes : int, default=60
        Most labelings that a sample remembers; fewer where they would take more than half a
        gigabyte together.
    random_state : int, default=0
        Seeds the order of visits.

    Notes
    -----
    Memory: the features once, 16 bytes and a bit a label for each labeling remembered (8 for each
    sample at least), and scores of all labels for a block of samples. A pass
    costs O(n_labels) an entry of ``X``, a sort of the labels a sample, and steps between labelings
    known. Decodings of all samples count as passes too.
    """

    def __init__(
        self, tol: float = 1e-3, max_iter: int = 200, n_planes: int = 60, random_state: int = 0
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.n_planes = n_planes
        self.random_state = random_state

    def solve(
        self,
        problem: MarginProblem,
        state: PlaneCache | None = None,
        report: Callable[[int, float, float], None] | None = None,
    ) -> MarginSolution:
        """Minimise the objective of ``problem``.

        Parameters
        ----------
        problem : MarginProblem
        state : PlaneCache or None
            Of a solution for the same samples, with any penalty and strengths. It is changed.
        report : callable or None
            Called with pass, objective and gap.

        Returns
        -------
        MarginSolution
        """
        run = self._begin(problem, state)
        trace: list[tuple[float, ...]] = []
        oracle = problem.first
        best, coef, n_iter = np.inf, run.theta(), 0
        while n_iter < self.max_iter:
            n_iter += 1
            theta, dual = run.theta(), run.dual()
            found = problem.violations(theta, oracle)
            value, upper = problem.ridge(theta) + np.array([found.risk, found.upper])
            if value < best:
                best, bound, coef, judge = value, upper, theta, oracle
            trace.append((upper, dual, found.certified, found.proved))
            if report is not None:
                report(n_iter, bound, bound - dual)
            enough = self.tol * abs(best)
            if best - dual > enough:
                run.take_up(found.labels, found.losses)
                most = min(CHECK, self.max_iter - n_iter)
                n_iter += run.passes(0.5 * enough, best - dual, most)
            elif oracle == 1:
                break
            else:
                # The quick oracle has no more to say; what it overlooked is looked for now.
                oracle, best = 1, np.inf
        bound = problem.verified(coef, bound, judge)
        history, lower, certified, proved = problem.trace(trace)
        gap = bound - float(lower.max())
        converged = gap <= self.tol * abs(bound)
        kept = (lower, certified, proved, run.cache)
        return MarginSolution(coef, history, gap, converged, n_iter, *kept)

    def _begin(self, problem: MarginProblem, state: PlaneCache | None) -> Ascent:
        return Ascent(problem, state, self.n_planes, self.random_state)


class Ascent:
    """Dual weights and the parameters that go with them."""

    def __init__(
        self, problem: MarginProblem, state: PlaneCache | None, n_planes: int, seed: int
    ) -> None:
        from colabel._kernels.plane_ascent import Pairs, ascent_workspace

        self._start(problem, state, n_planes, seed)
        model = problem.model
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
        rest = *problem.model.split(self.free), self.pairs, self._settings(), order, self.work
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
