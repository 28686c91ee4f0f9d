"""What the base class answers for every estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC

import oracles
from colabel import (
    BinaryRelevance,
    ChainEnsemble,
    ClassifierChain,
    ConditionalBernoulliMixture,
    ConditionalDependencyNetwork,
    LabelPowerset,
    PairwiseCRF,
    ProbabilisticClassifierChain,
)
from colabel.decoders import make_decoder
from colabel.exceptions import UnknownNameError
from colabel.scores import Mixture

JOINT = [
    LabelPowerset(),
    ProbabilisticClassifierChain(),
    ChainEnsemble(n_chains=5, vote="subset", random_state=0),
    ConditionalDependencyNetwork(n_draws=20, random_state=0),
    ConditionalBernoulliMixture(3, max_iter=3, random_state=0),
    PairwiseCRF(),
]
EVERY = [BinaryRelevance(), BinaryRelevance(LinearSVC()), ClassifierChain(), *JOINT]


@pytest.mark.parametrize("estimator", EVERY, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_class_predicted_has_the_largest_score(estimator, n_classes):
    disagreed = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 3))
        y = np.digitize(X[:, 0] + rng.normal(size=80), np.linspace(-1, 1, n_classes - 1))
        model = clone(estimator).fit(X, y)
        scores = model.decision_function(X)
        best = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(model.classes_[best], model.predict(X))
        assert np.isfinite(scores).all()
        if hasattr(model, "predict_proba"):
            p = model.predict_proba(X)
            np.testing.assert_array_equal(p.argmax(axis=1), best)
        if hasattr(model, "predict_top_m"):
            disagreed += np.sum(model.predict_joint(X).marginals().argmax(axis=1) != best)
    if isinstance(estimator, ConditionalBernoulliMixture) and n_classes == 5:
        assert disagreed  # marginals would have said otherwise


@pytest.mark.parametrize("estimator", JOINT, ids=str)
def test_top_m_begins_with_the_mode_and_falls(estimator, toy, monkeypatch):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    labelings, log_p = model.predict_top_m(X, 2)
    assert labelings.shape == (60, 2, 5)
    mode = model.decode(X, "subset")
    np.testing.assert_allclose(log_p[:, 0], mode.value, atol=1e-9)
    assert (log_p[:, 0] >= log_p[:, 1]).all()
    two = np.isfinite(log_p[:, 1])
    assert (labelings[:, 0] != labelings[:, 1]).any(axis=1)[two].all()
    assert two.any()
    table = model.predict_joint(X)
    for place in range(2):
        there, value = np.isfinite(log_p[:, place]), table.log_prob(labelings[:, place])
        np.testing.assert_allclose(value[there], log_p[there, place], atol=1e-9)
    every = -np.sort(-table.value_all(oracles.all_labelings(5)), axis=1)[:, :2]
    np.testing.assert_allclose(log_p, every, atol=1e-9)
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 2000)
    again, same = model.predict_top_m(X, 2)
    np.testing.assert_allclose(same, log_p)
    np.testing.assert_array_equal(again[np.isfinite(log_p)], labelings[np.isfinite(log_p)])


@pytest.mark.parametrize("estimator", JOINT, ids=str)
def test_more_labelings_than_a_model_knows_are_filled_up(estimator, toy, monkeypatch):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 2000)  # blocks know different numbers
    labelings, log_p = model.predict_top_m(X, 31)
    assert labelings.shape == (60, 31, 5)
    assert (np.diff(np.exp(log_p), axis=1) <= 0).all()
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1.0, atol=1e-3)
    for wrong in (0, 2.0, True, "all"):
        with pytest.raises(ValueError, match="m must be a whole number"):
            model.predict_top_m(X, wrong)


def test_top_m_keeps_the_policy_about_the_empty_labeling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    Y = (X + 0.3 * rng.normal(size=(120, 2)) > 1.0).astype(int)
    clf = ConditionalBernoulliMixture(2, max_iter=2, random_state=0)
    allowed = clf.fit(X, Y).predict_top_m(X, 4)[0]
    assert (~allowed.any(axis=2)).sum(axis=1).tolist() == [1] * 120
    forbidden = clf.set_params(empty="forbid").fit(X, Y).predict_top_m(X, 3)[0]
    assert forbidden.any(axis=2).all()
    np.testing.assert_array_equal(forbidden[:, 0], clf.predict(X))
    with pytest.raises(ValueError, match="m must be a whole number, 1 to 3"):
        clf.predict_top_m(X, 4)


@pytest.mark.parametrize("estimator", JOINT, ids=str)
def test_one_rule_for_the_number_of_labelings(estimator):
    """No more than there are; what a model does not know is filled up, never with the empty one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    Y = (X + 0.3 * rng.normal(size=(120, 2)) > 0.5).astype(int)
    Y[~Y.any(axis=1), rng.integers(2)] = 1
    Y[:5] = 0
    for empty, most in (("allow", 4), ("forbid", 3)):
        model = clone(estimator).set_params(empty=empty).fit(X, Y)
        labelings, log_p = model.predict_top_m(X, most)
        assert labelings.shape == (120, most, 2)
        if empty == "forbid":
            assert labelings.any(axis=2).all()
        again = (labelings[:, 1:] == labelings[:, :1]).all(axis=2)
        assert np.isneginf(log_p[:, 1:][again]).all()
        with pytest.raises(ValueError, match=f"1 to {most} .the number of labelings., not 9"):
            model.predict_top_m(X, 9)


@pytest.mark.parametrize(
    ("measure", "short"),
    [
        ("subset_accuracy", "subset"),
        ("hamming_loss", "hamming"),
        ("example_f1", "f1"),
        ("example_jaccard", "jaccard"),
    ],
)
def test_a_decoder_is_named_by_the_measure_to_get_right(measure, short):
    assert type(make_decoder(measure, Mixture)) is type(make_decoder(short, Mixture))
    with pytest.raises(UnknownNameError, match=f"did you mean .*{measure}"):
        make_decoder(f"{measure}s", Mixture)


def test_top_m_is_where_the_message_says(toy):
    X, Y = toy
    clf = ConditionalBernoulliMixture(2, max_iter=2, random_state=0).fit(X, Y)
    for call in (lambda: clf.decode(X, "top_m"), lambda: make_decoder("top_m")):
        with pytest.raises(UnknownNameError, match=r"call predict_top_m\(X, m\)"):
            call()
    assert not hasattr(BinaryRelevance(LinearSVC()), "predict_top_m")
    with pytest.raises(ValueError, match="classes, not labelings"):
        clf.fit(X, Y[:, 0]).predict_top_m(X)
