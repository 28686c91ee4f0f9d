"""Data with two or more exclusive label sets whose dependence, given x, is known and adjustable."""

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

__all__ = ["LabelSetsData", "LabelSetsTruth", "make_label_sets"]

MAX_COMBINATIONS = 4096


@dataclass(frozen=True, eq=False)
class LabelSetsTruth:
    """The model that made the data.

    Parameters
    ----------
    weights : tuple of ndarray of shape (set_size, n_features)
    bias : tuple of ndarray of shape (set_size,)
    follows : tuple of ndarray of shape (first_set_size,), int64
        For each set after the first: the class that goes with each class of the first set.
    dependence : float
    """

    weights: tuple[np.ndarray, ...]
    bias: tuple[np.ndarray, ...]
    follows: tuple[np.ndarray, ...]
    dependence: float

    @property
    def set_sizes(self) -> tuple[int, ...]:
        """Number of classes of each set."""
        return tuple(len(bias) for bias in self.bias)

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return p(c_1, ..., c_S | x), of shape (n_samples, *set_sizes), exact."""
        own = [
            softmax(X @ weights.T + bias, axis=1)
            for weights, bias in zip(self.weights, self.bias, strict=True)
        ]
        joint = own[0]
        for following, probability in zip(self.follows, own[1:], strict=True):
            tied = np.eye(probability.shape[1])[following]  # (first set, this set)
            given_first = (1 - self.dependence) * probability[:, None] + self.dependence * tied
            middle = (1,) * (joint.ndim - 2)  # sets between the first and this one
            joint = joint[..., None] * given_first.reshape(
                len(given_first), len(following), *middle, -1
            )
        return joint


@dataclass(frozen=True, eq=False)
class LabelSetsData(Generated):
    """Data with exclusive label sets, with the truth.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, sum of set sizes), int8
        Indicators: in each group of columns exactly one is on.
    classes : ndarray of shape (n_samples, n_sets), int64
        The same labels as class numbers.
    label_sets : dict of str to tuple of str
        Label names of each group, in column order.
    truth : LabelSetsTruth
    probabilities : ndarray of shape (n_samples, product of set sizes)
        p(combination | x); the last set runs fastest (``np.unravel_index``).
    set_accuracies : ndarray of shape (n_sets,)
        Expected accuracy, on these ``X``, of the best possible predictor of each set.
    optimal_accuracy : float
        The same for the whole combination.
    """

    classes: np.ndarray
    label_sets: dict[str, tuple[str, ...]]
    truth: LabelSetsTruth
    probabilities: np.ndarray
    set_accuracies: np.ndarray
    optimal_accuracy: float

    def _label_names(self) -> tuple[str, ...]:
        return tuple(name for names in self.label_sets.values() for name in names)


def make_label_sets(
    n_samples: int = 1000,
    n_features: int = 10,
    set_sizes: tuple[int, ...] = (5, 2),
    *,
    dependence: float = 0.5,
    scale: float = 2.0,
    random_state: Any = None,
) -> LabelSetsData:
    """Draw data in which every sample has exactly one label of each of several sets.

    Parameters
    ----------
    n_samples, n_features : int
        Sizes. Features are standard Gaussian.
    set_sizes : tuple of int
        Number of classes of each set: at least two sets, of at least two classes each.
    dependence : float in [0, 1]
        At 0 the sets are independent given x; at 1 the first set determines the others.
    scale : float
        Standard deviation of the class scores.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    LabelSetsData
        Unpacks as ``X, Y``; carries ``classes``, ``label_sets``, ``probabilities`` and the
        accuracies that no predictor can pass in expectation.

    Notes
    -----
    The first set is drawn from a softmax of linear scores. Each other set takes, with probability
    ``dependence``, the class that goes with the first set's class, and otherwise a draw from a
    softmax of its own. Given x and the first set the others are independent of one another.

    Examples
    --------
    >>> from colabel.datasets import make_label_sets
    >>> data = make_label_sets(100, set_sizes=(3, 2), random_state=0)
    >>> data.Y.shape, data.classes.shape, data.probabilities.shape
    ((100, 5), (100, 2), (100, 6))
    >>> data.label_sets
    {'set0': ('set0=0', 'set0=1', 'set0=2'), 'set1': ('set1=0', 'set1=1')}
    """
    sizes = _check_sizes(set_sizes)
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
    return LabelSetsData(
        X,
        np.hstack([np.eye(size, dtype=np.int8)[classes[:, s]] for s, size in enumerate(sizes)]),
        classes,
        {f"set{s}": tuple(f"set{s}={c}" for c in range(n)) for s, n in enumerate(sizes)},
        truth,
        table,
        np.array([_best(_set_marginal(joint, s)) for s in range(len(sizes))]),
        _best(table),
    )


def _check_sizes(set_sizes: Any) -> tuple[int, ...]:
    sizes = tuple(check_count("a set size", size, low=2) for size in set_sizes)
    if len(sizes) < 2:
        raise ValueError(f"set_sizes must name at least two sets, got {sizes}")
    if np.prod(sizes, dtype=np.float64) > MAX_COMBINATIONS:
        raise ValueError(
            f"set_sizes {sizes} have more than {MAX_COMBINATIONS} combinations, and the truth is "
            "found by enumeration"
        )
    return sizes


def _random_truth(
    n_features: int,
    sizes: tuple[int, ...],
    dependence: float,
    scale: float,
    rng: np.random.Generator,
) -> LabelSetsTruth:
    spread = scale / np.sqrt(n_features)
    return LabelSetsTruth(
        tuple(spread * rng.standard_normal((size, n_features)) for size in sizes),
        tuple(0.25 * scale * rng.standard_normal(size) for size in sizes),
        tuple(rng.permutation(sizes[0]) % size for size in sizes[1:]),
        dependence,
    )


def _set_marginal(joint: np.ndarray, which: int) -> np.ndarray:
    others = tuple(axis for axis in range(1, joint.ndim) if axis != which + 1)
    return joint.sum(axis=others)


def _best(table: np.ndarray) -> float:
    return float(table.max(axis=1).mean())
