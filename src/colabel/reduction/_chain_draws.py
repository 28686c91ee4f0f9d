"""A table that stands for the whole distribution of a chain: probable labelings and drawn ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from colabel.reduction._sampled_support import SampledSupport

if TYPE_CHECKING:
    from colabel.reduction._conditional_search import Beam, Rows

__all__ = ["Draws", "draws_by_steps", "joined"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# Log-probabilities of one labeling, computed twice, differ by less.
SAME = 1e-6


class Draws(NamedTuple):
    """Labelings drawn at evenly spaced points; see ``_kernels/chain_draws.py``.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_drawn, n_labels), int8
        Each once in a sample.
    log_p : ndarray of shape (n_samples, n_drawn)
        Their log-probabilities; ``-inf`` fills up samples that have fewer.
    means : ndarray of shape (n_samples, n_labels)
        Means of the probabilities with which each label was drawn.
    """

    labels: Labels
    log_p: Floats
    means: Floats


def draws_by_steps(
    rows: Rows, order: NDArray[np.intp], first_point: float, uniform: Floats
) -> Draws:
    """Draw label after label, for any classifier; each beginning of a labeling is asked once.

    Parameters
    ----------
    rows : Rows
    order : ndarray of shape (n_labels,)
        The chain.
    first_point : float
    uniform : ndarray of shape (n_draws, n_labels)
        In chain order; both as in ``_kernels/chain_draws.py``.
    """
    n, n_draws = rows.n_samples, len(uniform)
    # Of each beginning: its row and labels, its points, its part of the unit interval.
    row, Y = np.arange(n), np.zeros((n, rows.n_labels), dtype=np.int8)
    first, last = np.zeros(n, dtype=np.int64), np.full(n, n_draws)
    start, length, log_p = np.zeros(n), np.ones(n), np.zeros(n)
    means = np.zeros((n, rows.n_labels))
    for t, label in enumerate(order):
        odds = rows.take(row).log_odds(label, Y[:, None])[:, 0]
        off, on = np.exp(log_expit(-odds)), np.exp(log_expit(odds))
        counts = np.maximum(length, 1.0 / n_draws)
        total = np.bincount(row, counts, minlength=n)
        means[:, label] = np.bincount(row, counts * on, minlength=n) / total
        point = np.ceil(n_draws * (start + length * off) - first_point)
        fresh = np.where(uniform[first, t] < off, last, first)
        middle = np.where(n_draws * length < 1.0, fresh, np.clip(point, first, last)).astype(int)
        zero, one = np.flatnonzero(middle > first), np.flatnonzero(last > middle)
        both = np.concatenate([zero, one])
        bit = np.repeat([0, 1], [len(zero), len(one)])
        start = np.concatenate([start[zero], (start + length * off)[one]])
        length = length[both] * np.where(bit, on[both], off[both])
        log_p = log_p[both] + log_expit(np.where(bit, odds[both], -odds[both]))
        first = np.concatenate([first[zero], middle[one]])
        last = np.concatenate([middle[zero], last[one]])
        row, Y = row[both], Y[both]
        Y[:, label] = bit
    return _by_rows(row, Y, log_p, means)


def joined(beam: Beam, drawn: Draws, n_draws: int) -> SampledSupport:
    """Join the labelings of a beam and of draws, with weights that stand for all labelings.

    A labeling of the beam weighs its probability ``p``, since it is there for sure; so does a drawn
    one with ``n_draws p >= 1``. Any other is drawn with probability ``n_draws p``, and weighs
    ``1 / n_draws``: expectations are then right on average over the draws (Horvitz and Thompson
    1952), but for the division by the sum of the weights, which is nearly 1.
    """
    with np.errstate(invalid="ignore"):
        close = np.abs(drawn.log_p[:, :, None] - beam.log_p[:, None, :]) < SAME
    i, s, w = np.nonzero(close)
    known = (drawn.labels[i, s] == beam.labels[i, w]).all(axis=1)
    others = drawn.log_p.copy()
    others[i[known], s[known]] = -np.inf
    log_p = np.concatenate([beam.log_p, others], axis=1)
    least = np.where(np.isneginf(others), -np.inf, np.maximum(others, -np.log(n_draws)))
    return SampledSupport(
        np.concatenate([beam.labels, drawn.labels], axis=1),
        log_p,
        rest=beam.rest,
        means=drawn.means,
        weights=np.exp(np.concatenate([beam.log_p, least], axis=1)),
    )


def _by_rows(row: NDArray[np.int64], Y: Labels, log_p: Floats, means: Floats) -> Draws:
    """Put labelings, listed with their rows, side by side."""
    order = np.argsort(row, kind="stable")
    row = row[order]
    sizes = np.bincount(row, minlength=len(means))
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = len(means), int(sizes.max(initial=1))
    labels, values = np.zeros((*shape, Y.shape[1]), dtype=np.int8), np.full(shape, -np.inf)
    labels[row, place], values[row, place] = Y[order], log_p[order]
    return Draws(labels, values, means)
