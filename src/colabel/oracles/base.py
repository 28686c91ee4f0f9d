"""What every oracle is: which searches find the labelings that violate the margin in training.

A search adds a loss to a score table and decodes, a *loss-augmented* decoding; this is the only
place that branches on the structure of a loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Protocol

from sklearn.base import BaseEstimator, clone

from colabel.decoders import BaseDecoder, Threshold
from colabel.exceptions import IncompatibleError
from colabel.results import Decoded, RelaxedSolution
from colabel.roles import CountsTable, Labels, Loss, Model, ModelSpec, Stages
from colabel.scores import Modular, Pairwise, ScoreTable

__all__ = [
    "BaseOracle",
    "DecoderOracle",
    "DecoderStage",
    "Relaxation",
    "RelaxationStage",
    "loss_augmented",
    "relaxed_augmented",
    "same_stages",
]


class BaseOracle(BaseEstimator, ABC):
    """Subclasses define ``_stages`` for models with pairs; without any, sorting is exact."""

    def check(self) -> None:
        """Refuse parameters that no data could make right."""

    def refusal(self, model: ModelSpec, loss: Loss) -> str:
        """Say why model and loss do not fit, in one sentence; an empty string where they do."""
        return ""

    def stages(self, model: Model, loss: Loss, *, rough: bool = False) -> Stages:
        """Return the searches that training goes through.

        Parameters
        ----------
        model : Model
        loss : BaseLoss
        rough : bool, default=False
            For learners that do not look for the optimum: searches are less exact, and the
            objective is bounded once, in the end.
        """
        if issubclass(model.emits, Modular):
            return same_stages(Threshold())
        return self._stages(model, loss, rough)

    @abstractmethod
    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        """Return the searches for a model with pairs."""


class DecoderOracle(BaseOracle):
    """One decoder for everything, as it is: your own, say.

    Parameters
    ----------
    decoder : BaseDecoder

    Examples
    --------
    >>> from colabel.decoders import Exhaustive
    >>> DecoderOracle(Exhaustive())
    DecoderOracle(decoder=Exhaustive())
    """

    def __init__(self, decoder: BaseDecoder) -> None:
        self.decoder = decoder

    def refusal(self, model: ModelSpec, loss: Loss) -> str:
        table = Pairwise if model.has_pairs else Modular
        return self.decoder.refusal(table, loss, attractive=model.attractive)

    def stages(self, model: Model, loss: Loss, *, rough: bool = False) -> Stages:
        # Rows without pairs may give a model without any: its table is then of another kind.
        if self.decoder.refusal(model.emits, loss, attractive=model.attractive):
            return super().stages(model, loss, rough=rough)
        return self._stages(model, loss, rough)

    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        return same_stages(clone(self.decoder))


def same_stages(decoder: BaseDecoder) -> Stages:
    """Return one decoder as the quick search, the one to learn with and the proof."""
    stage = DecoderStage(decoder)
    return Stages(stage, stage, stage)


class Relaxation(Protocol):
    """A decoder that can give the moments of its relaxation in place of a labeling."""

    def relax(self, scores: Pairwise, *, certify: bool = True) -> RelaxedSolution:
        """Maximise the score over relaxed labelings."""

    def relax_counts(
        self, scores: Pairwise, Y: Labels, counts_table: CountsTable, *, certify: bool = True
    ) -> RelaxedSolution:
        """Maximise the score and a loss of counts over relaxed labelings."""


@dataclass(frozen=True)
class DecoderStage:
    """Search by a decoder."""

    decoder: BaseDecoder
    relaxes: bool = False

    def find(self, scores: Modular | Pairwise, loss: Loss, Y: Labels) -> Decoded:
        """Maximise ``score(Z) + loss(Y, Z)`` over labelings, for each sample."""
        return loss_augmented(self.decoder, loss, scores, Y)


@dataclass(frozen=True)
class RelaxationStage:
    """Search by a relaxation; its bound is the value itself unless it is to be certified."""

    decoder: Relaxation
    certify: bool
    relaxes: bool = True

    def find(self, scores: Modular | Pairwise, loss: Loss, Y: Labels) -> RelaxedSolution:
        """Maximise ``score + loss`` over relaxed labelings, for each sample."""
        assert isinstance(scores, Pairwise)
        found = relaxed_augmented(self.decoder, loss, scores, Y, self.certify)
        return found if self.certify else replace(found, upper_bound=found.value)


def loss_augmented(
    decoder: BaseDecoder,
    loss: Loss,
    scores: ScoreTable,
    Y: Labels,
    *,
    nonempty: bool = False,
) -> Decoded:
    """Maximise ``score(Z) + loss(Y, Z)`` over ``Z`` for each sample.

    Parameters
    ----------
    decoder : BaseDecoder
        Can add the loss (see ``BaseDecoder.cannot_add``).
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
    if not isinstance(scores, Modular | Pairwise):
        raise IncompatibleError(decoder.refusal(type(scores), loss, distribution=True))
    offset, cost = loss.as_modular(Y)
    found = decoder.decode(scores.plus_unary(cost), nonempty=nonempty)
    return Decoded(found.labels, found.value + offset, found.upper_bound + offset)


def relaxed_augmented(
    decoder: Relaxation, loss: Loss, scores: Pairwise, Y: Labels, certify: bool
) -> RelaxedSolution:
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
