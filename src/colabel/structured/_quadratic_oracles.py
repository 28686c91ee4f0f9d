"""Which decoder finds, or relaxes, the labelings that violate a margin under a quadratic prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from colabel.decoders import (
    BaseDecoder,
    BranchAndBound,
    Exhaustive,
    GraphCut,
    Mixing,
    Spectral,
    Threshold,
)
from colabel.learners.margin import MarginProblem
from colabel.learners.relaxed import RelaxedProblem
from colabel.losses import BaseLoss

__all__ = ["QuadraticOracles"]

Oracles = tuple[BaseDecoder, BaseDecoder, BaseDecoder]

# Up to so many labels, all labelings are listed in training, and up to so many to prove the result.
FEW_LABELS, LISTED_LABELS = 10, 16
# Up to so many, the semidefinite relaxation bounds what flips have found: 20 ms a sample for 53.
SOME_LABELS = 60
# A sweep that gains less than this share of the value is the last: where steps are as noisy as
# samples are, in training to an optimum, and in the proof of the objective, whose bound is looser
# than the value by a hundred times as much and more.
ROUGH_TOL, RELAXED_TOL, PROOF_TOL = 1e-4, 1e-6, 1e-9
# Nodes of a search tree where steps are as noisy as samples are. The labelings found are the best
# already after the first (100 of 100 rows of bibtex, 159 labels, at the dearest parameters seen in
# training); the others would prove it.
ROUGH_NODES = 3


@dataclass(frozen=True)
class QuadraticOracles:
    """Decoders for a sign of the prior, a kind of inference, a loss and a number of labels.

    Parameters
    ----------
    sign : {"any", "attractive", "repulsive"} or None
    inference : {"exact", "mincut", "sdp", "spectral"}
    loss : BaseLoss
    limit : int
        Most graph cuts, or nodes of a search tree, for one sample.
    rough : bool
        Whether learning leaves the optimum aside: relaxations are solved less exactly, labelings
        are found without a proof, and the objective is bounded once, in the end.
    """

    sign: str | None
    inference: str
    loss: BaseLoss
    limit: int
    rough: bool = False

    @property
    def relaxes(self) -> bool:
        """Whether moments stand in for labelings."""
        return self.sign is not None and self.inference in ("sdp", "spectral")

    @property
    def searches(self) -> bool:
        """Whether ``limit`` is of use."""
        return self.sign == "attractive" or self.loss.structure == "modular"

    @property
    def problem(self) -> type[MarginProblem]:
        """The kind of problem that takes these oracles."""
        return RelaxedProblem if self.relaxes else MarginProblem

    def choose(self, n_labels: int) -> Oracles:
        """Return the oracle to begin with, to learn with, and to verify with."""
        if self.relaxes:
            if self.inference == "spectral":
                return (Spectral(),) * 3
            solver = Mixing(tol=ROUGH_TOL if self.rough else RELAXED_TOL)
            return solver, solver, Mixing(tol=RELAXED_TOL if self.rough else PROOF_TOL)
        if self.sign is None:
            return (Threshold(),) * 3
        if self.sign == "attractive":
            exact: Any = GraphCut("certified", self.limit)
        elif self.loss.structure == "modular":
            exact = BranchAndBound(self.limit)
            if self.rough and self.limit > ROUGH_NODES:
                quick = BranchAndBound(ROUGH_NODES, relax=False)
                return quick, quick, exact
        elif n_labels <= FEW_LABELS:
            exact = Exhaustive()
        else:
            # No search is known that proves these: a sphere's rounding, flipped until nothing
            # gains, is judged by the sphere, or by a tighter relaxation in the end.
            sphere = Spectral()
            return sphere, sphere, sphere if self.rough else _strongest(n_labels, sphere)
        return exact, exact, exact

    def decoder(self) -> BaseDecoder | None:
        """Return what predicts; None is the default of the table."""
        if self.sign in (None, "attractive"):
            return None
        return BranchAndBound(self.limit)


def _strongest(n_labels: int, otherwise: BaseDecoder) -> BaseDecoder:
    """Return what bounds the objective best in bearable time, for losses of counts."""
    if n_labels <= LISTED_LABELS:
        return Exhaustive()
    return Mixing() if n_labels <= SOME_LABELS else otherwise
