"""Oracles: add a loss to a score table and find the labelings that violate the margin."""

from sklearn.base import clone

from colabel._part import make_part
from colabel.decoders import BaseDecoder
from colabel.oracles.base import BaseOracle, DecoderOracle
from colabel.oracles.certified import Certified, MinCut
from colabel.oracles.published import Algorithm2
from colabel.oracles.relaxed import Semidefinite, Sphere
from colabel.oracles.stages import loss_augmented

__all__ = [
    "ORACLES",
    "Algorithm2",
    "BaseOracle",
    "Certified",
    "DecoderOracle",
    "MinCut",
    "Semidefinite",
    "Sphere",
    "loss_augmented",
    "make_oracle",
]

ORACLES: dict[str, type[BaseOracle]] = {
    "certified": Certified,
    "mincut": MinCut,
    "algorithm2": Algorithm2,
    "sdp": Semidefinite,
    "spectral": Sphere,
}


def make_oracle(oracle: str | BaseOracle | BaseDecoder) -> BaseOracle:
    """Turn an oracle, its name or a decoder into an oracle of the caller's own.

    Examples
    --------
    >>> make_oracle("certified")
    Certified()
    """
    if isinstance(oracle, BaseDecoder):
        return DecoderOracle(clone(oracle))
    return make_part("an oracle", oracle, BaseOracle, ORACLES)
