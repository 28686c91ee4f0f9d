"""The master problem: no gap, whatever the planes; equal to a generic solver's optimum."""

import numpy as np
import pytest
from scipy.optimize import minimize

from colabel.learners.bundle_master import Bundle


def random_bundle(seed, most=1000):
    rng = np.random.default_rng(seed)
    n_free, E, K = rng.integers(1, 8), rng.integers(0, 5), rng.integers(1, 14)
    penalty = 10.0 ** rng.uniform(-3, 1)
    bundle, planes = Bundle(n_free + E, n_free, penalty, most), []
    for k in range(K):
        a = rng.normal(size=n_free + E)
        a = np.round(a) if seed % 2 else a
        if k and rng.random() < 0.2:
            a = bundle.A[-1]
        planes.append((a, rng.random()))
        bundle.add(*planes[-1])
        bundle.solve()
    return bundle, planes


def objective(bundle, planes, theta):
    value = max([0.0] + [a @ theta + b for a, b in planes])
    return 0.5 * bundle.penalty * theta @ theta + value


@pytest.mark.parametrize("block", range(10))
def test_primal_equals_dual(block):
    for seed in range(20 * block, 20 * block + 20):
        bundle, planes = random_bundle(seed)
        theta = bundle.theta()
        assert np.all(theta[bundle.n_free :] >= 0.0)
        assert objective(bundle, planes, theta) - bundle.value() <= 1e-8
        assert bundle.weights.min() >= 0.0
        assert bundle.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(12))
def test_optimum_is_that_of_a_generic_solver(seed):
    bundle, planes = random_bundle(seed)
    size = bundle.A.shape[1]
    A = np.array([a for a, _ in planes])
    b = np.array([b for _, b in planes])
    found = minimize(
        lambda v: 0.5 * bundle.penalty * v[:-1] @ v[:-1] + v[-1],
        np.append(np.zeros(size), 2.0),
        constraints=[{"type": "ineq", "fun": lambda v: v[-1] - A @ v[:-1] - b}],
        bounds=[(None, None)] * bundle.n_free + [(0, None)] * (size - bundle.n_free + 1),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert bundle.value() == pytest.approx(found.fun, rel=1e-5, abs=1e-7)


def test_the_lower_bound_rises_even_when_planes_are_merged():
    rng = np.random.default_rng(0)
    bundle = Bundle(6, 4, 0.1, 5)
    before = 0.0
    for _ in range(60):
        bundle.add(rng.normal(size=6), rng.random())
        assert len(bundle.b) <= 5
        bundle.solve()
        assert bundle.value() >= before - 1e-9
        before = bundle.value()


def test_idle_planes_are_dropped(monkeypatch):
    monkeypatch.setattr("colabel.learners.bundle_master.PATIENCE", 2)
    bundle = Bundle(1, 1, 1.0, 100)
    bundle.add(np.array([1.0]), -5.0)
    for _ in range(4):
        bundle.solve()
    assert len(bundle.b) == 1


def test_planes_without_slope_are_no_obstacle():
    bundle = Bundle(2, 1, 1.0, 10)
    bundle.add(np.zeros(2), 0.5)
    bundle.add(np.zeros(2), 0.7)
    bundle.solve()
    assert bundle.value() == pytest.approx(0.7)
    np.testing.assert_array_equal(bundle.theta(), [0.0, 0.0])


@pytest.mark.parametrize("seed", range(6))
def test_steps_between_two_planes_reach_the_optimum_by_themselves(seed, monkeypatch):
    """Where Newton's direction fails they are what is left."""
    expected = random_bundle(seed)[0].value()
    monkeypatch.setattr(Bundle, "_newton", lambda self, used, gradient, shadow: 0.0 * self.weights)
    bundle, planes = random_bundle(seed)
    assert bundle.value() == pytest.approx(expected, rel=1e-2)
    assert objective(bundle, planes, bundle.theta()) - bundle.value() <= 1e-3
