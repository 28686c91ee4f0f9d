"""Oracles: add a loss to a score table and find the labelings that violate the margin."""

from colabel.oracles.base import BaseOracle, DecoderOracle, loss_augmented
from colabel.oracles.certified import Certified, MinCut
from colabel.oracles.published import Algorithm2
from colabel.oracles.relaxed import Semidefinite, Sphere

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
]

ORACLES: dict[str, type[BaseOracle]] = {
    "certified": Certified,
    "mincut": MinCut,
    "algorithm2": Algorithm2,
    "sdp": Semidefinite,
    "spectral": Sphere,
}
