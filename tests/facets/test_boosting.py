"""DSML against the literal Algorithm 1, and its parts."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import oracles_facets as oracles
from colabel.datasets import make_facets
from colabel.facets import DualSetBoosting, IndependentDecomposition
from colabel.facets._base import distinct_rows

STUMP = DecisionTreeClassifier(max_depth=2, random_state=0)


def data(seed, n=100, sizes=(4, 2)):
    made = make_facets(n, 4, sizes, dependence=0.7, random_state=seed)
    return made.X, made.classes + 10


def in_drawing_order(X, Y):
    """Put rows in the order in which the estimator draws them, which is not that of the data."""
    first, _ = distinct_rows(X, Y)
    assert len(first) == len(X)
    return X[first], Y[first]


def same_draws(seed, n):
    """The rows that the estimator draws: those of a, then those of b, in every round."""
    rng = np.random.RandomState(seed)

    def draw(t, wa, wb):
        return rng.choice(n, size=n, p=wa), rng.choice(n, size=n, p=wb)

    return draw


@pytest.mark.parametrize("inputs", ["predicted", "true"])
@pytest.mark.parametrize("seed", range(6))
def test_two_facets_follow_the_algorithm_of_the_paper(seed, inputs):
    X, Y = data(seed)
    train, test = X[:70], X[70:]
    drawn, codes = in_drawing_order(train, Y[:70] - 10)
    B = (1.0, 1.05, 1.5)[seed % 3]
    model = DualSetBoosting(STUMP, n_rounds=5, B=B, inputs=inputs, random_state=seed)
    model.fit(train, Y[:70])
    predict, weights, errors = oracles.dsml(
        drawn,
        codes[:, 0] + 10,
        codes[:, 1] + 10,
        lambda X, y: DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y),
        5,
        B,
        same_draws(seed, 70),
        inputs,
    )
    np.testing.assert_allclose(model.errors_, errors)
    np.testing.assert_allclose(model.alphas_, weights)
    np.testing.assert_array_equal(model.predict(test), [predict(x) for x in test])


def test_the_smaller_set_goes_first_wherever_it_stands():
    X, Y = data(3)
    one = DualSetBoosting(GaussianNB(), weighting="weight", n_rounds=4).fit(X, Y)
    turned = DualSetBoosting(GaussianNB(), weighting="weight", n_rounds=4).fit(X, Y[:, ::-1])
    assert (list(one.order_), list(turned.order_)) == ([1, 0], [0, 1])
    np.testing.assert_array_equal(one.predict(X), turned.predict(X)[:, ::-1])
    np.testing.assert_allclose(one.alphas_, turned.alphas_[:, ::-1])


def test_stages_end_with_the_prediction():
    X, Y = data(4)
    model = DualSetBoosting(STUMP, n_rounds=6, random_state=0).fit(X, Y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.rounds_) == 6
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    for rounds in (1, 3):
        short = DualSetBoosting(STUMP, n_rounds=rounds, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(short.predict(X), stages[rounds - 1])


def samme(X, y, rounds, eta, rng):
    """Boosting of one set by resampling, the weights of models damped by ``eta``."""
    n, classes = len(y), np.unique(y)
    w, votes = np.full(n, 1 / n), np.zeros((n, len(classes)))
    for _ in range(rounds):
        rows = rng.choice(n, size=n, p=w)
        model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[rows], y[rows])
        wrong = model.predict(X) != y
        error = np.clip(wrong[rows].mean(), 1e-9, 1 - 1e-9)
        alpha = eta * (np.log((1 - error) / error) + np.log(len(classes) - 1))
        votes[np.arange(n), np.searchsorted(classes, model.predict(X))] += alpha
        w = w * np.exp(alpha * wrong)
        w /= w.sum()
    return classes[votes.argmax(axis=1)]


def test_one_set_is_damped_boosting():
    X, Y = data(5)
    model = DualSetBoosting(STUMP, n_rounds=5, random_state=3).fit(X, Y[:, 0])
    drawn, codes = in_drawing_order(X, Y[:, :1] - 10)
    expected = samme(drawn, codes[:, 0] + 10, 5, 1 / 4, np.random.RandomState(3))
    np.testing.assert_array_equal(model.predict(drawn), expected)


@pytest.mark.parametrize("eta", [None, 0.2, 1.0])
def test_without_reuse_and_adjusting_facets_are_boosted_apart(eta):
    X, Y = data(6)
    options = {"n_rounds": 5, "learning_rate": eta, "weighting": "weight"}
    both = DualSetBoosting(STUMP, B=1.0, reuse=False, **options).fit(X, Y)
    for s in range(2):
        alone = DualSetBoosting(STUMP, **options).fit(X, Y[:, s])
        np.testing.assert_array_equal(both.predict(X)[:, s], alone.predict(X))


def test_a_row_gains_weight_for_its_own_mistake_and_for_each_other_one():
    model = DualSetBoosting(B=1.5)
    wrong = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=bool)
    w = model._adjusted(np.full((4, 3), 0.25), np.array([0.5, 1.0, 2.0]), wrong)
    literal = np.array(
        [
            [1, 1, 1],
            [np.exp(0.5), 1.5, 1.5],
            [1.5**2, 1.5 * np.exp(1.0), 1.5 * np.exp(2.0)],
            [1.5**2 * np.exp(0.5), 1.5**2 * np.exp(1.0), 1.5**2 * np.exp(2.0)],
        ]
    )
    np.testing.assert_allclose(w, literal / literal.sum(axis=0))


def test_three_facets_feed_one_another_in_a_cycle():
    X, Y = data(7, n=150, sizes=(4, 3, 2))
    model = DualSetBoosting(GaussianNB(), weighting="weight", n_rounds=1).fit(X, Y)
    assert list(model.order_) == [2, 1, 0]

    def joined(classes, size):
        return np.hstack([X, np.eye(size)[classes - 10]])

    raw = GaussianNB().fit(X, Y[:, 2]).predict(X)
    second = GaussianNB().fit(joined(raw, 2), Y[:, 1]).predict(joined(raw, 2))
    first = GaussianNB().fit(joined(second, 3), Y[:, 0]).predict(joined(second, 3))
    last = GaussianNB().fit(joined(first, 4), Y[:, 2]).predict(joined(first, 4))
    np.testing.assert_array_equal(model.predict(X), np.column_stack([first, second, last]))


def test_a_guess_is_kept_in_the_first_round_and_ends_the_others():
    X, Y = data(8)
    worst = DummyClassifier(strategy="constant", constant=0)
    first = np.where(np.arange(100) < 90, 11, 10)  # the constant is the rare class
    model = DualSetBoosting(worst, n_rounds=5, random_state=0)
    model.fit(X, np.column_stack([first, Y[:, 1]]))
    assert len(model.rounds_) == 1
    np.testing.assert_array_equal(model.alphas_, 1.0)
    assert model.predict(X).shape == (100, 2)


def test_perfect_models_have_finite_weights():
    X, Y = data(9)
    for inputs in ("predicted", "true", "true_update"):
        model = DualSetBoosting(DecisionTreeClassifier(), inputs=inputs, random_state=0)
        assert np.isfinite(model.fit(X, Y).alphas_).all()
        model.set_params(weighting="weight")  # a sample leaves out rows, which may be wrong
        np.testing.assert_array_equal(model.fit(X, Y).predict(X), Y)
        assert np.isfinite(model.alphas_).all()


def test_readings_of_the_paper_differ():
    X, Y = data(10, n=300)
    options = {"weighting": "weight", "n_rounds": 4}
    found = [
        DualSetBoosting(GaussianNB(), inputs=inputs, **options).fit(X, Y).alphas_
        for inputs in ("predicted", "true", "true_update")
    ]
    assert not np.allclose(found[0], found[1])
    assert not np.allclose(found[1], found[2])


def test_the_seed_fixes_the_result():
    X, Y = data(11)
    tree = DecisionTreeClassifier(max_features=1, max_depth=2)
    runs = [DualSetBoosting(tree, random_state=s).fit(X, Y).predict_proba(X) for s in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    assert not np.array_equal(runs[0][0], runs[2][0])


def test_weighting_needs_a_classifier_that_takes_weights():
    X, Y = data(12)
    with pytest.raises(ValueError, match="KNeighborsClassifier does not support sample_weight"):
        DualSetBoosting(KNeighborsClassifier(), weighting="weight").fit(X, Y)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    DualSetBoosting(pipeline, weighting="weight", n_rounds=2).fit(X, Y)  # those of its last step


def test_reuse_helps_where_one_set_repairs_the_other():
    """The other label makes what no line can tell linear: the parity of ordered classes."""
    rng = np.random.default_rng(0)
    second = rng.integers(0, 4, size=1200)
    first = np.where(rng.random(1200) < 0.95, second % 2, rng.integers(0, 2, size=1200))
    X = np.column_stack([second + 0.3 * rng.normal(size=1200), rng.normal(size=1200)])
    Y = np.column_stack([first + 5, second + 5])
    base = LogisticRegression()
    order = [1, 0]
    with_reuse = DualSetBoosting(base, order=order, random_state=0).fit(X[:400], Y[:400])
    without = DualSetBoosting(base, reuse=False, random_state=0).fit(X[:400], Y[:400])
    alone = IndependentDecomposition(base).fit(X[:400], Y[:400])
    scores = [model.score(X[400:], Y[400:]) for model in (with_reuse, without, alone)]
    assert scores[0] > max(scores[1:]) + 0.1


def test_what_cannot_be_right_is_refused():
    X, Y = data(0)
    for options, reason in (
        ({"n_rounds": 0}, "n_rounds must be a whole number"),
        ({"B": 0.9}, "B must be a number of at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive number"),
        ({"reuse": "yes"}, "reuse must be True or False"),
        ({"weighting": "both"}, "weighting must be 'sample' or 'weight'"),
        ({"inputs": "none"}, "inputs must be"),
        ({"order": [1]}, "each of the facets 0 to 1 once"),
    ):
        with pytest.raises(ValueError, match=reason):
            DualSetBoosting(**options).fit(X, Y)
