"""How often constraint generation finds the worst labeling, as training goes on.

Figure 2 of Petterson and Caetano (2011): BMRM on yeast, every constraint beside exhaustive search
over all 2^14 labelings. An oracle is judged at parameters that were trained with it: where it is
blind, the learner ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from colabel.datasets import load
from colabel.decoders import Exhaustive
from colabel.learners import CuttingPlane, MarginProblem
from colabel.learners.margin import Violations
from colabel.losses import FBeta
from colabel.models import SubmodularPairs
from colabel.numerics.distinct_rows import distinct_rows
from colabel.oracles import Algorithm2, BaseOracle, Certified, loss_augmented
from colabel.results import Decoded
from colabel.roles import Features, Labels, Stage
from colabel.scores import Pairwise

__all__ = ["QUANTITIES", "trace_oracles"]

Floats = NDArray[np.float64]

QUANTITIES = (
    "Alg. 2: exact",
    "Alg. 3: certified",
    "Alg. 2: objective short",
    "ours: exact",
    "ours: certified",
    "ours: objective short",
)


def trace_oracles(
    data: str,
    seed: int = 0,
    *,
    alpha: float = 1e-2,
    coupling_scale: float = 1.0,
    pairs: float = 0.5,
    max_iter: int = 100,
    n_rows: int | None = None,
) -> Mapping[str, list[float]]:
    """Return shares of the samples (and of the objective), iteration by iteration.

    Parameters
    ----------
    data : str
        A dataset of few labels; its training part is used.
    seed : int
        Draws the rows, where not all are used.
    alpha, coupling_scale, pairs : float
        As those of ``SubmodularSVC``.
    max_iter : int
        Iterations of BMRM; it may converge earlier.
    n_rows : int or None
        Rows to use; all by default.
    """
    train = load(f"{data}:train")
    rows = np.random.RandomState(seed).permutation(len(train.Y))[:n_rows]
    X, Y = train.X[np.sort(rows)], np.asarray(train.Y[np.sort(rows)], dtype=np.int8)
    distinct = distinct_rows(X, Y, None)
    spec = SubmodularPairs(pairs=pairs, coupling_scale=coupling_scale)
    found: dict[str, list[float]] = {}
    oracles: dict[str, BaseOracle] = {"Alg. 2": Algorithm2(), "ours": Certified()}
    for name, oracle in oracles.items():
        judged = _Judged(*distinct, spec, oracle, alpha)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CuttingPlane(tol=1e-6, max_iter=max_iter).solve(judged)
        exact, certified, short = np.array(judged.shares).T.tolist()
        proof = f"{name}: certified" if name == "ours" else "Alg. 3: certified"
        found |= {f"{name}: exact": exact, proof: certified, f"{name}: objective short": short}
    return found


class _Judged(MarginProblem):
    """A problem whose oracle is judged by exhaustive search wherever a learner asks it.

    ``shares`` has a row for each time: of exact and of certified constraints, and of the objective
    that is missed. The oracle judged is the one to learn with, from the beginning.
    """

    def __init__(
        self,
        X: Features,
        Y: Labels,
        weight: Floats,
        spec: SubmodularPairs,
        oracle: BaseOracle,
        alpha: float,
    ) -> None:
        model, penalty = spec.build(X, Y, weight, alpha)
        stages = oracle.stages(model, FBeta())
        self.certificate = stages.certificate
        # The certificate is asked here, not by the learner.
        stages = replace(stages, quick=stages.learning, certificate=None)
        super().__init__(model, FBeta(), stages, X, Y, weight, penalty)
        self.shares: list[tuple[float, float, float]] = []

    def violations(self, theta: Floats, oracle: Stage) -> Violations:
        if oracle is self.oracles.learning:
            self.shares.append(self._judge(theta))
        return super().violations(theta, oracle)

    def _judge(self, theta: Floats) -> tuple[float, float, float]:
        table = self.model.scores(self.X, theta)
        assert isinstance(table, Pairwise)
        found = self.oracles.learning.find(table, self.loss, self.Y)
        assert isinstance(found, Decoded)
        best = loss_augmented(Exhaustive(), self.loss, table, self.Y)
        proved = found.certified
        if self.certificate is not None:
            proved = self.certificate(table, self.Y, found.labels, self.loss)
        exact = found.value >= best.value - 1e-9 * np.maximum(1.0, np.abs(best.value))
        rest = self.ridge(theta) - float(self.truth @ theta)
        objective = float(self.share @ best.value) + rest
        missed = max(0.0, float(self.share @ (best.value - found.value)))
        return self.share_of(exact), self.share_of(proved), missed / objective
