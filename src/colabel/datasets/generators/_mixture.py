"""Data from a known conditional Bernoulli mixture (Section 3.3 of Li et al. 2016).

A softmax gate ``pi_k(x)`` picks one of K components; component k switches label l on with
probability ``sigmoid(<x, experts[k, l]> + expert_bias[k, l])``, independently of the other labels.
The paper states K = 3, 7 Gaussian features and 15 000 rows, but neither the number of labels nor
any scale: the defaults here are ours, chosen so that the bound of the sampled variant is near the
published 65 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax, ndtri

from colabel.datasets.generators._common import (
    Generated,
    as_generator,
    check_count,
    check_range,
    labelings,
    row_blocks,
)

__all__ = ["BernoulliMixtureData", "BernoulliMixtureTruth", "make_bernoulli_mixture"]

MAX_LABELS = 12
_GATE_NODES = 1024
_NOISE_DRAWS = 200
_NOISE_ROWS = 4000
_NOISE_CELLS = 2e8  # budget of the Monte-Carlo bound: with many labels it looks at fewer rows


@dataclass(frozen=True, eq=False)
class BernoulliMixtureTruth:
    """The model that made the data.

    Parameters
    ----------
    gate, gate_bias : ndarray of shape (n_components, n_features) and (n_components,)
    experts : ndarray of shape (n_components, n_labels, n_features)
    expert_bias : ndarray of shape (n_components, n_labels)
    noise : float
        Standard deviation of the Gaussian noise on every gate and expert score.
    """

    gate: np.ndarray
    gate_bias: np.ndarray
    experts: np.ndarray
    expert_bias: np.ndarray
    noise: float

    @cached_property
    def labelings(self) -> np.ndarray:
        """All labelings, of shape (2 ** n_labels, n_labels): the columns of ``log_prob``."""
        return labelings(self.experts.shape[1])

    def scores(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return gate scores (n, n_components) and expert scores (n, n_components, n_labels)."""
        logits = np.einsum("id,kld->ikl", X, self.experts, optimize=True) + self.expert_bias
        return X @ self.gate.T + self.gate_bias, logits

    def mixture(self, X: np.ndarray, *, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return log-weights (n, n_components) and log-odds (n, n_components, n_labels).

        ``colabel.scores.Mixture(*truth.mixture(X))`` is the true score table, to be decoded for
        any target. With ``averaged``, it is the mean over the noise, which again is a mixture of
        products because the noises are independent: each Bernoulli is integrated by Gauss-Hermite
        quadrature (error below 1e-6 for noise up to 3), the gate by 1024 Sobol points (mean error
        2e-4 at noise 1.5, 4e-4 at 3). Without noise, or with ``averaged=False``, it is exact.
        """
        gate, logits = self.scores(X)
        if averaged and self.noise > 0:
            return self._mean_gate(gate), self._mean_experts(logits)
        return log_softmax(gate, axis=1), logits

    def log_prob(self, X: np.ndarray, *, averaged: bool = True) -> np.ndarray:
        """Return log p(y | x) of every labeling, of shape (n_samples, 2 ** n_labels).

        With ``averaged``, p is the mean over the noise, as exact as ``mixture`` says.
        """
        return self._log_table(*self.mixture(X, averaged=averaged))

    def mode(self, X: np.ndarray, *, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return the most probable labelings (n, n_labels), the first among equals, and their p."""
        X = np.asarray(X, dtype=np.float64)
        best = np.empty(len(X), dtype=np.intp)
        probability = np.empty(len(X))
        for block in row_blocks(len(X), self.gate.shape[0] * len(self.labelings)):
            table = self.log_prob(X[block], averaged=averaged)
            best[block] = table.argmax(axis=1)
            probability[block] = np.exp(table.max(axis=1))
        return self.labelings[best], probability

    def _log_table(self, log_gate: np.ndarray, odds: np.ndarray) -> np.ndarray:
        """Sum the mixture at every labeling."""
        per_component = odds @ self.labelings.T.astype(np.float64)
        per_component += (log_gate + log_expit(-odds).sum(axis=2))[:, :, None]
        top = per_component.max(axis=1)
        per_component -= top[:, None, :]
        return top + np.log(np.exp(per_component, out=per_component).sum(axis=1))

    def _mean_experts(self, logits: np.ndarray) -> np.ndarray:
        """Return the log-odds of the labels' probabilities averaged over the noise."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(64)
        weights = weights / weights.sum()
        on, off = np.zeros_like(logits), np.zeros_like(logits)
        for node, weight in zip(nodes, weights, strict=True):
            on += weight * expit(logits + self.noise * node)
            off += weight * expit(-logits - self.noise * node)
        return _log(on) - _log(off)

    def _mean_gate(self, gate: np.ndarray) -> np.ndarray:
        """Return the logarithm of the softmax averaged over the noise.

        A noise vector multiplies the unnormalised weights by a vector of its own, so all the
        normalisers are one matrix product, and the mean is another.
        """
        nodes = _normal_nodes(gate.shape[1])
        factors = np.exp(self.noise * (nodes - nodes.max(axis=1, keepdims=True)))
        weights = np.exp(gate - gate.max(axis=1, keepdims=True))
        for block in row_blocks(len(weights), len(nodes)):
            total = np.maximum(weights[block] @ factors.T, np.finfo(np.float64).tiny)
            weights[block] *= (1 / total) @ factors / len(nodes)
        return _log(weights)


@dataclass(frozen=True, eq=False)
class BernoulliMixtureData(Generated):
    """Data of a conditional Bernoulli mixture, with the truth.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
    truth : BernoulliMixtureTruth
    target : str
        ``"argmax"`` or ``"sample"``.
    optimal_accuracy : float
        Expected subset accuracy, on these ``X``, of the best possible predictor.
    optimal_accuracy_error : float
        Standard error of ``optimal_accuracy`` where it is a Monte-Carlo estimate, else 0.
    """

    truth: BernoulliMixtureTruth
    target: str
    optimal_accuracy: float
    optimal_accuracy_error: float


def make_bernoulli_mixture(
    n_samples: int = 15000,
    n_features: int = 7,
    n_labels: int = 4,
    n_components: int = 3,
    *,
    target: str = "argmax",
    noise: float = 0.0,
    scale: float = 7.0,
    common: float = 0.8,
    random_state: Any = None,
) -> BernoulliMixtureData:
    """Draw data from a random conditional Bernoulli mixture whose truth is known.

    Parameters
    ----------
    n_samples, n_features, n_labels, n_components : int
        Sizes; ``n_labels`` at most 12. Features are standard Gaussian.
    target : {"argmax", "sample"}
        Labels are the most probable labeling, or drawn from the distribution.
    noise : float
        Standard deviation of Gaussian noise added, for each sample anew, to all gate and expert
        scores before the labels are chosen.
    scale : float
        Standard deviation of the noise-free scores.
    common : float in [0, 1]
        Share of the experts' variance that is the same in all components: at 1 the components are
        equal and the labels conditionally independent.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    BernoulliMixtureData
        Unpacks as ``X, Y``; carries ``truth``, ``optimal_accuracy``, ``optimal_accuracy_error``.

    Notes
    -----
    The optimal subset accuracy is the mean over the rows of ``max_y q(y | x)``, where q is the
    distribution of the labels given x alone. It is 1 for ``"argmax"`` without noise, exact for
    ``"sample"`` without noise, and exact up to the quadrature stated at
    ``BernoulliMixtureTruth.mixture`` for ``"sample"`` with noise. For ``"argmax"`` with noise, q
    is estimated on up to 4000 of the rows with 200 draws of the noise for each: one half of the
    draws chooses the labeling, the other says how often it is right, so that the estimate is not
    optimistic.

    Examples
    --------
    >>> from colabel.datasets import make_bernoulli_mixture
    >>> data = make_bernoulli_mixture(200, target="sample", random_state=0)
    >>> X, Y = data
    >>> X.shape, Y.shape, data.truth.experts.shape
    ((200, 7), (200, 4), (3, 4, 7))
    >>> 0 < data.optimal_accuracy < 1
    True
    """
    if target not in ("argmax", "sample"):
        raise ValueError(f"target must be 'argmax' or 'sample', got {target!r}")
    rng = as_generator(random_state)
    truth = _random_truth(
        check_count("n_features", n_features),
        check_count("n_labels", n_labels, high=MAX_LABELS),
        check_count("n_components", n_components),
        check_range("noise", noise, 0),
        check_range("scale", scale, 0),
        check_range("common", common, 0, 1),
        rng,
    )
    X = rng.standard_normal((check_count("n_samples", n_samples), n_features))
    if target == "sample":
        Y = _sample(truth, X, rng)
        accuracy, error = float(truth.mode(X)[1].mean()), 0.0
    else:
        Y = truth.labelings[_noisy_modes(truth, X, rng)]
        accuracy, error = _noisy_mode_bound(truth, X, rng) if noise > 0 else (1.0, 0.0)
    return BernoulliMixtureData(X, Y, truth, target, accuracy, error)


def _random_truth(
    n_features: int,
    n_labels: int,
    n_components: int,
    noise: float,
    scale: float,
    common: float,
    rng: np.random.Generator,
) -> BernoulliMixtureTruth:
    def draw(*shape: int) -> np.ndarray:  # the last entry of each vector is the bias
        return rng.standard_normal((*shape, n_features + 1)) * scale / np.sqrt(n_features + 1)

    gate = draw(n_components)
    shared, own = draw(1, n_labels), draw(n_components, n_labels)
    experts = np.sqrt(common) * shared + np.sqrt(1 - common) * own
    return BernoulliMixtureTruth(
        gate[:, :-1], gate[:, -1], experts[:, :, :-1], experts[:, :, -1], noise
    )


def _noisy_scores(
    truth: BernoulliMixtureTruth, X: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    gate, logits = truth.scores(X)
    if truth.noise > 0:
        gate = gate + truth.noise * rng.standard_normal(gate.shape)
        logits = logits + truth.noise * rng.standard_normal(logits.shape)
    return gate, logits


def _sample(truth: BernoulliMixtureTruth, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the component, then the labels: exact, without enumeration."""
    gate, logits = _noisy_scores(truth, X, rng)
    component = (gate + rng.gumbel(size=gate.shape)).argmax(axis=1)
    chosen = logits[np.arange(len(X)), component]
    return (rng.random(chosen.shape) < expit(chosen)).astype(np.int8)


def _noisy_modes(
    truth: BernoulliMixtureTruth, X: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the row numbers, among all labelings, of the modes under one draw of the noise."""
    best = np.empty(len(X), dtype=np.intp)
    for block in row_blocks(len(X), truth.gate.shape[0] * len(truth.labelings)):
        gate, logits = _noisy_scores(truth, X[block], rng)
        table = truth._log_table(log_softmax(gate, axis=1), logits)
        best[block] = table.argmax(axis=1)
    return best


def _noisy_mode_bound(
    truth: BernoulliMixtureTruth, X: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Estimate the mean over x of max_y P(the noisy mode is y), and its standard error."""
    n_labelings = len(truth.labelings)
    affordable = int(_NOISE_CELLS / (_NOISE_DRAWS * truth.gate.shape[0] * n_labelings))
    rows = X[: min(_NOISE_ROWS, max(100, affordable))]
    halves = np.zeros((2, len(rows), n_labelings), dtype=np.int32)
    for half in halves:
        for _ in range(_NOISE_DRAWS // 2):
            half[np.arange(len(rows)), _noisy_modes(truth, rows, rng)] += 1
    chosen = halves.argmax(axis=2)
    hits = np.stack([halves[1 - h][np.arange(len(rows)), chosen[h]] for h in (0, 1)])
    per_row = hits.mean(axis=0) / (_NOISE_DRAWS // 2)
    return float(per_row.mean()), float(per_row.std() / np.sqrt(len(rows)))


def _log(probability: np.ndarray) -> np.ndarray:
    """Logarithm that stays finite where a probability has underflowed."""
    return np.log(np.maximum(probability, np.finfo(np.float64).tiny))


def _normal_nodes(n_dimensions: int) -> np.ndarray:
    """Return Sobol points mapped to a standard normal, always the same ones."""
    from scipy.stats import qmc  # slow to import, and needed only for noisy data

    points = qmc.Sobol(n_dimensions, scramble=False).random(_GATE_NODES)
    return ndtri(points + 0.5 / _GATE_NODES)  # cell centres: none is at an end of [0, 1]
