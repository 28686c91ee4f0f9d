"""Block-coordinate dual ascent in the space of labels, with cached planes.

Each sample remembers the labelings that once violated its margin most and their dual weights. A
pass decodes all samples at the current parameters, which gives the exact objective and new
labelings, and then visits the samples one by one, several times, moving weight between the
labelings they know (``colabel._kernels.plane_ascent``). The dual value never falls, couplings stay
non-negative, and the duality gap comes with every pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from colabel.learners.margin import MarginProblem, MarginSolution

__all__ = ["BlockDual", "PlaneCache"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# Bytes that the remembered labelings of all samples may take.
CACHE_BYTES = 2**29
LEAST_PLANES = 8
# Steps of one visit; visits between two decodings, fewer where the gap on known labelings has
# fallen to this share of the whole gap; with less to gain than this share of the mean, one waits.
STEPS, SWEEPS, EASE, CALM = 20, 10, 0.2, 0.2
# Few samples are visited more often: this many visits take no longer than decoding.
VISITS = 20_000
# Groups of samples decoded together in a pass, and passes between two looks at the objective.
GROUPS, CHECK = 16, 10


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
        self.counts, self.gaps = np.ones(n, dtype=np.int64), np.zeros(n)
        self.planes[:, 0], self.weights[:, 0] = packed, problem.share

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """What the kernel takes."""
        return self.planes, self.weights, self.losses, self.counts, self.gaps

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
    Memory: the features once, 16 bytes and a bit a label for each labeling remembered. A pass
    decodes every sample once and visits it a few times, O(n_labels) an entry of ``X`` each.
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
        run = _Ascent(problem, state, self.n_planes, self.random_state)
        trace: list[tuple[float, float, float]] = []
        oracle = problem.first
        best, coef, n_iter = np.inf, run.theta(), 0
        while n_iter < self.max_iter:
            n_iter += 1
            theta, dual = run.theta(), run.dual()
            found = problem.violations(theta, oracle)
            value, upper = problem.ridge(theta) + np.array([found.risk, found.upper])
            if value < best:
                best, bound, coef = value, upper, theta
            trace.append((upper, dual, found.certified))
            if report is not None:
                report(n_iter, bound, bound - dual)
            enough = self.tol * abs(best)
            if best - dual > enough:
                run.take_up(found.labels, found.losses)
                n_iter += run.passes(oracle, 0.5 * enough, min(CHECK, self.max_iter - n_iter))
            elif oracle == 1:
                break
            else:
                # The quick oracle has no more to say; what it overlooked is looked for now.
                oracle, best = 1, np.inf
        bound = problem.verified(coef, bound, oracle)
        history, lower, certified = np.array(trace).T
        gap = bound - float(lower.max())
        return MarginSolution(
            coef, history, gap, gap <= self.tol * abs(bound), n_iter, lower, certified, run.cache
        )


class _Ascent:
    """Dual weights and the parameters that go with them."""

    def __init__(
        self, problem: MarginProblem, state: PlaneCache | None, n_planes: int, seed: int
    ) -> None:
        from colabel._kernels.plane_ascent import ascent_workspace

        self.problem = problem
        self.cache = PlaneCache(problem, n_planes) if state is None else state
        if state is not None:
            self.cache.shrink(problem)
        self.free = self.cache.free(problem) / problem.penalty
        self.random = np.random.RandomState(seed)
        model = problem.model
        start = np.searchsorted(model.edges[:, 0], np.arange(model.n_labels + 1)).astype(np.int64)
        heads = np.ascontiguousarray(model.edges[:, 1], dtype=np.int64)
        self.pairs = (start, heads, model.strength)
        self.groups, self.calm = _groups(problem.Y), 0.0
        # Where one sample disturbs the others much, all must be visited all the time.
        apart = problem.penalty * problem.n_samples >= problem.rows[3].mean()
        self.patience = CALM if apart else 0.0
        self.work = ascent_workspace(self.cache.planes.shape[1], model.n_labels, len(heads))

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

    def passes(self, oracle: int, enough: float, most: int) -> int:
        """Decode and visit group after group, until the gap seems small enough; return how often.

        The gap is that of each group on arrival: an estimate, and free.
        """
        for done in range(most):
            gap = 0.0
            for g in self.random.permutation(len(self.groups)):
                rows = self.groups[g]
                found = self.problem.decode(self.theta(), rows, oracle)
                losses = self.problem.loss.value(self.problem.Y[rows], found.labels)
                gap += self._sweep(rows, found.labels, losses)
            if gap <= enough:
                return done + 1
            self.calm = self.patience * gap / self.problem.n_samples
            for _ in range(max(SWEEPS, VISITS // self.problem.n_samples)):
                # Samples with little to gain are left alone until the next pass.
                busy = np.flatnonzero(self.cache.gaps > self.calm)
                if self._sweep(self.random.permutation(busy)) <= EASE * gap:
                    break
        return most

    def _sweep(
        self,
        order: NDArray[np.int64],
        labels: Labels | None = None,
        losses: Floats | None = None,
    ) -> float:
        """Visit samples, with a new labeling for each or without; return the gap they had."""
        from colabel._kernels.plane_ascent import ascend

        problem = self.problem
        if labels is None or losses is None:
            labels, losses = problem.Y[:0], np.zeros(0)
        fresh = (np.packbits(labels, axis=1, bitorder="little"), losses)
        numbers = np.array([problem.penalty, problem.model.constant, STEPS, 1e-14, self.calm])
        theta = problem.model.split(self.free)
        rows, cache = problem.rows, self.cache.arrays
        return float(ascend(rows, cache, fresh, theta, self.pairs, numbers, order, self.work))


def _groups(Y: Labels) -> list[NDArray[np.int64]]:
    """Part the samples, for decoding, into groups with equally many true labels."""
    sizes = Y.sum(axis=1, dtype=np.int64)
    order = np.argsort(sizes, kind="stable")
    step = -(-len(Y) // GROUPS)
    parts = np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1)
    return [part[i : i + step] for part in parts for i in range(0, len(part), step)]
