"""The regressions of a component: the same fits on every way that leads to them."""

import numpy as np
import pytest
from scipy import sparse

from colabel.linear import logistic
from colabel.linear.logistic import Known, Prior, fit_component
from colabel.numerics.products import DenseProducts, SparseProducts

STEPS = 400


def problem(seed, d=4, n=90, L=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7) + 1.0
    Y = rng.integers(2, size=(L, n)).astype(np.float32)
    weight = rng.random(n) * rng.choice([0.0, 1e-6, 1.0], size=n)
    center = rng.normal(size=(L, d + 1)) if seed % 2 else np.zeros((0, d + 1))
    known = Known(np.array([1, 4]), rng.normal(size=(2, d + 1)))
    return X, Y, weight, center, known


def fit(X, Y, weight, center, known, penalty=0.7, l1=0.0, labels=(0, 1, 3), steps=STEPS):
    prior = Prior(penalty, l1, center)
    return fit_component(X, Y, weight, np.array(labels), 1e-3, prior, known, steps)


@pytest.mark.parametrize("seed", range(6))
def test_every_way_leads_to_the_same_optimum(seed, monkeypatch):
    X, *terms = problem(seed)
    dense = fit(DenseProducts(X, np.float64), *terms)
    few = fit(SparseProducts(sparse.csr_array(X), np.float64), *terms)
    np.testing.assert_allclose(few, dense, atol=2e-3)
    monkeypatch.setattr(logistic, "LARGEST_COPY", 0)
    large = fit(DenseProducts(X, np.float64), *terms)
    np.testing.assert_allclose(large, dense, atol=2e-3)


@pytest.mark.parametrize("kind", [DenseProducts, SparseProducts])
@pytest.mark.parametrize("seed", range(2))
def test_without_steps_all_stay_where_they_start(seed, kind):
    X, Y, weight, center, known = problem(seed)
    found = fit(
        kind(sparse.csr_array(X) if kind is SparseProducts else X, np.float64),
        Y,
        weight,
        center,
        known,
        steps=0,
    )
    np.testing.assert_allclose(found[1], known.points[0], atol=1e-12)
    if len(center):
        np.testing.assert_allclose(found[[0, 2]], center[[0, 3]], atol=1e-12)
    else:
        np.testing.assert_allclose(found[[0, 2], :-1], 0.0, atol=1e-12)


def test_labels_in_batches_are_the_same(monkeypatch):
    X, *terms = problem(1)
    X = DenseProducts(X, np.float64)
    whole = fit(X, *terms)
    monkeypatch.setattr(logistic, "BATCH_BYTES", 1)
    np.testing.assert_allclose(fit(X, *terms), whole, atol=1e-6)


def test_an_L1_penalty_holds_coefficients_at_the_center():
    X, *terms = problem(1)
    found = fit(DenseProducts(X, np.float64), *terms, l1=1e4)
    np.testing.assert_array_equal(found[:, :-1], terms[2][[0, 1, 3], :-1])


def test_no_labels():
    X, *terms = problem(0)
    assert fit(DenseProducts(X, np.float64), *terms, labels=np.zeros(0, np.int64)).shape == (0, 5)
