"""Attractive problems from a seed, and what enumeration says about them."""

from functools import cache

import numpy as np

import oracles
from colabel.scores import Pairwise

REGIMES = ["normal", "ties", "equal", "free", "parts", "single", "huge", "tiny", "mixed", "twins"]


def problem(seed, regime, n_samples=8, max_labels=10):
    """Attractive table of at most ``max_labels`` labels; the name says what is special."""
    rng = np.random.default_rng((seed, REGIMES.index(regime)))
    V = 1 if regime == "single" else int(rng.integers(1, max_labels + 1))
    i, j = np.triu_indices(V, 1)
    kept = rng.random(len(i)) < rng.choice([0.2, 0.5, 1.0])
    if regime == "parts":
        kept &= (i % 3) == (j % 3)
    edges = np.stack([i[kept], j[kept]], axis=1)
    unary = rng.normal(-0.8, 1.5, size=(n_samples, V))
    couplings = rng.exponential(rng.choice([0.2, 1.0, 3.0]), size=len(edges))
    if regime in ("ties", "twins"):
        unary = rng.integers(-6, 4, size=(n_samples, V)).astype(float)
        couplings = rng.integers(0, 4, size=len(edges)).astype(float)
    if regime == "equal":
        unary = np.full((n_samples, V), -float(rng.integers(0, 5)))
        couplings = np.full(len(edges), float(rng.integers(0, 3)))
    if regime == "free":
        couplings = np.where(rng.random(len(edges)) < 0.5, 0.0, couplings)
    if regime == "twins":
        edges, couplings = np.concatenate([edges, edges[:, ::-1]]), np.tile(couplings, 2)
    scale = {"huge": 1e8, "tiny": 1e-8}.get(regime, 1.0)
    if regime == "mixed":
        scale = 10.0 ** rng.integers(-8, 9)
    return Pairwise(scale * unary, edges, scale * couplings)


labelings = cache(oracles.all_labelings)


def values(scores):
    """All labelings, and the score of each for each row."""
    Z = labelings(scores.n_labels)
    return Z, scores.value_all(Z)


def smallest_maximisers(scores):
    """The intersection of all maximisers of each row."""
    Z, found = values(scores)
    return np.array([Z[row == row.max()].min(axis=0) for row in found])


def losses(Y, Z, loss):
    """The loss of every labeling for every true one: (n_samples, n_labelings)."""
    found = loss.value(np.repeat(Y, len(Z), axis=0), np.tile(Z, (len(Y), 1)))
    return found.reshape(len(Y), len(Z))


def tolerance(scores):
    """Rounding that a sum of this table's numbers may carry."""
    size = np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum()
    return 1e-13 * size
