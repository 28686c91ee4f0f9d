"""Random and degenerate truths, predictions, scores and weights, each from its seed."""

from functools import cache
from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    Y: np.ndarray
    Z: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None


@cache
def problem(seed, n_labels=None):
    """Return one problem; the seed's digits choose what is degenerate about it.

    It is drawn once for all tests: nobody may change it.
    """
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 9)), n_labels or int(rng.integers(2, 6))
    Y, Z = (_labels(rng, shape, int(rng.integers(6))) for _ in "YZ")
    scores = _scores(rng, shape, int(rng.integers(4)))
    return Problem(Y, Z, scores, _weights(rng, shape[0], int(rng.integers(3))))


def _labels(rng, shape, kind):
    Y = (rng.random(shape) < rng.choice([0.1, 0.5, 0.9])).astype(int)
    if kind == 0:
        Y[:] = rng.integers(2)  # the empty or the full set everywhere
    elif kind == 1:
        Y[rng.integers(shape[0])] = 0
    elif kind == 2:
        Y[rng.integers(shape[0])] = 1
    elif kind == 3:
        Y[:, rng.integers(shape[1])] = rng.integers(2)  # a label never or always on
    return Y


def _scores(rng, shape, kind):
    if kind == 0:
        return np.full(shape, 0.25)
    if kind == 1:
        return rng.integers(0, 3, shape).astype(float)
    return rng.normal(size=shape)


def _weights(rng, n_samples, kind):
    if kind == 0:
        return None
    weights = rng.random(n_samples) + 0.1
    if kind == 1:
        weights[rng.random(n_samples) < 0.4] = 0.0
        weights[rng.integers(n_samples)] = 1.0
    return weights
