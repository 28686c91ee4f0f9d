"""Conditional dependency networks: their own facts."""

import collections
import itertools
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import oracles
from colabel.datasets import load
from colabel.metrics import subset_accuracy
from colabel.reduction import BatchLogisticRegression
from colabel.reduction._dependency_network import (
    ConditionalDependencyNetwork,
    NotErgodicWarning,
)
from colabel.reduction._ergodic import _frozen
from decoders import oracles_mixture as truth

LINEAR = LogisticRegression(solver="liblinear", tol=1e-10)


@pytest.fixture
def data():
    """Three labels that attract and repel each other."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = np.zeros((300, 3), dtype=int)
    Y[:, 0] = X[:, 0] + rng.logistic(size=300) > 0
    Y[:, 1] = X[:, 1] + 2 * Y[:, 0] - 1 + rng.logistic(size=300) > 0
    Y[:, 2] = X[:, 0] - 2 * Y[:, 1] + rng.logistic(size=300) > 0
    return X, Y


def stationary(model, x):
    """What a sweep over the labels leaves as it is, from the model's own conditionals."""
    Z = oracles.all_labelings(model._n_columns)
    rows = model.conditionals_.at(x[None])
    sweep = np.eye(len(Z))
    for label in range(model._n_columns):
        p = expit(rows.log_odds(label, Z)[0])
        step = np.zeros_like(sweep)
        for a, z in enumerate(Z):
            for bit in (0, 1):
                after = z.copy()
                after[label] = bit
                step[a, truth.place_of(after)] += p[a] if bit else 1 - p[a]
        sweep = sweep @ step
    return np.linalg.matrix_power(sweep, 4096)[0]


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_samples_reach_the_stationary_distribution(data, inner):
    X, Y = data
    sizes = {"n_chains": 20, "n_burn": 20, "n_draws": 1000 if inner is None else 150}
    model = ConditionalDependencyNetwork(inner, random_state=0, **sizes).fit(X, Y)
    joint = model.predict_joint(X[:4])
    Z = oracles.all_labelings(3)
    for i, x in enumerate(X[:4]):
        p = stationary(model, x)
        # Draws are correlated: count one in three.
        error = np.sqrt(p * (1 - p) / (20 * sizes["n_draws"] / 3))
        found = np.exp(joint.take([i]).value_all(Z)[0])
        assert (np.abs(found - p) < 5 * error + 1e-3).all()
        np.testing.assert_allclose(joint.marginals()[i], p @ Z, atol=5 * error.max())
        np.testing.assert_allclose(model.predict_proba(X[:4])[i], p @ Z, atol=5 * error.max())


def test_means_of_conditionals_vary_less_than_frequencies(data):
    X, Y = data
    means, shares = [], []
    for seed in range(30):
        model = ConditionalDependencyNetwork(n_chains=2, n_draws=20, random_state=seed).fit(X, Y)
        joint = model.predict_joint(X[:5])
        means.append(joint.marginals())
        shares.append(np.exp(joint.scores)[:, None] @ joint.labelings)
    assert np.var(means, axis=0).sum() < 0.7 * np.var(shares, axis=0).sum()


