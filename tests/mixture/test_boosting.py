"""Boosted trees as experts and gate of a conditional Bernoulli mixture."""

import sys

import lightgbm
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.datasets import load
from colabel.exceptions import ModelFileError
from colabel.mixture import BoostedTrees, ConditionalBernoulliMixture
from colabel.mixture._boosting import LANES, BoostedExperts, BoostedGate, _cost, _scaling
from colabel.mixture._em import GatedMixture
from colabel.numerics.jobs import runner
from colabel.persistence import load as load_model
from colabel.persistence import save
from colabel.trees import growers
from colabel.trees.growers import LightGBMSource, ScikitSource
from oracles import all_labelings

ENGINES = {"lightgbm": LightGBMSource, "scikit-learn": ScikitSource}
RUN = runner(1)


@pytest.fixture(params=ENGINES)
def engine(request, monkeypatch):
    """Each of the two libraries; LightGBM is hidden from the second."""
    if request.param == "scikit-learn":
        monkeypatch.setattr(growers, "find_spec", lambda name: None)
    return ENGINES[request.param]


def problem(seed=0, n=120, d=4, n_labels=3, n_components=3):
    """Rows, labels (n_labels, n) and responsibilities (n_components, n)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, n_labels)) + 0.5 * rng.normal(size=(n, n_labels)) > 0
    gamma = rng.dirichlet(np.full(n_components, 0.3), size=n).T
    return X, np.ascontiguousarray(Y.T, dtype=np.float32), np.ascontiguousarray(gamma)


def settings(**changes):
    usual = {"n_leaves": 5, "learning_rate": 0.3, "reg_lambda": 1.0, "min_child_weight": 1e-3}
    return BoostedTrees(**{**usual, "feature_fraction": 1.0, **changes})


def pair(engine, X, weight=None, seed=0, **changes):
    """Gate and experts of one source."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    source = engine(settings(**changes), X, weight)
    n = source.settings.n_trees
    return GatedMixture(BoostedGate(source, n, seed), BoostedExperts(source, n, seed))


