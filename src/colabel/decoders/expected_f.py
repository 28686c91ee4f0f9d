"""The labeling of the highest expected F-measure."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from colabel._rows import Span
from colabel.decoders._label_counts import block_of, label_counts, members, pieces
from colabel.decoders.base import BaseDecoder, Floats, Labels, with_doubt
from colabel.numerics.threads import in_threads
from colabel.results import Decoded
from colabel.scores import Mixture, Modular, ScoreTable, Support

__all__ = ["ExpectedF"]


class ExpectedF(BaseDecoder):
    """Maximise the expected F-beta of a distribution over labelings, exactly.

    The objective is ``E[(1 + beta^2) |y and z| / (beta^2 |y| + |z|)]``, 1 where both are empty.

    Parameters
    ----------
    beta : float, default=1.0
        Weight of recall against precision; at least 0.

    Notes
    -----
    By the tables of ``P(y_l = 1, |y| = s)`` (the GFM algorithm, Dembczynski et al. 2011). With
    ``S`` the largest number of labels that is not negligible: O(n_components n_labels S) per
    sample for a ``Mixture`` (one component for ``Modular``), O(labels on in all labelings) for a
    ``Support``, and O(n_labels S) for each size of prediction that can still win; no size is left
    out otherwise. Expected values closer than 1e-13 count as equal, and fewer labels are chosen.

    Where a ``Support`` leaves probability out (its ``rest``), the expectation is the table's and
    the bound that of the larger distribution: the answer is certified if the table holds it all.

    References
    ----------
    Dembczynski, Waegeman, Cheng and Hullermeier, "An exact algorithm for F-measure maximization",
    NeurIPS 2011.

    Examples
    --------
    >>> from colabel.scores import Modular
    >>> found = ExpectedF().decode(Modular([[-0.4, -0.4, -5.0]], log_odds=True))
    >>> found.labels, found.value.round(3)
    (array([[1, 1, 0]], dtype=int8), array([0.481]))
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular, Mixture, Support)
    exact: ClassVar[bool] = True
    needs_distribution: ClassVar[bool] = True
    handles: ClassVar[tuple[str, ...]] = ()

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def _objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        from colabel._kernels.expected_f import value_by_counts

        values = np.empty(scores.n_samples)
        weights, on, step = self._weights(scores.n_labels), members(scores), block_of(scores)

        def block(part: Span) -> None:
            for rows in pieces(part, step):
                counts = label_counts(scores, rows, on)
                value_by_counts(*counts, weights, Z[rows], values[rows])

        in_threads(block, scores.n_samples)
        return values

    def _decode(self, scores: ScoreTable, nonempty: bool) -> Decoded:
        from colabel._kernels.expected_f import best_by_counts

        values = np.empty(scores.n_samples)
        labels = np.empty((scores.n_samples, scores.n_labels), dtype=np.int8)
        weights, on, step = self._weights(scores.n_labels), members(scores), block_of(scores)

        def block(part: Span) -> None:
            for rows in pieces(part, step):
                counts = label_counts(scores, rows, on)
                best_by_counts(*counts, weights, nonempty, labels[rows], values[rows])

        in_threads(block, scores.n_samples)
        return Decoded(labels, values, with_doubt(scores, values))

    def _weights(self, n_labels: int) -> Floats:
        """Return ``(1 + beta^2) / (beta^2 s + k)`` at ``[k, s]``."""
        if not 0.0 <= self.beta < np.inf:
            raise ValueError(f"beta must be a number of at least 0, not {self.beta}")
        # Both sides are divided by the larger of 1 and beta^2, which may be too large a number.
        larger, count = max(1.0, self.beta), np.arange(n_labels + 1.0)
        one, weight = (1.0 / larger) ** 2, (self.beta / larger) ** 2
        below = weight * count[None, :] + one * count[:, None]
        return (one + weight) / np.where(below > 0, below, 1.0)