def test_the_table_is_a_distribution_over_the_draws(data):
    X, Y = data
    model = ConditionalDependencyNetwork(n_chains=3, n_draws=30, random_state=0).fit(X, Y)
    joint = model.predict_joint(X)
    np.testing.assert_allclose(np.exp(joint.scores).sum(axis=1), 1.0)
    counts = np.exp(joint.scores) * 90
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    for rows in ([3, 1], slice(5, 2, -1), np.arange(len(X)) % 7 == 0):
        some = joint.take(rows)
        np.testing.assert_array_equal(some.marginals(), joint.marginals()[rows])
        np.testing.assert_array_equal(some.scores, joint.scores[rows])  # to the last bit
        np.testing.assert_array_equal(some.labelings, joint.labelings[rows])
    assert type(some.take([0]).take([0])) is type(joint)
    found = joint.correlations()
    p, Z = np.exp(joint.scores), joint.labelings.astype(float)
    for i in range(0, 300, 50):  # those of the draws themselves
        some = np.repeat(Z[i], np.round(90 * p[i]).astype(int), axis=0)
        moving = np.flatnonzero(some.std(axis=0) > 0)
        expected = np.atleast_2d(np.corrcoef(some[:, moving].T))
        np.testing.assert_allclose(found[i][np.ix_(moving, moving)], expected, atol=1e-9)
    for decoder in ("marginal", "expected_f", "expected_jaccard", "support_mode"):
        assert model.decode(X, decoder).labels.shape == Y.shape
    np.testing.assert_array_equal(
        model.decode(X, "marginal").labels, model.predict_proba(X) > 0.5 + 1e-13
    )


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_predictions_repeat_themselves_and_do_not_depend_on_neighbours(data, inner, monkeypatch):
    X, Y = data
    settings = {"n_chains": 2, "n_burn": 5, "n_draws": 10}
    model = ConditionalDependencyNetwork(inner, random_state=None, **settings).fit(X, Y)
    whole = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), whole)
    np.testing.assert_allclose(model.predict_proba(X[7:9]), whole[7:9], atol=1e-9)
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 10_000)
    np.testing.assert_allclose(model.predict_proba(X), whole, atol=1e-9)
    with joblib.parallel_config(backend="threading"):
        one, two = (
            ConditionalDependencyNetwork(inner, random_state=4, n_jobs=n, **settings)
            .fit(X, Y)
            .predict_proba(X)
            for n in (1, 2)
        )
    np.testing.assert_array_equal(one, two)


def test_every_label_is_given_all_others_but_itself(data):
    X, Y = data
    model = ConditionalDependencyNetwork(BatchLogisticRegression(tol=1e-9), random_state=0)
    found = model.fit(X, Y).conditionals_
    exact = LogisticRegression(max_iter=10_000, tol=1e-10)
    for label in range(3):
        others = np.delete(np.arange(3), label)
        one = exact.fit(np.hstack([X, Y[:, others]]), Y[:, label])
        np.testing.assert_allclose(found.coef[label], one.coef_[0, :2], atol=1e-4)
        np.testing.assert_allclose(found.couplings[label, others], one.coef_[0, 2:], atol=1e-4)
        assert found.couplings[label, label] == 0.0


def test_sample_weights_count_rows(data):
    X, Y = data
    weight = np.random.default_rng(0).integers(0, 3, 300)
    rows = np.repeat(np.arange(300), weight)
    model = ConditionalDependencyNetwork(n_draws=20, random_state=0)
    weighted = model.fit(X, Y, sample_weight=weight).predict_proba(X)
    np.testing.assert_allclose(weighted, model.fit(X[rows], Y[rows]).predict_proba(X), atol=1e-3)


def test_perfectly_correlated_labels_are_warned_about(data):
    X, Y = data
    network = ConditionalDependencyNetwork(n_draws=10, random_state=0)
    for pair, how in ((Y[:, [0, 0]], "equal"), (np.column_stack([Y[:, 0], 1 - Y[:, 0]]), "oppos")):
        labels = np.column_stack([Y[:, 1], np.zeros(300, int), pair])
        with pytest.warns(NotErgodicWarning, match=f"labels 2 and 3 are always {how}"):
            network.fit(X, labels)
    classes = np.eye(4, dtype=int)[np.digitize(X[:, 0], [-1, 0, 1])]
    with pytest.warns(NotErgodicWarning, match="labels 0, 1, 2 and 3 determine one another"):
        network.fit(X, classes)