def train(model, X, Y, gamma, n_steps, weight=None, run=RUN):
    """EM; return the views and the objective after each step."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    views, history = model.views(X), []
    for _ in range(n_steps):
        model.maximise(views, Y, gamma, weight, run)
        gamma, log_likelihood = model.expect(views, Y)
        history.append(model.objective(log_likelihood, weight))
    return views, history


def test_one_component_is_lightgbm_for_each_label():
    X, Y, _ = problem(n=200)
    weight = np.random.default_rng(1).uniform(size=200)  # no two splits are equally good
    source = LightGBMSource(settings(n_trees=20, reg_lambda=0.5), X, weight)
    experts = BoostedExperts(source, source.settings.n_trees, 0)
    experts.update(experts.view(X), Y, weight[None], RUN)
    found = experts.logits(experts.view(X), slice(0, 200))
    params = {
        "objective": "binary",
        "num_leaves": 5,
        "learning_rate": 0.3,
        "lambda_l2": 0.5,
        "min_data_in_leaf": 0,
        "min_data_in_bin": 1,
        "max_bin": 63,
        "verbosity": -1,
        "num_threads": 1,
    }
    for label in range(3):
        plain = lightgbm.train(params, lightgbm.Dataset(X, Y[label], weight=weight), 20)
        expected = plain.predict(X, raw_score=True)
        np.testing.assert_allclose(found[:, 0, label], expected, atol=1e-4)


def test_the_gate_with_hard_targets_is_lightgbm_for_classes():
    X, _, gamma = problem(n=200)
    classes = gamma.argmax(axis=0)
    hard = np.eye(3)[:, classes]
    weight = np.random.default_rng(1).uniform(size=200)
    gate = BoostedGate(LightGBMSource(settings(), X, weight), 10, 0)
    gate.update(gate.view(X), hard, weight, RUN)
    params = {
        "objective": "multiclass",
        "num_class": 3,
        "num_leaves": 5,
        "learning_rate": 0.3,
        "lambda_l2": 1.0,
        "min_data_in_leaf": 0,
        "min_data_in_bin": 1,
        "max_bin": 63,
        "verbosity": -1,
        "num_threads": 1,
    }
    plain = lightgbm.train(params, lightgbm.Dataset(X, classes, weight=weight), 10)
    expected = log_softmax(plain.predict(X, raw_score=True), axis=1).T
    np.testing.assert_allclose(gate.log_weights(gate.view(X), slice(0, 200)), expected, atol=1e-4)


def test_without_features_the_gate_is_the_mean_and_an_expert_the_rate(engine):
    _, Y, gamma = problem()
    X, rng = np.ones((120, 2)), np.random.default_rng(3)
    weight = rng.uniform(0.5, 2.0, size=120)
    model = pair(engine, X, weight)
    for _ in range(3):  # from anywhere, not from the start alone
        gamma = rng.dirichlet(np.ones(3), size=120).T
        views = model.views(X)
        model.maximise(views, Y, gamma, weight, RUN)
        pi = softmax(model.gate.log_weights(views[0], slice(0, 120)), axis=0)
        mean = np.average(gamma, axis=1, weights=weight)
        np.testing.assert_allclose(pi, np.repeat(mean[:, None], 120, axis=1), rtol=1e-6)
        rates = (gamma * weight) @ Y.T / (gamma @ weight)[:, None]
        found = expit(model.experts.logits(views[1], slice(0, 120)))
        np.testing.assert_allclose(found, np.tile(rates, (120, 1, 1)), rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_falls(engine, seed):
    X, Y, gamma = problem(seed)
    _, history = train(pair(engine, X, learning_rate=0.2), X, Y, gamma, 8)
    assert history[-1] < history[0]
    assert (np.diff(history) <= 1e-9).all()


def test_scores_kept_along_the_way_are_those_of_fresh_rows(engine):
    X, Y, gamma = problem()
    X = X.astype(np.float32).astype(float)
    model = pair(engine, X, feature_fraction=0.5)
    views, _ = train(model, X, Y, gamma, 4)
    kept, fresh = model.expect(views, Y)[1], model.expect(model.views(X), Y)[1]
    np.testing.assert_allclose(kept, fresh, rtol=0, atol=1e-10)
    log_weights, logits = model.table(X)
    model.finish()
    np.testing.assert_allclose(model.table(X)[0], log_weights, atol=1e-10)
    np.testing.assert_allclose(model.table(X)[1], logits, atol=1e-10)
    np.testing.assert_allclose(model.expect(views, Y)[1], kept, atol=1e-10)


def test_log_likelihoods_are_those_of_the_log_odds(engine):
    X, Y, gamma = problem()
    Y = np.vstack([Y, np.ones(120), np.zeros(120)]).astype(np.float32)  # constants besides
    model = pair(engine, X)
    train(model, X, Y, gamma, 2)
    new, rows = problem(9)[0], slice(10, 90)
    view = model.experts.view(new)
    p = expit(model.experts.logits(view, rows))
    y = Y[:, rows].T[:, None, :]
    expected = np.log(np.where(y > 0, p, 1.0 - p)).sum(axis=2).T
    found = model.experts.log_likelihoods(view, Y, rows)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert model.gate.penalties() == 0.0
    # Trees have no prior; constants have a hundredth of a row, of which 0.5 / 121 is unlike them.
    constant, unlike = expit(-np.abs(model.experts.constant[:, 3:])), 0.5 / 121
    prior = -0.01 * (unlike * np.log(constant) + (1.0 - unlike) * np.log1p(-constant)).sum()
    np.testing.assert_allclose(model.experts.penalties(), prior)


def test_threads_change_nothing(engine, capfd):
    n_components = LANES + 3
    X, Y, gamma = problem(n=80, d=6, n_components=n_components)
    tables = []
    for n_threads in (1, 2, 5):
        model = pair(engine, X, seed=4, feature_fraction=0.5)
        train(model, X, Y, gamma, 2, run=runner(n_threads))
        tables.append(model.table(X))
    for table in tables[1:]:
        np.testing.assert_array_equal(table[0], tables[0][0])
        np.testing.assert_array_equal(table[1], tables[0][1])
    assert capfd.readouterr() == ("", "")


def test_rows_that_do_not_count_may_be_left_out(monkeypatch):
    X, Y, _ = problem(n=200)
    gamma = np.eye(2)[:, (X[:, 0] > 0).astype(int)]
    gamma = np.where(gamma > 0, 1.0 - 1e-9, 1e-9)
    tables = []
    for booster_rows in (2**16, 0):
        monkeypatch.setattr(growers, "BOOSTER_ROWS", booster_rows)
        model = pair(LightGBMSource, X)
        train(model, X, Y, gamma, 1)
        tables.append(expit(model.table(X)[1]))
        assert bool(model.experts.growers) == (booster_rows > 0)
    # The same features and bins: only the rows that do not count are seen differently.
    own = gamma.T > 0.5
    np.testing.assert_allclose(tables[0][own], tables[1][own], atol=0.02)


def test_dead_components_have_no_weight_and_no_trees(engine):
    X, Y, gamma = problem()
    gamma[1] = 0.0
    gamma /= gamma.sum(axis=0)
    model = pair(engine, X)
    views, _ = train(model, X, Y, gamma, 2)
    assert model.alive.tolist() == [0, 2]
    assert np.isneginf(model.gate.log_weights(views[0], slice(0, 120))[1]).all()
    model.finish()
    log_weights, logits = model.table(X)
    assert log_weights.shape == (120, 2)
    np.testing.assert_allclose(np.exp(log_weights).sum(axis=1), 1.0)
    assert np.isfinite(logits).all()
    assert model.gate.sums.n_lines == 2


def test_a_label_may_vary_later_or_no_more(engine):
    X, Y, gamma = problem(n_components=2)
    Y[0] = X[:, 0] > 0
    split = np.where(Y[0] > 0, 1.0, 0.0)
    experts = BoostedExperts(engine(settings(), X, np.ones(120)), 5, 0)
    view = experts.view(X)
    for shares in (np.stack([split, 1.0 - split]), gamma, np.stack([split, 1.0 - split])):
        experts.update(view, Y, shares, RUN)
        assert experts.varies[:, 0].all() == (shares is gamma)
        logits = experts.logits(view, slice(0, 120))
        assert np.isfinite(logits).all()
    expected = experts.logits(view, slice(0, 120))
    assert (expected[:, 0, 0] > 3.0).all()
    assert (expected[:, 1, 0] < -3.0).all()
    n_lines = experts.sums.n_lines
    experts.finish()
    assert experts.sums.n_lines == n_lines - 2
    np.testing.assert_allclose(experts.logits(experts.view(X), slice(0, 120)), expected, atol=1e-10)


DEGENERATE = {
    "one row": (np.array([[1.0, 2.0]]), np.array([[1, 0]])),
    "one row of zeros": (np.zeros((1, 2)), np.array([[0, 0]])),
    "two rows": (np.array([[1.0], [2.0]]), np.array([[1], [0]])),
    "one label": (np.arange(20.0)[:, None], (np.arange(20) % 3 == 0)[:, None].astype(int)),
    "a label always on and one never": (
        np.arange(20.0)[:, None],
        np.column_stack([np.ones(20), np.zeros(20), np.arange(20) > 9]).astype(int),
    ),
    "no label ever": (np.arange(12.0)[:, None], np.zeros((12, 3), dtype=int)),
    "constant features": (np.ones((15, 3)), np.random.default_rng(0).integers(2, size=(15, 2))),
    "more features than rows": (
        np.random.default_rng(1).normal(size=(6, 40)),
        np.random.default_rng(1).integers(2, size=(6, 3)),
    ),
    "large numbers": (1e30 * np.arange(12.0)[:, None], (np.arange(12) > 5)[:, None].astype(int)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_are_normal_data(engine, name):
    X, Y = DEGENERATE[name]
    clf = ConditionalBernoulliMixture(4, experts=BoostedTrees(), max_iter=3, random_state=0)
    p = clf.fit(X, Y).predict_proba(X)
    steady = np.flatnonzero((Y[0] == Y).all(axis=0))
    np.testing.assert_array_equal(p[:, steady] > 0.9, Y[:, steady] > 0)
    np.testing.assert_array_equal(p[:, steady] < 0.1, Y[:, steady] == 0)
    table = clf.predict_joint(X)
    everything = np.exp(table.value_all(all_labelings(Y.shape[1])))
    np.testing.assert_allclose(everything.sum(axis=1), 1.0)
    # Better than to know the rates alone, or as good where there is no more to know.
    rate = np.clip(Y.mean(axis=0), 0.02, 0.98)
    apart = np.log(np.where(Y > 0, rate, 1.0 - rate)).sum(axis=1)
    assert table.log_prob(Y).mean() > apart.mean() - 0.02


def test_dense_and_sparse_rows_give_the_same_model(engine):
    X, Y, _ = problem()
    X = np.where(np.abs(X) < 0.7, 0.0, X).astype(np.float32).astype(float)
    clf = ConditionalBernoulliMixture(3, experts=settings(), max_iter=3, random_state=0)
    dense = clf.fit(X, Y.T.astype(int)).predict_proba(X)
    csr = clf.fit(sparse.csr_array(X), Y.T.astype(int)).predict_proba(sparse.csr_array(X))
    if engine is LightGBMSource:
        np.testing.assert_allclose(dense, csr, atol=1e-9)
    else:  # scikit-learn draws otherwise among equally good splits of sparse features
        assert np.abs(dense - csr).mean() < 0.05


def test_boosting_and_its_settings_are_words_of_the_estimator():
    X, Y, _ = problem()
    named = ConditionalBernoulliMixture(3, experts="boosting", max_iter=2, random_state=0)
    given = clone(named).set_params(experts=BoostedTrees())
    joined = clone(named).set_params(gate="boosting")
    expected = named.fit(X, Y.T).predict_proba(X)
    np.testing.assert_array_equal(given.fit(X, Y.T).predict_proba(X), expected)
    np.testing.assert_array_equal(joined.fit(X, Y.T).predict_proba(X), expected)
    other = given.set_params(experts__learning_rate=0.5).fit(X, Y.T).predict_proba(X)
    assert not np.array_equal(other, expected)
    with pytest.raises(ValueError, match="n_leaves of BoostedTrees"):
        given.set_params(experts__n_leaves=1).fit(X, Y.T)


@pytest.mark.parametrize(("experts", "gate"), [("boosting", "logistic"), ("logistic", "boosting")])
def test_trees_and_regressions_may_be_mixed(experts, gate):
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(3, experts=experts, gate=gate, max_iter=3, random_state=0)
    assert clf.fit(X, Y.T).score(X, Y.T) > 0.5


def test_several_models_are_one_mixture():
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(
        3, experts=settings(), max_iter=2, n_models=3, random_state=0
    ).fit(X, Y.T)
    joint = clf.predict_joint(X)
    assert joint.n_components == sum(len(model.alive) for model in clf.models_)
    parts = [model.table(X) for model in clf.models_]
    mean = sum((np.exp(w)[:, :, None] * expit(s)).sum(axis=1) for w, s in parts) / 3.0
    np.testing.assert_allclose(joint.marginals(), mean, atol=1e-9)


def test_a_stored_model_predicts_the_same_and_needs_no_lightgbm(engine, tmp_path, monkeypatch):
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(3, experts=settings(), max_iter=3, random_state=0)
    clf.fit(X, Y.T)
    save(clf, tmp_path / "model")
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_file_with_trees_that_lead_nowhere_is_refused(tmp_path):
    X, Y, _ = problem()
    clf = ConditionalBernoulliMixture(3, experts=settings(), max_iter=1, random_state=0)
    clf.fit(X, Y.T).models_[0].gate.sums.steps[0].trees.left[0, 0] = 1000
    save(clf, tmp_path / "model")
    with pytest.raises(ModelFileError, match="lead out of their arrays"):
        load_model(tmp_path / "model")


def test_a_seed_fixes_the_model_for_any_number_of_jobs(engine):
    X, Y, _ = problem(d=10)
    clf = ConditionalBernoulliMixture(4, experts="boosting", max_iter=3, random_state=1)
    first = clf.fit(X, Y.T).predict_proba(X)
    np.testing.assert_array_equal(clf.set_params(n_jobs=2).fit(X, Y.T).predict_proba(X), first)
    other = clf.set_params(random_state=2).fit(X, Y.T).predict_proba(X)
    assert not np.array_equal(other, first)


def test_steps_may_be_chosen_by_rows_held_out():
    X, Y, _ = problem(n=200)
    clf = ConditionalBernoulliMixture(
        3,
        experts=settings(learning_rate=1.0),
        max_iter=8,
        validation_fraction=0.2,
        random_state=0,
    ).fit(X, Y.T)
    assert np.isfinite(clf.validation_).all()
    assert 1 <= clf.n_steps_ < 8  # full steps learn the training rows by heart


def test_trees_learn_what_no_line_can():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 1))
    Y = (np.sin(40.0 * X) > 0).astype(int)
    trees = ConditionalBernoulliMixture(2, experts=settings(), max_iter=20, random_state=0)
    lines = ConditionalBernoulliMixture(2, max_iter=20, random_state=0)
    assert trees.fit(X[:400], Y[:400]).score(X[400:], Y[400:]) > 0.9
    assert lines.fit(X[:400], Y[:400]).score(X[400:], Y[400:]) < 0.8


def test_scene_is_learnt_better_than_by_regressions(real_data):
    train_set, test_set = load("scene:train"), load("scene:test")
    clf = ConditionalBernoulliMixture(15, experts="boosting", max_iter=10, random_state=0)
    assert clf.fit(train_set.X, train_set.Y).score(test_set.X, test_set.Y) > 0.70


@parametrize_with_checks(
    [ConditionalBernoulliMixture(3, experts="boosting", max_iter=2, random_state=0)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def without_lightgbm(monkeypatch):
    monkeypatch.setattr(growers, "find_spec", lambda name: None)


@parametrize_with_checks(
    [ConditionalBernoulliMixture(3, experts="boosting", max_iter=1, random_state=0)]
)
def test_scikit_learn_checks_without_lightgbm(without_lightgbm, estimator, check):
    check(estimator)


def test_uneven_probabilities_stay_finite():
    """Rows that a component is sure of, and wrong, cost much but not infinitely much."""
    X = np.repeat(np.arange(4.0), 50)[:, None]
    Y = (X > 1.5).astype(np.float32).T.copy()
    experts = BoostedExperts(
        LightGBMSource(settings(learning_rate=1.0, reg_lambda=0.0), X, np.ones(200)), 200, 0
    )
    view = experts.view(X)
    experts.update(view, Y, np.ones((1, 200)), RUN)
    sure = experts.logits(view, slice(0, 200))[:, 0, 0]
    assert np.isfinite(sure).all()
    np.testing.assert_array_equal(sure > 2.0, X[:, 0] > 1.5)
    other = 1.0 - Y
    before = experts.log_likelihoods(view, other, slice(0, 200))[0]
    assert (before < -2.0).all()
    experts.update(view, other, np.ones((1, 200)), RUN)
    after = experts.log_likelihoods(view, other, slice(0, 200))[0]
    assert np.isfinite(after).all()
    assert after.sum() >= before.sum()
    assert np.isfinite(experts.logits(view, slice(0, 200))).all()


def test_iterative_scaling_never_lowers_the_likelihood_however_certain_a_label_is():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n, centre = rng.integers(1, 30), 30.0 * rng.normal()
        weight = 10.0 ** rng.uniform(-20, 3, n) * (rng.random(n) < 0.8)
        y = (rng.random(n) < 0.5).astype(np.float64)
        if rng.random() < 0.5:  # rows that differ weigh next to nothing
            weight = np.where(y == (centre > 0), weight.max() + 1.0, 1e-15 * weight)
        score = centre + rng.normal(size=n) * rng.choice([0.0, 0.1, 3.0])
        shift = _scaling(score, y, weight)
        before, after = (_cost(s, y.astype(np.float32), weight) for s in (score, score + shift))
        assert after <= before * (1 + 1e-9) + 1e-13 * weight.sum()
        assert abs(score + shift).max() < 800


def test_a_label_that_is_certain_stays_so():
    """One minus its probability is zero in double precision, where rows without it weigh more."""
    weight, y = np.append(np.ones(100), 1e-17), np.append(np.ones(100), 0.0)
    assert abs(_scaling(np.full(101, 39.0), y, weight)) < 10.0
    for steps in range(20):
        shift = _scaling(np.full(101, 39.0 + 5 * steps), np.ones(101), weight)
        assert 0.0 <= shift < 40.0
