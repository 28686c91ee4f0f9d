"""The E-step of a mixture of labels alone, against loops over labelings and components."""

import numpy as np
import pytest
from scipy import sparse

from colabel._kernels.label_mixture import expected_sums
from mixture.oracles_bernoulli import log_sum_exp


def run(Y, counts, log_odds, base):
    """Return log-likelihoods (R,), rows (R, K) and rows with each label (R, K, L)."""
    R, K, L = log_odds.shape
    labels = sparse.csr_array(Y)
    evidence, rows, on = np.zeros(R), np.zeros(R * K), np.zeros((L, R * K))
    table = np.ascontiguousarray(log_odds.reshape(R * K, L).T)
    expected_sums(labels.indptr, labels.indices, counts, table, base.ravel(), K, evidence, rows, on)
    return evidence, rows.reshape(R, K), on.T.reshape(R, K, L)


def slow(Y, counts, log_odds, base):
    R, K, L = log_odds.shape
    evidence, rows, on = np.zeros(R), np.zeros((R, K)), np.zeros((R, K, L))
    for y, count in zip(Y, counts, strict=True):
        for r in range(R):
            joint = [base[r, k] + sum(log_odds[r, k, y == 1]) for k in range(K)]
            log_p = log_sum_exp(joint)
            evidence[r] += count * log_p
            for k in range(K):
                rows[r, k] += count * np.exp(joint[k] - log_p)
                on[r, k] += count * np.exp(joint[k] - log_p) * y
    return evidence, rows, on


@pytest.mark.parametrize("seed", range(200))
def test_equals_the_loops(seed):
    rng = np.random.default_rng(seed)
    B, R, K = rng.integers(1, 8), rng.integers(1, 4), rng.integers(1, 12)
    L = rng.integers(1, 6) if seed % 4 else 60
    Y = (rng.random((B, L)) < rng.choice([0.0, 0.3, 0.8, 1.0])).astype(np.int8)
    counts = rng.choice([0.0, 0.25, 1.0, 1000.0], size=B)
    log_odds = rng.choice([0.0, 1.0, 30.0, 500.0]) * rng.normal(size=(R, K, L))
    base = -rng.exponential(10.0 ** rng.integers(4), size=(R, K))
    if seed % 3 == 0:
        base[:, rng.integers(K, size=K // 2)] = -np.inf  # components without rows
        base[:, rng.integers(K)] = -1.0
    if seed % 5 == 0:
        base[:], log_odds[:] = -1.0, 0.5  # ties
    for ours, theirs in zip(
        run(Y, counts, log_odds, base), slow(Y, counts, log_odds, base), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)


def test_no_labelings_add_nothing():
    found = run(np.zeros((0, 3)), np.zeros(0), np.ones((2, 4, 3)), np.zeros((2, 4)))
    assert [part.shape for part in found] == [(2,), (2, 4), (2, 4, 3)]
    assert not any(part.any() for part in found)
