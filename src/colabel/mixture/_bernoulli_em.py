"""EM for mixtures of Bernoullis on labels alone, all restarts side by side.

Sizes: R restarts, K components, L labels, B distinct labelings. A step takes all restarts together;
a restart that has settled leaves the batch.

Label matrices repeat themselves (1211 rows of the scene data are 14 labelings), so a step over
distinct labelings, weighted by their counts, costs a fraction of one over rows and gives the same
result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_expit, logsumexp

from colabel.numerics.distinct_labelings import first_of_each

__all__ = [
    "Fitted",
    "LabelRows",
    "Mixtures",
    "Prior",
    "Sums",
    "distinct_rows",
    "e_step",
    "fit_labels",
    "posterior",
    "random_start",
    "run_em",
    "spread_start",
]

Floats = NDArray[np.float64]
LabelMatrix: TypeAlias = NDArray[np.int8] | NDArray[np.float64] | sparse.csr_array

# A component that is expected to have made fewer rows than this is dropped. Dropping it costs at
# most about as many nats of log-likelihood, over all rows together.
DEAD_ROWS = 0.01
# Responsibilities that a random start draws at a time; at least those of as many labelings as there
# are labels, for adding up what they find costs as much.
BLOCK_CELLS = 1 << 16


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Distinct labelings with counts.

    Parameters
    ----------
    labelings : csr_array of shape (n_distinct, n_labels), float64
        Ones where labels are on, in lexicographic order.
    counts : ndarray of shape (n_distinct,)
        Total weight of the rows that have each labeling.
    """

    labelings: sparse.csr_array
    counts: Floats

    @property
    def base_rates(self) -> Floats:
        """Share of the weight that has each label on, kept off 0 and 1 by half a row each."""
        return (self.counts @ self.labelings + 0.5) / (self.counts.sum() + 1.0)

    def take(self, chosen: NDArray[np.int64]) -> Floats:
        """Return some labelings as rows of zeros and ones."""
        # SciPy's way takes ten times as long for a few rows.
        found = np.zeros((len(chosen), self.labelings.shape[1]))
        indices, indptr = self.labelings.indices, self.labelings.indptr
        for row, b in zip(found, chosen.tolist(), strict=True):
            row[indices[indptr[b] : indptr[b + 1]]] = 1.0
        return found


def distinct_rows(
    Y: LabelMatrix, weight: Floats | None = None
) -> tuple[LabelRows, NDArray[np.int64]]:
    """Return the distinct rows of ``Y`` and the place of each row among them.

    Parameters
    ----------
    Y : ndarray or csr_array of shape (n_samples, n_labels), in {0, 1}
    weight : ndarray of shape (n_samples,) or None
        Weight of each row, one where None. Counts may be zero.

    Returns
    -------
    rows : LabelRows
    place : ndarray of shape (n_samples,)
        ``rows.labelings[place]`` is ``Y``.

    Notes
    -----
    O(n_samples n_labels) to pack eight labels in a byte, and a sort of the packed rows.
    """
    first, place = first_of_each(Y)
    counts = np.bincount(place, weight, minlength=len(first)).astype(np.float64)
    return LabelRows(sparse.csr_array(Y[first], dtype=np.float64), counts), place


class Mixtures(NamedTuple):
    """R mixtures.

    ``log_weights`` (R, K); ``logits`` (R, K, L), log-odds of each label; ``log_empty`` (R, K), the
    log-probability that a component leaves every label off.
    """

    log_weights: Floats
    logits: Floats
    log_empty: Floats


class Sums(NamedTuple):
    """What the M step needs: expected rows (R, K) and, of those, the ones with each label."""

    rows: Floats
    on: Floats


