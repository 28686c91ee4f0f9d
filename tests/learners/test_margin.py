"""The regularised risk: against all labelings, and by finite differences."""

import numpy as np
import pytest

from colabel.losses import FBeta, Hamming, Jaccard, Subset
from learners.oracles_margin import labelings, random_problem, slow_risk, slow_rows


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("loss", [FBeta(), FBeta(2.0), Jaccard(), Hamming(), Subset()], ids=str)
def test_risk_is_that_of_all_labelings(seed, loss):
    problem = random_problem(seed, V=4, loss=loss)
    rng = np.random.default_rng(seed)
    theta = problem.model.project(rng.normal(size=problem.model.size))
    found = problem.violations(theta, problem.oracles.proof)
    truth = slow_risk(problem, theta)
    assert found.upper >= truth - 1e-12
    np.testing.assert_allclose(found.risk, truth, atol=1e-12)
    assert found.certified == pytest.approx(1.0)
    quick = problem.violations(theta, problem.oracles.quick)
    assert quick.risk <= truth + 1e-12 <= quick.upper + 1e-11
    np.testing.assert_allclose(found.losses, loss.value(problem.Y, found.labels))


@pytest.mark.parametrize("seed", range(25))
def test_subgradient_agrees_with_finite_differences(seed):
    problem = random_problem(seed, V=4, pairs=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    theta = problem.model.project(np.abs(rng.normal(size=problem.model.size)))
    slope = problem.subgradient(problem.violations(theta, problem.oracles.learning))
    step = 1e-6
    for k in range(problem.model.size):
        move = np.zeros(problem.model.size)
        move[k] = step
        rise = slow_risk(problem, theta + move) - slow_risk(problem, theta - move)
        assert rise / (2 * step) == pytest.approx(slope[k], abs=1e-6)


@pytest.mark.parametrize("V", [6, 12])
def test_certified_share_is_the_share_that_brute_force_confirms(V):
    """What is certified is a worst labeling; with enough cuts everything is certified."""
    problem = random_problem(5, n=25, d=3, V=V)
    theta = problem.model.project(np.random.default_rng(1).normal(size=problem.model.size))
    every = labelings(V)
    table = problem.model.scores(problem.X, theta)
    for oracle in (problem.oracles.quick, problem.oracles.learning):
        found = oracle.find(table, problem.loss, problem.Y)
        loss = np.stack([problem.loss.value(np.tile(y, (len(every), 1)), every) for y in problem.Y])
        best = (table.value_all(every) + loss).max(axis=1)
        exact = np.abs(found.value - best) <= 1e-9
        assert np.all(exact[found.certified])
        assert np.all(found.upper_bound >= best - 1e-9)
        if oracle is problem.oracles.learning:
            share = float(problem.share @ exact)
            assert problem.violations(theta, oracle).certified == pytest.approx(share)
            assert share == pytest.approx(1.0)


def test_small_blocks_decode_the_same(monkeypatch):
    problem = random_problem(2, n=12, V=4)
    theta = problem.model.project(np.random.default_rng(0).normal(size=problem.model.size))
    whole = problem.violations(theta, problem.oracles.learning)
    monkeypatch.setattr("colabel.learners.margin.CELLS", 8)
    part = problem.violations(theta, problem.oracles.learning)
    np.testing.assert_array_equal(part.labels, whole.labels)
    assert part.risk == pytest.approx(whole.risk)


def test_oracle_of_the_slow_truth_has_the_zero_row():
    """The true labeling is among those listed, with no loss and no feature difference."""
    for A, loss in slow_rows(random_problem(1)):
        k = np.flatnonzero(loss == 0.0)
        assert np.any(np.all(A[k] == 0.0, axis=1))
