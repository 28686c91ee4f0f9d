"""Relaxations in place of labelings (Lajugie et al. 2015): learning by moments."""

from __future__ import annotations

from colabel.decoders import Mixing, Spectral
from colabel.oracles.base import BaseOracle, RelaxationStage
from colabel.roles import Loss, Model, Stages

__all__ = ["Semidefinite", "Sphere"]

# A sweep that gains less than this share of the value is the last: where steps are as noisy as
# samples are, in training to an optimum, and in the proof of the objective, whose bound is looser
# than the value by a hundred times as much and more.
ROUGH_TOL, RELAXED_TOL, PROOF_TOL = 1e-4, 1e-6, 1e-9


class Sphere(BaseOracle):
    """The sphere through all labelings: one eigenvalue problem for all samples.

    Examples
    --------
    >>> Sphere()
    Sphere()
    """

    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        sphere = RelaxationStage(Spectral(), certify=False)
        return Stages(sphere, sphere, RelaxationStage(Spectral(), certify=True))


class Semidefinite(BaseOracle):
    """The semidefinite relaxation: nearly tight, some tens of times as long as the sphere.

    Examples
    --------
    >>> Semidefinite()
    Semidefinite()
    """

    def _stages(self, model: Model, loss: Loss, rough: bool) -> Stages:
        learning = RelaxationStage(Mixing(tol=ROUGH_TOL if rough else RELAXED_TOL), certify=False)
        proof = Mixing(tol=RELAXED_TOL if rough else PROOF_TOL)
        return Stages(learning, learning, RelaxationStage(proof, certify=True))
