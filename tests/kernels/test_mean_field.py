"""Mean field ends at a fixed point, and climbs on its way there."""

import numpy as np
from scipy.special import expit

from colabel._kernels.mean_field import mean_field_rows
from embedding.oracles_embedding import mean_field_objective


def problem(seed):
    rng = np.random.default_rng(seed)
    q = 1 + seed % 7
    C = np.triu(rng.normal(size=(q, q)), 1) * 2.0 ** (seed % 5 - 1)
    return 2.0 * rng.normal(size=(4, q)), C + C.T


def settle(unary, C, max_sweeps=2000, tol=1e-10, seed=0):
    means = expit(unary)
    fields = unary + means @ C
    order = np.stack([np.random.default_rng([seed, i]).permutation(len(C)) for i in range(4)])
    sweeps = np.zeros(4, np.int64)
    mean_field_rows(C, order, means, fields, tol, max_sweeps, sweeps)
    np.testing.assert_allclose(fields, unary + means @ C, atol=1e-9)
    return means, sweeps


def test_means_are_a_fixed_point():
    for seed in range(150):
        unary, C = problem(seed)
        means, sweeps = settle(unary, C, seed=seed)
        assert np.all(sweeps <= 2000)
        np.testing.assert_allclose(means, expit(unary + means @ C), atol=1e-7)


def test_every_sweep_climbs():
    for seed in range(60):
        unary, C = problem(seed)
        paths = [settle(unary, C, k, seed=seed)[0] for k in range(1, 8)]
        for i in range(4):
            path = [mean_field_objective(unary[i], C, means[i]) for means in (expit(unary), *paths)]
            assert np.diff(path).min() >= -1e-10


def test_labels_without_couplings_have_their_own_means():
    unary = np.array([[-800.0, 0.0, 3.0]] * 4)
    means, sweeps = settle(unary, np.zeros((3, 3)))
    np.testing.assert_allclose(means, expit(unary))
    assert np.all(sweeps == 1)


def test_rows_that_still_move_are_told():
    unary, C = problem(13)
    assert np.all(settle(unary, C, max_sweeps=1)[1] == 2)
