"""Decoding any couplings by the sphere relaxation: one eigendecomposition for the whole batch.

The 2^n_labels corners in {-1, +1} are replaced by the sphere through them. What remains is an
eigenvalue problem shared by all rows and, for each row, one equation in one unknown (Section 5.2
of Lajugie et al. 2015, its recipe corrected: the hard case is solved too). Fixing the number
of labels on leaves a smaller sphere (Section 5.3), for all numbers in one basis; that is how losses
which depend on counts are added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel._rows import RowIndex
from colabel.decoders.base import BaseDecoder, Floats, Labels, binary_rows
from colabel.decoders.spins import Spins, times
from colabel.results import Decoded, RelaxedSolution
from colabel.scores import Pairwise, ScoreTable

__all__ = ["SizeBasis", "Spectral", "by_size", "loss_lines", "round_counts"]

Table = Callable[[int, int], Floats]


class Spectral(BaseDecoder):
    """Relax labelings to a sphere, round, and improve by flips. Any couplings, with a bound.

    O(n_labels^3) once and O(n_labels^2) per sample; O(n_labels^2) more where a counts loss is
    added. The value is that of a local optimum: no single flip improves it.

    Notes
    -----
    Losses that are affine in the hits for a given number of labels (F-beta) are relaxed as they
    are; any other counts loss is replaced by the lowest parallel to its chord that lies above it,
    so the bound holds but is looser.

    Examples
    --------
    >>> from colabel.scores import Pairwise
    >>> table = Pairwise([[1.0, 0.8, -0.5]], edges=[[0, 1], [1, 2]], couplings=[-3.0, 1.0])
    >>> Spectral().decode(table).labels
    array([[0, 1, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)
    handles: ClassVar[tuple[str, ...]] = ("modular", "counts")

    def relax(self, scores: Pairwise, *, certify: bool = True) -> RelaxedSolution:
        """Solve the relaxation of ``decode``: maximise the score over the sphere.

        ``certify`` is there for the sake of ``Mixing.relax``: this solution is its own bound.
        """
        self._check(scores)
        return _relax(Spins.of(scores))

    def relax_counts(
        self,
        scores: Pairwise,
        Y: Labels,
        counts_table: Table,
        *,
        nonempty: bool = False,
        certify: bool = True,
    ) -> RelaxedSolution:
        """Solve the relaxation of ``decode_counts``: the best sphere over all numbers of labels."""
        self._check(scores, nonempty)
        truth = binary_rows(scores, Y, "Y").astype(np.float64)
        return _relax_counts(Spins.of(scores), truth, counts_table, nonempty)

    def size_bounds(self, scores: Pairwise) -> Floats:
        """Bound the score of all labelings with k labels on: (n_samples, n_labels + 1)."""
        self._check(scores)
        if scores.n_labels == 0:
            return np.zeros((scores.n_samples, 1))
        basis = SizeBasis(Spins.of(scores))
        truth = np.zeros(scores.unary.shape)
        lines = np.zeros((scores.n_labels + 1, 2))
        return basis.solve(slice(None), truth, lines, np.ones(len(lines)), all_sizes=True)[0]

    def decode_counts(
        self, scores: ScoreTable, Y: Labels, counts_table: Table, *, nonempty: bool = False
    ) -> Decoded:
        assert isinstance(scores, Pairwise)
        relaxed = self.relax_counts(scores, Y, counts_table, nonempty=nonempty)
        return round_counts(scores, Y, counts_table, relaxed, nonempty)

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        from colabel._kernels.rounding import round_rows

        spins = Spins.of(scores)
        relaxed = _relax(spins)
        labels = np.zeros(scores.unary.shape, np.int8)
        table = np.zeros((1, scores.n_labels + 1))
        truth = np.zeros_like(labels)
        round_rows(scores.unary, spins.matrix, relaxed.u, truth, table, nonempty, labels)
        value = spins.value(labels)
        bound = np.minimum(relaxed.upper_bound, spins.box)
        return Decoded(labels, value, np.maximum(bound, value))


def round_counts(
    scores: Pairwise, Y: Labels, counts_table: Table, relaxed: RelaxedSolution, nonempty: bool
) -> Decoded:
    """Round relaxed labels to labelings that no flip improves, with the loss added."""
    from colabel._kernels.rounding import round_rows

    truth, spins = binary_rows(scores, Y, "Y"), Spins.of(scores)
    labels, loss = np.zeros_like(truth), np.zeros(len(truth))
    bound, box = relaxed.upper_bound.copy(), spins.box
    for rows, n_true in by_size(truth):
        table = np.ascontiguousarray(counts_table(n_true, scores.n_labels), dtype=np.float64)
        out = np.zeros((len(rows), scores.n_labels), np.int8)
        unary, u, true = scores.unary[rows], relaxed.u[rows], truth[rows]
        round_rows(unary, spins.matrix, u, true, table, nonempty, out)
        labels[rows] = out
        hits = (out * true).sum(axis=1)
        loss[rows] = table[hits, out.sum(axis=1) - hits]
        bound[rows] = np.minimum(bound[rows], box[rows] + table.max())
    value = spins.value(labels) + loss
    return Decoded(labels, value, np.maximum(bound, value))


def _relax(spins: Spins) -> RelaxedSolution:
    """Maximise ``linear's + s'(matrix / 8)s`` over ``|s|^2 = n_labels`` for each row."""
    from colabel._kernels.secular import sphere_rows

    n_samples, n_labels = spins.linear.shape
    if n_labels == 0:
        return _solution(np.empty((n_samples, 0)), spins.constant, spins.rounding)
    d, Q = np.linalg.eigh(-0.125 * spins.matrix)
    coordinates, value = np.empty((n_samples, n_labels)), np.empty(n_samples)
    c = times(spins.linear, Q)
    sphere_rows(c, d - d[0], d[0], float(n_labels), coordinates, value)
    return _solution(times(coordinates, Q.T), spins.constant + value, spins.rounding)


def _relax_counts(
    spins: Spins, truth: Floats, counts_table: Table, nonempty: bool
) -> RelaxedSolution:
    n_labels = truth.shape[1]
    if n_labels == 0:
        loss = float(np.asarray(counts_table(0, 0))[0, 0])
        return _solution(truth, np.full(len(truth), loss), spins.rounding)
    basis = SizeBasis(spins)
    u, value = np.empty(truth.shape), np.empty(len(truth))
    use = np.ones(n_labels + 1)
    use[0] = not nonempty
    for rows, n_true in by_size(truth):
        lines = loss_lines(np.asarray(counts_table(n_true, n_labels)))
        bounds, u[rows] = basis.solve(rows, truth[rows], lines, use)
        value[rows] = bounds[:, 0]
    return _solution(u, value, spins.rounding)


class SizeBasis:
    """Eigenbasis of the couplings on the space orthogonal to the ones, and rows in it."""

    def __init__(self, spins: Spins) -> None:
        self.spins = spins
        n_labels = len(spins.matrix)
        A = -0.125 * spins.matrix
        # A Householder reflection whose first column is the constant vector.
        w = np.full(n_labels, n_labels**-0.5)
        w[0] += 1.0
        P = (np.eye(n_labels) - np.outer(w, w) * (2.0 / (w @ w)))[:, 1:]
        d, Q = np.linalg.eigh(P.T @ A @ P)
        self.basis = np.ascontiguousarray(P @ Q)
        self.lowest = d[0] if len(d) else 0.0
        self.gaps = d - self.lowest
        self.tilt = (2.0 / n_labels) * (A.sum(axis=1) @ self.basis)
        self.total = A.sum()
        self.c = times(spins.linear, self.basis)

    def solve(
        self,
        rows: RowIndex,
        truth: Floats,
        lines: Floats,
        use: Floats,
        *,
        all_sizes: bool = False,
    ) -> tuple[Floats, Floats]:
        """Return bounds (n_rows, 1, or one for each size) and the maximisers in {-1, +1} units.

        ``lines`` holds intercept and slope of the loss in the hits for each size.
        """
        from colabel._kernels.secular import sphere_sizes

        linear, n_labels = self.spins.linear[rows], truth.shape[1]
        sizes = self._size_terms(lines, truth, use)
        guess = np.count_nonzero(linear > 0, axis=1)
        row_terms = np.stack([linear.sum(axis=1), truth.sum(axis=1), guess], axis=1)
        bounds = np.empty((len(linear), n_labels + 1 if all_sizes else 1))
        X = np.empty((len(linear), n_labels - 1))
        c, g = self.c[rows], times(truth, self.basis)
        best = sphere_sizes(c, g, self.tilt, self.gaps, sizes, row_terms, bounds, X)
        bounds += self.spins.constant[rows, None]
        if all_sizes:
            bounds += self.spins.rounding[rows, None]
        return bounds, sizes[best, 0][:, None] / n_labels + times(X, self.basis.T)

    def _size_terms(self, lines: Floats, truth: Floats, use: Floats) -> Floats:
        n_labels = truth.shape[1]
        n_true = truth[0].sum() if len(truth) else 0.0
        size = np.arange(n_labels + 1.0)
        beta = 2.0 * size - n_labels
        # 4 k (V - k) / V is V - beta^2 / V without the cancellation.
        radius2 = 4.0 * size * (n_labels - size) / n_labels
        # Hits are y'(1 + s) / 2 for a true labeling y in {0, 1}.
        constant = lines[:, 0] + 0.5 * lines[:, 1] * n_true - self.total * (beta / n_labels) ** 2
        sunk = self.lowest * radius2
        return np.stack([beta, radius2, sunk, 0.5 * lines[:, 1], constant, use], axis=1)


def loss_lines(table: Floats) -> Floats:
    """Return ``intercept, slope`` of a line in the hits above ``table`` for each number of labels.

    The slope is that of the chord: the line is the loss itself where that is affine in the hits.
    """
    n_true, n_false = table.shape[0] - 1, table.shape[1] - 1
    size = np.arange(n_true + n_false + 1)
    fewest, most = np.maximum(0, size - n_false), np.minimum(n_true, size)
    rise = table[most, size - most] - table[fewest, size - fewest]
    slope = rise / np.maximum(1, most - fewest)
    hits, false = np.indices(table.shape)
    intercept = np.full(len(size), -np.inf)
    np.maximum.at(intercept, hits + false, table - slope[hits + false] * hits)
    return np.stack([intercept, slope], axis=1)


def by_size(truth: Labels | Floats) -> list[tuple[NDArray[np.int64], int]]:
    """Group rows by their number of true labels."""
    n_true = truth.sum(axis=1).astype(np.int64)
    return [(np.flatnonzero(n_true == count), int(count)) for count in np.unique(n_true)]


def _solution(u: Floats, value: Floats, rounding: Floats) -> RelaxedSolution:
    return RelaxedSolution(u, u[:, None, :], value, value + rounding)
