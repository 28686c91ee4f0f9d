"""Features in units of their own, or in one for all."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from colabel.mixture import ConditionalBernoulliMixture, _features
from colabel.mixture._features import Features
from colabel.mixture._scale import choose_scale, units_differ

CONTAINERS = [np.asarray, sparse.csr_array]
UNITS = 10.0 ** np.array([0, -4, 3, 6, 1, -8])


def data(n=120, wide=0, seed=0):
    """Labels of all columns, the first of which is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.7) + np.arange(6)
    X[:, 0] = 2.0
    Y = (X - X.mean(axis=0)) @ rng.normal(size=(6, 3)) + 0.1 * rng.normal(size=(n, 3)) > 0
    return np.hstack([X, rng.normal(size=(n, wide))]), Y.astype(int)


def fit(X, Y, scale="auto", **options):
    options = {"n_components": 3, "n_steps": 3, "m_steps": 50, "random_state": 0, **options}
    return ConditionalBernoulliMixture(scale=scale, **options).fit(X, Y)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.5}, {"expert_prior": "shared"}], ids=str)
@pytest.mark.parametrize("wide", [0, 150])
def test_columns_of_many_units_are_as_good_as_standardised_ones(container, options, wide):
    X, Y = data(wide=wide)
    units = np.concatenate([UNITS, np.full(wide, 1e-3)])
    standard = StandardScaler().fit_transform(X)
    expected = fit(standard, Y, scale=True, **options).joint_log_prob(standard, Y)
    for scale in ("columns",) if wide else ("columns", "auto"):  # noise may be better left small
        rows = container(X * units)
        found = fit(rows, Y, scale, **options).joint_log_prob(rows, Y)
        np.testing.assert_allclose(found, expected, atol=1e-3)
    lost = fit(container(X * units), Y, True, **options).joint_log_prob(container(X * units), Y)
    assert lost.mean() < expected.mean() - 0.1


@pytest.mark.parametrize("container", CONTAINERS)
def test_columns_of_one_kind_are_left_in_one_unit(container):
    X, Y = data()
    rows = container(X * [1, 2, 0.5, 1, 3, 1])
    one = fit(rows, Y, True)
    np.testing.assert_array_equal(fit(rows, Y).predict_proba(rows), one.predict_proba(rows))
    assert fit(rows, Y).models_[0].gate.features.columns is None


def test_spreads_that_are_not_far_apart():
    rng = np.random.default_rng(0)
    words = rng.random((4000, 300)) < 0.5 / np.arange(1, 301)
    assert not units_differ(words.var(axis=0))
    assert not units_differ(np.zeros(4))
    assert not units_differ(np.array([0.0, 1e-300]))
    assert units_differ(np.array([1.0, 1e-200, 1e200]))


@pytest.mark.parametrize("container", CONTAINERS)
def test_far_apart_for_a_reason_or_by_accident(container):
    """Principal components of a smooth matrix tell little where they vary little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60)) / np.arange(1, 61) ** 2
    assert units_differ(X.var(axis=0))
    labels = (X[:, :3] @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(200, 4)) > 0).astype(int)
    assert fit(container(X), labels).scale_ is True
    X, Y = data(n=200)
    assert fit(container(X * UNITS), Y).scale_ == "columns"


def test_the_choice_depends_on_neither_order_nor_repeats_of_rows():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 20)) / np.arange(1, 21) ** 3
        Y = (X @ rng.normal(size=(20, 2)) * [1, 0] + rng.normal(size=(60, 2)) > 0).astype(np.int8)
        weight = np.arange(60) % 3 + 1
        repeated = rng.permutation(np.repeat(np.arange(60), weight))
        answers = {
            choose_scale(X, Y, weight.astype(float), 10.0),
            choose_scale(X[repeated], Y[repeated], np.ones(len(repeated)), 10.0),
            choose_scale(sparse.csr_array(X), Y, weight.astype(float), 10.0),
        }
        assert len(answers) == 1


def test_few_rows_cannot_tell():
    X, Y = data(n=29)
    assert fit(X * UNITS, Y).scale_ is True
    assert fit(X * UNITS, Y, "columns").scale_ == "columns"


def test_components_that_are_rounding_errors_stay_what_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    Y = (X[:, :2] > 0).astype(int)
    wide = np.hstack([X, 1e-14 * rng.normal(size=(100, 200))])
    clf = fit(wide, Y)
    assert clf.scale_ is True
    np.testing.assert_allclose(clf.predict_proba(wide), fit(X, Y).predict_proba(X), atol=2e-3)


def test_rotating_columns_of_many_units_changes_no_optimum(monkeypatch):
    X, Y = data(n=20, wide=60)
    rows, exact = X * np.concatenate([UNITS, np.ones(60)]), {"m_steps": 2000, "n_steps": 1}
    turned = fit(rows, Y, **exact).predict_proba(rows)
    monkeypatch.setattr(_features, "MOST_ROWS", 0)
    np.testing.assert_allclose(fit(rows, Y, **exact).predict_proba(rows), turned, atol=2e-3)


def test_weights_given_back_score_the_same():
    X, _ = data(n=20, wide=60)
    rows, rng = X * np.concatenate([UNITS, np.ones(60)]), np.random.default_rng(1)
    features = Features("columns").fit(rows, np.ones(20))
    coef = rng.normal(size=(4, features.rotation.shape[1]))
    whole = slice(0, 20)
    expected = features.products(rows, np.float64).scores(coef, whole)
    back, lift = features.returned(coef)
    found = features.untouched().products(rows, np.float64).scores(back, whole) + lift[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_row_twice_is_a_weight_of_two():
    X, Y = data(n=40)
    X *= UNITS
    weight = np.arange(40) % 3
    found = fit(X, Y).fit(X, Y, sample_weight=weight).predict_proba(X)
    twice = fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)).predict_proba(X)
    np.testing.assert_allclose(found, twice, atol=1e-6)
