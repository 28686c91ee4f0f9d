"""RAkEL: random labelsets, a label powerset for each, votes."""

from math import ceil, comb

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.metrics import subset_accuracy
from colabel.reduction import BinaryRelevance, LabelPowerset, RAkEL


@parametrize_with_checks(
    [
        RAkEL(random_state=0),
        RAkEL(DecisionTreeClassifier(random_state=0), overlapping=False, labelset_size=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(seed, n=80, n_labels=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (X @ rng.normal(size=(4, n_labels)) + rng.normal(size=(n, n_labels)) > 0.3).astype(int)
    return X, Y


def votes_by_hand(X, Y, labelsets, test):
    """Each model's predicted rows, looked up in a table of label sets; a tally for each label."""
    on = np.zeros((len(test), Y.shape[1]))
    cast = np.zeros(Y.shape[1])
    for labels in labelsets:
        rows = [tuple(row) for row in Y[:, labels].tolist()]
        known = sorted(set(rows))
        predicted = [known[0]] * len(test)
        if len(known) > 1:
            code = np.array([known.index(row) for row in rows])
            tree = DecisionTreeClassifier(random_state=0).fit(X, code)
            predicted = [known[c] for c in tree.predict(test)]
        for i, row in enumerate(predicted):
            for label, value in zip(labels, row, strict=True):
                on[i, label] += value
        for label in labels:
            cast[label] += 1
    return on / cast


@pytest.mark.parametrize("seed", range(12))
def test_votes_are_those_of_a_literal_loop(seed):
    X, Y = data(seed, n=60, n_labels=1 + seed % 6)
    Y[:, 0] = seed % 2  # a constant label
    tree = DecisionTreeClassifier(random_state=0)
    options = {"labelset_size": 1 + seed % 4, "overlapping": seed % 3 > 0, "random_state": seed}
    model = RAkEL(tree, **options).fit(X[:40], Y[:40])
    share = votes_by_hand(X[:40], Y[:40], model.labelsets_, X[40:])
    np.testing.assert_allclose(model.predict_proba(X[40:]), np.clip(share, 1e-12, 1 - 1e-12))
    np.testing.assert_array_equal(model.predict(X[40:]), share >= 0.5)


@pytest.mark.parametrize("n_labels", [1, 2, 5, 9])
@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_labelsets_differ_and_hold_every_label(n_labels, size):
    X, Y = data(3, n=400, n_labels=n_labels)
    k = min(size, n_labels)
    for seed in range(5):
        model = RAkEL(LinearSVC(), labelset_size=size, n_models=3, random_state=seed).fit(X, Y)
        assert len(set(model.labelsets_)) == len(model.labelsets_)
        assert len(model.labelsets_) >= min(3, comb(n_labels, k))
        assert all(len(labels) == k for labels in model.labelsets_[: min(3, comb(n_labels, k))])
        assert set().union(*model.labelsets_) == set(range(n_labels))
        dealt = RAkEL(LinearSVC(), labelset_size=size, overlapping=False, random_state=seed)
        parts = dealt.fit(X, Y).labelsets_
        assert sorted(label for part in parts for label in part) == list(range(n_labels))
        assert len(parts) == ceil(n_labels / k)


def test_twice_as_many_models_as_labels_by_default():
    X, Y = data(1, n_labels=7)
    assert len(RAkEL(LinearSVC(), random_state=0).fit(X, Y).labelsets_) == 14


def test_one_labelset_of_all_labels_is_the_label_powerset():
    X, Y = data(5)
    one = RAkEL(labelset_size=6, vote="probability").fit(X, Y)
    powerset = LabelPowerset().fit(X, Y)
    np.testing.assert_allclose(one.predict_proba(X), powerset.predict_proba(X))
    np.testing.assert_array_equal(RAkEL(labelset_size=6).fit(X, Y).predict(X), powerset.predict(X))


def test_labelsets_of_one_label_are_binary_relevance():
    X, Y = data(6)
    alone = RAkEL(LogisticRegression(), labelset_size=1).fit(X, Y)
    found = BinaryRelevance(LogisticRegression()).fit(X, Y).predict(X)
    np.testing.assert_array_equal(alone.predict(X), found)


def test_the_seed_fixes_the_result_for_any_number_of_jobs():
    X, Y = data(7)
    tree = DecisionTreeClassifier(max_features=2)

    def scores(**options):
        return RAkEL(tree, **options).fit(X[:50], Y[:50]).decision_function(X)

    with joblib.parallel_config("threading"):
        shared = scores(random_state=4, n_jobs=2)
    np.testing.assert_array_equal(scores(random_state=4), shared)
    assert not np.array_equal(scores(random_state=4), scores(random_state=5))


def test_weight_two_is_the_same_as_twice_the_row():
    X, Y = data(8)
    weight = np.arange(80) % 3
    model = RAkEL(LogisticRegression(tol=1e-10, max_iter=1000), vote="probability", random_state=0)
    weighted = model.fit(X, Y, sample_weight=weight).predict_proba(X)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(weighted, repeated.predict_proba(X), atol=1e-5)


def test_what_cannot_be_right_is_refused():
    X, Y = data(0)
    for options, reason in (
        ({"labelset_size": 0}, "labelset_size must be a whole number"),
        ({"n_models": 0}, "n_models must be a whole number"),
        ({"vote": "loud"}, "vote must be 'label' or 'probability'"),
        ({"overlapping": "no"}, "overlapping must be True or False"),
        ({"estimator": LinearSVC(), "vote": "probability"}, "needs an estimator with predict"),
    ):
        with pytest.raises(ValueError, match=reason):
            RAkEL(**options).fit(X, Y)


def test_logistic_regressions_find_more_label_sets_than_one_for_each_label(real_data):
    from colabel.datasets import load

    train, test = load("yeast:train").take(slice(0, 500)), load("yeast:test")
    models = RAkEL(random_state=0), BinaryRelevance()
    found = [subset_accuracy(test.Y, m.fit(train.X, train.Y).predict(test.X)) for m in models]
    assert found[0] > found[1]
