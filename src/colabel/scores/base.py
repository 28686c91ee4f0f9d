"""What every score table answers, and the checks they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import logsumexp

from colabel._rows import RowIndex
from colabel.exceptions import IncompatibleError

__all__ = [
    "Floats",
    "Labels",
    "RandomState",
    "ScoreTable",
    "binary",
    "correlations",
    "draw_index",
    "floats",
    "normalised",
    "rows_of",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Array = TypeVar("Array", Floats, Labels)
RandomState = int | np.random.RandomState | None


class ScoreTable(ABC):
    """A score for every labeling of every sample."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    @abstractmethod
    def n_labels(self) -> int:
        """Number of labels."""

    @property
    def is_distribution(self) -> bool:
        """Whether the scores are log-probabilities of labelings (up to a constant per sample)."""
        return False

    @abstractmethod
    def value_all(self, labelings: ArrayLike) -> Floats:
        """Score each of ``labelings`` (n_labelings, n_labels): (n_samples, n_labelings)."""

    @abstractmethod
    def value(self, Z: ArrayLike) -> Floats:
        """Score the labeling ``Z[i]`` of each sample ``i``: (n_samples,)."""

    @abstractmethod
    def take(self, rows: RowIndex) -> ScoreTable:
        """Return the table of the given samples (indices, mask or slice)."""

    def log_prob(self, Y: ArrayLike) -> Floats:
        """Log-probability of the labeling ``Y[i]`` of each sample: (n_samples,)."""
        raise self._no_distribution()

    def marginals(self) -> Floats:
        """Probability that each label is on: (n_samples, n_labels)."""
        raise self._no_distribution()

    def sample(self, n_draws: int, random_state: RandomState = None) -> Labels:
        """Draw labelings: (n_samples, n_draws, n_labels)."""
        raise self._no_distribution()

    def correlations(self) -> Floats:
        """Correlate the labels within each sample: (n_samples, n_labels, n_labels).

        The diagonal is 1; a label that is certain correlates with no other.
        """
        raise self._no_distribution()

    def label_scores(self) -> Floats:
        """Score each label by itself, positive speaking for it: (n_samples, n_labels).

        The log-odds of the marginals, where the table is a distribution.
        """
        # Below this, 1 - p holds nothing but rounding.
        floor = np.finfo(np.float64).eps
        p = np.clip(self.marginals(), floor, 1.0 - floor)
        return np.log(p) - np.log1p(-p)

    def _no_distribution(self) -> IncompatibleError:
        return IncompatibleError(
            f"this {type(self).__name__} table holds scores, not probabilities; "
            "fit a model with probabilities to ask for them"
        )


def floats(array: ArrayLike, ndim: int, name: str, *, neg_inf: bool = False) -> Floats:
    """Float64, C-contiguous, of ``ndim`` axes, finite (``-inf`` let through where asked)."""
    out = np.ascontiguousarray(np.asarray(array), dtype=np.float64)
    if out.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, not {out.ndim}")
    bad = np.isnan(out) | (out == np.inf) if neg_inf else ~np.isfinite(out)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} must be finite; entry {where} is {out[where]}")
    return out


def binary(Y: ArrayLike | sparse.sparray, shape: tuple[int, int], name: str) -> Floats:
    """Return labelings of 0 and 1, dense or sparse, as dense floats; refuse any others."""
    dense = Y.toarray() if isinstance(Y, sparse.sparray | sparse.spmatrix) else Y
    out = floats(dense, 2, name)
    if out.shape != shape:
        raise ValueError(f"{name} must hold a labeling for each sample, {shape}; got {out.shape}")
    if not np.all((out == 0.0) | (out == 1.0)):
        raise ValueError(f"{name} must hold 0 and 1 only")
    return out


def rows_of(array: Array, rows: RowIndex) -> Array:
    """Return the given rows (indices, mask or slice) of an array that has been checked."""
    out = np.ascontiguousarray(array[rows])
    if out.ndim != array.ndim:
        raise ValueError("rows must be indices, a mask or a slice, not a single number")
    return out


def normalised(log_weights: Floats, name: str) -> Floats:
    """Log-weights whose exponentials sum to one in each row."""
    total = logsumexp(log_weights, axis=1, keepdims=True)
    if np.any(np.isneginf(total)):
        raise ValueError(f"{name} of a sample are all -inf: nothing has positive probability")
    return log_weights - total


def draw_index(
    probabilities: Floats, n_draws: int, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw column indices from each row of ``probabilities``: (n_samples, n_draws)."""
    cumulative = np.cumsum(probabilities, axis=1)
    draws = rng.random_sample((len(probabilities), n_draws)) * cumulative[:, -1:]
    index = [np.searchsorted(c, d, side="right") for c, d in zip(cumulative, draws, strict=True)]
    return np.minimum(np.array(index, dtype=np.int64).reshape(-1, n_draws), cumulative.shape[1] - 1)


def correlations(both: Floats, marginals: Floats) -> Floats:
    """Turn ``P(y_l = y_m = 1)`` and marginals into correlations."""
    covariance = both - marginals[:, :, None] * marginals[:, None, :]
    sd = np.sqrt(marginals * (1.0 - marginals))
    scale = sd[:, :, None] * sd[:, None, :]
    certain = scale <= 1e-12
    out = np.where(certain, 0.0, covariance / np.where(certain, 1.0, scale))
    diagonal = np.arange(marginals.shape[1])
    out[:, diagonal, diagonal] = 1.0
    return np.clip(out, -1.0, 1.0)
