"""The stratification kernels equal the slow version that counts everything anew."""

import numpy as np
import pytest
from scipy import sparse

from colabel._kernels.stratify import place_units, swap_units
from model_selection import oracle_stratification as oracle


def random_problem(seed):
    """Return dense unit counts (column 0: rows), shares, sizes and ties."""
    rng = np.random.default_rng(seed)
    n_parts, n_labels = int(rng.integers(2, 5)), int(rng.integers(0, 6))
    n_units = int(rng.integers(n_parts, 25))
    rows = np.ones(n_units, int) if seed % 2 else rng.integers(1, 6, n_units)
    labels = rng.binomial(rows[:, None], rng.random(n_labels) ** 2, (n_units, n_labels))
    labels = labels[:, labels.sum(axis=0) > 0]
    counts = np.hstack([rows[:, None], labels])
    sizes = 1 + rng.multinomial(rows.sum() - n_parts, np.full(n_parts, 1 / n_parts))
    shares = np.ones(n_parts, int) if seed % 3 else sizes
    return counts, shares, sizes, rng.integers(0, 1000, n_units)


def arrays(counts):
    table = sparse.csr_array(counts)
    return [a.astype(np.int64) for a in (table.indptr, table.indices, table.data)]


def place(counts, shares, sizes, ties):
    by_label = sparse.csc_array(counts)
    pattern = by_label.indptr.astype(np.int64), by_label.indices.astype(np.int64)
    return place_units(*arrays(counts), *pattern, shares, np.array(sizes), ties)


@pytest.mark.parametrize("block", range(4))
def test_placing_equals_the_slow_version(block):
    for seed in range(60 * block, 60 * block + 60):
        problem = random_problem(seed)
        assert place(*problem).tolist() == oracle.place(*problem), f"seed {seed}"


def test_every_part_gets_a_unit_however_uneven_the_units():
    for seed in range(0, 400, 2):
        counts, shares, sizes, ties = random_problem(seed)
        counts[0, 0] += 50
        part = place(counts, shares, sizes, ties)
        assert set(part) == set(range(len(shares))), f"seed {seed}"


@pytest.mark.parametrize("with_empty_units", [False, True])
def test_swapping_equals_the_slow_version(with_empty_units):
    n_kept = 0
    for seed in range(60):
        counts, shares, sizes, ties = random_problem(seed)
        rng = np.random.default_rng(seed)
        if with_empty_units:
            counts = np.vstack([counts, np.zeros_like(counts)])
            ties = np.r_[ties, ties]
        part = np.r_[np.arange(len(shares)), rng.integers(0, len(shares), len(ties))][: len(ties)]
        expected = np.outer(counts.sum(axis=0), np.array(sizes) / np.sum(sizes))
        first, second = rng.integers(0, len(counts), (2, 40))
        truth = oracle.swap(counts, part, expected, first, second)
        surplus = oracle.chi_square(counts, part, expected)[1] - expected
        before = part.copy()
        n_swaps = swap_units(*arrays(counts), part, surplus, 1 / expected, first, second)
        assert part.tolist() == truth, f"seed {seed}"
        held = oracle.chi_square(counts, part, expected)[1]
        np.testing.assert_allclose(surplus, held - expected, atol=1e-9)
        assert (n_swaps > 0) == (part != before).any()
        n_kept += n_swaps
    assert n_kept > 100


def test_wide_counts_do_not_overflow():
    counts = np.full((4, 2), 50_000_000)
    part = place(counts, np.full(2, 100_000_000), [100_000_000] * 2, np.zeros(4, int))
    assert np.bincount(part).tolist() == [2, 2]
