"""The ranking problem of Elisseeff and Weston (2001), solved in its dual block by block.

    min_w  1/2 sum_l |w_l|^2 + C sum_i weight_i / (|Y_i| |Ybar_i|) sum_{k in Y_i, l not in Y_i}
           max(0, 1 - (f_k(x_i) - f_l(x_i))),        f_l(x) = <w_l, phi(x)>

The constant is one of the features. A sample whose label set is empty or full has no pairs of its
own; its labels are compared with a score of 0. The dual has a box constraint for each pair and no
other, so that blocks of samples are maximised in turn: within a block through its Gram matrix, pair
by pair (``colabel._kernels.rank_ascent``), between blocks by one matrix product. Every pass costs
about as much as scoring all samples a few times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._rows import Span
from colabel.roles import Features

__all__ = ["KernelRows", "LinearRows", "RankFit", "RankRows", "solve_ranking"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Index = NDArray[np.int64]

# Samples of a block, and sweeps over it at a visit.
BLOCK = 64
SWEEPS = 2
# Passes over all blocks between two looks at the gap.
PATIENCE = 5


class RankRows(Protocol):
    """Samples with scores that depend on dual weights; a block is a slice of them."""

    n: int

    def gram(self, block: Span) -> Floats:
        """Return inner products of the features of a block."""
        ...

    def scores(self, block: Span) -> Floats:
        """Return the scores of a block."""
        ...

    def add(self, block: Span, change: Floats) -> None:
        """Add to the dual weights of a block."""
        ...

    def refresh(self, beta: Floats) -> Floats:
        """Set all dual weights at once and return all scores, without the rounding of steps."""
        ...


class LinearRows(RankRows):
    """Linear features and a constant: ``gram = x . z + 1``; dense or sparse."""

    def __init__(self, X: Features, n_labels: int) -> None:
        self.X, self.n = X, X.shape[0]
        self.coef = np.zeros((n_labels, X.shape[1]))
        self.intercept = np.zeros(n_labels)

    def gram(self, block: Span) -> Floats:
        found = self.X[block] @ self.X[block].T
        return (found.toarray() if isinstance(found, sparse.csr_array) else found) + 1.0

    def scores(self, block: Span) -> Floats:
        return np.asarray(self.X[block] @ self.coef.T) + self.intercept

    def add(self, block: Span, change: Floats) -> None:
        self.coef += np.asarray(self.X[block].T @ change).T
        self.intercept += change.sum(axis=0)

    def refresh(self, beta: Floats) -> Floats:
        self.coef = np.ascontiguousarray(np.asarray(self.X.T @ beta).T)
        self.intercept = beta.sum(axis=0)
        return self.scores(slice(None))


class KernelRows(RankRows):
    """A kernel matrix, with the constant in it; scores are kept for all samples."""

    def __init__(self, K: Floats, n_labels: int) -> None:
        self.K, self.n = K, len(K)
        self.F = np.zeros((self.n, n_labels))

    def gram(self, block: Span) -> Floats:
        return self.K[block, block]

    def scores(self, block: Span) -> Floats:
        return self.F[block]

    def add(self, block: Span, change: Floats) -> None:
        self.F += self.K[block].T @ change

    def refresh(self, beta: Floats) -> Floats:
        self.F = self.K @ beta
        return self.F


@dataclass(frozen=True, eq=False)
class RankFit:
    """A solution.

    Parameters
    ----------
    beta : ndarray of shape (n_samples, n_labels)
        Dual weights by label; ``w_l = sum_i beta_il phi(x_i)``.
    objective, gap : float
        The value of the problem at ``w``, and how far it is above the optimum at most.
    history : ndarray of shape (n_looks, 2)
        The best value and the best proved lower bound at each look.
    n_iter : int
        Passes over the samples.
    converged : bool
    """

    beta: Floats
    objective: float
    gap: float
    history: Floats
    n_iter: int
    converged: bool


def solve_ranking(
    rows: RankRows, Y: Labels, weight: Floats, *, C: float, max_iter: int, tol: float
) -> RankFit:
    """Solve the ranking problem to a relative duality gap of ``tol``.

    Parameters
    ----------
    rows : RankRows
        At zero weights; at the solution afterwards.
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    weight : ndarray of shape (n_samples,)
    C : float
    max_iter : int
        Passes over all samples.
    tol : float

    Returns
    -------
    RankFit

    Notes
    -----
    Memory for a number a pair of labels, on and off, of each sample. Deterministic.
    """
    from colabel._kernels.rank_ascent import ascend_block

    pairs = _pairs(Y, C * weight)
    alpha, beta = np.zeros(int(pairs.sizes.sum())), np.zeros(Y.shape)
    blocks = [slice(i, min(i + BLOCK, rows.n)) for i in range(0, rows.n, BLOCK)]
    grams = [np.ascontiguousarray(rows.gram(block)) for block in blocks]
    rng, best, mean = np.random.RandomState(0), _Best(beta), _Mean()
    for n_iter in range(1, max_iter + 1):
        for b in rng.permutation(len(blocks)):
            scores = _with_zero(rows.scores(blocks[b]))
            change = ascend_block(grams[b], scores, *pairs.of(blocks[b]), alpha, SWEEPS)[:, :-1]
            rows.add(blocks[b], change)
            beta[blocks[b]] += change
        mean.add(n_iter, beta, float(alpha.sum()))
        if n_iter % PATIENCE == 0 or n_iter == max_iter:
            best.try_out(rows, pairs, mean.beta, mean.total)
            best.try_out(rows, pairs, beta, float(alpha.sum()))
            best.note()
            if best.gap <= tol * best.value:
                break
    rows.refresh(best.beta)
    converged = bool(best.gap <= tol * best.value)
    return RankFit(best.beta, best.value, best.gap, np.array(best.history), n_iter, converged)


class _Best:
    """The best weights so far, and the highest bound."""

    def __init__(self, beta: Floats) -> None:
        self.beta, self.value, self.bound = beta.copy(), np.inf, -np.inf
        self.history: list[tuple[float, float]] = []

    @property
    def gap(self) -> float:
        return self.value - self.bound

    def try_out(self, rows: RankRows, pairs: _Pairs, beta: Floats, total: float) -> None:
        """Value weights whose pairs add up to ``total``; leave ``rows`` at them."""
        from colabel._kernels.rank_ascent import pair_losses

        F = rows.refresh(beta)
        half = 0.5 * float(np.sum(beta * F))
        losses = pair_losses(_with_zero(F), pairs.labels, pairs.counts)
        value = half + float(pairs.weight @ losses)
        self.bound = max(self.bound, total - half)
        if value < self.value:
            self.value, self.beta = value, beta.copy()

    def note(self) -> None:
        self.history.append((self.value, self.bound))


class _Mean:
    """The mean of the weights over the last half of the passes, or more.

    Weights jump to and fro around the solution where C is large; so does the objective, and much
    less at their mean, which is feasible too.
    """

    def add(self, n_iter: int, beta: Floats, total: float) -> None:
        if n_iter & (n_iter - 1) == 0:  # a power of two: begin anew
            self.start, self.beta, self.total = n_iter, beta.copy(), total
            return
        share = 1.0 / (n_iter - self.start + 1)
        self.beta += share * (beta - self.beta)
        self.total += share * (total - self.total)


class _Pairs(NamedTuple):
    """Pairs of labels on and off of each sample."""

    labels: Index
    counts: Index
    sizes: Index
    starts: Index
    weight: Floats

    def of(self, block: Span) -> tuple[Index, Index, Index, Floats]:
        """Return what the ascent needs for a block."""
        caps = self.weight[block] / self.sizes[block]
        return self.labels[block], self.counts[block], self.starts[block], caps


def _pairs(Y: Labels, weight: Floats) -> _Pairs:
    """List the labels of each sample, on before off, and count both; ``L`` is the score of 0."""
    n, n_labels = Y.shape
    labels = np.zeros((n, n_labels + 1), dtype=np.int64)
    labels[:, :-1] = np.argsort(-Y, axis=1, kind="stable")
    n_on = Y.sum(axis=1, dtype=np.int64)
    counts = np.column_stack([n_on, n_labels - n_on])
    empty, full = n_on == 0, n_on == n_labels
    labels[empty, 1:] = np.arange(n_labels)
    labels[empty, 0] = labels[full, -1] = n_labels
    counts[empty], counts[full] = (1, n_labels), (n_labels, 1)
    sizes = counts[:, 0] * counts[:, 1]
    return _Pairs(labels, counts, sizes, np.cumsum(sizes) - sizes, weight)


def _with_zero(scores: Floats) -> Floats:
    return np.pad(scores, ((0, 0), (0, 1)))
