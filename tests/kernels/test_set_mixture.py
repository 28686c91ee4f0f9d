"""The best choice of one option a group under a mixture, against enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from colabel._kernels.set_mixture import best_choices


def run(log_weights, log_p, sizes, max_nodes=10**6):
    n = len(log_p)
    choice = np.zeros((n, len(sizes)), dtype=np.int64)
    value, bound = np.empty(n), np.empty(n)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    best_choices(log_weights, log_p, starts, max_nodes, choice, value, bound)
    return choice, value, bound


def values(log_weights, log_p, sizes):
    """Value of every combination of one sample, in the order of the options."""
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(int)
    return {
        c: logsumexp(log_weights + log_p[:, starts + np.array(c, dtype=int)].sum(axis=1))
        for c in product(*map(range, sizes))
    }


@pytest.mark.parametrize("seed", range(60))
def test_search_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=rng.integers(0, 5))
    K = rng.integers(1, 5)
    log_p = np.log(rng.random((3, K, sizes.sum())) ** rng.integers(1, 8))
    if seed % 4 == 0:
        log_p = np.round(log_p)  # ties
    log_weights = np.log(rng.dirichlet(np.ones(K), size=3))
    if seed % 5 == 0 and K > 1:
        log_weights[:, 0] = -np.inf
    choice, value, bound = run(log_weights, log_p, sizes)
    for i in range(3):
        every = values(log_weights[i], log_p[i], sizes)
        assert value[i] == pytest.approx(max(every.values()), abs=1e-10)
        assert bound[i] == value[i]
        assert every[tuple(choice[i])] == pytest.approx(value[i], abs=1e-10)


def test_a_search_that_is_cut_short_says_so():
    rng = np.random.default_rng(0)
    sizes = np.full(6, 4)
    log_p = np.log(rng.dirichlet(np.ones(24), size=(20, 5)))
    log_weights = np.log(np.full((20, 5), 0.2))
    _, value, bound = run(log_weights, log_p, sizes, max_nodes=8)
    _, best, _ = run(log_weights, log_p, sizes)
    assert np.all(value <= best)
    assert np.all(bound >= best)
    assert np.any(bound > value)
