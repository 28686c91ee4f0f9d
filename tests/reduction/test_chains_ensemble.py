"""Ensembles of chains: their own facts."""

import joblib
import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from colabel.datasets import load
from colabel.metrics import subset_accuracy
from colabel.reduction import _conditionals
from colabel.reduction._chain import ClassifierChain
from colabel.reduction._chain_ensemble import ChainEnsemble
from colabel.scores import Modular, Support

LINEAR = LogisticRegression(solver="liblinear", tol=1e-10)
VOTES = ("label", "probability", "subset")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0.5, X[:, 2] > 0.5, X[:, 3] > 1])
    return X, (Y ^ (rng.random(Y.shape) < 0.15)).astype(int)


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_votes_equal_those_of_chains_fitted_apart(data, inner):
    X, Y = data
    ensemble = {v: ChainEnsemble(inner, n_chains=5, vote=v, random_state=0) for v in VOTES}
    for model in ensemble.values():
        model.fit(X, Y)
    orders = ensemble["label"].orders_
    assert len({tuple(order) for order in orders}) > 1
    chains = [ClassifierChain(inner, order=order).fit(X, Y) for order in orders]
    labels = np.stack([chain.predict(X) for chain in chains])
    share = labels.mean(axis=0)
    np.testing.assert_allclose(ensemble["label"].predict_proba(X), share, atol=1e-9)
    np.testing.assert_array_equal(ensemble["label"].predict(X), share > 0.5)
    p = np.mean([expit(chain.decision_function(X)) for chain in chains], axis=0)
    np.testing.assert_allclose(ensemble["probability"].predict_proba(X), p, atol=1e-5)
    np.testing.assert_array_equal(ensemble["probability"].predict(X), p > 0.5)
    found = ensemble["subset"].decode(X)
    for i, rows in enumerate(labels.swapaxes(0, 1)):
        sets, counts = np.unique(rows, axis=0, return_counts=True)
        most = sets[counts == counts.max()]
        assert found.labels[i].tolist() in most.tolist()
        assert found.labels[i].sum() == most.sum(axis=1).min()
        np.testing.assert_allclose(np.exp(found.value[i]), counts.max() / 5)


def test_the_joint_table_is_that_of_the_vote(data):
    X, Y = data
    for vote, table in (("label", Modular), ("subset", Support)):
        model = ChainEnsemble(n_chains=4, vote=vote, random_state=0).fit(X, Y)
        joint = model.predict_joint(X)
        assert isinstance(joint, table)
        assert joint.is_distribution
        np.testing.assert_allclose(model.predict_proba(X), joint.marginals(), atol=1e-9)
        for decoder in ("expected_f", "expected_jaccard", "marginal"):
            assert model.decode(X, decoder).labels.shape == Y.shape
    model = ChainEnsemble(vote="subset", decoder="expected_f", random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("inner", [None, LINEAR])
@pytest.mark.parametrize("max_samples", [None, 0.5, 100])
def test_results_follow_the_seed_and_do_not_depend_on_n_jobs(data, inner, max_samples):
    X, Y = data
    settings = {"n_chains": 3, "max_samples": max_samples}
    with joblib.parallel_config(backend="threading"):
        found = [
            ChainEnsemble(inner, random_state=s, n_jobs=n_jobs, **settings)
            .fit(X, Y)
            .predict_proba(X)
            for s, n_jobs in ((0, 1), (0, 2), (1, 1))
        ]
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


def test_chains_solved_in_groups_are_the_same(data, monkeypatch):
    X, Y = data
    whole = ChainEnsemble(vote="probability", random_state=0).fit(X, Y).predict_proba(X)
    monkeypatch.setattr(_conditionals, "COEFFICIENTS", 60)
    parts = ChainEnsemble(vote="probability", random_state=0).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(parts, whole, atol=1e-5)


def test_rows_drawn_with_replacement_differ_between_chains(data):
    X, Y = data
    model = ChainEnsemble(n_chains=3, max_samples=1.0, random_state=0).fit(X, Y[:, :1])
    assert len({chain.coef.tobytes() for chain in model.chains_}) == 3
    model = ChainEnsemble(n_chains=3, random_state=0).fit(X, Y[:, :1])
    for chain in model.chains_:
        np.testing.assert_allclose(chain.coef, model.chains_[0].coef, atol=1e-5)


def test_weights_count_rows_and_go_with_the_rows_drawn(data):
    X, Y = data
    weight = np.random.default_rng(0).integers(0, 3, 120)
    rows = np.repeat(np.arange(120), weight)
    settings = {"n_chains": 3, "vote": "probability", "random_state": 0}
    weighted = ChainEnsemble(**settings).fit(X, Y, sample_weight=weight).predict_proba(X)
    repeated = ChainEnsemble(**settings).fit(X[rows], Y[rows]).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-4)
    for inner in (None, LINEAR):
        one, other = (
            ChainEnsemble(inner, max_samples=1.0, **settings)
            .fit(X, Y, sample_weight=w)
            .predict_proba(X)
            for w in (None, np.full(120, 2.0))
        )
        assert np.abs(one - other).max() < 0.2
        assert (one != other).any()


