"""Sample weights of the estimators for facets: so many rows, none, or refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from colabel.datasets import make_facets
from colabel.facets import (
    CooccurrenceDecomposition,
    CoupledSets,
    DualSetBoosting,
    IndependentDecomposition,
    LabelStacking,
    OnePerSetClassifier,
)
from colabel.facets._base import distinct_rows
from colabel.reduction import LabelPowerset

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
EXACT = [
    IndependentDecomposition(TREE),
    CooccurrenceDecomposition(TREE),
    LabelStacking(TREE),
    LabelStacking(TREE, search="exact"),
    # Trees choose among equal splits by the last digit of weights.
    DualSetBoosting(GaussianNB(), n_rounds=3, weighting="weight"),
    DualSetBoosting(GaussianNB(), n_rounds=3, weighting="weight", inputs="true"),
    OnePerSetClassifier(LabelPowerset(TREE)),
]
DRAWN = [
    DualSetBoosting(TREE, n_rounds=3, random_state=0),
    DualSetBoosting(TREE, n_rounds=3, reuse=False, inputs="true", random_state=1),
    CoupledSets(TREE, n_folds=3, random_state=0),
    CoupledSets(TREE, n_folds=2, random_state=1),
]


def problem(seed):
    made = make_facets(60, 4, (3, 2), dependence=0.5, random_state=seed)
    return made.X, made.classes + 10, np.random.default_rng(seed).integers(0, 4, size=60)


@pytest.mark.parametrize("model", [*EXACT, *DRAWN], ids=str)
def test_a_weight_is_so_many_rows(model):
    for seed in range(15):
        X, Y, times = problem(seed)
        rows = np.repeat(np.arange(60), times)
        weighed = model.fit(X, Y, sample_weight=times).predict_proba(X)
        repeated = model.fit(X[rows], Y[rows]).predict_proba(X)
        for a, b in zip(weighed, repeated, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("model", DRAWN, ids=str)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_chance_does_not_know_the_order_of_the_rows(model, container):
    for seed in range(5):
        X, Y, times = problem(seed)
        weight = np.where(seed % 2, times, times + 0.5)
        found = model.fit(X, Y, sample_weight=weight).predict_proba(X)
        rows = np.random.default_rng(seed).permutation(60)
        model.fit(container(X[rows]), Y[rows], sample_weight=weight[rows])
        for a, b in zip(found, model.predict_proba(container(X)), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)


def test_equal_rows_are_in_one_fold():
    """Copies of a row in training would tell a classifier that remembers rows what it is asked."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.integers(10, 13, size=(40, 2))  # nothing to be learned
    memory = KNeighborsClassifier(1)
    once, thrice = (
        CoupledSets(memory, random_state=0).fit(np.tile(X, (k, 1)), np.tile(Y, (k, 1))).coupling_
        for k in (1, 3)
    )
    assert np.all(once.temperatures < 0.2)
    assert np.all(thrice.temperatures < 0.2)


@pytest.mark.parametrize(
    ("weight", "n_drawn"),
    [(None, 90), (np.full(90, 2), 180), (np.full(90, 1 / 90), 60), (np.full(90, 0.999), 90)],
    ids=["none", "whole", "shares", "nearly whole"],
)
def test_as_many_rows_are_drawn_as_weights_add_up_to(weight, n_drawn, monkeypatch):
    X, Y, _ = problem(5)
    X, Y, sizes = np.vstack([X, X[:30]]), np.vstack([Y, Y[:30]]), []
    fit = DecisionTreeClassifier.fit

    def noted(self, X, y, **params):
        sizes.append(len(y))
        return fit(self, X, y, **params)

    monkeypatch.setattr(DecisionTreeClassifier, "fit", noted)
    DualSetBoosting(TREE, n_rounds=2, random_state=0).fit(X, Y, sample_weight=weight)
    assert set(sizes) == {n_drawn}


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_distinct_rows_equal_those_of_a_dictionary(container):
    orders = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.integers(-1, 2, size=(rng.integers(1, 30), 2)) * rng.choice([0.5, np.nan, -0.0])
        codes = rng.integers(0, 2, size=(len(X), 1 + seed % 2))
        rows = [(str(x + 0.0), str(c)) for x, c in zip(X, codes, strict=True)]
        first, number = distinct_rows(container(X), codes)
        assert sorted(first) == sorted({row: rows.index(row) for row in rows}.values())
        assert [rows[i] for i in first[number]] == rows
        orders.append([rows[i] for i in first])
        turned = rng.permutation(len(X))
        again, _ = distinct_rows(container(X[turned]), codes[turned])
        assert [rows[i] for i in turned[again]] == orders[-1]
    assert any(order != sorted(order) for order in orders)