def test_warnings_call_labels_by_their_names(data):
    X, Y = data
    network = ConditionalDependencyNetwork(n_draws=10, random_state=0)
    names = ["sea", "sky", "a cliff"]
    labels = pd.DataFrame(np.column_stack([Y[:, 1], Y[:, 0], Y[:, 0]]), columns=names)
    with pytest.warns(NotErgodicWarning, match="labels 'sky' and 'a cliff' are always equal"):
        network.fit(X, labels)
    rng = np.random.default_rng(0)
    X = 0.01 * rng.normal(size=(3000, 1))
    first = rng.random(3000) < 0.5
    second = first.copy()
    second[:2] = ~second[:2]
    labels = pd.DataFrame({"sea": first.astype(int), "shore": second.astype(int)})
    network = ConditionalDependencyNetwork(BatchLogisticRegression(C=1e4), n_draws=10)
    with pytest.warns(NotErgodicWarning, match="labels 'sea' and 'shore' are certain of one"):
        network.fit(X, labels)


def test_a_frozen_group_beside_labels_that_move_is_warned_about(data):
    """Exactly one of three is on; a fourth label moves, a fifth follows from the moving one."""
    X, _ = data
    rng = np.random.default_rng(0)
    classes = np.eye(3, dtype=int)[rng.integers(3, size=300)]
    free = rng.random(300) < 0.5
    network = ConditionalDependencyNetwork(n_draws=5, random_state=0)
    Y = np.column_stack([free, classes, rng.random(300) < 0.3]).astype(int)
    with pytest.warns(NotErgodicWarning, match="labels 1, 2 and 3 determine one another"):
        network.fit(X, Y)
    with pytest.warns(NotErgodicWarning, match="determine one another"):
        ConditionalDependencyNetwork(LINEAR, n_burn=1, n_draws=2).fit(X, Y)
    draws, _ = network.conditionals_.at(X[:20]).gibbs(network.cuts_, 50)
    assert draws[:, :, 0].std(axis=1).min() > 0.0  # the free label does move


def test_conditionals_certain_of_each_other_are_warned_about():
    """A handful of exceptions hide the perfect correlation from the data, not from the fit."""
    rng = np.random.default_rng(0)
    X = 0.01 * rng.normal(size=(3000, 1))
    first = rng.random(3000) < 0.5
    second = first.copy()
    second[:2] = ~second[:2]
    third = rng.random(3000) < 0.5
    for other in (second, ~second):
        Y = np.column_stack([first, third, other]).astype(int)
        network = ConditionalDependencyNetwork(BatchLogisticRegression(C=1e4), n_draws=10)
        with pytest.warns(NotErgodicWarning, match="labels 0 and 2 are certain of one another"):
            network.fit(X, Y)


def test_three_conditionals_certain_of_one_another_are_warned_about():
    rng = np.random.default_rng(1)
    X = 0.01 * rng.normal(size=(3000, 1))
    classes = np.eye(3, dtype=int)[rng.integers(3, size=3000)]
    classes[0] = 1, 1, 0
    classes[1] = 0
    Y = np.column_stack([classes, rng.random(3000) < 0.5]).astype(int)
    network = ConditionalDependencyNetwork(BatchLogisticRegression(C=1e5), n_draws=10)
    with pytest.warns(NotErgodicWarning, match="labels 0, 1 and 2 are certain of one another"):
        network.fit(X, Y)


def slow_frozen(Y):
    """The largest group within which no two rows differ in one label, trying them all."""
    n_labels = Y.shape[1]
    for size in range(n_labels, 0, -1):
        for group in itertools.combinations(range(n_labels), size):
            rows = np.unique(Y[:, group], axis=0)
            apart = (rows[:, None] != rows).sum(axis=2)
            if len(rows) > 1 and apart[apart > 0].min() > 1:
                return list(group)
    return []


