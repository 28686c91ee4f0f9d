"""Tuned decision rules on top of classifiers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from colabel import BinaryRelevance, LabelPowerset, TunedThreshold
from colabel.datasets import load
from colabel.metrics import evaluate, f1_score
from colabel.model_selection._cut_search import best_global_cut, measure_of
from colabel.reduction import BatchLogisticRegression, ScaledLinearSVC

MACHINE = BinaryRelevance(ScaledLinearSVC(random_state=0))
RULES = ("global", "per_label", "top_1", "cardinality")
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(scope="module")
def yeast():
    """Return training data, test data, and what a machine without a tuned rule scores."""
    train, test = load("yeast:train"), load("yeast:test")
    plain = MACHINE.fit(train.X, train.Y).predict(test.X)
    return train, test, f1_score(test.Y, plain)


@every_rule
def test_every_rule_beats_the_plain_cut_on_yeast(yeast, rule):
    train, test, plain = yeast
    tuned = TunedThreshold(MACHINE, rule=rule, random_state=0).fit(train.X, train.Y)
    assert f1_score(test.Y, tuned.predict(test.X)) - plain > 0.03


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
    on = scores > 0
    if rule == "top_1":
        empty = ~on.any(axis=1)
        on[empty, scores[empty].argmax(axis=1)] = True
    plain = measure_of(on, Y > 0, measure)
    if measure == "hamming_loss":
        assert model.oof_score_ <= plain + 1e-12
    else:
        assert model.oof_score_ >= plain - 1e-12


def test_a_short_name_of_a_measure_tunes_the_same(toy):
    X, Y = toy
    short, full = (
        TunedThreshold(BinaryRelevance(), measure=name, random_state=0).fit(X, Y)
        for name in ("f1", "example_f1")
    )
    assert short.cut_ == full.cut_
    assert short.oof_score_ == full.oof_score_


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
        inner = BatchLogisticRegression().set_fit_request(sample_weight=True)
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
        ({"measure": "accuracy"}, "did you mean subset_accuracy"),
        ({"measure": "lrap"}, "measure must be one of example_f1"),
        ({"beta": 0.0}, "beta must be positive"),
        ({"estimator": LinearRegression()}, "nothing to put a threshold on"),
        ({"cv": ShuffleSplit(2, random_state=0)}, "exactly one test fold"),
        ({"cv": RepeatedKFold(n_splits=2, n_repeats=2)}, "exactly one test fold"),
        ({"beta": 2.0, "measure": "hamming_loss"}, "no meaning for hamming_loss"),
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
        def _label_scores(self, X):
            return super()._label_scores(X)[:, :2]

    with pytest.raises(ValueError, match="gives 2 scores for 5 labels"):
        TunedThreshold(Narrow(), cv=2).fit(*toy)


def test_without_a_seed_the_cut_depends_on_the_data_alone(toy):
    X, Y = toy
    cuts = {float(TunedThreshold(BinaryRelevance()).fit(X, Y).cut_) for _ in range(3)}
    assert len(cuts) == 1


@pytest.mark.parametrize("cv", [GroupKFold(3), 3, None])
def test_groups_are_held_out_together(toy, cv, monkeypatch):
    X, Y = toy
    groups = np.arange(60) % 7
    seen = []

    class Spy(BinaryRelevance):
        def fit(self, X, y, sample_weight=None, **fit_params):
            seen.append(set(np.unique(X[:, -1])))
            return super().fit(X, y, sample_weight, **fit_params)

    X = np.column_stack([X, groups])
    TunedThreshold(Spy(), cv=cv).fit(X, Y, groups=groups)
    folds = seen[:-1]
    assert all(len(left) < 7 for left in folds)
    held_out = [set(range(7)) - left for left in folds]
    assert sorted(group for out in held_out for group in out) == list(range(7))


def test_groups_are_routed(toy):
    X, Y = toy
    groups = np.arange(60) % 7
    plain = TunedThreshold(BinaryRelevance(), cv=GroupKFold(3)).fit(X, Y, groups=groups)
    with config_context(enable_metadata_routing=True):
        routed = TunedThreshold(BinaryRelevance(), cv=GroupKFold(3)).fit(X, Y, groups=groups)
    assert routed.cut_ == plain.cut_


def test_probabilities_and_joint_table_are_the_classifiers_own(toy):
    X, Y = toy
    model = TunedThreshold(BinaryRelevance(), cv=3).fit(X, Y)
    inner = BinaryRelevance().fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), inner.predict_proba(X))
    np.testing.assert_array_equal(
        model.predict_joint(X).log_prob(Y), inner.predict_joint(X).log_prob(Y)
    )
    assert not hasattr(TunedThreshold(BinaryRelevance(LinearSVC())), "predict_proba")
    forest = TunedThreshold(RandomForestClassifier(5, random_state=0), cv=3).fit(X, Y)
    assert forest.predict_proba(X).shape == Y.shape
    assert not hasattr(forest, "predict_joint")


@pytest.mark.parametrize("value", [0, 1])
def test_one_label_that_a_fold_never_saw_change_scores_as_it_was(value):
    X = np.arange(12.0)[:, None]
    Y = np.full((12, 1), value)
    Y[0] = 1 - value
    model = TunedThreshold(RandomForestClassifier(5, random_state=0), cv=KFold(3))
    model.fit(X, Y)
    assert abs(model.cut_) < 800
    assert (model.predict(X)[4:] == value).all()


def test_support_vector_machines_score_classes_not_pairs(toy):
    X, _ = toy
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = TunedThreshold(SVC(decision_function_shape="ovo")).fit(X, y)
    assert (model.predict(X) == SVC().fit(X, y).predict(X)).mean() > 0.9
