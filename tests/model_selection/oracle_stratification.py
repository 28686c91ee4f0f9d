"""Slow and obvious: iterative stratification and the swaps on a dense table, nothing updated."""

import numpy as np


def place(counts, shares, sizes, ties):
    """Deal units out by re-counting everything before each decision."""
    counts, shares = np.asarray(counts), [int(s) for s in shares]
    n_units, n_parts, scale = len(counts), len(shares), sum(int(s) for s in shares)
    part = [None] * n_units

    def held(j, label):
        return sum(int(counts[u, label]) for u in range(n_units) if part[u] == j)

    def wants(j, label):
        return shares[j] * int(counts[:, label].sum()) - scale * held(j, label)

    def allowed(u):
        empty = [j for j in range(n_parts) if j not in part]
        places = empty if part.count(None) <= len(empty) else list(range(n_parts))
        roomy = [j for j in places if sizes[j] - held(j, 0) >= counts[u, 0]]
        return roomy or places

    while None in part:
        waiting = [u for u in range(n_units) if part[u] is None]
        left = {label: counts[waiting, label].sum() for label in range(counts.shape[1])}
        label = min((label for label in left if left[label] > 0), key=lambda m: (left[m], m))
        for u in waiting:
            if counts[u, label] > 0:
                need = {j: (wants(j, label), wants(j, 0)) for j in allowed(u)}
                equal = sorted(j for j in need if need[j] == max(need.values()))
                part[u] = equal[ties[u] % len(equal)]
    return part


def chi_square(counts, part, expected):
    """Return Pearson's statistic and the held counts, of shape (n_labels, n_parts)."""
    n_parts = expected.shape[1]
    held = np.stack([counts[np.asarray(part) == j].sum(axis=0) for j in range(n_parts)], axis=1)
    return ((held - expected) ** 2 / expected).sum(), held


def swap(counts, part, expected, first, second):
    """Try each swap on a copy and keep it if the statistic falls and no part is robbed."""
    part = list(part)
    for a, b in zip(first, second, strict=True):
        tried = list(part)
        tried[a], tried[b] = part[b], part[a]
        before, held = chi_square(counts, part, expected)
        after, left = chi_square(counts, tried, expected)
        robbed = (held > 0) & (left == 0) & (expected > 1 - 1e-9)
        if before - after > 1e-9 and not robbed.any():
            part = tried
    return part