def test_frozen_groups_are_those_that_trying_all_finds():
    sizes = collections.Counter()
    for seed in range(400):
        rng = np.random.default_rng(seed)
        Y = (rng.random((rng.integers(1, 9), rng.integers(1, 6))) < 0.5).astype(np.int8)
        Y = Y[:, (Y.any(axis=0) & ~Y.all(axis=0))]
        if Y.shape[1]:
            found = list(_frozen(Y))
            assert found == slow_frozen(Y)
            sizes[len(found)] += 1
    assert min(sizes[n] for n in (0, 2, 3, 4)) > 5


def test_many_frozen_labels_are_counted(data):
    X, _ = data
    classes = np.eye(9, dtype=int)[np.arange(300) % 9]
    with pytest.warns(NotErgodicWarning, match="labels 0, 1, 2, 3, 4 and 4 more determine"):
        ConditionalDependencyNetwork(n_draws=2, random_state=0).fit(X, classes)


def test_ordinary_labels_are_not_warned_about(data):
    X, Y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels in (Y, Y[:, :1], np.zeros((300, 2), int), np.ones((300, 3), int)):
            ConditionalDependencyNetwork(n_draws=5, random_state=0).fit(X, labels)
        y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
        ConditionalDependencyNetwork(random_state=0).fit(X, y)


def test_sampling_does_fail_where_the_warning_says_so():
    """Exclusive, exhaustive labels: the features decide nothing (Li et al. 2016, Section 5)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    network = ConditionalDependencyNetwork(BatchLogisticRegression(C=1e5), random_state=0)
    with pytest.warns(NotErgodicWarning):
        network.fit(X, np.column_stack([y, 1 - y]))
    p = network.predict_proba(X)[:, 0]
    assert np.corrcoef(p, X[:, 0])[0, 1] < 0.9
    alone = ConditionalDependencyNetwork(random_state=0).fit(X, y[:, None]).predict_proba(X)[:, 0]
    assert np.corrcoef(alone, X[:, 0])[0, 1] > 0.85


def test_empty_labelings_can_be_forbidden():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 3)), (rng.random((80, 5)) < 0.03).astype(int)
    settings = {"n_chains": 1, "n_burn": 2, "n_draws": 3, "random_state": 0}
    assert not ConditionalDependencyNetwork(**settings).fit(X, Y).predict(X).any(axis=1).all()
    model = ConditionalDependencyNetwork(empty="forbid", **settings).fit(X, Y)
    found = model.predict(X)
    assert found.any(axis=1).all()
    joint = model.predict_joint(X)
    only_empty = np.exp(joint.value(np.zeros_like(Y))) > 1 - 1e-9
    assert only_empty.any()
    best = model.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(found[only_empty].argmax(axis=1), best[only_empty])


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_classes_of_a_1d_target_are_compared_by_pseudo_likelihood(inner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = ConditionalDependencyNetwork(inner, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.predict(X) == y).mean() > 0.8


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"n_chains": 0}, "n_chains must be a whole number of at least 1"),
        ({"n_burn": -1}, "n_burn must be a whole number of at least 0"),
        ({"n_chains": 2.0}, "n_chains must be a whole number of at least 1, not 2.0"),
        ({"n_burn": "5"}, "n_burn must be a whole number of at least 0, not '5'"),
        ({"n_draws": True}, "n_draws must be a whole number of at least 1, not True"),
        ({"n_draws": 0}, "n_draws must be a whole number of at least 1"),
        ({"estimator": LinearSVC()}, "needs an estimator with predict_proba"),
    ],
)
def test_wrong_parameters_are_named(data, params, reason):
    with pytest.raises(ValueError, match=reason):
        ConditionalDependencyNetwork(**params).fit(*data)


def test_published_accuracy_on_scene(real_data):
    """Li et al. (2016), Table 2: 59.9, by marginals of the samples."""
    train, test = load("scene:train"), load("scene:test")
    model = ConditionalDependencyNetwork(random_state=0).fit(train.X, train.Y)
    assert subset_accuracy(test.Y, model.predict(test.X)) > 0.64
    assert subset_accuracy(test.Y, model.decode(test.X, "marginal").labels) > 0.579
