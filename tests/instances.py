"""Random score tables from a seed, ties and degenerate sizes included."""

import numpy as np

from colabel.scores import Mixture, Modular, Pairwise, Support


def labels(seed, n_samples=8, n_labels=4, density=0.4):
    return (np.random.default_rng(seed).random((n_samples, n_labels)) < density).astype(np.int8)


def modular(seed, n_samples=8, n_labels=4, *, log_odds=False):
    return Modular(_numbers(seed, (n_samples, n_labels)), log_odds=log_odds)


def pairwise(seed, n_samples=8, n_labels=4, *, attractive=False):
    rng = np.random.default_rng(seed + 1)
    i, j = np.triu_indices(n_labels, 1)
    kept = rng.random(len(i)) < 0.7
    couplings = _numbers(seed + 2, kept.sum())
    if attractive:
        couplings = np.abs(couplings)
    edges = np.stack([i[kept], j[kept]], axis=1)
    return Pairwise(_numbers(seed, (n_samples, n_labels)), edges, couplings)


def mixture(seed, n_samples=8, n_labels=4, n_components=3):
    rng = np.random.default_rng(seed)
    weights = np.log(rng.dirichlet(np.ones(n_components), size=n_samples))
    return Mixture(weights, _numbers(seed, (n_samples, n_components, n_labels)))


def support(seed, n_samples=8, n_labels=4, *, distribution=True):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(2**n_labels)[: rng.integers(2, 2**n_labels + 1)]
    labelings = (codes[:, None] >> np.arange(n_labels)) & 1
    scores = _numbers(seed, (n_samples, len(codes)))
    if distribution and seed % 4 == 1:
        scores[:, rng.random(len(codes)) < 0.5] = -np.inf
        scores[:, 0] = 0.0
    return Support(labelings, scores, distribution)


def _numbers(seed, shape):
    """Normal numbers; every third seed coarse integers (many ties), every seventh all equal."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4)
    if seed % 3 == 0:
        values = rng.integers(-2, 3, size=shape).astype(float)
    if seed % 7 == 0:
        values = np.full(shape, float(rng.integers(-1, 2)))
    return values
