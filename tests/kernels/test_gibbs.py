"""Gibbs sampling of linear conditionals, and the counting of draws."""

import numpy as np
import pytest
from scipy.special import expit, logit

import oracles
from colabel._kernels.gibbs import gibbs, tally


def problem(seed, n=4, n_labels=5, n_chains=2, n_sweeps=6):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, n_labels)) * 2
    couplings = rng.normal(size=(n_labels, n_labels)) * 2
    np.fill_diagonal(couplings, 0.0)
    cuts = logit(rng.random((n_chains, 1 + n_sweeps, n_labels)))
    return base, couplings, cuts


def run(base, couplings, cuts, n_burn):
    n, n_labels = base.shape
    n_draws = cuts.shape[0] * (cuts.shape[1] - 1 - n_burn)
    draws, means = np.zeros((n, n_draws, n_labels), np.int8), np.empty((n, n_labels))
    gibbs(base, np.ascontiguousarray(couplings.T), cuts, n_burn, draws, means)
    return draws, means


def slow(base, couplings, cuts, n_burn):
    """One sample, one label at a time, log-odds from scratch."""
    draws, means = [], []
    for chain in cuts:
        y = (base > chain[0]).astype(float)
        for s, cut in enumerate(chain[1:]):
            p = np.empty(len(base))
            for v in range(len(base)):
                u = base[v] + couplings[v] @ y
                p[v], y[v] = expit(u), u > cut[v]
            if s >= n_burn:
                draws.append(y.astype(np.int8))
                means.append(p)
    return np.array(draws), np.mean(means, axis=0)


@pytest.mark.parametrize("n_labels", [1, 2, 5, 9])
def test_draws_equal_the_obvious_sampler(n_labels):
    for seed in range(40):
        base, couplings, cuts = problem(seed, n_labels=n_labels)
        if seed % 5 == 0:
            couplings *= 0.0
        draws, means = run(base, couplings, cuts, seed % 3)
        for i in range(len(base)):
            expected, mean = slow(base[i], couplings, cuts, seed % 3)
            np.testing.assert_array_equal(draws[i], expected)
            np.testing.assert_allclose(means[i], mean, atol=1e-12)


def stationary(base, couplings):
    """Distribution over all labelings that a sweep leaves as it is, from transition matrices."""
    n_labels = len(base)
    Z = oracles.all_labelings(n_labels)
    sweep = np.eye(len(Z))
    for v in range(n_labels):
        step = np.zeros((len(Z), len(Z)))
        for a, z in enumerate(Z):
            p = expit(base[v] + couplings[v] @ z)
            for bit in (0, 1):
                after = z.copy()
                after[v] = bit
                step[a, np.flatnonzero((after == Z).all(axis=1))[0]] += p if bit else 1 - p
        sweep = sweep @ step
    power = np.linalg.matrix_power(sweep, 4096)
    return power[0]


def test_frequencies_and_means_reach_the_stationary_distribution():
    rng = np.random.default_rng(0)
    n_chains, n_sweeps = 20, 3000
    cuts = logit(rng.random((n_chains, 1 + n_sweeps, 3)))
    for seed in range(4):
        base, couplings, _ = problem(seed, n=1, n_labels=3)
        draws, means = run(base, couplings / 2, cuts, 20)
        Z = oracles.all_labelings(3)
        p = stationary(base[0], couplings / 2)
        codes = draws[0].astype(int) @ (1 << np.arange(3)[::-1])
        found = np.bincount(codes, minlength=8) / len(codes)
        # The variance between chains gives the Monte Carlo error.
        share = np.array([np.bincount(c, minlength=8) for c in codes.reshape(n_chains, -1)])
        error = (share / (len(codes) / n_chains)).std(axis=0, ddof=1) / np.sqrt(n_chains)
        assert np.all(np.abs(found - p) < 5 * error + 1e-4)
        assert np.all(np.abs(means[0] - p @ Z) < 5 * error.sum())


def test_tally_counts_distinct_draws_in_order_of_appearance():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n_labels = int(rng.integers(1, 80))
        pool = (rng.random((1 + seed % 9, n_labels)) < 0.5).astype(np.int8)
        draws = pool[rng.integers(len(pool), size=(3, 1 + seed))]
        original = draws.copy()
        counts, sizes = np.zeros(draws.shape[:2], np.int64), np.zeros(3, np.int64)
        tally(draws, counts, sizes)
        for i in range(3):
            seen = {}
            for row in original[i]:
                seen[row.tobytes()] = seen.get(row.tobytes(), 0) + 1
            assert sizes[i] == len(seen)
            assert [row.tobytes() for row in draws[i, : sizes[i]]] == list(seen)
            assert counts[i, : sizes[i]].tolist() == list(seen.values())
            assert not counts[i, sizes[i] :].any()