@dataclass(frozen=True, eq=False)
class Prior:
    """Beta prior of every component: ``strength`` pseudo-rows in which labels have base rates.

    Base rates lie strictly between 0 and 1, so that log-odds are finite even for labels that are
    always or never on.
    """

    base_rates: Floats
    strength: float

    def log_density(self, mixtures: Mixtures) -> Floats:
        """Log-density of each mixture, up to a constant: (R,)."""
        per_component = mixtures.logits @ self.base_rates + mixtures.log_empty
        return self.strength * per_component.sum(axis=1)

    def m_step(self, sums: Sums) -> Mixtures:
        """Return the mixtures of largest expected log-likelihood plus log-density."""
        off = np.maximum(sums.rows[:, :, None] - sums.on, 0.0)
        log_on = np.log(sums.on + self.strength * self.base_rates)
        log_off = np.log(off + self.strength * (1.0 - self.base_rates))
        log_rows = np.log(sums.rows + self.strength)
        log_empty = log_off.sum(axis=2) - sums.on.shape[2] * log_rows
        with np.errstate(divide="ignore"):  # a component without rows weighs nothing
            log_weights = np.log(sums.rows / sums.rows.sum(axis=1, keepdims=True))
        return Mixtures(log_weights, log_on - log_off, log_empty)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A restart at its end: ``weights`` (K,), ``logits`` (K, L), its objective at each step."""

    weights: Floats
    logits: Floats
    history: Floats
    converged: bool

    def alive(self, total: float) -> Self:
        """Put the heaviest component first, and leave dead ones out, of ``total`` rows."""
        order = np.argsort(-self.weights, kind="stable")
        # Total weights may be small; the heaviest component is never dead.
        least = min(DEAD_ROWS, 0.5 * total / len(order))
        order = order[self.weights[order] * total >= least]
        weights = self.weights[order] / self.weights[order].sum()
        return replace(self, weights=weights, logits=self.logits[order])


def fit_labels(
    rows: LabelRows,
    size: tuple[int, int],
    rng: np.random.RandomState,
    *,
    smoothing: float = 1e-2,
    init: str = "spread",
    max_iter: int = 200,
    tol: float = 1e-4,
) -> Fitted:
    """Fit R mixtures of K components and return the best.

    Parameters
    ----------
    rows : LabelRows
    size : tuple of int
        ``(R, K)``.
    rng : RandomState
    smoothing, init, max_iter, tol
        As for ``BernoulliMixture``.
    """
    prior, total = Prior(rows.base_rates, smoothing), float(rows.counts.sum())
    if init == "spread":
        start = spread_start(rows, prior.base_rates, size, rng)
    else:
        start = random_start(rows, size, rng)
    fits = run_em(rows, start, prior, max_iter, tol)
    return max(fits, key=lambda fit: fit.history[-1]).alive(total)


def run_em(rows: LabelRows, sums: Sums, prior: Prior, max_iter: int, tol: float) -> list[Fitted]:
    """Run EM from each start until a step gains less than ``tol`` per row.

    The objective is log-likelihood plus log-density of the prior, over the total count; it never
    falls. Each restart ends with the mixture that the last entry of its history belongs to. A step
    costs O(R K (B + n_on + L)), with ``n_on`` the labels that are on in the labelings.
    """
    total = rows.counts.sum()
    left = np.arange(len(sums.rows))  # restarts still in the batch
    history = np.full((len(left), max_iter + 1), -np.inf)
    found: dict[int, Fitted] = {}
    for step in range(1, max_iter + 1):
        mixtures = prior.m_step(sums)
        log_likelihood, sums = e_step(rows, mixtures)
        history[left, step] = (log_likelihood + prior.log_density(mixtures)) / total
        settled = history[left, step] - history[left, step - 1] < tol
        leaving = settled | (step == max_iter)
        for place in np.flatnonzero(leaving).tolist():
            r = left[place]
            past = history[r, 1 : step + 1].copy()
            weights, logits = np.exp(mixtures.log_weights[place]), mixtures.logits[place].copy()
            found[r] = Fitted(weights, logits, past, bool(settled[place]))
        left, sums = left[~leaving], Sums(sums.rows[~leaving], sums.on[~leaving])
        if not len(left):
            break
    return [found[r] for r in sorted(found)]


def e_step(rows: LabelRows, mixtures: Mixtures) -> tuple[Floats, Sums]:
    """Return the log-likelihood of each mixture (R,) and the expected sums under it."""
    from colabel._kernels.label_mixture import expected_sums

    R, K, L = mixtures.logits.shape
    log_odds = np.ascontiguousarray(mixtures.logits.reshape(R * K, L).T)
    base = (mixtures.log_weights + mixtures.log_empty).ravel()
    log_likelihood, n, on = np.zeros(R), np.zeros(R * K), np.zeros((L, R * K))
    labels = rows.labelings
    expected_sums(
        labels.indptr, labels.indices, rows.counts, log_odds, base, K, log_likelihood, n, on
    )
    return log_likelihood, Sums(n.reshape(R, K), on.T.reshape(R, K, L))


def posterior(rows: LabelRows, weights: Floats, logits: Floats) -> tuple[Floats, Floats]:
    """Return ``log p(y)`` (B,) and ``p(k | y)`` (B, K) under one mixture."""
    joint = rows.labelings @ logits.T + (np.log(weights) + log_expit(-logits).sum(axis=1))
    log_p = logsumexp(joint, axis=1)
    return log_p, np.exp(joint - log_p[:, None])  # Eq. (8) of Li et al. (2016), without features


def spread_start(
    rows: LabelRows, base_rates: Floats, size: tuple[int, int], rng: np.random.RandomState
) -> Sums:
    """Start each component at a labeling far from those before it, blended with the base rates.

    Each next labeling is drawn with probability proportional to its count times its Hamming
    distance to the nearest one chosen (as the seeds of k-means++ are). Where there are more
    components than labelings, further ones are drawn by count. The blends differ, so that no two
    components are equal. ``size`` is (R, K). O(R K (B + n_on + L)).
    """
    chosen = _spread_labelings(rows, size, rng)
    seeds = rows.take(chosen.ravel()).reshape(*size, -1)
    share = rng.uniform(0.4, 0.5, size=(*size, 1))
    n = np.full(size, rows.counts.sum() / size[1])
    return Sums(n, n[:, :, None] * ((1.0 - share) * seeds + share * base_rates))


def random_start(rows: LabelRows, size: tuple[int, int], rng: np.random.RandomState) -> Sums:
    """Start from responsibilities that are uniform on the simplex, for each labeling anew."""
    n, on = np.zeros(size), np.zeros((*size, rows.labelings.shape[1]))
    step = max(BLOCK_CELLS // (size[0] * size[1]), on.shape[2])
    for start in range(0, len(rows.counts), step):
        block = slice(start, start + step)
        resp = rng.standard_exponential((*size, len(rows.counts[block])))
        resp *= rows.counts[block] / resp.sum(axis=1, keepdims=True)
        n += resp.sum(axis=2)
        on += (resp.reshape(size[0] * size[1], -1) @ rows.labelings[block]).reshape(on.shape)
    return Sums(n, on)


def _spread_labelings(
    rows: LabelRows, size: tuple[int, int], rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw labelings for R restarts of K components: indices (R, K)."""
    n_on = np.diff(rows.labelings.indptr).astype(np.float64)
    nearest = np.ones((size[0], len(n_on)))  # before the first, all are equally far
    chosen = np.empty(size, dtype=np.int64)
    for k in range(size[1]):
        weight = rows.counts * np.where(nearest.any(axis=1, keepdims=True), nearest, 1.0)
        upper = weight.cumsum(axis=1)
        draws = rng.random_sample((size[0], 1)) * upper[:, -1:]
        chosen[:, k] = np.minimum((upper <= draws).sum(axis=1), len(n_on) - 1)
        both = (rows.labelings @ rows.take(chosen[:, k]).T).T
        distance = n_on + n_on[chosen[:, k]][:, None] - 2.0 * both
        nearest = np.minimum(nearest, distance) if k else distance
    return chosen
