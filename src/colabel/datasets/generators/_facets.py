"""Data with two or more facets whose dependence, given x, is known and adjustable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from colabel.datasets.generators._common import (
    Generated,
    as_generator,
    check_count,
    check_range,
    draw_rows,
)

__all__ = ["FacetsData", "FacetsTruth", "make_facets"]

MAX_COMBINATIONS = 4096


@dataclass(frozen=True, eq=False)
class FacetsTruth:
    """The model that made the data.

    Parameters
    ----------
    weights : tuple of ndarray of shape (facet_size, n_features)
    bias : tuple of ndarray of shape (facet_size,)
    follows : tuple of ndarray of shape (first_facet_size,), int64
        For each facet after the first: the class that goes with each class of the first.
    dependence : float
    """

    weights: tuple[np.ndarray, ...]
    bias: tuple[np.ndarray, ...]
    follows: tuple[np.ndarray, ...]
    dependence: float

    @property
    def facet_sizes(self) -> tuple[int, ...]:
        """Number of classes of each facet."""
        return tuple(len(bias) for bias in self.bias)

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return p(c_1, ..., c_S | x), of shape (n_samples, *facet_sizes), exact."""
        own = [
            softmax(X @ weights.T + bias, axis=1)
            for weights, bias in zip(self.weights, self.bias, strict=True)
        ]
        joint = own[0]
        for following, probability in zip(self.follows, own[1:], strict=True):
            tied = np.eye(probability.shape[1])[following]  # (first facet, this facet)
            given_first = (1 - self.dependence) * probability[:, None] + self.dependence * tied
            middle = (1,) * (joint.ndim - 2)  # facets between the first and this one
            joint = joint[..., None] * given_first.reshape(
                len(given_first), len(following), *middle, -1
            )
        return joint


@dataclass(frozen=True, eq=False)
class FacetsData(Generated):
    """Data with facets, with the truth.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, sum of facet sizes), int8
        Indicators: in each group of columns exactly one is on.
    classes : ndarray of shape (n_samples, n_facets), int64
        The same labels as class numbers.
    facets : dict of str to tuple of str
        Label names of each group, in column order.
    truth : FacetsTruth
    probabilities : ndarray of shape (n_samples, product of facet sizes)
        p(combination | x); the last facet runs fastest (``np.unravel_index``).
    facet_accuracies : ndarray of shape (n_facets,)
        Expected accuracy, on these ``X``, of the best possible predictor of each facet.
    optimal_accuracy : float
        The same for the whole combination.
    """

    classes: np.ndarray
    facets: dict[str, tuple[str, ...]]
    truth: FacetsTruth
    probabilities: np.ndarray
    facet_accuracies: np.ndarray
    optimal_accuracy: float

    def _label_names(self) -> tuple[str, ...]:
        return tuple(name for names in self.facets.values() for name in names)


def make_facets(
    n_samples: int = 1000,
    n_features: int = 10,
    facet_sizes: tuple[int, ...] = (5, 2),
    *,
    dependence: float = 0.5,
    scale: float = 2.0,
    random_state: Any = None,
) -> FacetsData:
    """Draw data in which every sample has exactly one label of each of several facets.

    Parameters
    ----------
    n_samples, n_features : int
        Sizes. Features are standard Gaussian.
    facet_sizes : tuple of int
        Number of classes of each facet: at least two facets, of at least two classes each.
    dependence : float in [0, 1]
        At 0 the facets are independent given x; at 1 the first determines the others.
    scale : float
        Standard deviation of the class scores.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    FacetsData
        Unpacks as ``X, Y``; carries ``classes``, ``facets``, ``probabilities`` and the
        accuracies that no predictor can pass in expectation.

    Notes
    -----
    The first facet is drawn from a softmax of linear scores. Each other takes, with probability
    ``dependence``, the class that goes with the first facet's class, and otherwise a draw from a
    softmax of its own. Given x and the first facet the others are independent of one another.

    Examples
    --------
    >>> from colabel.datasets import make_facets
    >>> data = make_facets(100, facet_sizes=(3, 2), random_state=0)
    >>> data.Y.shape, data.classes.shape, data.probabilities.shape
    ((100, 5), (100, 2), (100, 6))
    >>> data.facets
    {'set0': ('set0=0', 'set0=1', 'set0=2'), 'set1': ('set1=0', 'set1=1')}
    """
    sizes = _check_sizes(facet_sizes)
    rng = as_generator(random_state)
    truth = _random_truth(
        check_count("n_features", n_features),
        sizes,
        check_range("dependence", dependence, 0, 1),
        check_range("scale", scale, 0),
        rng,
    )
    X = rng.standard_normal((check_count("n_samples", n_samples), n_features))
    joint = truth.probabilities(X)
    table = joint.reshape(n_samples, -1)
    classes = np.column_stack(np.unravel_index(draw_rows(table, rng), sizes))
    return FacetsData(
        X,
        np.hstack([np.eye(size, dtype=np.int8)[classes[:, s]] for s, size in enumerate(sizes)]),
        classes,
        {f"set{s}": tuple(f"set{s}={c}" for c in range(n)) for s, n in enumerate(sizes)},
        truth,
        table,
        np.array([_best(_facet_marginal(joint, s)) for s in range(len(sizes))]),
        _best(table),
    )


def _check_sizes(facet_sizes: Any) -> tuple[int, ...]:
    sizes = tuple(check_count("a facet size", size, low=2) for size in facet_sizes)
    if len(sizes) < 2:
        raise ValueError(f"facet_sizes must name at least two facets, got {sizes}")
    if np.prod(sizes, dtype=np.float64) > MAX_COMBINATIONS:
        raise ValueError(
            f"facet_sizes {sizes} have more than {MAX_COMBINATIONS} combinations, and the truth is "
            "found by enumeration"
        )
    return sizes


def _random_truth(
    n_features: int,
    sizes: tuple[int, ...],
    dependence: float,
    scale: float,
    rng: np.random.Generator,
) -> FacetsTruth:
    spread = scale / np.sqrt(n_features)
    return FacetsTruth(
        tuple(spread * rng.standard_normal((size, n_features)) for size in sizes),
        tuple(0.25 * scale * rng.standard_normal(size) for size in sizes),
        tuple(rng.permutation(sizes[0]) % size for size in sizes[1:]),
        dependence,
    )


def _facet_marginal(joint: np.ndarray, which: int) -> np.ndarray:
    others = tuple(axis for axis in range(1, joint.ndim) if axis != which + 1)
    return joint.sum(axis=others)


def _best(table: np.ndarray) -> float:
    return float(table.max(axis=1).mean())
