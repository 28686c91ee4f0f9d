"""What every oracle is: which searches find the labelings that violate the margin in training."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sklearn.base import BaseEstimator, clone

from colabel.compat import check_compatible
from colabel.decoders import BaseDecoder, Threshold
from colabel.exceptions import IncompatibleError
from colabel.oracles.stages import DecoderStage
from colabel.roles import Loss, Model, ModelSpec, Stages
from colabel.scores import Modular, Pairwise

__all__ = ["BaseOracle", "DecoderOracle", "same_stages"]


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
        try:
            check_compatible(table, self.decoder, loss, attractive=model.attractive)
        except IncompatibleError as error:
            return str(error)
        return ""

    def stages(self, model: Model, loss: Loss, *, rough: bool = False) -> Stages:
        return self._stages(model, loss, rough)

    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        return same_stages(clone(self.decoder))


def same_stages(decoder: BaseDecoder) -> Stages:
    """Return one decoder as the quick search, the one to learn with and the proof."""
    stage = DecoderStage(decoder)
    return Stages(stage, stage, stage)