def test_explicit_zeros_and_the_order_of_entries_make_no_row_another():
    plain = sparse.csr_array(np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 2.0]]))
    odd = sparse.csr_array(([2.0, 1.0, 0.0, 1.0, 2.0], [2, 0, 1, 0, 2], [0, 3, 5]), shape=(2, 3))
    codes = np.zeros((2, 1), dtype=int)
    for X in (plain, odd):
        first, number = distinct_rows(X, codes)
        assert (first.tolist(), number.tolist()) == ([0], [0, 0])
    assert odd.indices.tolist() == [2, 0, 1, 0, 2]  # what was given is left as it was


@pytest.mark.parametrize("model", [*EXACT, *DRAWN], ids=str)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_without_weight_are_left_out_with_their_classes(model, container):
    X, Y, times = problem(0)
    if isinstance(model.estimator, GaussianNB) and container is not np.asarray:
        pytest.skip("naive Bayes takes dense rows only")
    rare = Y[:, 0] == 12
    weight = np.where(rare, 0.0, 1.0 + times)
    found = model.fit(container(X), Y, sample_weight=weight)
    np.testing.assert_array_equal(found.classes_[0], [10, 11])
    after = found.predict(container(X))
    rest = model.fit(container(X[~rare]), Y[~rare], sample_weight=weight[~rare])
    np.testing.assert_array_equal(rest.predict(container(X)), after)


@pytest.mark.parametrize("model", [*EXACT, *DRAWN], ids=str)
def test_heavy_rows_are_the_ones_learned(model):
    X, Y, _ = problem(1)
    wrong = np.where(Y == 10, 11, 10)
    both, labels = np.vstack([X, X]), np.vstack([Y, wrong])
    for heavy, light in ((slice(0, 60), slice(60, 120)), (slice(60, 120), slice(0, 60))):
        weight = np.full(120, 0.01)
        weight[heavy] = 100.0
        model.fit(both, labels, sample_weight=weight)
        assert model.score(X, labels[heavy]) > 0.1 + model.score(X, labels[light])


def test_a_pipeline_hands_weights_to_its_last_step():
    X, Y, times = problem(2)
    inner = make_pipeline(StandardScaler(with_mean=False, with_std=False), TREE)
    weighed = IndependentDecomposition(inner).fit(X, Y, sample_weight=times).predict_proba(X)
    plain = IndependentDecomposition(TREE).fit(X, Y, sample_weight=times).predict_proba(X)
    for a, b in zip(weighed, plain, strict=True):
        np.testing.assert_allclose(a, b)


def test_what_cannot_be_weighed_is_refused():
    X, Y, times = problem(3)
    for model in (IndependentDecomposition, CoupledSets, DualSetBoosting):
        with pytest.raises(ValueError, match="KNeighborsClassifier does not support sample_weight"):
            model(KNeighborsClassifier(), **options(model)).fit(X, Y, sample_weight=times)
    for weight, reason in ((-times, "Negative values"), (times[:-1], "sample_weight.shape")):
        with pytest.raises(ValueError, match=reason):
            IndependentDecomposition(TREE).fit(X, Y, sample_weight=weight)


def options(model):
    """Drawn rows need no weights: only their distribution is weighed."""
    return {"weighting": "weight"} if model is DualSetBoosting else {}


def test_drawn_rows_ask_no_weights_of_the_classifier():
    X, Y, times = problem(4)
    model = DualSetBoosting(KNeighborsClassifier(1), n_rounds=1, reuse=False, random_state=0)
    model.fit(X, Y, sample_weight=np.where(times > 1, times, 1e-12))
    heavy = times > 1
    assert model.score(X[heavy], Y[heavy]) > model.score(X[~heavy], Y[~heavy])


def test_weights_that_are_no_counts_of_rows_are_refused():
    X, Y, _ = problem(5)
    with pytest.raises(ValueError, match="sample weights add up to 6e\\+13"):
        DualSetBoosting(TREE, n_rounds=1, random_state=0).fit(X, Y, np.full(len(X), 1e12))
    shares = DualSetBoosting(TREE, n_rounds=1, weighting="weight")
    assert shares.fit(X, Y, np.full(len(X), 1e12)).predict(X).shape == Y.shape
