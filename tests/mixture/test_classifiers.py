"""Any scikit-learn classifier as expert or gate of a conditional Bernoulli mixture."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.mixture import ConditionalBernoulliMixture
from colabel.mixture._classifiers import ClassifierExperts, ClassifierGate, check_classifier
from colabel.numerics.jobs import runner
from colabel.persistence import load, save
from oracles import all_labelings

RUN = runner(1)


def problem(seed=0, n=90, d=3, n_labels=3, n_components=3):
    """Rows, labels (n_labels, n) and responsibilities (n_components, n)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, n_labels)) + 0.5 * rng.normal(size=(n, n_labels)) > 0
    gamma = rng.dirichlet(np.full(n_components, 0.5), size=n).T
    return X, np.ascontiguousarray(Y.T, dtype=np.float32), np.ascontiguousarray(gamma)


def test_experts_are_the_classifier_fitted_with_responsibilities():
    X, Y, gamma = problem()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=90)
    experts = ClassifierExperts(LogisticRegression(tol=1e-10), 0)
    experts.update(experts.view(X), Y, gamma * weight, RUN)
    logits = experts.logits(experts.view(X), slice(5, 60))
    for k in range(3):
        floor = 0.5 / (gamma[k] @ weight + 1.0)
        for label in range(3):
            plain = LogisticRegression(tol=1e-10).fit(X, Y[label], sample_weight=gamma[k] * weight)
            expected = np.clip(plain.predict_proba(X[5:60])[:, 1], floor, 1.0 - floor)
            np.testing.assert_allclose(expit(logits[:, k, label]), expected, atol=2e-3)
    assert experts.penalties() == 0.0


@pytest.mark.parametrize("seed", range(10))
def test_log_likelihoods_are_those_of_the_log_odds(seed):
    X, Y, gamma = problem(seed)
    Y = np.vstack([Y, np.ones(90), np.zeros(90)]).astype(np.float32)
    experts = ClassifierExperts(DecisionTreeClassifier(max_depth=2), 0)
    experts.update(X, Y, gamma, RUN)
    rows = slice(7, 71)
    p = expit(experts.logits(X, rows))
    y = Y[:, rows].T[:, None, :]
    expected = np.log(np.where(y > 0, p, 1.0 - p)).sum(axis=2).T
    np.testing.assert_allclose(experts.log_likelihoods(X, Y, rows), expected, atol=1e-9)
    assert not experts.varies[:, 3:].any()


def test_a_classifier_that_is_sure_is_not_believed_beyond_its_rows():
    X, Y, gamma = problem()
    experts = ClassifierExperts(DecisionTreeClassifier(), 0)  # learns all rows by heart
    experts.update(X, Y, gamma, RUN)
    floor = 0.5 / (gamma.sum(axis=1) + 1.0)
    p = expit(experts.logits(X, slice(0, 90)))
    assert (np.minimum(p, 1.0 - p) >= floor[:, None] - 1e-12).all()


def test_the_gate_is_the_classifier_fitted_to_repeated_rows():
    X, _, gamma = problem()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=90)
    gate = ClassifierGate(LogisticRegression(tol=1e-10), 0)
    gate.update(gate.view(X), gamma, weight, RUN)
    plain = LogisticRegression(tol=1e-10).fit(
        np.tile(X, (3, 1)), np.repeat(np.arange(3), 90), sample_weight=(gamma * weight).ravel()
    )
    found = np.exp(gate.log_weights(X, slice(0, 90)))
    np.testing.assert_allclose(found, plain.predict_proba(X).T, atol=2e-3)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    assert gate.penalties() == 0.0


def test_every_row_teaches_the_gate_about_one_component_at_least():
    X, _, _ = problem(n_components=2)
    gamma = np.full((2000, 90), 1.0 / 2000)  # no component has the share that counts
    gate = ClassifierGate(DummyClassifier(), 0)
    gate.update(X, gamma, np.ones(90), RUN)
    np.testing.assert_allclose(np.exp(gate.log_weights(X, slice(0, 3))), 1.0 / 2000)


