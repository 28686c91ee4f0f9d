"""The penalised likelihood of a log-linear model on listed labelings, and its minimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from colabel.linear.eigenbasis import Eigenbasis, eigenbasis

__all__ = ["Labelings", "Likelihood", "LogLinearFit"]

Floats = NDArray[np.float64]

# Scores of labelings worked on together.
BLOCK_SCORES = 2**18
LEAST_ROWS = 128
# Relative distances from the optimum that are rounding.
ROUNDING = 1e-10
# A loss a sample that is as good as none.
PERFECT = 1e-8


@dataclass(frozen=True, eq=False)
class LogLinearFit:
    """A fitted log-linear model.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features)
    intercept : ndarray of shape (n_outputs,)
    couplings : ndarray of shape (n_pairs,)
    history : ndarray of shape (n_iter + 1,)
        Objective at the start and after each iteration.
    gap : float
        How far the objective may be above its optimum: a bound, from its strong convexity, but
        for the share of the intercepts, which have no prior and add an estimate.
    converged : bool
    n_iter : int
    """

    coef: Floats
    intercept: Floats
    couplings: Floats
    history: Floats
    gap: float
    converged: bool
    n_iter: int


class Labelings(NamedTuple):
    """The labelings that share the probability, in coordinates of their own.

    Parameters
    ----------
    features : ndarray of shape (n_labelings, n_outputs) or None
        What the linear scores are multiplied by; ``None`` for unit vectors.
    spectrum : ndarray of shape (n_outputs,)
        Second moments of the features.
    pairs : Eigenbasis
        Features with a coefficient of their own, the same for all samples.
    """

    features: Floats | None
    spectrum: Floats
    pairs: Eigenbasis


class _Block(NamedTuple):
    """Some samples."""

    rows: Any
    code: NDArray[np.int64]
    weight: Floats


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The objective, in coordinates in which its Hessian is near the identity.

    A point holds, scaled by ``scale``, the turned coefficients (n_directions, n_outputs), the
    intercepts (n_outputs,) and the turned couplings (n_pair_directions,).
    """

    basis: Eigenbasis
    mean: Floats
    blocks: list[_Block]
    labelings: Labelings
    scale: tuple[Floats, Floats, Floats]
    penalty: float
    pair_penalty: float

    @classmethod
    def build(
        cls,
        X: Any,
        code: NDArray[np.int64],
        weight: Floats,
        labelings: Labelings,
        penalty: float,
        pair_penalty: float,
    ) -> Likelihood:
        """Choose coordinates for the features, and cut the samples into blocks."""
        basis = eigenbasis(X, weight, np.ones((len(weight), 1)), penalty)
        total = weight.sum()
        # Directions in which no labeling differs from another have no gradient and stay at zero.
        varies = labelings.spectrum > 0.0
        free = np.where(
            varies, 1.0 / np.sqrt(total * np.where(varies, labelings.spectrum, 1.0)), 0.0
        )
        scale = (
            1.0 / np.sqrt(np.outer(basis.spectrum, labelings.spectrum) + penalty),
            free,
            1.0 / np.sqrt(labelings.pairs.spectrum + pair_penalty),
        )
        step = max(LEAST_ROWS, BLOCK_SCORES // labelings.pairs.rows.shape[0])
        parts = [slice(i, i + step) for i in range(0, len(code), step)]
        blocks = [_Block(basis.rows[part], code[part], weight[part]) for part in parts]
        mean = np.asarray(weight @ X) / total
        return cls(basis, mean, blocks, labelings, scale, penalty, pair_penalty)

    def solve(self, max_iter: int, tol: float) -> LogLinearFit:
        """Minimise from zero; outputs and couplings stay in turned coordinates."""
        first = np.zeros(sum(part.size for part in self.scale))
        history = [self.evaluate(first)[0]]
        result = self._minimise(first, history, max_iter, tol)
        turned, intercept, couplings = self._split(result.x)
        coef = np.ascontiguousarray(self.basis.coefficients(turned).T)
        return LogLinearFit(
            coef,
            intercept - coef @ self.mean,
            couplings,
            np.array(history),
            self._gap(result.jac),
            self._distance(result.fun, result.jac) <= max(tol, ROUNDING),
            int(result.nit),
        )

    def evaluate(self, point: Floats) -> tuple[float, Floats]:
        """Objective and gradient."""
        coef, intercept, couplings = self._split(point)
        value = 0.5 * (
            self.penalty * np.vdot(coef, coef) + self.pair_penalty * np.vdot(couplings, couplings)
        )
        by_coef, by_intercept = self.penalty * coef, np.zeros(len(intercept))
        by_labeling = np.zeros(self.labelings.pairs.rows.shape[0])
        potentials = self.labelings.pairs.rows @ couplings
        offset = intercept - self.basis.shift @ coef
        for block in self.blocks:
            scores = self._on_labelings(block.rows @ coef + offset)
            scores += potentials
            value += _to_residuals(scores, block.code, block.weight)
            by_labeling += scores.sum(axis=0)
            residuals = (
                scores if self.labelings.features is None else scores @ self.labelings.features
            )
            by_coef += block.rows.T @ residuals
            by_intercept += residuals.sum(axis=0)
        by_coef -= np.outer(self.basis.shift, by_intercept)
        by_couplings = self.labelings.pairs.rows.T @ by_labeling + self.pair_penalty * couplings
        return float(value), self._join(by_coef, by_intercept, by_couplings)

    def _on_labelings(self, scores: Floats) -> Floats:
        features = self.labelings.features
        return scores if features is None else scores @ features.T

    def _minimise(
        self, first: Floats, history: list[float], max_iter: int, tol: float
    ) -> OptimizeResult:
        latest: list[Floats] = []

        def evaluate(point: Floats) -> tuple[float, Floats]:
            value, gradient = self.evaluate(point)
            latest[:] = [gradient]
            return value, gradient

        def observe(intermediate_result: OptimizeResult) -> None:
            history.append(float(intermediate_result.fun))
            # A step ends at the point evaluated last, so its gradient is at hand.
            if self._distance(intermediate_result.fun, latest[0]) <= tol:
                raise StopIteration

        options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0}
        return minimize(
            evaluate, first, jac=True, method="L-BFGS-B", callback=observe, options=options
        )

    def _distance(self, value: float, gradient: Floats) -> float:
        """Estimate the distance from the optimum, relative to the objective.

        The Hessian is near the identity, except that it fades with the loss of a sample where
        samples are fitted closely.
        """
        total = sum(float(block.weight.sum()) for block in self.blocks)
        value = max(value, PERFECT * total)
        return float(0.5 * np.vdot(gradient, gradient) / (value * min(1.0, value / total)))

    def _gap(self, gradient: Floats) -> float:
        by_coef, by_intercept, by_couplings = self._parts(gradient)
        coef, couplings = by_coef / self.scale[0], by_couplings / self.scale[2]
        bound = np.vdot(coef, coef) / self.penalty
        bound += np.vdot(couplings, couplings) / self.pair_penalty
        return float(0.5 * (bound + np.vdot(by_intercept, by_intercept)))

    def _split(self, point: Floats) -> list[Floats]:
        return [part * scale for part, scale in zip(self._parts(point), self.scale, strict=True)]

    def _join(self, *gradients: Floats) -> Floats:
        pairs = zip(gradients, self.scale, strict=True)
        return np.concatenate([(gradient * scale).ravel() for gradient, scale in pairs])

    def _parts(self, point: Floats) -> list[Floats]:
        ends = np.cumsum([scale.size for scale in self.scale])[:-1]
        parts = zip(np.split(point, ends), self.scale, strict=True)
        return [part.reshape(scale.shape) for part, scale in parts]


def _to_residuals(scores: Floats, code: NDArray[np.int64], weight: Floats) -> float:
    """Turn scores of labelings into ``weight (p - y)`` in place; return the loss."""
    samples = np.arange(len(code))
    scores -= scores.max(axis=1, keepdims=True)
    own = scores[samples, code]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1)
    scores *= (weight / total)[:, None]
    scores[samples, code] -= weight
    return float(weight @ (np.log(total) - own))
