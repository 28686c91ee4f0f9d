"""The labeling of a high expected Jaccard index."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import log_expit

from colabel._parameters import check_whole
from colabel._rows import Span
from colabel.decoders._label_counts import (
    block_of,
    components,
    label_counts,
    members,
    members_of,
    pieces,
)
from colabel.decoders.base import BaseDecoder, Floats, Labels, with_doubt
from colabel.numerics.threads import in_threads
from colabel.results import Decoded
from colabel.scores import Mixture, Modular, ScoreTable, Support

__all__ = ["ExpectedJaccard"]

# Labelings times labelings (or samples) compared at once.
CELLS = 2_000_000
TIE = 1e-13


class ExpectedJaccard(BaseDecoder):
    """Maximise the expected Jaccard index of a distribution over labelings.

    The objective is ``E[|y and z| / |y or z|]``, 1 where both are empty. ``Modular`` tables are
    decoded exactly for any number of labels, others by enumeration up to ``max_labels`` labels.
    Beyond, no fast exact method is known: the answer is a local maximum with an upper bound.

    Parameters
    ----------
    max_labels : int, default=10
        Enumerate up to this many labels: O(4^n_labels) per call, and per sample
        (O(2^n_labels n_labelings) for a ``Support``).

    Notes
    -----
    *Independent labels.* ``E[J] = E[hits] E[1 / (|z| + misses)]``; for each size the most probable
    labels maximise both factors, so all sizes are tried.

    *Bound.* With ``s = |y|``, ``k = |z|`` and ``h`` hits, ``J = h / (s + k - h)`` is convex in
    ``h``, and ``0 <= h <= min(s, k)``: it lies below its chord, ``J <= h / max(s, k)`` (which
    is at most the F-measure ``2 h / (s + k)``). The expected chord is maximised exactly, like an
    expected F-measure. A mixture also has ``E[J] <= sum_k pi_k max_z E_k[J]``, each component
    maximised exactly by itself; the lower of the two bounds is given. A ``Support`` that leaves
    probability out (its ``rest``) adds the most that this can change.

    *Answer.* The best of the maximisers of the chord and of the expected F-measure (for a
    ``Support`` also its mode), improved by flipping the label that gains most until none gains.
    Where it meets the bound it is certified. Ties go to fewer labels in
    enumeration and for ``Modular``; elsewhere the first maximum found is kept.

    Examples
    --------
    >>> from colabel.scores import Support
    >>> table = Support([[1, 1, 0], [0, 1, 1], [0, 0, 0]], np.log([[0.3, 0.5, 0.2]]))
    >>> found = ExpectedJaccard().decode(table)
    >>> found.labels, found.value.round(3)
    (array([[0, 1, 1]], dtype=int8), array([0.6]))
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular, Mixture, Support)
    needs_distribution: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ()

    def __init__(self, max_labels: int = 10) -> None:
        self.max_labels = max_labels

    def _objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        if isinstance(scores, Support):
            return _support_value(scores, Z)
        from colabel._kernels.expected_jaccard import mixture_jaccard

        values = np.empty(scores.n_samples)

        def block(rows: Span) -> None:
            mixture_jaccard(*components(scores, rows), Z[rows], values[rows])

        in_threads(block, scores.n_samples)
        return values

    def _decode(self, scores: ScoreTable, nonempty: bool) -> Decoded:
        check_whole(self.max_labels, "max_labels", least=0)
        if isinstance(scores, Modular):
            return Decoded.exact(*_independent(scores.unary, nonempty))
        assert isinstance(scores, Mixture | Support)
        if scores.n_labels <= self.max_labels:
            labels = _enumerated(scores, nonempty)
            value = self.objective(scores, labels)
            return Decoded(labels, value, with_doubt(scores, value))
        starts, bound = self._starts(scores, nonempty)
        values = np.array([self.objective(scores, labels) for labels in starts])
        best, rows = np.argmax(values, axis=0), np.arange(scores.n_samples)
        labels = self._climb(scores, np.array(starts)[best, rows], values[best, rows], nonempty)
        value = self.objective(scores, labels)
        return Decoded(labels, value, with_doubt(scores, np.maximum(bound, value)))

    def _starts(self, scores: Mixture | Support, nonempty: bool) -> tuple[list[Labels], Floats]:
        """Return labelings to climb from, and an upper bound."""
        chord, bound = _best_of_counts(scores, 1.0 / _counts(scores.n_labels, np.maximum), nonempty)
        f, _ = _best_of_counts(scores, 2.0 / _counts(scores.n_labels, np.add), nonempty)
        if isinstance(scores, Mixture):
            shape = scores.logits.shape
            _, alone = _independent(scores.logits.reshape(-1, shape[2]), nonempty)
            each = np.sum(np.exp(scores.log_weights) * alone.reshape(shape[:2]), axis=1)
            return [chord, f], np.minimum(bound, each)
        known = (scores.labelings.any(axis=-1) | (not nonempty)) & (scores.log_p > -np.inf)
        mode = scores.pick(np.argmax(np.where(known, scores.log_p, -np.inf), axis=1))
        return [chord, f, np.where(known.any(axis=1, keepdims=True), mode, chord)], bound

    def _climb(
        self, scores: Mixture | Support, labels: Labels, values: Floats, nonempty: bool
    ) -> Labels:
        """Flip labels, in place, until no flip gains."""
        from colabel._kernels.expected_jaccard import climb_mixture, climb_support
        from colabel._kernels.support import row_climbs

        on = members(scores)

        def block(rows: Span) -> None:
            found = labels[rows], values[rows]
            if isinstance(scores, Support):
                climb = row_climbs if scores.own_labelings else climb_support
                climb(*members_of(scores, on, rows), scores.log_p[rows], nonempty, *found)
            else:
                climb_mixture(*components(scores, rows), nonempty, *found)

        in_threads(block, scores.n_samples)
        return labels


