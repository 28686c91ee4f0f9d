"""Decoding of pairwise tables by mean field: quick for any number of labels, and approximate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from colabel._parameters import check_real, check_whole
from colabel._renamed import Renamed
from colabel._rows import Span
from colabel.decoders.base import BaseDecoder, Floats
from colabel.decoders.spins import Spins, times
from colabel.messages import warn_user
from colabel.numerics.threads import in_threads
from colabel.results import Decoded
from colabel.scores import Pairwise, ScoreTable

__all__ = ["MeanField", "hot_enough"]

# Of couplings whose sums leave the floats; any temperature must come down to 1 by halves.
HOTTEST = 2.0**1000


class MeanField(BaseDecoder):
    """Approximate the table by independent labels, and turn on those more probable than not.

    The table's exponential, normalised, is a distribution; mean field finds, by coordinate ascent,
    independent labels of locally least Kullback-Leibler divergence from it. O(n_labels) for each
    mean that moves, in some 5 to 50 sweeps. Not exact, and the bound is a crude one.

    Parameters
    ----------
    temperature : float or None, default=None
        Scores are first divided by this, then by half of it, and so on to 1; each solution starts
        the next. Strong couplings have many local optima, of which this finds better ones; 1 is
        plain mean field. ``None`` is the lowest power of two at which there is a single optimum for
        sure, so that nothing depends on where it starts: a quarter of the largest sum of a label's
        couplings, signs aside, or more.
    tol : float, default=1e-4
        A mean that would move by less is left alone.
    max_iter : int, default=1000
        Most sweeps over the labels at one temperature.

    Examples
    --------
    >>> table = Pairwise([[1.0, 0.8, -0.5]], edges=[[0, 1], [1, 2]], couplings=[-3.0, 1.0])
    >>> MeanField().decode(table).labels
    array([[0, 1, 1]], dtype=int8)
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"max_sweeps": "max_iter"}

    def __init__(
        self, temperature: float | None = None, tol: float = 1e-4, max_iter: int = 1000
    ) -> None:
        self.temperature = temperature
        self.tol = tol
        self.max_iter = max_iter

    def log_odds(self, scores: Pairwise) -> Floats:
        """Return the log-odds of the independent labels: (n_samples, n_labels)."""
        if self.temperature is not None:
            check_real(self.temperature, "temperature", least=1.0)
        check_real(self.tol, "tol", above=0.0)
        check_whole(self.max_iter, "max_iter", least=1)
        matrix, means = scores.dense(), expit(scores.unary)
        heat = hot_enough(matrix) if self.temperature is None else float(self.temperature)
        while heat > 1.0:
            self._settle(scores.unary / heat, matrix / heat, means)
            heat *= 0.5
        moving = self._settle(scores.unary, matrix, means)
        if moving:
            warn_user(
                f"mean field has not settled after {self.max_iter} sweeps for {moving} samples; "
                "raise max_iter or tol",
                ConvergenceWarning,
            )
        return scores.unary + times(means, matrix)

    def _settle(self, unary: Floats, matrix: Floats, means: Floats) -> int:
        """Move ``means`` to a local optimum; return how many samples have not reached it."""
        from colabel._kernels.mean_field import mean_field_rows

        fields = unary + times(means, matrix)
        # The surest labels first: an order of the table's own, wherever its labels stand.
        order = np.argsort(-np.abs(fields), axis=1, kind="stable")
        sweeps = np.zeros(len(means), np.int64)
        limits = (self.tol, self.max_iter)

        def work(rows: Span) -> None:
            mean_field_rows(matrix, order[rows], means[rows], fields[rows], *limits, sweeps[rows])

        in_threads(work, len(means))
        return int(np.sum(sweeps > self.max_iter))

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        odds = self.log_odds(scores)
        labels = (odds > 0.0).astype(np.int8)
        if nonempty:
            empty = np.flatnonzero(~labels.any(axis=1))
            labels[empty, np.argmax(odds[empty], axis=1)] = 1
        spins = Spins.of(scores)
        value = spins.value(labels)
        return Decoded(labels, value, np.maximum(spins.box, value))


def hot_enough(matrix: Floats) -> float:
    """Return the lowest power of two, 1 or above, at which mean field has one fixed point for sure.

    A logistic function rises by at most a quarter: where the couplings ``C`` of every label, over
    the temperature, sum up to less than four, fields are contracted in the largest of their errors.

    Examples
    --------
    >>> hot_enough(np.array([[0.0, -20.0], [-20.0, 0.0]]))
    8.0
    """
    steepest = 0.25 * float(np.abs(matrix).sum(axis=1).max(initial=0.0))
    return float(min(2.0 ** np.ceil(np.log2(max(steepest, 1.0))), HOTTEST))
