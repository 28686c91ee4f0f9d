"""What form a loss table of counts has, read off its numbers.

A decoder of coupled labels can add a loss that, on every *level*, is affine in the number of hits:
levels are numbers of labels on (F-beta) or numbers of false alarms (Jaccard). A loss that singles
out the truth (subset, and any loss against an empty truth that says no more) needs no levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from colabel._kernels.f_cut import LevelArrays

__all__ = ["Levels", "Singled", "count_form"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Singled:
    """The same loss for every labeling but the true one."""

    loss: float
    loss_of_truth: float


@dataclass(frozen=True)
class Levels:
    """``loss = alpha[k] + beta[k] * hits`` at level ``k``, with ``least[k] <= hits <= most[k]``."""

    alpha: Floats
    beta: Floats
    least: Floats
    most: Floats
    counts_all: bool

    def arrays(self, nonempty: bool) -> LevelArrays:
        """Return what the kernels take; level 0 of all labels is closed to a non-empty labeling."""
        from colabel._kernels.f_cut import LevelArrays

        alpha = self.alpha.copy()
        if nonempty and self.counts_all:
            alpha[0] = -np.inf
        order = np.argsort(self.beta, kind="stable").astype(np.int64)
        return LevelArrays(alpha, self.beta, self.least, self.most, order)


def count_form(table: Floats) -> Singled | Levels | None:
    """Find the form of ``table[hits, false]``; None where it has none of them.

    Parameters
    ----------
    table : ndarray of shape (n_true + 1, n_false + 1)

    Returns
    -------
    Singled, Levels or None
    """
    table = np.ascontiguousarray(table, dtype=np.float64)
    return _form_of(table.shape, table.tobytes())


# A learner asks for the same few tables again and again.
@lru_cache(maxsize=512)
def _form_of(shape: tuple[int, ...], content: bytes) -> Singled | Levels | None:
    table = np.frombuffer(content).reshape(shape)
    others = np.delete(table.ravel(), (table.shape[0] - 1) * table.shape[1])
    if others.size == 0 or np.all(others == others[0]):
        loss = float(others[0]) if others.size else float(table[-1, 0])
        return Singled(loss, float(table[-1, 0]))
    forms = [form for form in (_by_size(table), _by_false(table)) if form is not None]
    # Few labels leave room for both; slopes that rise with the level are the loss's own.
    forms.sort(key=lambda form: bool(np.any(np.diff(form.beta) < -1e-12)))
    return forms[0] if forms else None


def _by_size(table: Floats) -> Levels | None:
    """Levels are numbers of labels on: F-beta."""
    n_true, n_false = table.shape[0] - 1, table.shape[1] - 1
    size = np.arange(n_true + n_false + 1)
    least, most = np.maximum(0, size - n_false), np.minimum(size, n_true)
    alpha, beta = np.zeros(len(size)), np.zeros(len(size))
    for k in size:
        hits = np.arange(least[k], most[k] + 1)
        line = _line(hits, table[hits, k - hits], table[0, 0])
        if line is None:
            return None
        alpha[k], beta[k] = line
    # No label on leaves the slope open. One over it is linear in the size for F-beta.
    if len(size) > 2 and beta[1] < 0 and beta[2] < 0 and 2 / beta[1] < 1 / beta[2]:
        beta[0] = 1 / (2 / beta[1] - 1 / beta[2])
    else:
        beta[0] = beta[1]
    return Levels(alpha, beta, least.astype(float), most.astype(float), True)


def _by_false(table: Floats) -> Levels | None:
    """Levels are numbers of false alarms: Jaccard."""
    n_true, n_false = table.shape[0] - 1, table.shape[1] - 1
    hits = np.arange(n_true + 1)
    lines = [_line(hits, column, column[0]) for column in table.T]
    if any(line is None for line in lines):
        return None
    alpha, beta = np.array(lines, dtype=np.float64).T.copy()
    least, most = np.zeros(n_false + 1), np.full(n_false + 1, float(n_true))
    return Levels(alpha, beta, least, most, False)


def _line(hits: NDArray[np.int64], loss: Floats, start: float) -> tuple[float, float] | None:
    """Return ``alpha, beta`` with ``loss = alpha + beta * hits``, None where it is no line.

    A single point is joined to ``start``, the loss without labels, at no hits.
    """
    if len(hits) == 1:
        if hits[0] == 0:
            return float(loss[0]), 0.0
        return float(start), float((loss[0] - start) / hits[0])
    beta = (loss[-1] - loss[0]) / (hits[-1] - hits[0])
    alpha = loss[0] - beta * hits[0]
    if np.any(np.abs(alpha + beta * hits - loss) > 1e-12 * np.max(np.abs(loss), initial=1.0)):
        return None
    return float(alpha), float(beta)
