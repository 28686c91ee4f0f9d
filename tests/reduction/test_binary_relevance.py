"""Binary relevance: its own facts."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from colabel import BinaryRelevance
from colabel.datasets import load
from colabel.decoders import Threshold
from colabel.exceptions import IncompatibleError
from colabel.reduction import BatchLogisticRegression


def test_predictions_equal_one_vs_rest_on_yeast():
    train, test = load("yeast:train").take(slice(0, 500)), load("yeast:test")
    ours = BinaryRelevance(LogisticRegression(max_iter=200)).fit(train.X, train.Y)
    theirs = OneVsRestClassifier(LogisticRegression(max_iter=200)).fit(train.X, train.Y)
    np.testing.assert_array_equal(ours.predict(test.X), theirs.predict(test.X))
    np.testing.assert_allclose(ours.predict_proba(test.X), theirs.predict_proba(test.X), rtol=1e-9)
    np.testing.assert_allclose(
        ours.decision_function(test.X), theirs.decision_function(test.X), atol=1e-6
    )


def test_constant_labels_get_a_smoothed_prior(toy):
    X, Y = toy
    p = BinaryRelevance().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(p[:, 2], 61 / 62)
    np.testing.assert_allclose(p[:, 3], 1 / 62)
    weights = np.full(60, 2.0)
    p = BinaryRelevance().fit(X, Y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(p[:, 3], 1 / 122)


def test_sparse_labels_are_never_made_dense():
    rng = np.random.default_rng(0)
    n, n_labels = 20_000, 2_000
    rows, columns = rng.integers(n, size=200), rng.integers(5, size=200)
    Y = sparse.csr_array((np.ones(200, np.int8), (rows, columns)), shape=(n, n_labels))
    Y.data[:] = 1
    X = rng.normal(size=(n, 1))
    model = BinaryRelevance(GaussianNB())
    tracemalloc.start()
    found = model.fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n_labels / 4
    assert found.predict(X[:3]).shape == (3, n_labels)


def test_sparse_and_dense_labels_agree(toy):
    X, Y = toy
    found = BinaryRelevance().fit(X, sparse.csr_array(Y)).predict(X)
    np.testing.assert_array_equal(found.toarray(), BinaryRelevance().fit(X, Y).predict(X))


def test_results_do_not_depend_on_n_jobs(toy):
    X, Y = toy
    one = BinaryRelevance(n_jobs=1).fit(X, Y).predict_proba(X)
    two = BinaryRelevance(n_jobs=2).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(one, two)


def test_the_best_label_is_turned_on_where_empty_sets_are_forbidden():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    Y = (rng.random((100, 6)) < 0.1).astype(int)
    allowed = BinaryRelevance().fit(X, Y)
    forbidden = BinaryRelevance(empty="forbid").fit(X, Y)
    empty = ~allowed.predict(X).any(axis=1)
    assert empty.any()
    found = forbidden.predict(X)
    np.testing.assert_array_equal(found[empty].sum(axis=1), 1)
    np.testing.assert_array_equal(
        found[empty].argmax(axis=1), allowed.predict_proba(X)[empty].argmax(axis=1)
    )
    np.testing.assert_array_equal(found[~empty], allowed.predict(X)[~empty])


@pytest.mark.parametrize(
    "inner",
    [
        LinearSVC(),
        SVC(),
        KNeighborsClassifier(3),
        RandomForestClassifier(5, random_state=0),
    ],
    ids=lambda inner: type(inner).__name__,
)
def test_any_classifier_serves(toy, inner):
    X, Y = toy
    model = BinaryRelevance(inner).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    has_proba = hasattr(inner, "predict_proba")
    assert hasattr(model, "predict_proba") == has_proba
    assert model.predict_joint(X).is_distribution == has_proba
    if has_proba:
        p = model.predict_proba(X)
        assert np.all((p > 0) & (p < 1))
        assert isinstance(p, np.ndarray)


def test_joint_table_is_a_product_of_bernoullis(toy):
    X, Y = toy
    model = BinaryRelevance().fit(X, Y)
    p = np.where(Y > 0, model.predict_proba(X), 1 - model.predict_proba(X))
    np.testing.assert_allclose(model.predict_joint(X).log_prob(Y), np.log(p).sum(axis=1), rtol=1e-6)


def test_text_goes_straight_to_the_pipeline():
    texts = ["red car", "red house", "blue car", "blue house"] * 5
    Y = np.array([[1, 1], [1, 0], [0, 1], [0, 0]] * 5)
    model = BinaryRelevance(make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)))
    np.testing.assert_array_equal(model.fit(texts, Y).predict(texts), Y)


def test_sample_weight_reaches_the_classifiers(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(1, 4, 60)
    weighted = BinaryRelevance().fit(X, Y, sample_weight=weight)
    repeated = BinaryRelevance().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)
    with pytest.raises(ValueError, match="KNeighborsClassifier does not support sample_weight"):
        BinaryRelevance(KNeighborsClassifier()).fit(X, Y, sample_weight=weight)


def test_metadata_is_routed(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(1, 4, 60)
    plain = BinaryRelevance().fit(X, Y, sample_weight=weight).predict_proba(X)
    with config_context(enable_metadata_routing=True):
        inner = BatchLogisticRegression().set_fit_request(sample_weight=True)
        routed = BinaryRelevance(inner).fit(X, Y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(plain, routed)


def test_an_estimator_that_is_no_classifier_is_refused(toy):
    from sklearn.linear_model import LinearRegression

    with pytest.raises(ValueError, match="must be a scikit-learn classifier; got LinearRegression"):
        BinaryRelevance(LinearRegression()).fit(*toy)


def test_decoders_by_name_or_object_and_wrong_ones_refused(toy):
    X, Y = toy
    usual = BinaryRelevance().fit(X, Y).predict(X)
    for decoder in ("threshold", Threshold(), "exhaustive"):
        model = BinaryRelevance(decoder=decoder).fit(X, Y)
        np.testing.assert_array_equal(model.predict(X), usual)
        assert model.decoder_ is not decoder
    with pytest.raises(IncompatibleError, match="decodes Support tables, not Modular"):
        BinaryRelevance(decoder="support_mode").fit(X, Y)
    np.testing.assert_array_equal(model.decode(X, decoder="exhaustive").labels, usual)


def test_scores_of_sure_classifiers_are_not_tied():
    train, test = load("yeast:train").take(slice(0, 400)), load("yeast:test")
    naive = BinaryRelevance(GaussianNB()).fit(train.X * 300, train.Y)
    scores = naive.decision_function(test.X * 300)
    assert np.isfinite(scores).all()
    sure = np.abs(scores) > 30
    assert sure.mean() > 0.05
    assert len(np.unique(scores[sure])) > 0.5 * sure.sum()


def test_predictions_do_not_follow_later_changes_of_parameters(toy):
    X, Y = toy
    model = BinaryRelevance(LinearSVC(random_state=0)).fit(X, Y)
    before = model.predict(X)
    model.set_params(estimator=LogisticRegression(), empty="forbid")
    np.testing.assert_array_equal(model.predict(X), before)
    assert not hasattr(model, "predict_proba")


def test_classifiers_that_only_predict_are_served(toy):
    X, Y = toy
    hard = VotingClassifier([("a", LogisticRegression()), ("b", LinearSVC())])
    model = BinaryRelevance(hard).fit(X, Y)
    expected = hard.fit(X, Y[:, 0]).predict(X)
    np.testing.assert_array_equal(model.predict(X)[:, 0], expected)


def test_a_label_that_is_constant_where_weights_are_positive_is_constant(toy):
    X, Y = toy
    weight = 1.0 - Y[:, 4]
    model = BinaryRelevance().fit(X, Y, sample_weight=weight)
    removed = BinaryRelevance().fit(X[Y[:, 4] == 0], Y[Y[:, 4] == 0])
    assert model.estimators_[4] is None
    np.testing.assert_allclose(model.predict_proba(X), removed.predict_proba(X), rtol=1e-9)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        BinaryRelevance().fit(X, Y, sample_weight=-weight)


def test_weights_are_routed_to_the_default_classifier(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(1, 4, 60)
    plain = BinaryRelevance().fit(X, Y, sample_weight=weight).predict_proba(X)
    with config_context(enable_metadata_routing=True):
        routed = BinaryRelevance().fit(X, Y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(plain, routed)


def test_a_wrong_estimator_can_still_be_shown():
    from sklearn.linear_model import LinearRegression

    for wrong in (LinearRegression(), 3):
        assert "BinaryRelevance" in repr(BinaryRelevance(wrong))
        assert BinaryRelevance(wrong)._repr_html_()
