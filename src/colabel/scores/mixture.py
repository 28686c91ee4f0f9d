"""A mixture of products of Bernoullis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, logsumexp
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

__all__ = ["Mixture"]


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
        weights = floats(self.log_weights, 2, "log_weights", neg_inf=True)
        logits = floats(self.logits, 3, "logits")
        if logits.shape[:2] != weights.shape:
            raise ValueError(f"log_weights {weights.shape} do not fit logits {logits.shape}")
        object.__setattr__(self, "log_weights", normalised(weights, "log_weights"))
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
        Z = floats(labelings, 2, "labelings")
        joint = np.einsum("nkl,sl->nsk", log_expit(self.logits), Z, optimize=True)
        joint += np.einsum("nkl,sl->nsk", log_expit(-self.logits), 1.0 - Z, optimize=True)
        joint += self.log_weights[:, None, :]
        return logsumexp(joint, axis=2)

    def take(self, rows: RowIndex) -> Mixture:
        # Normalising again would change the last bits: a row would differ from its batch.
        out = object.__new__(Mixture)
        object.__setattr__(out, "log_weights", rows_of(self.log_weights, rows))
        object.__setattr__(out, "logits", rows_of(self.logits, rows))
        return out

    def log_prob(self, Y: ArrayLike) -> Floats:
        return self.value(Y)

    def posterior(self, Y: ArrayLike) -> tuple[Floats, Floats]:
        """Return ``log p(y)`` (n_samples,) and the responsibilities (n_samples, n_components)."""
        Y = binary(Y, (self.n_samples, self.n_labels), "Y")
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
        k = draw_index(np.exp(self.log_weights), n_draws, rng)
        p = expit(self.logits[np.arange(self.n_samples)[:, None], k])
        return (rng.random_sample(p.shape) < p).astype(np.int8)

    def correlations(self) -> Floats:
        p = expit(self.logits)
        both = np.einsum("nk,nkl,nkm->nlm", np.exp(self.log_weights), p, p, optimize=True)
        return correlations(both, self.marginals())
