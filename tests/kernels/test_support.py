"""Kernels of finite distributions with labelings of each sample's own."""

import numpy as np

from colabel._kernels.support import row_climbs, row_counts


def draw(seed):
    rng = np.random.default_rng(seed)
    n, size, n_labels = (int(rng.integers(1, top)) for top in (4, 6, 7))
    labelings = (rng.random((n, size, n_labels)) < 0.4).astype(np.int8)
    log_p = np.log(rng.dirichlet(np.ones(size), size=n))
    if seed % 4 == 0:
        log_p[:, 1:] = -np.inf
    flat = labelings.reshape(-1, n_labels)
    starts = np.concatenate([[0], np.cumsum(flat.sum(axis=1, dtype=np.int64))])
    return labelings, log_p, starts, np.nonzero(flat)[1]


def test_counts_equal_sums_over_labelings():
    for seed in range(80):
        labelings, log_p, starts, members = draw(seed)
        n, _, n_labels = labelings.shape
        tables = np.full((n, n_labels + 1, n_labels), np.nan)
        sizes, tops = np.full((n, n_labels + 1), np.nan), np.zeros(n, np.int64)
        row_counts(starts, members, log_p, tables, sizes, tops)
        for i in range(n):
            table, size = np.zeros((n_labels + 1, n_labels)), np.zeros(n_labels + 1)
            for y, p in zip(labelings[i], np.exp(log_p[i]), strict=True):
                table[y.sum()] += p * y
                size[y.sum()] += p
            top = tops[i]
            np.testing.assert_allclose(tables[i, 1 : top + 1], table[1 : top + 1], atol=1e-14)
            np.testing.assert_allclose(sizes[i, : top + 1], size[: top + 1], atol=1e-14)
            assert not size[top + 1 :].any()


def jaccard(y, z):
    union = np.sum(y | z)
    return np.sum(y & z) / union if union else 1.0


def expected(labelings, log_p, z):
    return sum(np.exp(p) * jaccard(y, z) for y, p in zip(labelings, log_p, strict=True))


def test_climbs_end_where_no_flip_gains():
    for seed in range(60):
        labelings, log_p, starts, members = draw(seed)
        n, _, n_labels = labelings.shape
        labels = (np.random.default_rng(seed).random((n, n_labels)) < 0.5).astype(np.int8)
        labels[:, 0] = 1
        nonempty = seed % 2 == 0
        first = np.array([expected(*row) for row in zip(labelings, log_p, labels, strict=True)])
        values = first.copy()
        row_climbs(starts, members, log_p, nonempty, labels, values)
        assert np.all(values >= first)
        for i in range(n):
            np.testing.assert_allclose(values[i], expected(labelings[i], log_p[i], labels[i]))
            for label in range(n_labels):
                flipped = labels[i].copy()
                flipped[label] ^= 1
                if flipped.any() or not nonempty:
                    assert expected(labelings[i], log_p[i], flipped) <= values[i] + 1e-12