def test_dead_components_weigh_nothing_and_unseen_ones_little():
    X, Y, gamma = problem(n_components=4)
    gamma[1] = 0.0
    gamma[2] = 1e-5
    gamma /= gamma.sum(axis=0)
    gate = ClassifierGate(GaussianNB(), 0)
    gate.update(X, gamma, np.ones(90), RUN)
    found = np.exp(gate.log_weights(X, slice(0, 90)))
    assert not found[1].any()
    assert (found[2] > 0).all()
    assert (found[2] < 0.01).all()
    experts = ClassifierExperts(GaussianNB(), 0)
    experts.update(X, Y, gamma, RUN)
    p = expit(experts.logits(X, slice(0, 90)))
    # A dead component has nothing but the base rates to say.
    np.testing.assert_allclose(p[:, 1], np.tile(Y.mean(axis=1), (90, 1)), atol=1e-4)
    assert np.ptp(p[:, 0], axis=0).min() > 0.5


def test_one_component_needs_no_gate():
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(1, experts=LogisticRegression(), max_iter=2, random_state=0)
    clf.fit(X, Y.T)
    plain = [LogisticRegression().fit(X, y).predict_proba(X)[:, 1] for y in Y]
    np.testing.assert_allclose(
        clf.predict_proba(X), np.clip(np.transpose(plain), 0.006, 0.994), atol=0.01
    )


def test_a_label_constant_on_the_rows_that_count_has_no_classifier():
    X, Y, _ = problem(n=4000)
    Y[0] = 0.0
    Y[0, :2000] = 1.0
    gamma = np.full((2, 4000), 0.999)
    gamma[0, :2000] = 0.0004  # together more than half a row, each too little to count
    gamma[1] = 1.0 - gamma[0]
    experts = ClassifierExperts(LogisticRegression(), 0)
    experts.update(X, Y, gamma, RUN)
    assert not experts.varies[0, 0]
    assert (experts.logits(X, slice(0, 5))[:, 0, 0] < -4.0).all()


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(5, max_depth=4),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(make_pipeline(StandardScaler(), GaussianNB())),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_classifiers_serve_as_experts_and_gate(estimator):
    X, Y, _ = problem(n=150)
    clf = ConditionalBernoulliMixture(3, experts=estimator, max_iter=3, random_state=0)
    first = clf.fit(X, Y.T).predict_proba(X)
    assert clf.score(X, Y.T) > 0.5
    np.testing.assert_array_equal(clf.set_params(n_jobs=2).fit(X, Y.T).predict_proba(X), first)
    assert not hasattr(estimator, "classes_")


def test_sparse_rows_are_handed_on_as_they_are():
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(
        3, experts=LogisticRegression(tol=1e-9), max_iter=2, random_state=0
    )
    dense = clf.fit(X, Y.T).predict_proba(X)
    csr = clf.fit(sparse.csr_array(X), Y.T).predict_proba(sparse.csr_array(X))
    np.testing.assert_allclose(csr, dense, atol=1e-5)


@pytest.mark.parametrize("asked", [None, True, False])
def test_responsibilities_reach_the_last_step_whatever_is_routed(asked):
    """They are no user's metadata: requests, made or not, are about other weights."""
    X, Y, _ = problem()
    pipe = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-9))
    clf = ConditionalBernoulliMixture(2, experts=pipe, max_iter=2, random_state=0)
    plain = clf.fit(X, Y.T).predict_proba(X)
    with config_context(enable_metadata_routing=True):
        for step in (pipe[0], pipe[-1]) if asked is not None else ():
            step.set_fit_request(sample_weight=asked)
        np.testing.assert_array_equal(clf.fit(X, Y.T).predict_proba(X), plain)
        weighed = clf.fit(X, Y.T, sample_weight=np.arange(90) % 3).predict_proba(X)
        unable = make_pipeline(StandardScaler(), KNeighborsClassifier())
        with pytest.raises(ValueError, match="experts must take sample_weight"):
            clf.set_params(experts=unable).fit(X, Y.T)
    assert np.abs(weighed - plain).max() > 0.01