def _independent(logits: Floats, nonempty: bool) -> tuple[Labels, Floats]:
    """Maximise exactly for independent labels; returns labels and values."""
    from colabel._kernels.expected_jaccard import independent_jaccard

    labels, values = np.empty(logits.shape, dtype=np.int8), np.empty(len(logits))

    def block(rows: Span) -> None:
        order = np.argsort(-logits[rows], axis=1, kind="stable")
        independent_jaccard(logits[rows], order, nonempty, labels[rows], values[rows])

    in_threads(block, len(logits))
    return labels, values


def _counts(n_labels: int, join: np.ufunc) -> Floats:
    """Return ``join(k, s)`` at ``[k, s]``, at least 1."""
    count = np.arange(n_labels + 1.0)
    return np.maximum(join(count[:, None], count[None, :]), 1.0)


def _best_of_counts(scores: ScoreTable, weights: Floats, nonempty: bool) -> tuple[Labels, Floats]:
    """Maximise the expectation of hits times ``weights``, exactly; returns labels and values."""
    from colabel._kernels.expected_f import best_by_counts

    values = np.empty(scores.n_samples)
    labels = np.empty((scores.n_samples, scores.n_labels), dtype=np.int8)
    on, step = members(scores), block_of(scores)

    def block(part: Span) -> None:
        for rows in pieces(part, step):
            counts = label_counts(scores, rows, on)
            best_by_counts(*counts, weights, nonempty, labels[rows], values[rows])

    in_threads(block, scores.n_samples)
    return labels, values


def _enumerated(scores: Mixture | Support, nonempty: bool) -> Labels:
    """Return the best of all labelings of each sample, of equal ones one with the fewest labels."""
    n_labels = scores.n_labels
    codes = np.arange(2**n_labels)
    Z = ((codes[:, None] >> np.arange(n_labels)) & 1).astype(np.int8)
    Z = Z[np.argsort(Z.sum(axis=1), kind="stable")]
    own = isinstance(scores, Support) and scores.own_labelings
    Y = scores.labelings if isinstance(scores, Support) else Z
    Z = Z[int(nonempty) :]
    labels = np.empty((scores.n_samples, n_labels), dtype=np.int8)
    width = scores.n_components if isinstance(scores, Mixture) else Y.shape[-2] if own else 1
    step = max(1, CELLS // (len(Z) * width))
    for start in range(0, scores.n_samples, step):
        rows = slice(start, min(start + step, scores.n_samples))
        p = _probabilities(scores, rows, Y)
        values = np.empty((len(p), len(Z)))
        if own:
            values[:] = (p[:, None] @ _jaccard(Y[rows], Z))[:, 0]
        else:
            for first in range(0, len(Z), max(1, CELLS // len(Y))):
                some = slice(first, first + max(1, CELLS // len(Y)))
                values[:, some] = p @ _jaccard(Y, Z[some])
        equal = values >= values.max(axis=1, keepdims=True) - TIE
        labels[rows] = Z[np.argmax(equal, axis=1)]
    return labels


def _probabilities(scores: Mixture | Support, rows: Span, Y: Labels) -> Floats:
    """Probabilities of the labelings ``Y``: (n_rows, n_Y)."""
    if isinstance(scores, Support):
        return np.exp(scores.log_p[rows])
    # Sums of terms of one sign: nothing cancels, however large the logits.
    on, off = log_expit(scores.logits[rows]), log_expit(-scores.logits[rows])
    joint = on @ Y.T.astype(np.float64) + off @ (1.0 - Y.T)
    return np.einsum("nk,nks->ns", np.exp(scores.log_weights[rows]), np.exp(joint))


def _jaccard(Y: Labels, Z: Labels) -> Floats:
    """Jaccard index of every two rows: (..., n_Y, n_Z)."""
    hits = Y.astype(np.float64) @ np.swapaxes(Z, -1, -2).astype(np.float64)
    union = Y.sum(axis=-1)[..., None] + Z.sum(axis=-1)[..., None, :] - hits
    return np.where(union > 0, hits / np.maximum(union, 1.0), 1.0)


def _support_value(scores: Support, labels: Labels) -> Floats:
    values = np.empty(scores.n_samples)
    width = scores.n_labels if scores.own_labelings else 1
    step = max(1, CELLS // max(1, scores.scores.shape[1] * width))
    for start in range(0, scores.n_samples, step):
        rows = slice(start, start + step)
        if scores.own_labelings:
            index = _jaccard(scores.labelings[rows], labels[rows, None])[:, :, 0]
        else:
            index = _jaccard(labels[rows], scores.labelings)
        values[rows] = np.einsum("ns,ns->n", np.exp(scores.log_p[rows]), index)
    return values
