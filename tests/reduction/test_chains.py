"""Classifier chains: their own facts."""

import joblib
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, log_expit
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as SklearnChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from colabel import BinaryRelevance
from colabel.datasets import load
from colabel.decoders import ExpectedF
from colabel.exceptions import IncompatibleError
from colabel.persistence import load as load_model
from colabel.persistence import save
from colabel.reduction import BatchLogisticRegression
from colabel.reduction._chain import ClassifierChain
from colabel.reduction._chain_ensemble import ChainEnsemble
from colabel.reduction._conditional_base import chain_order, chain_parents
from colabel.reduction._dependency_network import ConditionalDependencyNetwork
from colabel.reduction._probabilistic_chain import ProbabilisticClassifierChain

LINEAR = LogisticRegression(solver="liblinear", tol=1e-10)


@pytest.fixture(scope="module")
def yeast():
    train, test = load("yeast:train"), load("yeast:test")
    return train.take(slice(0, 400)), test.take(slice(0, 200))


def varying(Y):
    """The labels with both values."""
    return Y[:, [0, 1, 4]]


@pytest.mark.parametrize("order", [None, list(range(14))[::-1]])
def test_predictions_equal_those_of_scikit_learn(yeast, order):
    train, test = yeast
    theirs = SklearnChain(LINEAR, order=order).fit(train.X, train.Y)
    ours = ClassifierChain(LINEAR, order=order).fit(train.X, train.Y)
    np.testing.assert_array_equal(ours.predict(test.X), theirs.predict(test.X))
    np.testing.assert_allclose(
        ours.decision_function(test.X), theirs.decision_function(test.X), atol=1e-6
    )
    np.testing.assert_allclose(ours.predict_proba(test.X), theirs.predict_proba(test.X), atol=1e-9)


def test_the_default_engine_reaches_the_same_optimum_step_by_step(yeast):
    train, test = yeast
    exact = LogisticRegression(max_iter=20_000, tol=1e-10)
    order = np.random.default_rng(0).permutation(14)
    batch = ClassifierChain(BatchLogisticRegression(tol=1e-9), order=order).fit(train.X, train.Y)
    steps = ClassifierChain(exact, order=order).fit(train.X, train.Y)
    found = batch.conditionals_
    for label, given in enumerate(chain_parents(order)):
        one = steps.conditionals_.estimators[label]
        np.testing.assert_allclose(found.coef[label], one.coef_[0, :103], atol=1e-4)
        np.testing.assert_allclose(found.couplings[label, given], one.coef_[0, 103:], atol=1e-4)
        np.testing.assert_allclose(found.intercept[label], one.intercept_[0], atol=1e-4)
        others = np.setdiff1d(np.arange(14), given)
        assert not found.couplings[label, others].any()
    np.testing.assert_array_equal(batch.predict(test.X), steps.predict(test.X))


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_output_columns_are_those_of_Y_whatever_the_order(toy, inner):
    X, Y = toy
    order = np.array([4, 1, 3, 0, 2])
    chained = ClassifierChain(inner, order=order).fit(X, Y)
    plain = ClassifierChain(inner).fit(X, Y[:, order])
    np.testing.assert_allclose(
        chained.decision_function(X)[:, order], plain.decision_function(X), atol=1e-4
    )
    assert chained.order_.tolist() == order.tolist()


def test_log_odds_are_those_of_the_greedy_path(toy):
    X, Y = toy
    chain = ClassifierChain(order=[4, 0, 1, 2, 3]).fit(X, Y)
    linear = chain.conditionals_
    for x, odds, y in zip(X, chain.decision_function(X), chain.predict(X), strict=True):
        seen = np.zeros(5)
        for label in chain.order_:
            u = linear.coef[label] @ x + linear.intercept[label] + linear.couplings[label] @ seen
            np.testing.assert_allclose(odds[label], u, atol=1e-12)
            seen[label] = u > 0
        np.testing.assert_array_equal(seen, y)


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_one_labeling_has_one_probability(toy, inner):
    """That of the chain rule; the greedy path knows of no other labeling, and does not say so."""
    X, Y = toy
    greedy = ClassifierChain(inner).fit(X, Y)
    chain = ProbabilisticClassifierChain(inner).fit(X, Y)
    found = greedy.predict(X)
    for labels in (found, Y, 1 - Y):
        np.testing.assert_allclose(
            greedy.joint_log_prob(X, labels), chain.joint_log_prob(X, labels), atol=1e-6
        )
    along = log_expit(np.where(found > 0, 1, -1) * greedy.decision_function(X)).sum(axis=1)
    np.testing.assert_allclose(greedy.joint_log_prob(X, found), along, atol=1e-10)
    assert not hasattr(greedy, "predict_top_m")
    table = greedy.predict_joint(X)
    np.testing.assert_array_equal(table.unary, greedy.decision_function(X))
    np.testing.assert_allclose(greedy.predict_proba(X), expit(table.unary), atol=1e-12)
    for ask in (lambda: table.log_prob(found), table.marginals):
        with pytest.raises(IncompatibleError, match="scores, not probabilities"):
            ask()


@pytest.mark.parametrize("target", ["f1", "jaccard", "hamming", ExpectedF(beta=2.0)])
def test_targets_that_need_a_distribution_are_refused(toy, target):
    X, Y = toy
    reason = "ProbabilisticClassifierChain fits the same chain"
    with pytest.raises(IncompatibleError, match=reason):
        ClassifierChain().fit(X, Y).decode(X, target)
    with pytest.raises(IncompatibleError, match=reason):
        ClassifierChain(decoder=target).fit(X, Y)
    chain = ClassifierChain(decoder="subset").fit(X, Y)
    np.testing.assert_array_equal(chain.decode(X).labels, chain.predict(X))


