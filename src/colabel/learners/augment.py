"""Loss-augmented decoding: the most violated labeling of a margin-rescaled objective.

This is the only place that branches on the structure of a loss; a relaxation may stand in for the
labelings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.results import Decoded

__all__ = ["loss_augmented", "relaxed_augmented"]


def loss_augmented(
    decoder: Any, loss: Any, scores: Any, Y: NDArray[np.int8], *, nonempty: bool = False
) -> Decoded:
    """Maximise ``score(Z) + loss(Y, Z)`` over ``Z`` for each sample.

    Parameters
    ----------
    decoder : BaseDecoder
        Must list the structure of ``loss`` in ``handles`` (see ``colabel.compat``).
    loss : BaseLoss
    scores : ScoreTable
        Modular or pairwise for a modular loss.
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    nonempty : bool, default=False
        Leave the empty labeling out of the search, as prediction will.

    Returns
    -------
    Decoded
        ``value`` and ``upper_bound`` include the loss.
    """
    if loss.structure == "counts":
        return decoder.decode_counts(scores, Y, loss.counts_table, nonempty=nonempty)
    offset, cost = loss.as_modular(Y)
    found = decoder.decode(scores.plus_unary(cost), nonempty=nonempty)
    return Decoded(found.labels, found.value + offset, found.upper_bound + offset)


def relaxed_augmented(
    decoder: Any, loss: Any, scores: Any, Y: NDArray[np.int8], certify: bool
) -> Any:
    """Maximise ``score + loss`` over relaxed labelings for each sample.

    Parameters
    ----------
    decoder : BaseDecoder
        With ``relax`` and ``relax_counts``.
    loss : BaseLoss
    scores : Pairwise
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    certify : bool
        Whether the bound must be proved.

    Returns
    -------
    RelaxedSolution
        ``value`` and ``upper_bound`` include the loss.
    """
    if loss.structure == "counts":
        return decoder.relax_counts(scores, Y, loss.counts_table, certify=certify)
    offset, cost = loss.as_modular(Y)
    found = decoder.relax(scores.plus_unary(cost), certify=certify)
    return replace(found, value=found.value + offset, upper_bound=found.upper_bound + offset)
