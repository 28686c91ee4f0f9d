"""Decoding any couplings by the semidefinite relaxation, solved by the mixing method.

The relaxation is that of max-cut with a linear term (Section 5.1 of Lajugie et al. 2015),
solved in low rank by ``colabel._kernels.mixing``. Coordinate ascent proves nothing by itself: the
bound comes from the dual, whose multipliers are read off the gradient and shifted by the lowest
eigenvalue until they are feasible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state

from colabel._parameters import check_whole
from colabel._renamed import Renamed
from colabel._rows import Span
from colabel.decoders._mixing_counts import best_sizes
from colabel.decoders.base import BaseDecoder, Floats, Labels, binary_rows
from colabel.decoders.fixed_size import CLOSE, solve_fixed_size
from colabel.decoders.spectral import Spectral, Table, round_counts
from colabel.decoders.spins import Spins
from colabel.numerics.threads import in_threads
from colabel.results import Decoded, RelaxedSolution
from colabel.scores import Pairwise, ScoreTable

__all__ = ["Mixing", "dual_bound", "random_factors", "rank_for"]

# Rows are solved in groups whose factors and certificates fill about this many cells.
CELLS = 4_000_000
# A thread is worth its start for so many couplings, counted once a row.
THREAD_CELLS = 2**14
# Added to warm starts: a factor of rank one is a fixed point of coordinate ascent.
NOISE = 0.05


class Mixing(BaseDecoder):
    """Relax labels to unit vectors, round by random hyperplanes, and improve by flips.

    O(n_labels^2.5) a sweep, some tens of sweeps per sample, and one eigenvalue problem per sample
    for the bound, which is much tighter than that of ``Spectral``. Any couplings.

    Parameters
    ----------
    tol : float, default=1e-7
        A sweep that gains less than this share of the value is the last. The relative gap left
        between the relaxed value and its bound is some hundred times larger.
    max_iter : int, default=1000
        Most sweeps over the labels.
    n_roundings : int, default=20
        Random hyperplanes per sample; the best labeling is kept.
    random_state : int, RandomState or None, default=0
        Start of the ascent and hyperplanes, the same for all samples.

    Examples
    --------
    >>> from colabel.scores import Pairwise
    >>> table = Pairwise([[1.0, 0.8, -0.5]], edges=[[0, 1], [1, 2]], couplings=[-3.0, 1.0])
    >>> found = Mixing().decode(table)
    >>> found.labels
    array([[0, 1, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)
    handles: ClassVar[tuple[str, ...]] = ("modular", "counts")
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"max_sweeps": "max_iter"}

    def __init__(
        self,
        tol: float = 1e-7,
        max_iter: int = 1000,
        n_roundings: int = 20,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.n_roundings = n_roundings
        self.random_state = random_state

    def relax(
        self,
        scores: Pairwise,
        *,
        size: int | None = None,
        start: RelaxedSolution | None = None,
        certify: bool = True,
    ) -> RelaxedSolution:
        """Solve the relaxation of ``decode``.

        Parameters
        ----------
        scores : Pairwise
        size : int or None
            Demand that the relaxed labels add up to this number (``u'1 = 2 size - n_labels``).
            The bound then holds for labelings of this size only.
        start : RelaxedSolution or None
            Where to start: the solution of a table of as many samples and labels, similar to
            this one and without ``size``. A little noise is added, because vectors that all lie
            on one line would never leave it; those of low rank are given the dimensions that
            they lack.
        certify : bool
            Bound the solution from above, which may take longer than to find it; else the bound
            is infinite.
        """
        self._check(scores)
        self._check_parameters()
        if size is not None:
            check_whole(size, "size", least=0)
            if size > scores.n_labels:
                raise ValueError(f"size must be from 0 to {scores.n_labels}; got {size}")
        spins, rng = Spins.of(scores), check_random_state(self.random_state)
        first = random_factors(rng, rank_for(scores.n_labels), scores.n_labels)
        warm = None if start is None else _factors_of(start, scores)
        parts = []
        for rows in _row_blocks(*scores.unary.shape):
            X = np.tile(first, (len(spins.linear[rows]), 1, 1))
            if warm is not None:
                X = _shaken(warm[rows], rng)
            parts.append(self._relax(spins, rows, X, size, certify))
        return _joined(parts, scores.unary.shape)

    def relax_counts(
        self,
        scores: Pairwise,
        Y: Labels,
        counts_table: Table,
        *,
        nonempty: bool = False,
        certify: bool = True,
    ) -> RelaxedSolution:
        """Solve the relaxation of ``decode_counts``: the best over all numbers of labels.

        ``certify`` as in ``relax``.
        """
        self._check(scores, nonempty)
        self._check_parameters()
        truth = binary_rows(scores, Y, "Y").astype(np.float64)
        if scores.n_labels == 0:
            return Spectral().relax_counts(scores, Y, counts_table)
        rng = check_random_state(self.random_state)
        first = random_factors(rng, rank_for(scores.n_labels), scores.n_labels)
        # What is not proved need not be closer than the relaxation is solved.
        close = CLOSE if certify else max(CLOSE, float(self.tol))
        solvers = self._climb, self._bound if certify else self._top, close
        parts = []
        for rows in _row_blocks(*truth.shape):
            spins = Spins.of(scores.take(rows))
            parts.append(best_sizes(spins, truth[rows], counts_table, nonempty, first, solvers))
        found = _joined(parts, truth.shape)
        return found if certify else replace(found, upper_bound=np.full(len(truth), np.inf))

    def decode_counts(
        self, scores: ScoreTable, Y: Labels, counts_table: Table, *, nonempty: bool = False
    ) -> Decoded:
        assert isinstance(scores, Pairwise)
        relaxed = self.relax_counts(scores, Y, counts_table, nonempty=nonempty)
        found = round_counts(scores, Y, counts_table, relaxed, nonempty)
        # On the sphere a number of labels is demanded of second moments too: it may be tighter.
        sphere = Spectral().relax_counts(scores, Y, counts_table, nonempty=nonempty)
        bound = np.minimum(found.upper_bound, np.maximum(sphere.upper_bound, found.value))
        return Decoded(found.labels, found.value, bound)

    def decode_size(self, scores: Pairwise, size: int) -> Decoded:
        """Find a labeling of large score with exactly ``size`` labels on, and bound the best."""
        from colabel._kernels.rounding import round_sizes

        relaxed = self.relax(scores, size=size)
        spins = Spins.of(scores)
        labels = np.zeros(scores.unary.shape, np.int8)
        draws = self._draws(relaxed.factors.shape[1])
        draws[0] = 0.0  # the first rounding is that of the mean itself

        def round_part(rows: Span) -> None:
            moments = relaxed.u[rows], relaxed.factors[rows]
            round_sizes(scores.unary[rows], spins.matrix, *moments, draws, size, labels[rows])

        in_threads(round_part, scores.n_samples, least=1)
        value = spins.value(labels)
        return Decoded(labels, value, np.maximum(relaxed.upper_bound, value))

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        from colabel._kernels.rounding import round_factors

        relaxed, spins = self.relax(scores), Spins.of(scores)
        labels = np.zeros(scores.unary.shape, np.int8)
        draws = self._draws(relaxed.factors.shape[1])
        draws[:, 0] = 1.0
        draws[0, 1:] = 0.0  # the first rounding is that of the mean itself

        def round_part(rows: Span) -> None:
            unary, factors = scores.unary[rows], relaxed.factors[rows]
            round_factors(unary, spins.matrix, factors, draws, nonempty, labels[rows])

        in_threads(round_part, scores.n_samples, least=1)
        value = spins.value(labels)
        bound = np.minimum(relaxed.upper_bound, spins.box)
        return Decoded(labels, value, np.maximum(bound, value))

    def _check_parameters(self) -> None:
        if not 0.0 <= self.tol < np.inf:
            raise ValueError(f"tol must be a number of at least 0, not {self.tol}")
        check_whole(self.max_iter, "max_iter", least=1)
        check_whole(self.n_roundings, "n_roundings", least=1)

    def _draws(self, rank: int) -> Floats:
        rng = check_random_state(self.random_state)
        return rng.standard_normal((self.n_roundings, rank))

    def _relax(
        self, spins: Spins, rows: Span, X: Floats, size: int | None, certify: bool
    ) -> RelaxedSolution:
        B, W, constant = spins.linear[rows], 0.25 * spins.matrix, spins.constant[rows]
        if size is None:
            value, G = self._climb(B, W, X)
            bound = dual_bound(B, W, X, G) if certify else np.full(len(B), np.inf)
            factors, u = X, X[:, 0, :].copy()
        else:
            beta = 2.0 * size - len(W)
            u, factors, value, multiplier = solve_fixed_size(B, W, X, beta, self._climb)
            bound = np.full(len(B), np.inf)
            if certify:
                bound = self._bound(B + multiplier[:, None], W, X) - multiplier * beta
        value = constant + value
        bound = np.maximum(constant + bound + spins.rounding[rows], value)
        return RelaxedSolution(u, factors, value, bound)

    def _bound(self, B: Floats, W: Floats, X: Floats) -> Floats:
        """Bound the free relaxation near its solution ``X``."""
        return dual_bound(B, W, X, self._climb(B, W, X)[1])

    def _top(self, B: Floats, W: Floats, X: Floats) -> Floats:
        """Return the value of the free relaxation near its solution ``X``."""
        return self._climb(B, W, X)[0]

    def _climb(self, B: Floats, W: Floats, X: Floats) -> tuple[Floats, Floats]:
        """Climb from ``X`` in place; return values and gradients."""
        from colabel._kernels.mixing import mix_rows

        G, value = np.empty_like(X), np.empty(len(B))
        rows, limits = np.ascontiguousarray(B), (float(self.tol), int(self.max_iter))

        def solve(part: Span) -> None:
            mix_rows(rows[part], W, X[part], G[part], *limits, value[part])

        in_threads(solve, len(B), least=max(1, THREAD_CELLS // max(1, W.size)))
        return value, G


def dual_bound(B: Floats, W: Floats, X: Floats, G: Floats) -> Floats:
    """Bound ``max b's + s'(W / 2)s`` over {-1, +1} from factors and their gradients.

    For any multipliers ``y`` of the n_labels + 1 unit lengths, the bound is ``sum(y)`` plus
    n_labels + 1 times what the lowest eigenvalue of ``diag(y) - M`` lacks to zero, M being the
    homogenised matrix of the problem; at a maximum ``y_i = |g_i| / 2`` and nothing is lacking.
    """
    n_rows, n_labels = B.shape
    y = np.empty((n_rows, n_labels + 1))
    y[:, 0] = 0.5 * np.einsum("il,il->i", B, X[:, 0])
    y[:, 1:] = 0.5 * np.sqrt(np.einsum("irl,irl->il", G, G))
    S = np.empty((n_rows, n_labels + 1, n_labels + 1))
    S[:, 1:, 1:] = -0.5 * W
    S[:, 0, 1:] = S[:, 1:, 0] = -0.5 * B
    diagonal = np.arange(n_labels + 1)
    S[:, diagonal, diagonal] = y
    lowest = np.linalg.eigvalsh(S)[:, 0]
    return y.sum(axis=1) + (n_labels + 1) * np.maximum(0.0, -lowest)


def rank_for(n_labels: int) -> int:
    """Smallest rank at which local maxima are those of the relaxation, and one more."""
    return int(np.ceil(np.sqrt(2.0 * (n_labels + 1)))) + 1


def random_factors(rng: np.random.RandomState, rank: int, n_labels: int) -> Floats:
    """Draw ``n_labels`` unit vectors: (rank, n_labels)."""
    X = rng.standard_normal((rank, n_labels))
    return X / np.linalg.norm(X, axis=0)


def _factors_of(start: RelaxedSolution, scores: Pairwise) -> Floats:
    """Return factors that fit the table, of full rank at least: kernels trust their shape."""
    factors = np.asarray(start.factors, dtype=np.float64)
    if factors.ndim != 3 or factors.shape[::2] != scores.unary.shape:
        raise ValueError(
            f"start has factors of shape {factors.shape}; this table needs "
            f"({scores.n_samples}, rank, {scores.n_labels})"
        )
    lacking = max(0, rank_for(scores.n_labels) - factors.shape[1])
    return np.pad(factors, ((0, 0), (0, lacking), (0, 0)))


def _shaken(factors: Floats, rng: np.random.RandomState) -> Floats:
    """Add noise, the same for every row, and give the columns unit length again."""
    X = factors + NOISE * rng.standard_normal(factors.shape[1:])
    return np.ascontiguousarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def _row_blocks(n_samples: int, n_labels: int) -> Iterator[Span]:
    step = max(1, CELLS // (n_labels + 1) ** 2)
    for begin in range(0, n_samples, step):
        yield slice(begin, begin + step)


def _joined(parts: list[RelaxedSolution], shape: tuple[int, ...]) -> RelaxedSolution:
    if not parts:
        empty = np.zeros((0, rank_for(shape[1]), shape[1]))
        return RelaxedSolution(np.zeros(shape), empty, np.zeros(0), np.zeros(0))
    return RelaxedSolution(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("u", "factors", "value", "upper_bound")
        )
    )
