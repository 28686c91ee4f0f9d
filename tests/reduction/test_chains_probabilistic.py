"""Probabilistic classifier chains: their own facts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import oracles
from colabel.datasets import load
from colabel.metrics import subset_accuracy
from colabel.reduction._chain import ClassifierChain
from colabel.reduction._probabilistic_chain import ProbabilisticClassifierChain
from decoders import oracles_mixture as truth

LINEAR = LogisticRegression(solver="liblinear", tol=1e-10)


@pytest.fixture
def data():
    """Five labels that depend on each other, with some noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = np.zeros((150, 5), dtype=int)
    for label in range(5):
        u = X[:, label % 3] + 1.5 * Y[:, max(label - 1, 0)] - 1.0 * Y[:, max(label - 2, 0)] - 0.5
        Y[:, label] = u + rng.logistic(size=150) > 0
    return X, Y


@pytest.fixture(scope="module")
def wide():
    """Sixteen labels: more labelings than are enumerated."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    Y = X @ rng.normal(size=(5, 16)) + 1.5 * rng.logistic(size=(200, 16)) > 1.0
    return X, Y.astype(int)


def everything(chain, X):
    Z = oracles.all_labelings(chain._n_columns)
    each = [chain.joint_log_prob(X, np.tile(z, (len(X), 1))) for z in Z]
    return np.stack(each, axis=1)


@pytest.mark.parametrize("inner", [None, LINEAR])
@pytest.mark.parametrize("order", [None, [3, 1, 4, 0, 2]])
def test_all_labelings_are_a_distribution_and_all_answers_exact(data, inner, order):
    X, Y = data
    chain = ProbabilisticClassifierChain(inner, order=order).fit(X, Y)
    every = everything(chain, X)
    np.testing.assert_allclose(np.exp(every).sum(axis=1), 1.0)
    Z = oracles.all_labelings(5)
    joint = chain.predict_joint(X)
    assert joint.rest is None
    np.testing.assert_allclose(joint.value_all(Z), every, atol=1e-8)
    np.testing.assert_allclose(chain.predict_proba(X), np.exp(every) @ Z, atol=1e-8)
    np.testing.assert_array_equal(chain.predict(X), Z[every.argmax(axis=1)])
    for decoder, matrix in {
        "expected_f": truth.f_matrix(5, 1.0),
        "expected_jaccard": truth.jaccard_matrix(5),
    }.items():
        truth.assert_best(
            chain.decode(X, decoder), np.exp(every) @ matrix.T, nonempty=False, tolerance=1e-8
        )


@pytest.mark.parametrize("inner", [None, LINEAR])
def test_searches_agree(data, inner):
    X, Y = data
    chain = ProbabilisticClassifierChain(inner).fit(X, Y)
    best = chain.decode(X)
    for search, width in (("beam", 32), ("beam", 100), ("exact", 2)):
        chain.set_params(search=search, width=width)
        found = chain.decode(X)
        np.testing.assert_allclose(found.value, best.value, atol=1e-8)
        assert found.certified.all()
    chain.set_params(search="beam", width=4)
    found, joint = chain.decode(X), chain.predict_joint(X)
    assert np.isfinite(chain.predict_top_m(X, 5)[1]).all()  # listed, beyond the beam
    assert (found.value <= best.value + 1e-9).all()
    assert (found.upper_bound >= best.value - 1e-9).all()
    np.testing.assert_allclose(joint.log_prob(found.labels), found.value, atol=1e-12)
    np.testing.assert_allclose(chain.joint_log_prob(X, found.labels), found.value, atol=1e-8)


def test_a_beam_of_one_is_the_greedy_chain(wide):
    X, Y = wide
    greedy = ClassifierChain(order="random", random_state=0).fit(X, Y)
    narrow = ProbabilisticClassifierChain(search="beam", width=1, order=greedy.order_).fit(X, Y)
    np.testing.assert_array_equal(narrow.predict(X), greedy.predict(X))


def test_beam_and_exact_search_of_many_labels(wide):
    X, Y = wide
    chain = ProbabilisticClassifierChain().fit(X, Y)
    beam = chain.decode(X)
    chain.set_params(search="exact", width=3)
    exact = chain.decode(X)
    assert exact.certified.all()
    assert (beam.value <= exact.value + 1e-12).all()
    assert (beam.upper_bound >= exact.value - 1e-12).all()
    sure = beam.certified
    assert sure.sum() > 0
    np.testing.assert_allclose(beam.value[sure], exact.value[sure], atol=1e-12)
    np.testing.assert_allclose(chain.joint_log_prob(X, exact.labels), exact.value, atol=1e-10)
    # No labeling one flip away is better.
    for label in range(16):
        flipped = exact.labels.copy()
        flipped[:, label] ^= 1
        assert (chain.joint_log_prob(X, flipped) <= exact.value + 1e-10).all()
    chain.set_params(max_nodes=1, width=1)
    cut = chain.decode(X)
    assert not cut.certified.all()
    assert (cut.upper_bound >= exact.value - 1e-10).all()


def test_exact_search_with_any_classifier_beyond_enumeration(wide):
    X = wide[0][:12]
    linear = ProbabilisticClassifierChain(search="exact", width=2).fit(*wide)
    steps = ProbabilisticClassifierChain(
        LogisticRegression(tol=1e-8, max_iter=1000), search="exact", width=2
    ).fit(*wide)
    one, other = linear.decode(X), steps.decode(X)
    assert other.certified.all()
    np.testing.assert_allclose(one.value, other.value, atol=1e-3)
    np.testing.assert_array_equal(one.labels, other.labels)


def test_samples_have_the_probabilities_of_the_chain(data):
    X, Y = data
    chain = ProbabilisticClassifierChain(order=[2, 0, 1, 4, 3]).fit(X, Y)
    draws = chain.sample(X[:3], 20_000, random_state=0)
    assert draws.shape == (3, 20_000, 5)
    assert draws.dtype == np.int8
    p = np.exp(everything(chain, X[:3]))
    found = [np.bincount(truth.place_of(d), minlength=32) / 20_000 for d in draws]
    error = np.sqrt(p * (1 - p) / 20_000)
    assert (np.abs(found - p) < 5 * error + 1e-4).all()
    np.testing.assert_array_equal(draws, chain.sample(X[:3], 20_000, random_state=0))
    other = ProbabilisticClassifierChain(LINEAR).fit(X, Y)
    assert other.sample(X[:2], 3, random_state=0).shape == (2, 3, 5)


def test_labels_come_in_any_container(data):
    X, Y = data
    chain = ProbabilisticClassifierChain().fit(X, Y)
    plain = chain.joint_log_prob(X, Y)
    np.testing.assert_array_equal(chain.joint_log_prob(X, sparse.csr_array(Y)), plain)
    with pytest.raises(ValueError, match="y has 4 labels, where fit had 5"):
        chain.joint_log_prob(X, Y[:, :4])
    with pytest.raises(ValueError, match="inconsistent"):
        chain.joint_log_prob(X, Y[:10])


def test_classes_of_a_1d_target_are_compared_by_their_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.array(list("abcdefghijklmnopqrst"))[np.digitize(X[:, 0], np.linspace(-1.5, 1.5, 19))]
    for search in ("auto", "beam", "exact"):
        chain = ProbabilisticClassifierChain(search=search).fit(X, y)
        p = chain.predict_proba(X)
        assert p.shape == (300, 20)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(chain.predict(X), chain.classes_[p.argmax(axis=1)])
    with pytest.raises(ValueError, match="classes, not labelings"):
        chain.sample(X, 2)
    np.testing.assert_allclose(
        chain.joint_log_prob(X, y), np.log(p[np.arange(300), np.searchsorted(chain.classes_, y)])
    )
    with pytest.raises(ValueError, match="'z', a class that fit has not seen"):
        chain.joint_log_prob(X[:2], ["a", "z"])


def test_the_greedy_chain_has_the_same_joint_probabilities(data):
    X, Y = data
    greedy = ClassifierChain().fit(X, Y).joint_log_prob(X, Y)
    np.testing.assert_allclose(
        greedy, ProbabilisticClassifierChain().fit(X, Y).joint_log_prob(X, Y)
    )


@pytest.mark.parametrize("search", ["auto", "beam", "exact"])
@pytest.mark.parametrize("n_labels", [1, 6, 14])
def test_empty_labelings_can_be_forbidden(search, n_labels):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 3)), (rng.random((80, n_labels)) < 0.1).astype(int)
    allowed = ProbabilisticClassifierChain(search=search, width=1).fit(X, Y)
    assert not allowed.predict(X).any(axis=1).all()
    chain = ProbabilisticClassifierChain(search=search, width=1, empty="forbid").fit(X, Y)
    found = chain.decode(X)
    assert found.labels.any(axis=1).all()
    if n_labels == 1:
        assert found.labels.all()


def test_impossible_labelings_do_no_harm(data):
    X, Y = data
    for search in ("beam", "exact"):
        tree = DecisionTreeClassifier(random_state=0)
        chain = ProbabilisticClassifierChain(tree, search=search, width=3).fit(X, Y)
        np.testing.assert_array_equal(chain.predict(X), Y)
        assert np.isfinite(chain.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"search": "a-star"}, "search must be"),
        ({"width": 0}, "width must be a whole number of at least 1, not 0"),
        ({"width": 15.0}, "width must be a whole number of at least 1, not 15.0"),
        ({"n_draws": 0}, "n_draws must be a whole number of at least 1, not 0"),
        ({"max_nodes": 0}, "max_nodes must be a whole number of at least 1, not 0"),
        ({"max_nodes": 1e5}, "max_nodes must be a whole number of at least 1, not 100000.0"),
        ({"estimator": LinearSVC()}, "needs an estimator with predict_proba; got LinearSVC"),
        ({"empty": "maybe"}, "empty must be"),
        ({"order": "sorted"}, "order must be"),
    ],
)
def test_wrong_parameters_are_named(data, params, reason):
    with pytest.raises(ValueError, match=reason):
        ProbabilisticClassifierChain(**params).fit(*data)


def test_a_search_changed_after_fitting_is_checked_too(wide):
    X, Y = wide
    chain = ProbabilisticClassifierChain(search="beam", width=2).fit(X, Y)
    narrow = chain.predict_joint(X)
    best = chain.set_params(width=7).decode(X).value
    assert (best >= chain.set_params(width=1).decode(X).value).all()
    assert chain.set_params(n_draws=3, width=2).predict_joint(X).scores.shape[1] <= 5
    chain.set_params(n_draws=256)
    for wrong in ({"width": 0}, {"n_draws": 2.5}, {"max_nodes": -1}, {"search": "none"}):
        chain.set_params(**wrong)
        for call in (chain.predict, chain.predict_proba, chain.predict_joint, chain.decode):
            with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
                call(X)
        chain.set_params(search="beam", width=2, max_nodes=100, n_draws=256)
    np.testing.assert_array_equal(chain.predict_joint(X).scores, narrow.scores)
    for n_draws in (-1, 1.5):
        with pytest.raises(ValueError, match="n_draws must be a whole number"):
            chain.sample(X, n_draws)


def test_blocks_of_rows_give_the_same(wide, monkeypatch):
    X, Y = wide
    for chain in (
        ProbabilisticClassifierChain(search="beam", width=5).fit(X, Y),
        ProbabilisticClassifierChain(LINEAR).fit(X, Y[:, :4]),
    ):
        whole = chain.predict_proba(X)
        with monkeypatch.context() as patch:
            patch.setattr("colabel.base.BLOCK_BYTES", 20_000)
            np.testing.assert_allclose(chain.predict_proba(X), whole, rtol=1e-9)


def test_published_accuracy_on_scene(real_data):
    """Li et al. (2016), Table 2: 62.9 for the greedy chain, 64.8 with beam search."""
    train, test = load("scene:train"), load("scene:test")
    greedy = ClassifierChain().fit(train.X, train.Y)
    assert subset_accuracy(test.Y, greedy.predict(test.X)) > 0.629
    chain = ProbabilisticClassifierChain(search="beam").fit(train.X, train.Y)
    assert subset_accuracy(test.Y, chain.predict(test.X)) > 0.648