def test_the_random_state_reaches_the_classifiers():
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(
        2, experts=RandomForestClassifier(3), gate="logistic", max_iter=2, random_state=0
    )
    first = clf.fit(X, Y.T).predict_proba(X)
    np.testing.assert_array_equal(clf.fit(X, Y.T).predict_proba(X), first)
    fixed = clf.set_params(experts__random_state=7).fit(X, Y.T)
    assert {fit.random_state for _, _, fit in fixed.models_[0].experts.fits} == {7}


REFUSED = {
    "experts must be a scikit-learn classifier": LinearRegression(),
    "experts must have predict_proba": Perceptron(),
    "experts must take sample_weight in fit": KNeighborsClassifier(),
    "experts must take sample_weight": make_pipeline(StandardScaler(), KNeighborsClassifier()),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_serve_is_refused_in_one_sentence(message):
    X, Y, _ = problem()
    with pytest.raises(ValueError, match=message):
        check_classifier("experts", REFUSED[message])
    with pytest.raises(ValueError, match=message):
        ConditionalBernoulliMixture(2, experts=REFUSED[message]).fit(X, Y.T)


def test_a_stored_model_predicts_the_same(tmp_path):
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(
        3,
        experts=DecisionTreeClassifier(max_depth=3),
        gate=GaussianNB(),
        max_iter=2,
        random_state=0,
    ).fit(X, Y.T)
    save(clf, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("n", [1, 2, 8])
@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier()])
def test_degenerate_data_are_normal_data(n, estimator):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 12))
    Y = np.column_stack([np.ones(n), np.zeros(n), np.arange(n) % 2]).astype(int)
    clf = ConditionalBernoulliMixture(4, experts=estimator, max_iter=2, random_state=0).fit(X, Y)
    p = clf.predict_proba(X)
    assert (p[:, 0] > 0.8).all()
    assert (p[:, 1] < 0.2).all()
    np.testing.assert_array_equal(clf.predict(X), Y)  # twelve features tell eight rows apart
    everything = np.exp(clf.predict_joint(X).value_all(all_labelings(3)))
    np.testing.assert_allclose(everything.sum(axis=1), 1.0)


def test_the_objective_falls_with_full_fits():
    X, Y, _ = problem()
    weak = LogisticRegression(C=100.0)
    clf = ConditionalBernoulliMixture(3, experts=weak, max_iter=5, tol=0.0, random_state=0)
    (history,) = clf.fit(X, Y.T).history_
    assert history[-1] < history[0]
    assert (np.diff(history) < 1e-3 * np.abs(history[:-1])).all()


@parametrize_with_checks(
    [
        ConditionalBernoulliMixture(
            3, experts=LogisticRegression(max_iter=1000), max_iter=2, random_state=0
        )
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_probabilities_that_are_no_numbers_are_refused_by_name():
    from sklearn.naive_bayes import GaussianNB

    from colabel import ConditionalBernoulliMixture

    Y = np.random.default_rng(0).integers(0, 2, (80, 3))
    clf = ConditionalBernoulliMixture(4, experts=GaussianNB(), gate="logistic", random_state=0)
    with (
        pytest.raises(ValueError, match="predict_proba of GaussianNB gives NaN"),
        np.errstate(all="ignore"),
    ):
        clf.fit(np.ones((80, 2)), Y)


def test_missing_values_reach_classifiers_that_take_them():
    X, Y, _ = problem()
    Y = Y.T.astype(int)
    X[::7, 0] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=5)
    clf = ConditionalBernoulliMixture(2, experts=trees, max_iter=2, random_state=0).fit(X, Y)
    assert clf.predict(X).shape == Y.shape
    for settings in ({}, {"gate": "logistic", "experts": trees}, {"experts": "boosting"}):
        with pytest.raises(ValueError, match="has missing values"):
            ConditionalBernoulliMixture(2, **settings).fit(X, Y)