@pytest.mark.parametrize("vote", VOTES)
def test_empty_labelings_can_be_forbidden(vote):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 3)), (rng.random((80, 6)) < 0.1).astype(int)
    assert not ChainEnsemble(vote=vote, random_state=0).fit(X, Y).predict(X).any(axis=1).all()
    model = ChainEnsemble(vote=vote, empty="forbid", random_state=0).fit(X, Y)
    assert model.predict(X).any(axis=1).all()


@pytest.mark.parametrize("vote", VOTES)
def test_every_chain_votes_for_one_class_of_a_1d_target(data, vote):
    X, _ = data
    y = np.array(["a", "b", "c", "d"])[np.digitize(X[:, 0], [-0.7, 0.0, 0.7])]
    model = ChainEnsemble(n_chains=4, vote=vote, random_state=0).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.6
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


def test_classifiers_without_probabilities_vote_with_labels(data):
    X, Y = data
    for vote in ("label", "subset"):
        model = ChainEnsemble(LinearSVC(random_state=0), vote=vote, random_state=0).fit(X, Y)
        p = model.predict_proba(X)
        assert np.isin(np.round(10 * p, 6), np.arange(11)).all()
    with pytest.raises(ValueError, match="needs an estimator with predict_proba"):
        ChainEnsemble(LinearSVC(), vote="probability").fit(X, Y)


def test_votes_do_not_follow_later_changes_of_parameters(data):
    X, Y = data
    model = ChainEnsemble(n_chains=3, vote="subset", random_state=0).fit(X, Y)
    before = model.predict(X)
    model.set_params(vote="label")
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"vote": "majority"}, "vote must be"),
        ({"n_chains": 0}, "n_chains must be a whole number of at least 1, not 0"),
        ({"n_chains": 3.0}, "n_chains must be a whole number of at least 1, not 3.0"),
        ({"n_chains": True}, "n_chains must be a whole number of at least 1, not True"),
        ({"max_samples": 0.0}, "max_samples must be a positive number, not 0.0"),
        ({"max_samples": np.inf}, "max_samples must be a positive number, not inf"),
        (
            {"max_samples": 5.0},
            "max_samples must be a share of at most 1, or a whole number",
        ),
        ({"max_samples": "all"}, "max_samples must be a positive number, not 'all'"),
        ({"max_samples": True}, "max_samples must be a positive number, not True"),
    ],
)
def test_wrong_parameters_are_named(data, params, reason):
    with pytest.raises(ValueError, match=reason):
        ChainEnsemble(**params).fit(*data)


def test_fitted_chains_vote_as_they_were_told_to(data):
    """Parameters changed afterwards count from the next ``fit``."""
    X, Y = data
    for vote, other in (("label", "subset"), ("subset", "label"), ("subset", "nonsense")):
        model = ChainEnsemble(n_chains=3, vote=vote, random_state=0).fit(X, Y)
        before = model.predict(X), model.predict_proba(X), model.decode(X, "hamming").labels
        mode = model.decode(X, "subset").labels
        model.set_params(vote=other, n_chains=50, max_samples=-1)
        after = model.predict(X), model.predict_proba(X), model.decode(X, "hamming").labels
        for one, two in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(model.decode(X, "subset").labels, mode)
    with pytest.raises(ValueError, match="vote must be"):
        model.fit(X, Y)
    again = model.set_params(vote="subset", n_chains=3, max_samples=None).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), before[0])


def test_published_accuracy_on_scene(real_data):
    """Li et al. (2016), Table 2: 60.6 for label votes, 63.1 for subset votes."""
    train, test = load("scene:train"), load("scene:test")
    for vote, published in (("label", 0.606), ("subset", 0.631)):
        found = []
        for seed in range(3):
            model = ChainEnsemble(vote=vote, random_state=seed).fit(train.X, train.Y)
            found.append(subset_accuracy(test.Y, model.predict(test.X)))
        assert np.mean(found) > published - 0.02