def test_random_orders_follow_the_seed(toy):
    X, Y = toy
    one, same = (ClassifierChain(order="random", random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.order_, same.order_)
    np.testing.assert_array_equal(one.decision_function(X), same.decision_function(X))
    drawn = (ClassifierChain(order="random", random_state=s).fit(X, Y) for s in range(8))
    seen = {tuple(chain.order_) for chain in drawn}
    assert len(seen) > 3
    assert sorted(one.order_) == list(range(5))


def test_results_do_not_depend_on_n_jobs(toy):
    X, Y = toy
    for inner in (None, LINEAR):
        one = ClassifierChain(inner, n_jobs=1).fit(X, Y).decision_function(X)
        with joblib.parallel_config(backend="threading"):
            two = ClassifierChain(inner, n_jobs=2).fit(X, Y).decision_function(X)
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("order", ["best", [0, 1], [0, 1, 2, 3, 3], [1, 2, 3, 4, 5], [[0, 1]]])
def test_orders_that_are_none_are_named(toy, order):
    with pytest.raises(ValueError, match="order must"):
        ClassifierChain(order=order).fit(*toy)


def test_orders_and_parents():
    rng = np.random.RandomState(0)
    assert chain_order(None, 3, rng).tolist() == [0, 1, 2]
    assert [p.tolist() for p in chain_parents(np.array([2, 0, 1]))] == [[2], [2, 0], []]


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_constant_labels_get_a_smoothed_prior(toy, inner):
    X, Y = toy
    p = ClassifierChain(inner).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(p[:, 2], 61 / 62)
    np.testing.assert_allclose(p[:, 3], 1 / 62)
    only = ClassifierChain(inner).fit(X, Y[:, 2:4])
    np.testing.assert_array_equal(only.predict(X), Y[:, 2:4])


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_sparse_features_stay_sparse_and_give_the_same(toy, inner):
    X, Y = toy
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = ClassifierChain(inner).fit(X, Y).decision_function(X)
    chain = ClassifierChain(inner).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(chain.decision_function(sparse.csr_array(X)), dense, atol=1e-4)
    rows = chain.conditionals_.at(sparse.csr_array(X))
    if inner is not None:
        assert sparse.issparse(rows.X)


def test_sample_weights_count_rows(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    for inner in (BatchLogisticRegression(tol=1e-9), LINEAR):
        weighted = ClassifierChain(inner).fit(X, Y, sample_weight=weight).predict_proba(X)
        repeated = ClassifierChain(inner).fit(X[rows], Y[rows]).predict_proba(X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-5)
    with pytest.raises(ValueError, match="KNeighborsClassifier does not support sample_weight"):
        ClassifierChain(KNeighborsClassifier()).fit(X, Y, sample_weight=weight)


def test_one_label_is_binary_relevance(toy):
    X, Y = toy
    chain = ClassifierChain().fit(X, Y[:, :1]).decision_function(X)
    plain = BinaryRelevance().fit(X, Y[:, :1]).decision_function(X)
    np.testing.assert_allclose(chain, plain, atol=1e-4)


def test_classifiers_without_probabilities_serve(toy):
    X, Y = toy
    chain = ClassifierChain(LinearSVC(random_state=0)).fit(X, Y)
    theirs = SklearnChain(LinearSVC(random_state=0)).fit(X, varying(Y))
    ours = ClassifierChain(LinearSVC(random_state=0)).fit(X, varying(Y))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert not hasattr(chain, "predict_proba")
    assert not chain.predict_joint(X).is_distribution
    hard = VotingClassifier([("a", LogisticRegression()), ("b", LinearSVC())])
    assert (ClassifierChain(hard).fit(X, Y).predict(X) == Y).mean() > 0.8


def test_missing_values_pass_where_the_classifier_takes_them(toy):
    X, Y = toy
    X[::7, 1] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    assert ClassifierChain(trees).fit(X, Y).predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="NaN"):
        ClassifierChain().fit(X, Y)


def test_the_best_label_is_turned_on_where_empty_sets_are_forbidden():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 3)), (rng.random((100, 6)) < 0.1).astype(int)
    allowed, forbidden = (ClassifierChain(empty=e).fit(X, Y) for e in ("allow", "forbid"))
    empty = ~allowed.predict(X).any(axis=1)
    assert empty.any()
    np.testing.assert_array_equal(
        forbidden.predict(X)[empty].argmax(axis=1), allowed.decision_function(X)[empty].argmax(1)
    )
    assert (forbidden.predict(X)[empty].sum(axis=1) == 1).all()


def test_no_convergence_is_said(toy):
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        ClassifierChain(BatchLogisticRegression(C=1e6, max_iter=2)).fit(*toy)


def test_labels_that_follow_from_others_are_learnt_through_the_chain():
    """The second label is the first one exactly; features know only the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    first = (X[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(int)
    chain = ClassifierChain(BatchLogisticRegression(C=100.0)).fit(X, np.column_stack([first] * 2))
    found = chain.predict(X)
    np.testing.assert_array_equal(found[:, 0], found[:, 1])
    assert expit(chain.conditionals_.couplings[1, 0]) > 0.99


@pytest.mark.parametrize(
    "model",
    [
        ClassifierChain(order="random", random_state=0),
        ClassifierChain(LINEAR),
        ProbabilisticClassifierChain(search="beam", width=4),
        ChainEnsemble(n_chains=3, vote="subset", random_state=0),
        ConditionalDependencyNetwork(n_chains=2, n_draws=20, random_state=0),
    ],
    ids=str,
)
def test_saved_models_predict_the_same(toy, model, tmp_path):
    X, Y = toy
    model.fit(X, Y)
    save(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
