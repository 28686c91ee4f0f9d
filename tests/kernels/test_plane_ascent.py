"""Dual ascent over remembered labelings: against plain sums, and the dual never falls."""

import numpy as np
import pytest

from colabel._kernels.linear_scores import score_row
from colabel._kernels.plane_ascent import Pairs, ascend, ascent_workspace
from colabel._kernels.planes import Fresh, Settings
from colabel.learners.ascent import PlaneCache
from kernels.outside import outside
from learners.oracles_margin import random_problem, slow_rows


def pairs_of(model):
    start = np.searchsorted(model.edges[:, 0], np.arange(model.n_labels + 1)).astype(np.int64)
    return Pairs(start, np.ascontiguousarray(model.edges[:, 1]), model.strength)


class Run:
    """The kernel with all it needs, and its dual computed from scratch."""

    def __init__(self, problem, n_planes):
        self.problem, self.cache = problem, PlaneCache(problem, n_planes)
        self.free = self.cache.free(problem) / problem.penalty
        model = problem.model
        self.pairs = pairs_of(model)
        n_planes = self.cache.planes.shape[1]
        self.work = ascent_workspace(n_planes, model.n_labels, len(model.edges))

    def visit(self, order, labels=None, steps=20):
        problem = self.problem
        Z = problem.Y[:0] if labels is None else labels
        losses = np.zeros(0) if labels is None else problem.loss.value(problem.Y[order], Z)
        fresh = Fresh(np.packbits(Z, axis=1, bitorder="little"), losses)
        settings = Settings(problem.penalty, problem.model.constant, steps, 1e-14)
        data = problem.rows, problem.norms, self.cache.arrays, fresh
        theta = problem.model.split(self.free)
        return ascend(*data, *theta, self.pairs, settings, order, self.work)

    def dual(self):
        theta = self.problem.model.project(self.cache.free(self.problem) / self.problem.penalty)
        return self.cache.loss() - self.problem.ridge(theta)


@pytest.mark.parametrize("seed", range(10))
def test_scores_are_those_of_the_model(seed):
    problem = random_problem(seed, V=5)
    theta = np.random.default_rng(seed).normal(size=problem.model.size)
    order = np.array([3, 0, 5])
    out = np.empty((3, 5))
    W = problem.model.split(theta)[0]
    score = outside(score_row)
    for n, scores in zip(order, out, strict=True):
        score(problem.rows, W, problem.model.constant, n, scores)
    expected = problem.model.unary(problem.X.toarray()[order], theta)
    np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("n_planes", [2, 3, 60])
@pytest.mark.parametrize("seed", range(8))
def test_the_dual_never_falls_and_parameters_stay_those_of_the_weights(seed, n_planes, monkeypatch):
    monkeypatch.setattr("colabel.learners.ascent.LEAST_PLANES", 1)
    problem = random_problem(seed, V=9, pairs=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    run, before = Run(problem, n_planes), 0.0
    for _ in range(12):
        order = rng.permutation(problem.n_samples)[: rng.integers(1, 7)]
        fresh = rng.integers(0, 2, (len(order), 9)).astype(np.int8)
        gap = run.visit(order, fresh if rng.random() < 0.7 else None, steps=rng.integers(1, 5))
        assert gap >= -1e-12
        np.testing.assert_allclose(run.free, run.cache.free(problem) / problem.penalty, atol=1e-10)
        np.testing.assert_allclose(run.cache.weights.sum(axis=1), problem.share, rtol=1e-12)
        assert run.cache.weights.min() >= 0.0
        assert run.dual() >= before - 1e-12
        before = run.dual()


@pytest.mark.parametrize("seed", range(6))
def test_the_gap_returned_is_that_of_all_planes_known(seed):
    """With all 8 labelings known and no steps, it is the duality gap."""
    problem = random_problem(seed)
    run, order = Run(problem, 8), np.arange(problem.n_samples)
    rng = np.random.default_rng(seed)
    for _ in range(60):
        run.visit(order, rng.integers(0, 2, (len(order), 3)).astype(np.int8), steps=3)
    theta = problem.model.project(run.free)
    risk = problem.share @ [np.max(A @ theta + loss) for A, loss in slow_rows(problem)]
    gap = problem.ridge(theta) + risk - run.dual()
    # Couplings at zero make the sum over planes smaller than the gap by what they would have.
    free = problem.model.split(run.free)[1]
    assert run.visit(order, steps=0) <= gap + 1e-9
    if np.all(free >= 0.0) and np.all(run.cache.counts == 8):
        assert run.visit(order, steps=0) == pytest.approx(gap, abs=1e-9)


def test_the_truth_is_never_forgotten(monkeypatch):
    monkeypatch.setattr("colabel.learners.ascent.LEAST_PLANES", 1)
    problem = random_problem(1, V=4)
    truth = np.packbits(problem.Y, axis=1, bitorder="little")
    for n_planes in (1, 2):
        run, rng = Run(problem, n_planes), np.random.default_rng(0)
        for _ in range(20):
            fresh = rng.integers(0, 2, (problem.n_samples, 4)).astype(np.int8)
            run.visit(np.arange(problem.n_samples), fresh)
        np.testing.assert_array_equal(run.cache.planes[:, 0], truth)
        assert run.cache.counts.max() <= n_planes


def test_a_row_of_zeros_moves_all_its_weight_at_once():
    """Without features there is no curvature, and the step is as long as it can be."""
    problem = random_problem(1, n=4, V=2, pairs=False)
    problem.norms[0] = 0.0
    problem.rows.indptr[1:] -= problem.rows.indptr[1]
    run = Run(problem, 4)
    order = np.zeros(1, dtype=np.int64)
    model = problem.model
    assert model.constant in (0.0, 1.0)
    other = 1 - problem.Y[:1]
    run.visit(order, other)
    assert run.cache.weights[0, 1] == pytest.approx(problem.share[0])
