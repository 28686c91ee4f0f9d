"""Dual ascent with all pairs coupled: against plain sums, and the dual never falls."""

import numpy as np
import pytest

from colabel._kernels.planes import Fresh, Settings
from colabel._kernels.spin_ascent import SpinTheta, ascend_spins, spin_workspace
from colabel.learners.ascent import PlaneCache, count_tables
from colabel.losses import FBeta, Hamming, Jaccard, Subset
from learners.oracles_margin import labelings, slow_rows, spin_problem

LOSSES = [FBeta(), Hamming(), Jaccard(), Subset(), FBeta(2.0)]


class Run:
    """The kernel with all it needs, and its dual computed from scratch."""

    def __init__(self, problem, n_planes):
        self.problem, self.cache = problem, PlaneCache(problem, n_planes)
        model, free = problem.model, self.cache.free(problem) / problem.penalty
        self.W = model.split(free)[0].copy()
        self.C = -4.0 * model.prior(free)
        self.degree = self.C.sum(axis=1)
        self.tables = count_tables(problem)
        self.work = spin_workspace(self.cache.planes.shape[1], model.n_labels)

    def visit(self, order, labels=None, steps=20, enough=1e-14):
        """Visit samples with labelings for each, or climbing."""
        problem = self.problem
        model = problem.model
        Z = problem.Y[:0] if labels is None else labels
        losses = np.zeros(0) if labels is None else problem.loss.value(problem.Y[order], Z)
        fresh = Fresh(np.packbits(Z, axis=1, bitorder="little"), losses)
        settings = Settings(problem.penalty, model.constant, steps, enough)
        theta = SpinTheta(self.W, self.C, self.degree, model.kappa**2)
        data = problem.rows, problem.norms, self.cache.arrays, fresh
        return ascend_spins(*data, self.tables, theta, settings, order, self.work)

    def theta(self):
        return self.cache.free(self.problem) / self.problem.penalty

    def dual(self):
        return self.cache.loss() - self.problem.ridge(self.theta())

    def known(self, n):
        """Labelings that a sample remembers."""
        planes = self.cache.planes[n, : self.cache.counts[n]]
        count = self.problem.model.n_labels
        return np.unpackbits(planes, axis=1, count=count, bitorder="little").astype(np.int8)


def same_parameters(run):
    W, _ = run.problem.model.split(run.theta())
    np.testing.assert_allclose(run.W, W, atol=1e-10)
    np.testing.assert_allclose(run.C, -4.0 * run.problem.model.prior(run.theta()), atol=1e-9)
    np.testing.assert_allclose(run.degree, run.C.sum(axis=1), atol=1e-9)
    assert not np.diag(run.C).any()


@pytest.mark.parametrize("n_planes", [2, 3, 60])
@pytest.mark.parametrize("seed", range(10))
def test_the_dual_never_falls_and_parameters_stay_those_of_the_weights(seed, n_planes, monkeypatch):
    monkeypatch.setattr("colabel.learners.ascent.LEAST_PLANES", 1)
    V = 1 + (seed * 5) % 11  # more than a byte has bits, and a single label
    problem = spin_problem(seed, V=V, loss=LOSSES[seed % len(LOSSES)])
    rng = np.random.default_rng(seed)
    run, before = Run(problem, n_planes), 0.0
    for _ in range(12):
        order = rng.permutation(problem.n_samples)[: rng.integers(1, 7)]
        fresh = rng.integers(0, 2, (len(order), V)).astype(np.int8)
        gap = run.visit(order, fresh if rng.random() < 0.5 else None, steps=rng.integers(1, 5))
        assert gap >= -1e-12
        same_parameters(run)
        np.testing.assert_allclose(run.cache.weights.sum(axis=1), problem.share, rtol=1e-12)
        assert run.cache.weights.min() >= 0.0
        assert run.dual() >= before - 1e-12
        before = run.dual()


