"""Slow, obvious truths about distributions over labelings, by enumeration in log space."""

import math
from functools import cache

import numpy as np
from scipy.special import logsumexp

import oracles
from colabel.scores import Mixture, Modular, Support


def log_sigmoid(t):
    return -math.log1p(math.exp(-t)) if t > 0 else t - math.log1p(math.exp(t))


def mixture_log_prob(log_weights, logits, z):
    """``log sum_k pi_k prod_l Bernoulli(z_l)`` of one sample, from terms of one sign each."""
    joint = [
        w + math.fsum(log_sigmoid(t if on else -t) for t, on in zip(row, z, strict=True))
        for w, row in zip(log_weights, logits, strict=True)
    ]
    peak = max(joint)
    return peak + math.log(math.fsum(math.exp(j - peak) for j in joint))


def log_probs(scores):
    """Log-probabilities of all labelings, in the order of ``oracles.all_labelings``."""
    Z = oracles.all_labelings(scores.n_labels)
    if isinstance(scores, Support):
        known = scores.scores.T
        place = {bytes(z): row for z, row in zip(scores.labelings, known, strict=True)}
        never = np.full(scores.n_samples, -np.inf)
        return np.array([place.get(bytes(z), never) for z in Z]).T
    one = isinstance(scores, Modular)
    weights = np.zeros((scores.n_samples, 1)) if one else scores.log_weights
    logits = scores.unary[:, None, :] if one else scores.logits
    on, off = (-np.logaddexp(0.0, side * logits) for side in (-1.0, 1.0))
    joint = weights[:, :, None] + on @ Z.T + off @ (1 - Z.T)
    peak = joint.max(axis=1)
    return peak + np.log(np.exp(joint - peak[:, None, :]).sum(axis=1))


def place_of(labels):
    """Index of each labeling in ``oracles.all_labelings``."""
    return labels.astype(np.int64) @ (1 << np.arange(labels.shape[-1])[::-1])


def assert_best(found, values, *, nonempty, tolerance=1e-12, tie=1e-15, ties=True):
    """``found`` has the largest of ``values`` (n, all labelings), and of equal ones few labels."""
    here = values[np.arange(len(values)), place_of(found.labels)]
    if nonempty:
        assert found.labels.any(axis=1).all()
        values = values[:, 1:]
    best = values.max(axis=1)
    scale = np.maximum(1.0, np.abs(best))
    assert np.all(np.abs(found.value - here) <= tolerance * scale)
    assert np.all(np.abs(found.value - best) <= tolerance * scale)
    np.testing.assert_array_equal(found.upper_bound, found.value)
    if ties:
        count = oracles.all_labelings(found.labels.shape[1]).sum(axis=1)[int(nonempty) :]
        equal = values >= (best - tie * scale)[:, None]
        fewest = np.where(equal, count, 99).min(axis=1)
        assert np.all(found.labels.sum(axis=1) <= fewest)


@cache
def f_matrix(n_labels, beta):
    """F-beta of every two labelings: [prediction, truth]."""
    Z = oracles.all_labelings(n_labels)
    return np.array([[oracles.f_score(y, z, beta) for y in Z] for z in Z])


@cache
def jaccard_matrix(n_labels):
    """Jaccard index of every two labelings."""
    Z = oracles.all_labelings(n_labels)
    return np.array([[1.0 - oracles.jaccard(y, z) for y in Z] for z in Z])


@cache
def hamming_matrix(n_labels):
    """One less the Hamming loss of every two labelings."""
    Z = oracles.all_labelings(n_labels)
    return np.array([[1.0 - oracles.hamming(y, z) for y in Z] for z in Z])


REGIMES = ("normal", "integer", "zero", "equal", "tiny", "huge", "certain", "few", "one", "scales")


@cache
def mixture_arrays(regime, seed):
    """Log-weights (K,) and logits (K, L) of one sample; ``L`` of 1 to 9. Not to be changed."""
    rng = np.random.default_rng([seed, REGIMES.index(regime)])
    n_labels, n_components = int(rng.integers(1, 10)), int(rng.integers(1, 8))
    if regime == "one":
        n_labels = 1
    shape = (n_components, n_labels)
    weights = rng.normal(size=n_components) * rng.integers(0, 4)
    logits = rng.normal(size=shape) * 10.0 ** rng.integers(-1, 2)
    if regime == "integer":
        weights, logits = np.zeros(n_components), rng.integers(-2, 3, size=shape).astype(float)
    elif regime == "zero":
        logits = np.zeros(shape)
    elif regime == "equal":
        logits = np.broadcast_to(rng.integers(-1, 2, size=n_labels).astype(float), shape).copy()
    elif regime == "tiny":
        logits = rng.normal(size=shape) * 1e-8
    elif regime == "huge":
        logits = rng.normal(size=shape) * 1e8
    elif regime == "certain":
        logits = np.where(rng.random(shape) < 0.5, -40.0, 40.0) * rng.integers(1, 4)
    elif regime == "scales":
        logits *= 10.0 ** (rng.integers(-8, 9, n_labels) * (rng.random(n_labels) < 0.4))
    elif regime == "few":
        weights[rng.random(n_components) < 0.6] = -np.inf
        weights[0] = 0.0
    return weights, logits


def batches(table, regime, n_problems, max_labels=9):
    """Tables of several samples of the same shape, drawn from ``n_problems`` single problems."""
    by_shape = {}
    for seed in range(n_problems):
        weights, logits = mixture_arrays(regime, seed)
        logits = logits[:, :max_labels]
        by_shape.setdefault(logits.shape, []).append((weights, logits))
    for shape, samples in by_shape.items():
        weights, logits = (np.array(part) for part in zip(*samples, strict=True))
        if table is Mixture:
            yield Mixture(weights, logits)
        elif table is Modular:
            yield Modular(logits[:, 0], log_odds=True)
        else:
            yield support_like(weights, logits, seed=sum(shape))


def support_like(weights, logits, seed):
    """Some labelings, with the probabilities that a mixture gives them."""
    Z = oracles.all_labelings(logits.shape[2])
    rng = np.random.default_rng(seed)
    Z = Z[rng.permutation(len(Z))[: rng.integers(1, len(Z) + 1)]]
    values = Mixture(weights, np.clip(logits, -100.0, 100.0)).value_all(Z)
    return Support(Z, values - logsumexp(values, axis=1, keepdims=True))
