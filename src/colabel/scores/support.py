"""Finitely many labelings with a score each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from colabel._rows import RowIndex
from colabel.scores.base import (
    Floats,
    Labels,
    RandomState,
    ScoreTable,
    binary,
    correlations,
    draw_index,
    floats,
    normalised,
    rows_of,
)

__all__ = ["Support"]


@dataclass(frozen=True, eq=False)
class Support(ScoreTable):
    """Finitely many labelings with a score each; all others are out, or bounded by ``rest``.

    Parameters
    ----------
    labelings : array-like of shape (n_labelings, n_labels), in {0, 1}, rows distinct
        Shared by all samples; or each sample's own: (n_samples, n_labelings, n_labels), distinct
        where the score is not ``-inf``, with which a sample that has fewer is filled up.
    scores : array-like of shape (n_samples, n_labelings)
        Log-probabilities if ``distribution``, which may hold ``-inf``; any scores otherwise.
    distribution : bool, default=True
    rest : array-like of shape (n_samples,) or None, default=None
        ``None``: no other labeling is possible, and probabilities are normalised when the table is
        built. Otherwise the table is part of a larger distribution: log-probabilities stay as they
        are, and none of the labelings left out has more than ``rest``. Marginals, samples,
        correlations and expected measures are those given that the labeling is in the table;
        ``doubt`` and ``marginal_bounds`` tell how far those of the whole may be.
    """

    labelings: Labels
    scores: Floats
    distribution: bool = True
    rest: Floats | None = None

    def __post_init__(self) -> None:
        given = np.asarray(self.labelings)
        if not np.all((given == 0) | (given == 1)):
            raise ValueError("labelings must hold 0 and 1 only")
        labelings = np.ascontiguousarray(given, dtype=np.int8)
        scores = floats(self.scores, 2, "scores", neg_inf=self.distribution)
        if labelings.shape[:-1] not in (scores.shape, scores.shape[1:]):
            raise ValueError(f"labelings {labelings.shape} do not fit scores {scores.shape}")
        if not self.distribution and (labelings.ndim == 3 or self.rest is not None):
            raise ValueError("labelings of each sample's own, or a rest, need probabilities")
        if _repeats(labelings, scores):
            raise ValueError("labelings must differ; add up the scores of equal ones first")
        if self.rest is not None:
            self._set_rest(scores)
        elif self.distribution:
            scores = normalised(scores, "scores")
        object.__setattr__(self, "labelings", labelings)
        object.__setattr__(self, "scores", scores)

    @property
    def n_samples(self) -> int:
        return int(self.scores.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.labelings.shape[-1])

    @property
    def own_labelings(self) -> bool:
        """Whether each sample has labelings of its own."""
        return self.labelings.ndim == 3

    @property
    def is_distribution(self) -> bool:
        return self.distribution

    @cached_property
    def log_p(self) -> Floats:
        """Log-probabilities given that the labeling is one of the table."""
        self._require_distribution()
        return self.scores if self.rest is None else normalised(self.scores, "scores")

    @cached_property
    def doubt(self) -> Floats:
        """How far expectations of a measure in [0, 1] may be from the truth: (n_samples,).

        The total variation distance of ``log_p`` from the larger distribution: all that is left
        out, and what labelings of the table lack. 0 where nothing is left out.
        """
        if self.rest is None:
            return np.zeros(self.n_samples)
        shared = np.exp(np.minimum(self.scores, self.log_p)).sum(axis=1)
        return np.maximum(1.0 - shared, 0.0)

    def marginal_bounds(self) -> tuple[Floats, Floats]:
        """Bound the marginals of the larger distribution: two arrays (n_samples, n_labels)."""
        self._require_distribution()
        p, Z = np.exp(self.scores), self.labelings.astype(np.float64)
        least = (p[:, None] @ Z)[:, 0] if self.own_labelings else p @ Z
        left_out = 0.0 if self.rest is None else np.maximum(1.0 - p.sum(axis=1, keepdims=True), 0.0)
        return np.minimum(least, 1.0), np.minimum(least + left_out, 1.0)

    def pick(self, index: NDArray[np.int64]) -> Labels:
        """Return the labelings that ``index`` (n_samples, ...) names, of each sample."""
        if not self.own_labelings:
            return self.labelings[index]
        sample = np.arange(self.n_samples).reshape(-1, *(1 for _ in index.shape[1:]))
        return self.labelings[sample, index]

    def value(self, Z: ArrayLike) -> Floats:
        if self.own_labelings:
            same = (self.labelings == np.asarray(Z)[:, None, :]).all(axis=2)
            return np.where(same, self.scores, -np.inf).max(axis=1)
        where = self._locate(Z)
        found = self.scores[np.arange(self.n_samples), np.maximum(where, 0)]
        return np.where(where >= 0, found, -np.inf)

    def value_all(self, labelings: ArrayLike) -> Floats:
        if self.own_labelings:
            return np.stack([self.value(z[None]) for z in np.asarray(labelings)], axis=1)
        where = self._locate(labelings)
        return np.where(where >= 0, self.scores[:, np.maximum(where, 0)], -np.inf)

    def take(self, rows: RowIndex) -> Self:
        # Normalising again would change the last bits: a row would differ from its batch.
        out = object.__new__(type(self))
        for part in fields(self):
            given = getattr(self, part.name)
            shared = part.name == "labelings" and not self.own_labelings
            cut = isinstance(given, np.ndarray) and not shared
            object.__setattr__(out, part.name, rows_of(given, rows) if cut else given)
        return out

    def log_prob(self, Y: ArrayLike) -> Floats:
        self._require_distribution()
        return self.value(binary(Y, (self.n_samples, self.n_labels), "Y"))

    def marginals(self) -> Floats:
        p, Z = np.exp(self.log_p), self.labelings.astype(np.float64)
        return np.minimum((p[:, None] @ Z)[:, 0] if self.own_labelings else p @ Z, 1.0)

    def sample(self, n_draws: int, random_state: RandomState = None) -> Labels:
        rng = check_random_state(random_state)
        return self.pick(draw_index(np.exp(self.log_p), n_draws, rng))

    def correlations(self) -> Floats:
        p, Z = np.exp(self.log_p), self.labelings.astype(np.float64)
        terms = "ns,nsl,nsm->nlm" if self.own_labelings else "ns,sl,sm->nlm"
        both = np.einsum(terms, p, Z, Z, optimize=True)
        return correlations(both, np.minimum(np.einsum("nll->nl", both), 1.0))

    def _locate(self, Z: ArrayLike) -> NDArray[np.int64]:
        """Index of each row of ``Z`` among the shared labelings, -1 where it is none of them."""
        place = {row.tobytes(): s for s, row in enumerate(self.labelings)}
        Z = np.ascontiguousarray(np.asarray(Z), dtype=np.int8)
        return np.array([place.get(row.tobytes(), -1) for row in Z], dtype=np.int64)

    def _set_rest(self, scores: Floats) -> None:
        rest = floats(self.rest, 1, "rest", neg_inf=True)  # type: ignore[arg-type]
        if len(rest) != len(scores):
            raise ValueError(f"rest {rest.shape} does not fit scores {scores.shape}")
        if np.any(logsumexp(scores, axis=1) > 1e-9):
            raise ValueError("probabilities of a sample add up to more than 1")
        object.__setattr__(self, "rest", rest)

    def _require_distribution(self) -> None:
        if not self.distribution:
            raise self._no_distribution()


def _repeats(labelings: Labels, scores: Floats) -> bool:
    """Tell whether a labeling occurs twice (in a sample, not counting scores of ``-inf``)."""
    if labelings.ndim == 2:
        return len({row.tobytes() for row in labelings}) < len(labelings)
    packed = np.packbits(labelings, axis=2)
    keys = packed.view(f"S{packed.shape[2]}")[:, :, 0]
    order = np.lexsort((np.isneginf(scores), keys), axis=1)
    keys, out = (np.take_along_axis(a, order, axis=1) for a in (keys, np.isneginf(scores)))
    return bool(np.any((keys[:, 1:] == keys[:, :-1]) & ~out[:, 1:]))