@pytest.mark.parametrize("seed", range(12))
def test_remembered_losses_are_those_of_the_labelings(seed):
    problem = spin_problem(seed, V=4, loss=LOSSES[seed % len(LOSSES)])
    run, rng = Run(problem, 60), np.random.default_rng(seed)
    for visit in range(10):
        order = rng.permutation(problem.n_samples)
        fresh = rng.integers(0, 2, (len(order), 4)).astype(np.int8)
        run.visit(order, fresh if visit % 2 else None)
    for n, count in enumerate(run.cache.counts):
        known = run.known(n)
        assert len(np.unique(known, axis=0)) == count  # none twice
        truth = np.repeat(problem.Y[n : n + 1], count, axis=0)
        losses = problem.loss.value(truth, known)
        np.testing.assert_allclose(run.cache.losses[n, :count], losses, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_a_climb_ends_where_no_flip_gains(seed):
    """With a memory that is not full, the labeling taken up is a local maximum of its sample."""
    problem = spin_problem(seed, n=5, V=6, loss=LOSSES[seed % len(LOSSES)], penalty=0.02)
    run, rng = Run(problem, 60), np.random.default_rng(seed)
    rows, taken = slow_rows(problem), 0
    for _ in range(15):
        n = int(rng.integers(problem.n_samples))
        A, loss = rows[n]
        values = A @ run.theta() + loss  # of all labelings, in the order of their bits
        count = run.cache.counts[n]
        run.visit(np.array([n]), steps=3)
        if run.cache.counts[n] == count:
            continue
        taken += 1
        found = run.known(n)[count]
        code = found @ (1 << np.arange(5, -1, -1))
        flips = code ^ (1 << np.arange(6))
        assert values[flips].max() <= values[code] + 1e-9
    assert taken > 2


@pytest.mark.parametrize("seed", range(8))
def test_with_worst_labelings_the_gap_returned_is_the_duality_gap_and_closes(seed):
    problem = spin_problem(seed, loss=LOSSES[seed % len(LOSSES)], penalty=0.5)
    run, order = Run(problem, 8), np.arange(problem.n_samples)
    rows = slow_rows(problem)
    for _ in range(200):
        theta = run.theta()
        worst = labelings(3)[[np.argmax(A @ theta + loss) for A, loss in rows]]
        risk = problem.share @ [np.max(A @ theta + loss) for A, loss in rows]
        gap = problem.ridge(theta) + risk - run.dual()
        assert run.visit(order, worst, steps=0) == pytest.approx(gap, abs=1e-9)
        if gap <= 1e-3:
            break
        run.visit(order, worst)
    assert gap <= 1e-3


@pytest.mark.parametrize("n_planes", [1, 2])
def test_the_truth_is_never_forgotten(n_planes, monkeypatch):
    monkeypatch.setattr("colabel.learners.ascent.LEAST_PLANES", 1)
    problem = spin_problem(1, V=4)
    truth = np.packbits(problem.Y, axis=1, bitorder="little")
    run, rng = Run(problem, n_planes), np.random.default_rng(0)
    for _ in range(20):
        fresh = rng.integers(0, 2, (problem.n_samples, 4)).astype(np.int8)
        run.visit(np.arange(problem.n_samples), fresh)
    np.testing.assert_array_equal(run.cache.planes[:, 0], truth)
    assert run.cache.counts.max() <= n_planes


def test_what_gains_too_little_is_left_alone():
    problem = spin_problem(2, V=4)
    run, order = Run(problem, 8), np.arange(problem.n_samples)
    assert run.visit(order, 1 - problem.Y, enough=100.0) == 0.0
    assert run.cache.counts.max() == 1
    assert abs(run.dual()) < 1e-30  # sums of equal numbers in another order


def test_a_step_is_the_best_between_two_labelings():
    """One sample, two labelings, one step: the dual is a parabola in the weight moved."""
    problem = spin_problem(7, n=1, V=5, penalty=2.0)
    run, other = Run(problem, 2), 1 - problem.Y
    run.visit(np.zeros(1, dtype=np.int64), other, steps=1)
    reached, moved = run.dual(), run.cache.weights[0, 1]
    assert 0.0 < moved < 1.0
    for share in np.linspace(0.0, 1.0, 101):
        run.cache.weights[0, :2] = 1.0 - share, share
        assert run.dual() <= reached + 1e-12
