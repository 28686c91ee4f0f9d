"""Conditional Bernoulli mixtures: the model, its training, and what it predicts."""

import itertools
from unittest import mock

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import load as load_model
from colabel import save
from colabel.datasets import load
from colabel.exceptions import IncompatibleError
from colabel.linear import features as module
from colabel.metrics import evaluate
from colabel.mixture import BoostedTrees, ConditionalBernoulliMixture, Logistic
from colabel.mixture._em import GatedMixture, TrainingData
from colabel.mixture._logistic import _least_weights
from colabel.scores import Mixture
from oracles import all_labelings

QUICK = {"n_components": 3, "max_iter": 3, "random_state": 0}


@parametrize_with_checks([ConditionalBernoulliMixture(3, max_iter=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def planted(n=300, seed=0, n_labels=4):
    """Two groups that a line divides; in each, labels follow another rule."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    group = X[:, 0] > 0
    flips = rng.random((n, n_labels)) < 0.1
    Y = np.where(group[:, None], X[:, 1:2] > 0, np.arange(n_labels) % 2 == 0) ^ flips
    return X, Y.astype(int)


def every_labeling(n_labels):
    return np.array(list(itertools.product([0, 1], repeat=n_labels)))


@pytest.mark.parametrize("seed", range(5))
def test_the_joint_probability_is_a_mixture_of_products_and_sums_to_one(seed):
    X, Y = planted(seed=seed)
    clf = ConditionalBernoulliMixture(**QUICK).fit(X, Y)
    table = clf.predict_joint(X[:20])
    total = sum(np.exp(table.log_prob(np.tile(z, (20, 1)))) for z in every_labeling(4))
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    pi, p = np.exp(table.log_weights), expit(table.logits)
    for row, y in enumerate(Y[:20]):
        each = np.prod(np.where(y, p[row], 1 - p[row]), axis=1)
        np.testing.assert_allclose(np.exp(table.log_prob(Y[:20])[row]), pi[row] @ each)


@pytest.mark.parametrize("seed", range(10))
def test_the_E_step_equals_Eq_8_done_slowly(seed):
    X, Y = planted(seed=seed, n=60)
    clf = ConditionalBernoulliMixture(**QUICK).fit(X, Y)
    model = clf.models_[0]
    columns = np.ascontiguousarray(Y.T, dtype=np.float32)
    gamma, log_likelihood = model.expect(model.views(X), columns)
    table = clf.predict_joint(X)
    for n in range(60):
        joint = table.log_weights[n].copy()
        for k, label in itertools.product(range(len(joint)), range(4)):
            s = table.logits[n, k, label]
            joint[k] += -np.logaddexp(0, -s) if Y[n, label] else -np.logaddexp(0, s)
        np.testing.assert_allclose(log_likelihood[n], logsumexp(joint), atol=1e-9)
        np.testing.assert_allclose(gamma[model.alive, n], np.exp(joint - logsumexp(joint)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("prior", ["zero", "shared"])
def test_the_bound_never_rises_with_full_M_steps(seed, prior):
    X, Y = planted(seed=seed, n=60 if seed % 2 else 150)
    clf = ConditionalBernoulliMixture(
        4 + 4 * (seed % 2),
        experts=Logistic(prior=prior, max_iter=500),
        max_iter=25,
        tol=-1.0,
        random_state=seed,
    ).fit(X, Y)
    (history,) = clf.history_
    assert len(history) == 25
    assert np.diff(history).max() <= 1e-6 * history[-1]


@pytest.mark.parametrize("experts", ["logistic", "boosting"])
def test_a_label_never_on_is_as_unlikely_as_its_rows_can_show(experts):
    X, Y = planted(n=40)
    Y = np.column_stack([Y, np.zeros(40, dtype=int)])
    clf = ConditionalBernoulliMixture(2, experts=experts, max_iter=3, random_state=0).fit(X, Y)
    p = clf.predict_proba(X)[:, -1]
    # A hundredth of a row, shared by 41 rows as one half of a row is, behind at most 40 rows.
    assert np.all(p >= 0.01 * (0.5 / 41) / 41)
    assert np.all(p < 0.5 / 41)


def test_the_objective_counts_likelihood_weights_and_constants():
    X, Y = planted(n=80)
    Y = np.column_stack([Y, np.zeros(80, dtype=int)])
    parts = {"experts": Logistic(2.0), "gate": Logistic(5.0)}
    clf = ConditionalBernoulliMixture(**QUICK, **parts, empty="allow").fit(X, Y)
    (model,) = clf.models_
    weights = 0.5 * (model.experts.coef**2).sum() / 2.0 + 0.5 * (model.gate.coef**2).sum() / 5.0
    base = np.clip(Y.mean(axis=0), 0.5 / 81, 1.0 - 0.5 / 81)
    p = expit(model.experts.constant)
    prior = -0.01 * (base * np.log(p) + (1.0 - base) * np.log1p(-p))[~model.experts.varies].sum()
    assert prior > 1e-4  # there is a constant
    expected = weights + prior - clf.joint_log_prob(X, Y).sum()
    np.testing.assert_allclose(clf.history_[0][-1], expected, rtol=1e-9)


def test_weights_that_add_up_to_one_are_weights():
    X, Y = planted()
    n = len(X)
    usual, small = (
        ConditionalBernoulliMixture(**QUICK, experts=Logistic(v), gate=Logistic(v)) for v in (1, n)
    )
    usual.fit(X, Y)
    small.fit(X, Y, sample_weight=np.full(n, 1.0 / n))
    # The same objective but for a factor, solved as far as its tolerance asks.
    np.testing.assert_allclose(small.predict_proba(X), usual.predict_proba(X), atol=2e-3)
    np.testing.assert_allclose(small.history_[0], usual.history_[0] / n, rtol=1e-4)


def test_short_M_steps_lower_the_bound_on_real_data():
    data = load("yeast:train")
    clf = ConditionalBernoulliMixture(20, max_iter=8, random_state=0).fit(data.X, data.Y)
    assert np.all(np.diff(clf.history_[0]) < 0)


@pytest.mark.parametrize(
    "experts",
    [
        Logistic(),
        Logistic(prior="shared"),
        Logistic(l1_ratio=0.5, max_iter=100),
        BoostedTrees(),
    ],
    ids=str,
)
def test_the_bound_falls_in_single_precision_on_real_data(experts):
    data = load("yeast:train")
    clf = ConditionalBernoulliMixture(10, experts=experts, max_iter=12, tol=-1.0, random_state=0)
    history = clf.fit(data.X, data.Y).history_[0]
    assert isinstance(experts, BoostedTrees) or clf.models_[0].gate.features.dtype is np.float32
    assert np.diff(history).max() <= 1e-6 * history[-1]


def test_one_component_is_binary_relevance():
    data = load("yeast:train")
    clf = ConditionalBernoulliMixture(
        1, experts=Logistic(2.0, scale=False, max_iter=2000), max_iter=1, empty="allow"
    ).fit(data.X, data.Y)
    p = clf.predict_proba(data.X)
    for label in (0, 5, 13):
        model = LogisticRegression(C=2.0, tol=1e-8, max_iter=5000).fit(data.X, data.Y[:, label])
        np.testing.assert_allclose(p[:, label], model.predict_proba(data.X)[:, 1], atol=2e-3)
    np.testing.assert_array_equal(clf.predict(data.X), (p > 0.5).astype(int))


def test_it_beats_one_component_where_labels_depend_on_one_another():
    X, Y = planted(n=800)
    joint = ConditionalBernoulliMixture(6, max_iter=15, random_state=0).fit(X[:400], Y[:400])
    alone = ConditionalBernoulliMixture(1, random_state=0).fit(X[:400], Y[:400])
    assert joint.score(X[400:], Y[400:]) > alone.score(X[400:], Y[400:]) + 0.1


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_results_do_not_depend_on_n_jobs(n_jobs):
    data = load("yeast:train").take(slice(0, 400))
    one = ConditionalBernoulliMixture(**QUICK).fit(data.X, data.Y)
    many = ConditionalBernoulliMixture(**QUICK, n_jobs=n_jobs).fit(data.X, data.Y)
    np.testing.assert_array_equal(one.predict_proba(data.X), many.predict_proba(data.X))


def test_several_models_are_one_mixture_of_their_average():
    X, Y = planted()
    clf = ConditionalBernoulliMixture(**QUICK, n_models=3).fit(X, Y)
    parts = []
    for model in clf.models_:
        one = ConditionalBernoulliMixture(**QUICK).fit(X, Y)
        one.models_ = [model]
        parts.append(np.exp(one.predict_joint(X).log_prob(Y)))
    assert len({part[0] for part in parts}) == 3
    np.testing.assert_allclose(np.exp(clf.predict_joint(X).log_prob(Y)), np.mean(parts, axis=0))


def test_dense_and_sparse_features_agree_also_with_more_features_than_rows():
    rng = np.random.default_rng(0)
    X, Y = planted(n=80)
    wide = np.hstack([X, rng.normal(size=(80, 200)) * (rng.random((80, 200)) < 0.1)])
    for features in (X, wide):
        with mock.patch.object(module, "_row_space", wraps=module._row_space) as rotate:
            dense = ConditionalBernoulliMixture(**QUICK).fit(features, Y)
        few = ConditionalBernoulliMixture(**QUICK).fit(sparse.csr_array(features), Y)
        assert rotate.called == (features is wide)
        np.testing.assert_allclose(
            few.predict_proba(sparse.csr_array(features)), dense.predict_proba(features), atol=1e-6
        )


def test_rotating_wide_features_changes_no_optimum(monkeypatch):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(30, 60)), rng.integers(0, 2, (30, 3))
    options = {"n_components": 1, "max_iter": 1, "experts": Logistic(max_iter=2000)}
    narrow = ConditionalBernoulliMixture(**options).fit(X, Y).predict_proba(X)
    monkeypatch.setattr(module, "_row_space", None)  # not called
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    full = ConditionalBernoulliMixture(**options).fit(X, Y)
    np.testing.assert_allclose(full.predict_proba(X), narrow, atol=1e-3)


@pytest.mark.parametrize("n_labels", [3, 12])
@pytest.mark.parametrize("experts", ["logistic", "boosting"])
def test_weights_are_those_of_the_users_features_where_they_are_fewer(n_labels, experts):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(20, 50)), rng.integers(0, 2, (20, n_labels))
    clf = ConditionalBernoulliMixture(2, experts=experts, gate="logistic", random_state=0)
    clf.fit(X, Y)
    with mock.patch.object(GatedMixture, "_rotate_back"):
        kept = clone(clf).fit(X, Y)
    rank = kept.models_[0].gate.features.rotation.shape[1]
    model = clf.models_[0]
    n_weights = len(model.gate.coef) + len(getattr(model.experts, "coef", ()))
    back = n_weights <= rank
    assert back == (n_labels == 3 or experts == "boosting")  # both cases are seen
    assert (model.gate.features.rotation is None) == back
    assert model.gate.coef.shape[1] == (50 if back else rank)
    if back:  # for anyone to read
        scores = X @ model.gate.coef.T + model.gate.intercept
        found = model.gate.log_weights(model.gate.view(X, np.float64), slice(0, 20))
        np.testing.assert_allclose(log_softmax(scores, axis=1).T, found[model.alive], atol=1e-12)
    np.testing.assert_allclose(clf.predict_proba(X), kept.predict_proba(X), atol=1e-9)


def test_an_elastic_net_leaves_coefficients_at_zero():
    X, Y = planted()
    X = np.hstack([X, np.random.default_rng(0).normal(size=(300, 20))])
    clf = ConditionalBernoulliMixture(
        2,
        experts=Logistic(0.05, l1_ratio=0.9, max_iter=200),
        gate=Logistic(0.05),  # which leaves the rest to the experts
        random_state=0,
    ).fit(X, Y)
    model = clf.models_[0]
    assert np.mean(model.experts.coef == 0.0) > 0.3
    assert np.mean(model.gate.coef == 0.0) > 0.3
    assert np.all(np.diff(clf.history_[0]) < 1e-6)


def test_the_unit_of_the_features_does_not_matter():
    X, Y = planted()
    metres = ConditionalBernoulliMixture(**QUICK).fit(X, Y).predict_proba(X)
    miles = ConditionalBernoulliMixture(**QUICK).fit(X / 1609, Y).predict_proba(X / 1609)
    np.testing.assert_allclose(miles, metres, atol=1e-6)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_an_offset_of_the_features_does_not_matter(wide, container):
    rng = np.random.default_rng(3)
    X, Y = planted(n=80)
    if wide:
        X = np.hstack([10.0 * X, rng.normal(size=(80, 150))])
    expected = ConditionalBernoulliMixture(**QUICK).fit(X, Y).predict_proba(X)
    for offset, atol in ((30.0, 1e-6), (1e4, 1e-6), (1e5, 1e-2)):
        moved = container(X + offset)
        found = ConditionalBernoulliMixture(**QUICK).fit(moved, Y).predict_proba(moved)
        np.testing.assert_allclose(found, expected, atol=atol)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_single_precision_is_that_of_centred_rows(container, monkeypatch):
    X, Y = planted()
    expected = ConditionalBernoulliMixture(**QUICK).fit(X, Y).joint_log_prob(X, Y).mean()
    monkeypatch.setattr(module, "SINGLE", 0)
    moved = container(X + 1e7)
    clf = ConditionalBernoulliMixture(**QUICK).fit(moved, Y)
    assert clf.models_[0].gate.features.dtype is np.float32
    assert clf.joint_log_prob(moved, Y).mean() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("n", [11, 2])
@pytest.mark.parametrize("value", [0.1, 1e-9, -7e5])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_constant_features_say_nothing_of_rows_elsewhere(n, value, container):
    X, Y = np.full((n, 3), value), np.arange(n)[:, None] % 2
    clf = ConditionalBernoulliMixture(2, random_state=0).fit(container(X), Y)
    assert clf.models_[0].gate.features.scaler.unit == 1.0
    elsewhere = clf.predict_proba(container(X + 0.01))
    np.testing.assert_allclose(elsewhere, clf.predict_proba(container(X)), atol=1e-9)


@pytest.mark.parametrize("experts", ["logistic", "boosting"])
@pytest.mark.parametrize("scale", [1e4, 1e5, 1e9])
def test_a_label_always_on_is_no_number_beyond_numbers_under_large_weights(experts, scale):
    X, Y = planted(n=150)
    Y = np.column_stack([Y, np.ones(len(Y), dtype=int)])
    for seed in range(3):
        weight = scale * np.random.default_rng(seed).uniform(0.5, 1.5, len(Y))
        clf = ConditionalBernoulliMixture(**QUICK, experts=experts).fit(X, Y, sample_weight=weight)
        assert np.isfinite(clf.history_[0]).all()
        assert np.all(clf.predict_proba(X)[:, -1] > 0.99)


def test_features_beyond_double_precision_are_refused_when_predicting_too():
    X, Y = planted(n=60)
    clf = ConditionalBernoulliMixture(**QUICK).fit(X, Y)
    with pytest.raises(ValueError, match="X holds 1e\\+300, whose square is beyond double"):
        clf.predict(np.where(np.arange(60)[:, None] == 5, 1e300, X))


def test_what_is_refused_goes_by_the_fit_not_by_later_parameters():
    X, Y = planted(n=60)
    clf = ConditionalBernoulliMixture(**QUICK).fit(X, Y).set_params(experts="boosting")
    with pytest.raises(ValueError, match="whose square is beyond double"):
        clf.predict(1e300 * X)


def test_the_empty_set_is_predicted_only_if_training_data_have_it():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 3)), np.zeros((200, 4), dtype=int)
    Y[np.arange(200), rng.integers(0, 4, 200)] = 1
    assert ConditionalBernoulliMixture(1).fit(X, Y).predict(X).any(axis=1).all()
    assert not ConditionalBernoulliMixture(1, empty="allow").fit(X, Y).predict(X).any()
    Y[:150] = 0
    assert not ConditionalBernoulliMixture(1).fit(X, Y).predict(X).any(axis=1).all()
    assert ConditionalBernoulliMixture(1, empty="forbid").fit(X, Y).predict(X).any(axis=1).all()


def test_each_target_is_decoded_best_by_its_own_decoder():
    train, test = load("yeast:train"), load("yeast:test")
    clf = ConditionalBernoulliMixture(20, max_iter=5, random_state=0).fit(train.X, train.Y)
    found = {
        target: evaluate(test.Y, clf.decode(test.X, target).labels)
        for target in ("subset", "hamming", "f1", "jaccard")
    }
    for measure, target in (
        ("subset_accuracy", "subset"),
        ("example_f1", "f1"),
        ("example_jaccard", "jaccard"),
    ):
        best = max(found, key=lambda name: found[name][measure])
        assert found[target][measure] > found[best][measure] - 0.005
    assert found["hamming"]["hamming_loss"] == min(f["hamming_loss"] for f in found.values())
    by_name = ConditionalBernoulliMixture(20, max_iter=5, random_state=0, decoder="f1")
    labels = by_name.fit(train.X, train.Y).predict(test.X)
    np.testing.assert_array_equal(labels, clf.decode(test.X, "f1").labels)


def test_rows_held_out_choose_the_likeliest_step():
    X, Y = planted(n=300)
    clf = ConditionalBernoulliMixture(6, max_iter=12, validation_fraction=0.2, random_state=0)
    clf.fit(X, Y)
    assert clf.n_steps_ == np.argmax(clf.validation_) + 1
    assert clf.n_iter_ == len(clf.history_[0]) <= clf.n_steps_
    # Rows held out are less likely than rows trained on, in the end.
    full = ConditionalBernoulliMixture(6, max_iter=12, tol=-1.0, random_state=0).fit(X, Y)
    assert clf.validation_[-1] < full.joint_log_prob(X, Y).mean()


@pytest.mark.parametrize("experts", ["logistic", "boosting", LogisticRegression()])
def test_a_saved_model_predicts_the_same(tmp_path, experts):
    X, Y = planted()
    clf = ConditionalBernoulliMixture(**QUICK, experts=experts).fit(X, Y)
    save(clf, tmp_path / "model")
    back = load_model(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))


DEGENERATE = {
    "one row": ([[1.0, 2.0]], [[1, 0]]),
    "one label": (np.arange(6.0)[:, None], [[0], [0], [0], [1], [1], [1]]),
    "one label set": (np.arange(6.0)[:, None], [[1, 0]] * 6),
    "no labels on": (np.arange(6.0)[:, None], [[0, 0]] * 6),
    "constant feature": (np.ones((6, 1)), [[1, 0], [0, 1]] * 3),
    "more components than rows": (np.arange(4.0)[:, None], [[1, 0], [0, 1], [1, 1], [0, 0]]),
    "huge features": (1e12 * np.arange(6.0)[:, None], [[1, 0]] * 3 + [[0, 1]] * 3),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("prior", ["zero", "shared"])
def test_degenerate_data_are_normal_data(case, prior):
    X, Y = (np.asarray(part) for part in DEGENERATE[case])
    clf = ConditionalBernoulliMixture(5, experts=Logistic(prior=prior), random_state=0).fit(X, Y)
    p = clf.predict_proba(X)
    steady = np.flatnonzero((Y[0] == Y).all(axis=0))
    np.testing.assert_array_equal(p[:, steady] > 0.9, Y[:, steady] > 0)
    np.testing.assert_array_equal(p[:, steady] < 0.1, Y[:, steady] == 0)
    table = clf.predict_joint(X)
    everything = np.exp(table.value_all(all_labelings(Y.shape[1])))
    np.testing.assert_allclose(everything.sum(axis=1), 1.0)
    assert all(np.isfinite(history).all() for history in clf.history_)
    if case == "constant feature":  # two label sets, as often as each other
        np.testing.assert_allclose(np.exp(table.log_prob(Y)), 0.5, atol=0.05)
    else:  # a line tells these label sets apart, or there is one
        np.testing.assert_array_equal(clf.predict(X), Y)


def untrained(X, Y):
    data = TrainingData(X, Y, np.ones(len(X)))
    experts = Logistic().settled(data)
    gate = Logistic().settled(data, experts)
    return GatedMixture(gate.make_gate(data)(0), experts.make_experts(data)(0))


def test_dead_components_are_left_out():
    X, Y = planted(n=200)
    model = untrained(X, Y)
    gamma = np.zeros((3, 200))
    gamma[0], gamma[2] = 0.3, 0.7
    views, columns = model.views(X), np.ascontiguousarray(Y.T, dtype=np.float32)
    model.maximise(views, columns, gamma, np.ones(200), lambda jobs: [job() for job in jobs])
    after, log_likelihood = model.expect(views, columns)
    assert list(model.alive) == [0, 2]
    assert not after[1].any()
    weights, logits = model.table(X)
    expected = Mixture(weights, logits).log_prob(Y)
    np.testing.assert_allclose(log_likelihood, expected, atol=1e-6)
    assert model.table(X)[1].shape == (200, 2, 4)


def test_a_component_may_die_between_M_steps():
    X, Y = planted(n=200)
    model = untrained(X, Y)
    gamma = np.full((3, 200), 1.0 / 3.0)
    gamma[0, :100], gamma[1, :100] = 0.5, 1.0 / 6.0
    views, columns = model.views(X), np.ascontiguousarray(Y.T, dtype=np.float32)
    for alive in ([0, 1, 2], [0, 2]):
        gamma[[k for k in range(3) if k not in alive]] = 0.0
        gamma /= gamma.sum(axis=0)
        model.maximise(views, columns, gamma, np.ones(200), lambda jobs: [job() for job in jobs])
        assert list(model.alive) == alive
        assert model.gate.coef.shape == (len(alive), 5)
        weights = np.exp(model.gate.log_weights(views[0], slice(0, 200)))
        np.testing.assert_allclose(weights[alive].sum(axis=0), 1.0)
    model.finish()
    assert model.gate.prepared is None


@pytest.mark.parametrize("share", [0.0, 1e-4, 0.3])
def test_rows_left_out_weigh_at_most_their_share(share):
    gamma = np.random.default_rng(0).dirichlet(np.full(4, 0.2), size=60).T
    gamma[0, :20], gamma[3] = 0.0, 0.0
    gamma[1] = 0.25  # ties
    least = _least_weights(gamma, share)
    assert np.all(least > 0.0)
    for weight, limit in zip(gamma, least, strict=True):
        assert weight[weight < limit].sum() <= share * weight.sum()
        if weight.any():  # the next heavier would be too many
            assert weight[weight <= limit].sum() > share * weight.sum()


WRONG = {
    "n_components": (0, 1.5, "three"),
    "max_iter": (0,),
    "experts__variance": (0.0, -1.0, np.inf, "big"),
    "gate__variance": (0.0,),
    "experts__prior": ("br",),
    "experts__l1_ratio": (1.0, -0.1),
    "gate__max_iter": (0, 1.5),
    "experts__scale": ("yes",),
    "empty": ("never",),
    "validation_fraction": (0.0, 1.0),
    "experts": ("trees", 3),
    "gate": ("trees", 3),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_wrong_parameters_are_refused_by_name(name, value):
    X, Y = planted(n=20)
    with pytest.raises(ValueError, match=name.rpartition("__")[2]):
        ConditionalBernoulliMixture().set_params(**{name: value}).fit(X, Y)


def test_decoders_of_other_tables_are_refused():
    with pytest.raises(IncompatibleError, match="decodes Modular tables, not Mixture"):
        ConditionalBernoulliMixture(decoder="threshold").fit(*planted(n=20))


def test_scene_reaches_the_papers_accuracy(real_data):
    train, test = load("scene:train"), load("scene:test")
    clf = ConditionalBernoulliMixture(20, gate=Logistic(10), max_iter=12, random_state=0)
    assert clf.fit(train.X, train.Y).score(test.X, test.Y) > 0.68  # 5 seeds: .697; paper: .697


def test_a_gate_predicts_no_labels_that_it_could_share():
    with pytest.raises(ValueError, match="prior='shared' of Logistic is for experts"):
        ConditionalBernoulliMixture(2, gate=Logistic(prior="shared")).fit(*planted(n=30))


def test_what_a_gate_leaves_open_is_that_of_logistic_experts():
    X, Y = planted(n=60)
    experts = Logistic(variance=2.0, scale=False, max_iter=3, prior="shared")
    whole = Logistic(variance=3.0, scale=False, max_iter=3)
    clf = ConditionalBernoulliMixture(**QUICK, experts=experts)
    expected = clone(clf).set_params(gate=whole).fit(X, Y).predict_proba(X)
    for gate in (None, "logistic", Logistic(), Logistic(3.0)):
        found = clone(clf).set_params(gate=gate).fit(X, Y)
        np.testing.assert_array_equal(found.predict_proba(X), expected)
        assert found.scale_ is False


def test_components_that_a_word_names_have_parameters_to_set():
    X, Y = planted(n=60)
    clf = ConditionalBernoulliMixture(**QUICK)
    known = clf.get_params()
    assert known["experts"] == "logistic"
    assert known["experts__variance"] is known["gate__variance"] is None
    assert not any("__" in name for name in clf.get_params(deep=False))
    clf.set_params(experts__variance=1.0, gate__variance=5.0)
    given = ConditionalBernoulliMixture(**QUICK, experts=Logistic(1.0), gate=Logistic(5.0))
    assert repr(clf) == repr(given)
    np.testing.assert_array_equal(
        clone(clf).fit(X, Y).predict_proba(X), given.fit(X, Y).predict_proba(X)
    )
    trees = ConditionalBernoulliMixture().set_params(experts="boosting", experts__n_trees=2)
    assert trees.experts.n_trees == 2
    assert trees.gate is None
    trees.set_params(gate__n_trees=7)
    assert (trees.experts.n_trees, trees.gate.n_trees) == (2, 7)
    with pytest.raises(ValueError, match="Invalid parameter 'variance'"):
        trees.set_params(gate__variance=1.0)


OLD = {
    "expert_variance": (2.0, {"experts": Logistic(2.0)}),
    "gate_variance": (2.0, {"gate": Logistic(2.0)}),
    "expert_prior": ("shared", {"experts": Logistic(prior="shared")}),
    "l1_ratio": (0.5, {"experts": Logistic(l1_ratio=0.5)}),
    "m_steps": (3, {"experts": Logistic(max_iter=3)}),
    "scale": (False, {"experts": Logistic(scale=False)}),
    "early_stopping": (True, {"validation_fraction": 0.2}),
}


@pytest.mark.parametrize("name", OLD)
def test_old_names_of_parameters_are_taken_with_a_warning(name):
    value, new = OLD[name]
    expected = repr(ConditionalBernoulliMixture(3, **new))
    with pytest.warns(
        FutureWarning, match=f"^{name} of ConditionalBernoulliMixture is an old name"
    ):
        clf = ConditionalBernoulliMixture(3, **{name: value})
    assert repr(clf) == repr(clone(clf)) == expected
    with pytest.warns(FutureWarning, match="set experts__|set gate__|set validation_fraction"):
        clf = ConditionalBernoulliMixture(3).set_params(**{name: value})
    assert repr(clf) == expected


def test_old_names_that_had_no_effect_have_none():
    with pytest.warns(FutureWarning, match="m_steps of .* has no effect"):
        clf = ConditionalBernoulliMixture(experts="boosting", m_steps=3)
    assert repr(clf) == repr(ConditionalBernoulliMixture(experts="boosting"))
    with pytest.warns(FutureWarning):
        clf = ConditionalBernoulliMixture(early_stopping=False, validation_fraction=0.3)
    assert clf.validation_fraction is None


def test_progress_is_shown_on_demand(capsys):
    X, Y = planted(n=30)
    for verbose in (False, True):
        ConditionalBernoulliMixture(2, max_iter=2, verbose=verbose, random_state=0).fit(X, Y)
        out, err = capsys.readouterr()
        assert not out
        assert ("ConditionalBernoulliMixture: done" in err) == verbose
