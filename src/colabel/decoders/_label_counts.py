"""``P(y_l = 1, |y| = s)`` of a distribution over labelings, block of samples by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colabel._rows import Span
from colabel.decoders.base import Floats
from colabel.scores import Mixture, Modular, ScoreTable, Support

__all__ = [
    "LabelCounts",
    "block_of",
    "components",
    "label_counts",
    "members",
    "members_of",
    "pieces",
]

Members = tuple[NDArray[np.int64], NDArray[np.int64]]

# Cells of the tables of one block: small enough for a second-level cache.
CELLS = 100_000


class LabelCounts(NamedTuple):
    """The tables of some samples, in the form that the kernels of ``expected_f`` take.

    Parameters
    ----------
    tables : ndarray of shape (n_samples, n_labels + 1, n_labels)
        ``P(y_l = 1, |y| = s)`` at ``[i, s, l]``, valid up to ``s = tops[i]``.
    sizes : ndarray of shape (n_samples, n_labels + 1)
        ``P(|y| = s)``, valid up to ``s = tops[i]``.
    tops : ndarray of shape (n_samples,)
        Largest count that is not negligible.
    """

    tables: Floats
    sizes: Floats
    tops: NDArray[np.int64]


def label_counts(scores: ScoreTable, rows: Span, on: Members | None) -> LabelCounts:
    """Fill the tables of the samples ``rows``; ``on`` is ``members`` of a ``Support``."""
    from colabel._kernels.expected_f import mixture_counts, support_counts

    n_samples, n_labels = rows.stop - rows.start, scores.n_labels
    counts = LabelCounts(
        np.empty((n_samples, n_labels + 1, n_labels)),
        np.empty((n_samples, n_labels + 1)),
        np.empty(n_samples, dtype=np.int64),
    )
    if not isinstance(scores, Support):
        mixture_counts(*components(scores, rows), *counts)
    elif scores.own_labelings:
        from colabel._kernels.support import row_counts

        row_counts(*members_of(scores, on, rows), scores.log_p[rows], *counts)
    else:
        support_counts(*members_of(scores, on, rows), scores.log_p[rows], *counts)
    return counts


def components(scores: ScoreTable, rows: Span) -> tuple[Floats, Floats]:
    """Return log-weights and logits of a ``Mixture``; a ``Modular`` table is one component."""
    if isinstance(scores, Mixture):
        return scores.log_weights[rows], scores.logits[rows]
    assert isinstance(scores, Modular)
    unary = scores.unary[rows]
    return np.zeros((len(unary), 1)), unary[:, None, :]


def members(scores: ScoreTable) -> Members | None:
    """List the labels that are on in each labeling of a ``Support`` (starts and labels)."""
    if not isinstance(scores, Support):
        return None
    labelings = scores.labelings.reshape(int(np.prod(scores.labelings.shape[:-1])), scores.n_labels)
    starts = np.zeros(len(labelings) + 1, dtype=np.int64)
    np.cumsum(labelings.sum(axis=1), out=starts[1:])
    return starts, np.nonzero(labelings)[1].astype(np.int64)


def members_of(scores: Support, on: Members | None, rows: Span) -> Members:
    """Restrict ``members`` to the samples ``rows``, where each has labelings of its own."""
    assert on is not None
    if not scores.own_labelings:
        return on
    size = scores.scores.shape[1]
    return on[0][rows.start * size : rows.stop * size + 1], on[1]


def block_of(scores: ScoreTable) -> int:
    """Return how many samples make a block."""
    return max(1, CELLS // ((scores.n_labels + 1) * max(1, scores.n_labels)))


def pieces(part: Span, step: int) -> list[Span]:
    """Cut a slice into slices of at most ``step`` samples."""
    return [slice(i, min(i + step, part.stop)) for i in range(part.start, part.stop, step)]
