"""How often constraint generation finds the worst labeling, as training goes on.

Figure 2 of Petterson and Caetano (2011): BMRM on yeast, every constraint beside exhaustive search
over all 2^14 labelings. An oracle is judged at parameters that were trained with it: where it is
blind, the learner ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.datasets import load
from colabel.decoders import Exhaustive
from colabel.decoders.certificate import algorithm_3
from colabel.learners.augment import loss_augmented
from colabel.learners.cutting_plane import CuttingPlane
from colabel.learners.margin import MarginProblem
from colabel.losses import FBeta
from colabel.structured._margin_data import MarginData, MarginSettings

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
    found: dict[str, list[float]] = {}
    for name, oracle in (("Alg. 2", "algorithm2"), ("ours", "certified")):
        settings = MarginSettings(FBeta(), True, pairs, 1.0, oracle, 1000)
        problem = MarginData(X, Y, None, settings).problem(alpha, coupling_scale)
        values = [_judge(problem, theta) for theta in _thetas(problem, max_iter)]
        exact, certified, short = np.array(values).T.tolist()
        proof = "Alg. 3: certified" if oracle == "algorithm2" else "ours: certified"
        found |= {f"{name}: exact": exact, proof: certified, f"{name}: objective short": short}
    return found


def _thetas(problem: MarginProblem, max_iter: int) -> list[Floats]:
    """Return the parameters at which BMRM asks for constraints."""
    asked: list[Floats] = []
    violations = problem.violations

    def noted(theta: Floats, oracle: int) -> Any:
        asked.append(theta.copy())
        return violations(theta, oracle)

    problem.violations = noted  # type: ignore[method-assign]
    problem.certificate = None  # it is asked once, by _judge
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CuttingPlane(tol=1e-6, max_iter=max_iter).solve(problem)
    return asked[:max_iter]


def _judge(problem: MarginProblem, theta: Floats) -> tuple[float, float, float]:
    """Return the shares of exact and of certified constraints, and of the objective missed."""
    unary = problem.model.unary(problem.X, theta)
    table = problem.model.table(unary, theta)
    decoder = problem.oracles[1]
    found = loss_augmented(decoder, problem.loss, table, problem.Y)
    best = loss_augmented(Exhaustive(), problem.loss, table, problem.Y)
    if decoder.augmentation == "alg2":
        proved = algorithm_3(table, problem.Y, found.labels, problem.loss.counts_table)
    else:
        proved = found.certified
    exact = found.value >= best.value - 1e-9 * np.maximum(1.0, np.abs(best.value))
    rest = problem.ridge(theta) - float(problem.truth @ theta)
    objective = float(problem.share @ best.value) + rest
    missed = max(0.0, float(problem.share @ (best.value - found.value)))
    return problem.share_of(exact), problem.share_of(proved), missed / objective
