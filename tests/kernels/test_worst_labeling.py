"""Labelings found by sorting during the ascent: the worst of all, or on the way to it."""

import numpy as np
import pytest

from colabel._kernels.plane_ascent import ascend_sorting
from colabel._kernels.planes import Settings
from colabel.learners.ascent import count_tables
from colabel.losses import FBeta, Jaccard, Subset
from kernels.test_plane_ascent import Run
from learners.oracles_margin import joint_feature, random_problem, slow_rows

LOSSES = [FBeta(), FBeta(2.0), FBeta(0.3), Jaccard(), Subset()]


def search(problem, free):
    """Visit all samples once, without steps, at parameters that are given."""
    run = Run(problem, 8)
    run.free = free.copy()
    settings = Settings(problem.penalty, problem.model.constant, 0, 1e-14)
    order, theta = np.arange(problem.n_samples), problem.model.split(run.free)
    data = problem.rows, problem.norms, run.cache.arrays, count_tables(problem)
    gap = ascend_sorting(*data, *theta, run.pairs, settings, order, run.work)
    return run.cache, gap


def parameters(problem, seed):
    """Draw parameters; those of every other seed make many ties."""
    free = np.random.default_rng(seed).normal(size=problem.model.size) * 10.0 ** (seed % 3 - 2)
    return np.round(free * 4.0) / 4.0 if seed % 2 else free


def values(problem, cache, theta, n):
    """Return loss plus score, less that of the truth, of the labelings that a sample knows."""
    size, V = cache.counts[n], problem.model.n_labels
    Z = np.unpackbits(cache.planes[n, :size], axis=1, count=V, bitorder="little").astype(np.int8)
    truth = np.repeat(problem.Y[n : n + 1], size, axis=0)
    losses = problem.loss.value(truth, Z)
    np.testing.assert_allclose(cache.losses[n, :size], losses, atol=1e-12)
    x = np.repeat(problem.X.toarray()[n : n + 1], size, axis=0)
    features = joint_feature(problem.model, x, Z) - joint_feature(problem.model, x, truth)
    return features @ theta + losses


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("V", [1, 2, 5, 9])
def test_without_pairs_it_is_the_worst_of_all(V, loss):
    for seed in range(12):
        problem = random_problem(seed, V=V, pairs=False, loss=loss)
        theta = parameters(problem, seed)
        cache, gap = search(problem, theta)
        worst = [np.max(A @ theta + losses) for A, losses in slow_rows(problem)]
        found = [values(problem, cache, theta, n).max() for n in range(problem.n_samples)]
        np.testing.assert_allclose(found, worst, atol=1e-10)
        assert gap == pytest.approx(problem.share @ worst, abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("V", [2, 6])
def test_with_pairs_it_is_never_better_than_the_best_and_mostly_as_good(V, loss):
    exact = []
    for seed in range(20):
        problem = random_problem(seed, V=V, loss=loss)
        theta = parameters(problem, seed)
        cache, _ = search(problem, theta)
        used = problem.model.project(theta)
        for n, (A, losses) in enumerate(slow_rows(problem)):
            worst = np.max(A @ used + losses)
            found = values(problem, cache, used, n).max()
            assert -1e-12 <= found <= worst + 1e-10
            exact.append(found >= worst - 1e-10)
    assert np.mean(exact) > 0.7


def test_nothing_is_remembered_where_the_truth_is_the_worst():
    problem = random_problem(1, n=5, V=4, pairs=False)
    problem.X.data[:] = 0.0
    theta = np.zeros(problem.model.size)
    problem.loss = Subset()
    W = problem.model.split(theta)[0]
    W[-1] = 100.0 * np.where(problem.Y[0], 1.0, -1.0)
    if not problem.model.constant:
        pytest.fail("this seed must have a constant")
    problem.rows.data[:] = 0.0
    cache, _ = search(problem, theta)
    assert cache.counts[0] == 1
