"""Data from a known pairwise model.

``p(y | x)`` is proportional to ``exp(sum_i y_i (<x, w_i> + b_i) + sum_{i<j} C_ij y_i y_j)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from colabel.datasets.generators._common import (
    Generated,
    as_generator,
    check_count,
    check_range,
    draw_rows,
    labelings,
    row_blocks,
)

__all__ = ["PairwiseData", "PairwiseTruth", "make_pairwise"]

MAX_ENUMERATED = 14


@dataclass(frozen=True, eq=False)
class PairwiseTruth:
    """The model that made the data.

    Parameters
    ----------
    weights : ndarray of shape (n_labels, n_features)
    bias : ndarray of shape (n_labels,)
    edges : ndarray of shape (n_edges, 2), int64
        Pairs (i, j) with i < j.
    couplings : ndarray of shape (n_edges,)
        One for each edge; positive: the two labels like to be on together.
    """

    weights: np.ndarray
    bias: np.ndarray
    edges: np.ndarray
    couplings: np.ndarray

    @property
    def coupling_matrix(self) -> np.ndarray:
        """The couplings as a symmetric (n_labels, n_labels) matrix with a zero diagonal."""
        matrix = np.zeros((len(self.bias), len(self.bias)))
        first, second = self.edges.T
        matrix[first, second] = matrix[second, first] = self.couplings
        return matrix

    def unary(self, X: np.ndarray) -> np.ndarray:
        """Return the unary scores, of shape (n_samples, n_labels)."""
        return X @ self.weights.T + self.bias

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return p(y | x) of every labeling, of shape (n_samples, 2 ** n_labels), exact.

        Column ``s`` is the labeling whose label ``l`` is bit ``l`` of ``s``. At most 14 labels.
        """
        check_count("n_labels", len(self.bias), high=MAX_ENUMERATED)
        Z = labelings(len(self.bias)).astype(np.float64)
        first, second = self.edges.T
        scores = self.unary(X) @ Z.T + (Z[:, first] * Z[:, second]) @ self.couplings
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        return scores / scores.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class PairwiseData(Generated):
    """Data of a pairwise model, with the truth.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
    truth : PairwiseTruth
    exact : bool
        Whether the labels were drawn exactly, or by Gibbs sampling.
    optimal_accuracy : float or None
        Expected subset accuracy, on these ``X``, of predicting the mode; None if not ``exact``.
    """

    truth: PairwiseTruth
    exact: bool
    optimal_accuracy: float | None


def make_pairwise(
    n_samples: int = 1000,
    n_features: int = 10,
    n_labels: int = 8,
    *,
    couplings: str = "attractive",
    density: float = 0.3,
    strength: float = 1.0,
    scale: float = 2.0,
    burn_in: int = 200,
    random_state: Any = None,
) -> PairwiseData:
    """Draw data from a random pairwise model whose truth is known.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Sizes. Features are standard Gaussian.
    couplings : {"attractive", "repulsive", "mixed"}
        Sign of the couplings; mixed: either sign with equal chance.
    density : float in [0, 1]
        Share of the label pairs that are coupled, rounded to a whole number of pairs.
    strength : float
        Mean size of a coupling; sizes are uniform between half and one and a half times this.
    scale : float
        Standard deviation of ``<x, w_i>``.
    burn_in : int
        Gibbs sweeps before the labels of a sample are taken, where there are more than 14 labels.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    PairwiseData
        Unpacks as ``X, Y``; carries ``truth``, ``exact`` and ``optimal_accuracy``.

    Notes
    -----
    Up to 14 labels every labeling is enumerated and the draw is exact. Beyond, each sample gets a
    Gibbs chain of its own, started at random; strong couplings among many labels mix slowly, and
    then a longer ``burn_in`` is needed. ``b_i`` is minus half the sum of label i's couplings, which
    makes on and off equally likely at x = 0, so that no coupling sign empties or fills the labels.

    Examples
    --------
    >>> from colabel.datasets import make_pairwise
    >>> data = make_pairwise(100, n_labels=5, density=1.0, random_state=0)
    >>> data.Y.shape, len(data.truth.edges), bool((data.truth.couplings > 0).all()), data.exact
    ((100, 5), 10, True, True)
    """
    rng = as_generator(random_state)
    check_count("n_samples", n_samples)
    check_count("burn_in", burn_in)
    truth = _random_truth(
        check_count("n_features", n_features),
        check_count("n_labels", n_labels),
        _signs(couplings),
        check_range("density", density, 0, 1),
        check_range("strength", strength, 0),
        check_range("scale", scale, 0),
        rng,
    )
    X = rng.standard_normal((n_samples, n_features))
    if n_labels > MAX_ENUMERATED:
        return PairwiseData(X, _gibbs(truth, X, burn_in, rng), truth, False, None)
    Y, accuracy = _enumerate(truth, X, rng)
    return PairwiseData(X, Y, truth, True, accuracy)


def _signs(couplings: str) -> tuple[int, ...]:
    known = {"attractive": (1,), "repulsive": (-1,), "mixed": (-1, 1)}
    if couplings not in known:
        raise ValueError(f"couplings must be one of {', '.join(known)}; got {couplings!r}")
    return known[couplings]


def _random_truth(
    n_features: int,
    n_labels: int,
    signs: tuple[int, ...],
    density: float,
    strength: float,
    scale: float,
    rng: np.random.Generator,
) -> PairwiseTruth:
    weights = rng.standard_normal((n_labels, n_features)) * scale / np.sqrt(n_features)
    pairs = np.column_stack(np.triu_indices(n_labels, k=1)).astype(np.int64)
    n_edges = round(density * len(pairs))
    edges = pairs[np.sort(rng.choice(len(pairs), n_edges, replace=False))] if n_edges else pairs[:0]
    values = strength * rng.uniform(0.5, 1.5, n_edges) * rng.choice(signs, n_edges)
    bias = np.zeros(n_labels)
    np.subtract.at(bias, edges.ravel(), np.repeat(values, 2) / 2)
    return PairwiseTruth(weights, bias, edges, values)


def _enumerate(
    truth: PairwiseTruth, X: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Draw the labels exactly; also return the expected accuracy of the modes."""
    drawn = np.empty(len(X), dtype=np.intp)
    best = np.empty(len(X))
    for block in row_blocks(len(X), 1 << len(truth.bias)):
        table = truth.probabilities(X[block])
        drawn[block] = draw_rows(table, rng)
        best[block] = table.max(axis=1)
    return labelings(len(truth.bias))[drawn], float(best.mean())


def _gibbs(
    truth: PairwiseTruth, X: np.ndarray, burn_in: int, rng: np.random.Generator
) -> np.ndarray:
    """Run one chain per sample, all in step: label by label, ``burn_in`` sweeps."""
    unary, matrix = truth.unary(X), truth.coupling_matrix
    Y = (rng.random(unary.shape) < 0.5).astype(np.float64)
    for _ in range(burn_in):
        uniform = rng.random(unary.shape)
        for label in range(unary.shape[1]):
            Y[:, label] = uniform[:, label] < expit(unary[:, label] + Y @ matrix[label])
    return Y.astype(np.int8)
