"""Score tables: what a model says about every labeling of every sample.

Models, losses, decoders and learners meet only here. A table is frozen and batched: its leading
axis is samples. Arrays are float64 and C-contiguous (edges int64, labelings int8), fixed when the
table is built, so that a kernel sees one signature. An array that is so already is not copied: do
not write to it afterwards. Scores are maximised.

================  ================================================  ===================
table             score of a labeling ``y``                         distribution
================  ================================================  ===================
``Modular``       ``sum_l u_l y_l``                                 if ``log_odds``
``Pairwise``      ``sum_l u_l y_l + sum_{lm} c_lm y_l y_m``         no
``Mixture``       ``log sum_k pi_k prod_l Bernoulli(y_l; p_kl)``    yes
``Support``       a number for each of finitely many labelings      if ``distribution``
================  ================================================  ===================

A table that is a distribution answers ``marginals``, ``log_prob``, ``sample`` and
``correlations``, each given the sample's features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils import check_random_state

from colabel.exceptions import IncompatibleError

__all__ = ["Mixture", "Modular", "Pairwise", "ScoreTable", "Support"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
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
    def take(self, rows: Any) -> ScoreTable:
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


@dataclass(frozen=True, eq=False)
class Modular(ScoreTable):
    """Independent labels: ``score(y) = sum_l unary_l y_l``.

    Parameters
    ----------
    unary : array-like of shape (n_samples, n_labels)
        Gain of turning each label on.
    log_odds : bool, default=False
        Whether ``unary`` holds log-odds, so that the table is a product of Bernoullis.

    Examples
    --------
    >>> table = Modular([[0.0, 2.0]], log_odds=True)
    >>> table.marginals().round(2)
    array([[0.5 , 0.88]])
    >>> float(table.value([[1, 1]])[0])
    2.0
    """

    unary: Floats
    log_odds: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "unary", _floats(self.unary, 2, "unary"))

    @property
    def n_samples(self) -> int:
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.unary.shape[1])

    @property
    def is_distribution(self) -> bool:
        return self.log_odds

    def value(self, Z: ArrayLike) -> Floats:
        return np.einsum("nl,nl->n", self.unary, _floats(Z, 2, "Z"))

    def value_all(self, labelings: ArrayLike) -> Floats:
        return self.unary @ _floats(labelings, 2, "labelings").T

    def take(self, rows: Any) -> Modular:
        return Modular(self.unary[rows], self.log_odds)

    def plus_unary(self, cost: ArrayLike) -> Modular:
        """Return the table with ``cost`` (n_samples, n_labels) added to the unary scores."""
        return Modular(self.unary + _floats(cost, 2, "cost"))

    def log_prob(self, Y: ArrayLike) -> Floats:
        self._require_log_odds()
        Y = _floats(Y, 2, "Y")
        return np.sum(log_expit(np.where(Y > 0, self.unary, -self.unary)), axis=1)

    def marginals(self) -> Floats:
        self._require_log_odds()
        return expit(self.unary)

    def label_scores(self) -> Floats:
        return self.unary

    def sample(self, n_draws: int, random_state: RandomState = None) -> Labels:
        draws = check_random_state(random_state).random_sample(
            (self.n_samples, n_draws, self.n_labels)
        )
        return (draws < self.marginals()[:, None, :]).astype(np.int8)

    def correlations(self) -> Floats:
        self._require_log_odds()
        return np.broadcast_to(np.eye(self.n_labels), (self.n_samples,) + 2 * (self.n_labels,))

    def _require_log_odds(self) -> None:
        if not self.log_odds:
            raise self._no_distribution()


@dataclass(frozen=True, eq=False)
class Pairwise(ScoreTable):
    """Label pairs: ``score(y) = sum_l unary_l y_l + sum_e couplings_e y_i y_j, e = (i, j)``.

    Parameters
    ----------
    unary : array-like of shape (n_samples, n_labels)
    edges : array-like of shape (n_edges, 2), int
        Pairs of different labels, shared by all samples.
    couplings : array-like of shape (n_edges,)
        Positive attracts (the labels like to be on together), negative repels.
    """

    unary: Floats
    edges: NDArray[np.int64]
    couplings: Floats

    def __post_init__(self) -> None:
        unary = _floats(self.unary, 2, "unary")
        edges = np.ascontiguousarray(np.asarray(self.edges).reshape(-1, 2), dtype=np.int64)
        couplings = _floats(self.couplings, 1, "couplings")
        if len(edges) != len(couplings):
            raise ValueError(f"{len(edges)} edges but {len(couplings)} couplings")
        if len(edges) and (edges.min() < 0 or edges.max() >= unary.shape[1]):
            raise ValueError(f"edges name labels outside 0..{unary.shape[1] - 1}")
        if np.any(edges[:, 0] == edges[:, 1]):
            raise ValueError("an edge joins two different labels; put self terms into unary")
        object.__setattr__(self, "unary", unary)
        object.__setattr__(self, "edges", np.ascontiguousarray(np.sort(edges, axis=1)))
        object.__setattr__(self, "couplings", couplings)

    @classmethod
    def from_dense(cls, unary: ArrayLike, matrix: ArrayLike) -> Pairwise:
        """Build from a symmetric (n_labels, n_labels) matrix; ``score`` adds each pair once.

        The diagonal must be zero.
        """
        C = _floats(matrix, 2, "matrix")
        if C.shape[0] != C.shape[1] or not np.array_equal(C, C.T) or np.any(np.diag(C)):
            raise ValueError("couplings must be a symmetric matrix with a zero diagonal")
        i, j = np.nonzero(np.triu(C, 1))
        return cls(_floats(unary, 2, "unary"), np.stack([i, j], axis=1), C[i, j])

    @property
    def n_samples(self) -> int:
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.unary.shape[1])

    @property
    def attractive(self) -> bool:
        """Whether no pair of labels repels, so that graph cuts are exact."""
        return bool(np.all(self.couplings >= 0))

    def dense(self) -> Floats:
        """Return the couplings as a symmetric (n_labels, n_labels) matrix."""
        C = np.zeros((self.n_labels, self.n_labels))
        np.add.at(C, (self.edges[:, 0], self.edges[:, 1]), self.couplings)
        return C + C.T

    def value(self, Z: ArrayLike) -> Floats:
        Z = _floats(Z, 2, "Z")
        return np.einsum("nl,nl->n", self.unary, Z) + self._pair_values(Z)

    def value_all(self, labelings: ArrayLike) -> Floats:
        Z = _floats(labelings, 2, "labelings")
        return self.unary @ Z.T + self._pair_values(Z)

    def take(self, rows: Any) -> Pairwise:
        return Pairwise(self.unary[rows], self.edges, self.couplings)

    def plus_unary(self, cost: ArrayLike) -> Pairwise:
        """Return the table with ``cost`` (n_samples, n_labels) added to the unary scores."""
        return Pairwise(self.unary + _floats(cost, 2, "cost"), self.edges, self.couplings)

    def _pair_values(self, Z: Floats) -> Floats:
        return (Z[:, self.edges[:, 0]] * Z[:, self.edges[:, 1]]) @ self.couplings


@dataclass(frozen=True, eq=False)
class Mixture(ScoreTable):
    """Mixture of products of Bernoullis: ``p(y) = sum_k pi_k prod_l Bernoulli(y_l; p_kl)``.

    Its score is the log-probability. Everything stays in log space: 159 factors of 1e-3 underflow.

    Parameters
    ----------
    log_weights : array-like of shape (n_samples, n_components)
        ``log pi``; normalised over components when the table is built. May hold ``-inf``.
    logits : array-like of shape (n_samples, n_components, n_labels)
        Log-odds of each label in each component.
    """

    log_weights: Floats
    logits: Floats

    def __post_init__(self) -> None:
        weights = _floats(self.log_weights, 2, "log_weights", neg_inf=True)
        logits = _floats(self.logits, 3, "logits")
        if logits.shape[:2] != weights.shape:
            raise ValueError(f"log_weights {weights.shape} do not fit logits {logits.shape}")
        object.__setattr__(self, "log_weights", _normalised(weights, "log_weights"))
        object.__setattr__(self, "logits", logits)

    @property
    def n_samples(self) -> int:
        return int(self.logits.shape[0])

    @property
    def n_components(self) -> int:
        """Number of mixture components."""
        return int(self.logits.shape[1])

    @property
    def n_labels(self) -> int:
        return int(self.logits.shape[2])

    @property
    def is_distribution(self) -> bool:
        return True

    def value(self, Z: ArrayLike) -> Floats:
        return self.posterior(Z)[0]

    def value_all(self, labelings: ArrayLike) -> Floats:
        Z = _floats(labelings, 2, "labelings")
        joint = np.einsum("nkl,sl->nsk", log_expit(self.logits), Z, optimize=True)
        joint += np.einsum("nkl,sl->nsk", log_expit(-self.logits), 1.0 - Z, optimize=True)
        joint += self.log_weights[:, None, :]
        return logsumexp(joint, axis=2)

    def take(self, rows: Any) -> Mixture:
        return Mixture(self.log_weights[rows], self.logits[rows])

    def log_prob(self, Y: ArrayLike) -> Floats:
        return self.value(Y)

    def posterior(self, Y: ArrayLike) -> tuple[Floats, Floats]:
        """Return ``log p(y)`` (n_samples,) and the responsibilities (n_samples, n_components)."""
        Y = _floats(Y, 2, "Y")
        # On and off apart: their difference, the logit, swallows the small one where it is large.
        joint = np.einsum("nkl,nl->nk", log_expit(self.logits), Y)
        joint += np.einsum("nkl,nl->nk", log_expit(-self.logits), 1.0 - Y)
        joint += self.log_weights
        log_evidence = logsumexp(joint, axis=1)
        return log_evidence, np.exp(joint - log_evidence[:, None])

    def marginals(self) -> Floats:
        p = np.einsum("nk,nkl->nl", np.exp(self.log_weights), expit(self.logits))
        return np.minimum(p, 1.0)

    def sample(self, n_draws: int, random_state: RandomState = None) -> Labels:
        rng = check_random_state(random_state)
        k = _draw_index(np.exp(self.log_weights), n_draws, rng)
        p = expit(self.logits[np.arange(self.n_samples)[:, None], k])
        return (rng.random_sample(p.shape) < p).astype(np.int8)

    def correlations(self) -> Floats:
        p = expit(self.logits)
        both = np.einsum("nk,nkl,nkm->nlm", np.exp(self.log_weights), p, p, optimize=True)
        return _correlations(both, self.marginals())


@dataclass(frozen=True, eq=False)
class Support(ScoreTable):
    """Finitely many labelings, shared by all samples, with a score each; all others are out.

    Parameters
    ----------
    labelings : array-like of shape (n_labelings, n_labels), in {0, 1}, rows distinct
    scores : array-like of shape (n_samples, n_labelings)
        Log-probabilities (normalised when the table is built) if ``distribution``, which may hold
        ``-inf``; any scores otherwise.
    distribution : bool, default=True
    """

    labelings: Labels
    scores: Floats
    distribution: bool = True

    def __post_init__(self) -> None:
        labelings = np.ascontiguousarray(np.asarray(self.labelings), dtype=np.int8)
        scores = _floats(self.scores, 2, "scores", neg_inf=self.distribution)
        if labelings.ndim != 2 or len(labelings) != scores.shape[1]:
            raise ValueError(f"labelings {labelings.shape} do not fit scores {scores.shape}")
        if len({row.tobytes() for row in labelings}) < len(labelings):
            raise ValueError("labelings must differ; add up the scores of equal ones first")
        if self.distribution:
            scores = _normalised(scores, "scores")
        object.__setattr__(self, "labelings", labelings)
        object.__setattr__(self, "scores", scores)

    @property
    def n_samples(self) -> int:
        return int(self.scores.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.labelings.shape[1])

    @property
    def is_distribution(self) -> bool:
        return self.distribution

    def value(self, Z: ArrayLike) -> Floats:
        where = self._locate(Z)
        found = self.scores[np.arange(self.n_samples), np.maximum(where, 0)]
        return np.where(where >= 0, found, -np.inf)

    def value_all(self, labelings: ArrayLike) -> Floats:
        where = self._locate(labelings)
        return np.where(where >= 0, self.scores[:, np.maximum(where, 0)], -np.inf)

    def take(self, rows: Any) -> Support:
        return Support(self.labelings, self.scores[rows], self.distribution)

    def log_prob(self, Y: ArrayLike) -> Floats:
        self._require_distribution()
        return self.value(Y)

    def marginals(self) -> Floats:
        self._require_distribution()
        return np.minimum(np.exp(self.scores) @ self.labelings.astype(np.float64), 1.0)

    def sample(self, n_draws: int, random_state: RandomState = None) -> Labels:
        self._require_distribution()
        rng = check_random_state(random_state)
        return self.labelings[_draw_index(np.exp(self.scores), n_draws, rng)]

    def correlations(self) -> Floats:
        Z = self.labelings.astype(np.float64)
        marginals = self.marginals()
        both = np.einsum("ns,sl,sm->nlm", np.exp(self.scores), Z, Z, optimize=True)
        return _correlations(both, marginals)

    def _locate(self, Z: ArrayLike) -> NDArray[np.int64]:
        """Index of each row of ``Z`` among the labelings, -1 where it is not one of them."""
        place = {row.tobytes(): s for s, row in enumerate(self.labelings)}
        Z = np.ascontiguousarray(np.asarray(Z), dtype=np.int8)
        return np.array([place.get(row.tobytes(), -1) for row in Z], dtype=np.int64)

    def _require_distribution(self) -> None:
        if not self.distribution:
            raise self._no_distribution()


def _floats(array: ArrayLike, ndim: int, name: str, *, neg_inf: bool = False) -> Floats:
    """Float64, C-contiguous, of ``ndim`` axes, finite (``-inf`` let through where asked)."""
    out = np.ascontiguousarray(np.asarray(array), dtype=np.float64)
    if out.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, not {out.ndim}")
    bad = np.isnan(out) | (out == np.inf) if neg_inf else ~np.isfinite(out)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} must be finite; entry {where} is {out[where]}")
    return out


def _normalised(log_weights: Floats, name: str) -> Floats:
    total = logsumexp(log_weights, axis=1, keepdims=True)
    if np.any(np.isneginf(total)):
        raise ValueError(f"{name} of a sample are all -inf: nothing has positive probability")
    return log_weights - total


def _draw_index(probabilities: Floats, n_draws: int, rng: np.random.RandomState) -> NDArray:
    """Draw column indices from each row of ``probabilities``: (n_samples, n_draws)."""
    cumulative = np.cumsum(probabilities, axis=1)
    draws = rng.random_sample((len(probabilities), n_draws)) * cumulative[:, -1:]
    index = [np.searchsorted(c, d, side="right") for c, d in zip(cumulative, draws, strict=True)]
    return np.minimum(np.array(index, dtype=np.int64).reshape(-1, n_draws), cumulative.shape[1] - 1)


def _correlations(both: Floats, marginals: Floats) -> Floats:
    """Turn ``P(y_l = y_m = 1)`` and marginals into correlations."""
    covariance = both - marginals[:, :, None] * marginals[:, None, :]
    sd = np.sqrt(marginals * (1.0 - marginals))
    scale = sd[:, :, None] * sd[:, None, :]
    certain = scale <= 1e-12
    out = np.where(certain, 0.0, covariance / np.where(certain, 1.0, scale))
    diagonal = np.arange(marginals.shape[1])
    out[:, diagonal, diagonal] = 1.0
    return np.clip(out, -1.0, 1.0)
