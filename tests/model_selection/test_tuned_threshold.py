"""Tuned decision rules on top of classifiers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from colabel import BinaryRelevance, LabelPowerset, TunedThreshold
from colabel.datasets import load
from colabel.metrics import evaluate, f1_score
from colabel.model_selection._cut_search import best_global_cut, measure_of
from colabel.reduction import ScaledLinearSVC

RULES = ("global", "per_label", "top_1", "cardinality")
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(scope="module")
def yeast():
    return load("yeast:train"), load("yeast:test")


@every_rule
def test_every_rule_beats_the_plain_cut_on_yeast(yeast, rule):
    train, test = yeast
    machine = BinaryRelevance(ScaledLinearSVC(random_state=0))
    plain = machine.fit(train.X, train.Y)
    tuned = TunedThreshold(machine, rule=rule, random_state=0).fit(train.X, train.Y)
    gain = f1_score(test.Y, tuned.predict(test.X)) - f1_score(test.Y, plain.predict(test.X))
    assert gain > 0.03


def test_cut_is_tuned_on_out_of_fold_scores(toy):
    X, Y = toy
    cv = KFold(3)
    scores = np.empty(Y.shape)
    for train, test in cv.split(X):
        scores[test] = BinaryRelevance().fit(X[train], Y[train]).decision_function(X[test])
    model = TunedThreshold(BinaryRelevance(), cv=cv).fit(X, Y)
    expected = best_global_cut(scores, Y > 0, "example_f1")
    assert model.cut_ == pytest.approx(float(expected.threshold))
    assert model.oof_score_ == pytest.approx(expected.value)
    refitted = BinaryRelevance().fit(X, Y)
    np.testing.assert_array_equal(
        model.predict(X), refitted.decision_function(X) > expected.threshold
    )


@pytest.mark.parametrize(
    "measure",
    ["example_f1", "micro_f1", "macro_f1", "example_jaccard", "subset_accuracy", "hamming_loss"],
)
@every_rule
def test_out_of_fold_score_is_the_measure_and_at_least_that_of_the_plain_cut(toy, measure, rule):
    X, Y = toy
    model = TunedThreshold(BinaryRelevance(), measure=measure, rule=rule, cv=KFold(3)).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in KFold(3).split(X):
        scores[test] = BinaryRelevance().fit(X[train], Y[train]).decision_function(X[test])
    plain = measure_of(scores > 0, Y > 0, measure)
    if rule == "top_1":
        return
    if measure == "hamming_loss":
        assert model.oof_score_ <= plain + 1e-12
    else:
        assert model.oof_score_ >= plain - 1e-12


def test_top_1_is_never_empty(toy):
    X, Y = toy
    Y = Y[:, [0, 1, 3, 4]]
    model = TunedThreshold(BinaryRelevance(), rule="top_1", measure="hamming_loss", cv=3)
    assert model.fit(X, Y).predict(X).any(axis=1).all()


def test_cardinality_rule_charges_for_each_further_label(toy):
    X, Y = toy
    model = TunedThreshold(BinaryRelevance(), rule="cardinality", cv=3, random_state=0).fit(X, Y)
    model.price_ = 1e6
    model.decoder_ = model._make_decoder()
    assert model.predict(X).sum(axis=1).max() <= 1


@pytest.mark.parametrize(
    "inner",
    [
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        RandomForestClassifier(10, random_state=0),
        KNeighborsClassifier(3),
        MLPClassifier((4,), solver="lbfgs", alpha=1.0, max_iter=5000, random_state=0),
        LabelPowerset(),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_any_scikit_learn_multi_label_classifier_can_be_tuned(toy, inner):
    X, Y = toy
    Y = Y[:, [0, 1, 4]]
    model = TunedThreshold(inner, rule="per_label", cv=3, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert evaluate(Y, model.predict(X))["example_f1"] > 0.5


def test_forest_that_never_saw_a_label_on_scores_it_low(toy):
    X, Y = toy
    Y = Y[:, [0, 3]]
    model = TunedThreshold(RandomForestClassifier(5, random_state=0), cv=3, random_state=0)
    assert model.fit(X, Y).predict(X)[:, 1].sum() == 0


def test_folds_follow_the_seed(toy):
    X, Y = toy
    cuts = [
        TunedThreshold(BinaryRelevance(), random_state=seed).fit(X, Y).cut_ for seed in (1, 1, 2)
    ]
    assert cuts[0] == cuts[1]
    one = TunedThreshold(BinaryRelevance(), random_state=1, n_jobs=2).fit(X, Y)
    assert one.cut_ == cuts[0]


def test_weights_reach_classifier_and_measure(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(1, 5, 60).astype(float)
    model = TunedThreshold(BinaryRelevance(), cv=KFold(3)).fit(X, Y, sample_weight=weight)
    scores = np.empty(Y.shape)
    for train, test in KFold(3).split(X):
        inner = BinaryRelevance().fit(X[train], Y[train], sample_weight=weight[train])
        scores[test] = inner.decision_function(X[test])
    expected = best_global_cut(scores, Y > 0, "example_f1", weight=weight)
    assert model.cut_ == pytest.approx(float(expected.threshold))


def test_metadata_is_routed(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(1, 5, 60).astype(float)
    plain = TunedThreshold(BinaryRelevance(), cv=KFold(3)).fit(X, Y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression(max_iter=1000).set_fit_request(sample_weight=True)
        relevance = BinaryRelevance(inner).set_fit_request(sample_weight=True)
        routed = TunedThreshold(relevance, cv=KFold(3)).fit(X, Y, sample_weight=weight)
    assert routed.cut_ == plain.cut_


def test_sparse_features_and_labels(toy):
    X, Y = toy
    model = TunedThreshold(BinaryRelevance(), cv=3, random_state=0)
    dense = model.fit(X, Y).predict(X)
    found = model.fit(sparse.csr_array(X), sparse.csr_array(Y)).predict(sparse.csr_array(X))
    np.testing.assert_array_equal(found.toarray(), dense)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"rule": "best"}, "rule must be one of global, per_label, top_1, cardinality"),
        ({"measure": "accuracy"}, "measure must be one of example_f1"),
        ({"beta": 0.0}, "beta must be positive"),
        ({"estimator": LinearRegression()}, "nothing to put a threshold on"),
        ({"cv": ShuffleSplit(2, random_state=0)}, "exactly one test fold"),
    ],
)
def test_wrong_parameters_are_refused(toy, parameters, reason):
    with pytest.raises(ValueError, match=reason):
        TunedThreshold(**{"estimator": BinaryRelevance(), **parameters}).fit(*toy)


def test_one_sample_is_too_few():
    with pytest.raises(ValueError, match="at least 2 samples"):
        TunedThreshold(BinaryRelevance()).fit([[0.0]], [[1, 0]])


def test_scores_of_another_width_are_refused(toy):
    class Narrow(BinaryRelevance):
        def decision_function(self, X):
            return super().decision_function(X)[:, :2]

    with pytest.raises(ValueError, match="gives 2 scores for 5 labels"):
        TunedThreshold(Narrow(), cv=2).fit(*toy)
