"""Conditionals of given rows whose log-odds are linear in the labels, searched by kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from colabel.numerics.threads import in_threads
from colabel.reduction._chain_draws import Draws
from colabel.reduction._conditional_search import Beam, Floats, Labels, Order, Rows, leading

__all__ = ["LinearRows"]


class LinearRows(Rows):
    """Conditionals with log-odds ``base_l + couplings_l . y``.

    Parameters
    ----------
    base : ndarray of shape (n_samples, n_labels)
    couplings : ndarray of shape (n_labels, n_labels)
        Effect of label ``m`` on label ``l`` at ``[l, m]``, zero diagonal.
    """

    def __init__(self, base: Floats, couplings: Floats) -> None:
        self.base, self.couplings = base, couplings
        self.n_samples, self.n_labels = base.shape

    def log_odds(self, label: int, Y: Labels) -> Floats:
        return np.asarray(self.base[:, label, None] + Y @ self.couplings[label])

    def take(self, rows: Any) -> LinearRows:
        return LinearRows(self.base[rows], self.couplings)

    def all_log_odds(self, Y: Labels) -> Floats:
        return np.asarray(self.base + Y @ self.couplings.T)

    def path(self, order: Order, decide: Callable[[int, Floats], Any]) -> tuple[Labels, Floats]:
        odds = self.base.copy()
        Y = np.zeros(odds.shape, dtype=np.int8)
        for label in order:
            on = np.flatnonzero(decide(label, odds[:, label]))
            Y[on, label] = 1
            # Labels before this one are not given it: their couplings are zero.
            odds[on] += self.couplings[:, label]
        return Y, odds

    def beam(self, order: Order, width: int) -> Beam:
        from colabel._kernels.chain import beam_search

        width = min(width, 2 ** min(self.n_labels, 62))
        base, lower = self._in(order)
        labels = np.zeros((self.n_samples, width, self.n_labels), dtype=np.int8)
        log_p, rest = np.empty((self.n_samples, width)), np.empty(self.n_samples)

        def block(rows: slice) -> None:
            beam_search(base[rows], lower, labels[rows], log_p[rows], rest[rows])

        in_threads(block, self.n_samples)
        return Beam(labels[:, :, np.argsort(order)], log_p, rest)

    def mode(self, order: Order, found: Beam, max_nodes: int, *, nonempty: bool = False) -> Beam:
        from colabel._kernels.chain import branch_and_bound

        base, lower = self._in(order)
        reach = _reach(lower)
        labels, log_p = leading(found, nonempty)
        labels, proof = np.ascontiguousarray(labels[:, order]), np.column_stack([log_p, log_p])

        def block(rows: slice) -> None:
            some = labels[rows], proof[rows]
            branch_and_bound(base[rows], lower, reach, max_nodes, nonempty, *some)

        in_threads(block, self.n_samples)
        labels, log_p, bound = labels[:, np.argsort(order)], proof[:, 0], proof[:, 1]
        return self.led_by(found, labels, log_p, bound, nonempty)

    def draws(self, order: Order, first_point: float, uniform: Floats) -> Draws:
        from colabel._kernels.chain_draws import spread_draws

        base, lower = self._in(order)
        shape = self.n_samples, len(uniform)
        labels, log_p = np.zeros((*shape, self.n_labels), dtype=np.int8), np.empty(shape)
        means = np.empty(base.shape)

        def block(rows: slice) -> None:
            some = labels[rows], log_p[rows], means[rows]
            spread_draws(base[rows], lower, first_point, uniform, *some)

        in_threads(block, self.n_samples)
        most = int(np.isfinite(log_p).sum(axis=1).max(initial=1))
        place = np.argsort(order)
        return Draws(labels[:, :most, place], log_p[:, :most], means[:, place])

    def gibbs(self, cuts: Floats, n_burn: int) -> tuple[Labels, Floats]:
        from colabel._kernels.gibbs import gibbs

        effects = np.ascontiguousarray(self.couplings.T)
        n_draws = cuts.shape[0] * (cuts.shape[1] - 1 - n_burn)
        draws = np.empty((self.n_samples, n_draws, self.n_labels), dtype=np.int8)
        means = np.empty(self.base.shape)

        def block(rows: slice) -> None:
            gibbs(self.base[rows], effects, cuts, n_burn, draws[rows], means[rows])

        in_threads(block, self.n_samples)
        return draws, means

    def _in(self, order: Order) -> tuple[Floats, Floats]:
        """Return base and couplings with the labels in chain order."""
        lower = np.ascontiguousarray(self.couplings[np.ix_(order, order)])
        return np.ascontiguousarray(self.base[:, order]), lower


def _reach(lower: Floats) -> Floats:
    """Least and largest sums of parts of ``lower[s, t:s]``, at ``[0 or 1, s, t]``."""
    sides = np.stack([np.minimum(lower, 0.0), np.maximum(lower, 0.0)])
    return np.ascontiguousarray(np.cumsum(sides[:, :, ::-1], axis=2)[:, :, ::-1])
