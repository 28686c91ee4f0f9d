"""Features in units of their own, or in one for all."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from colabel.linear import features as module
from colabel.linear.features import Features, FeatureScale, _held_out, units_differ
from colabel.mixture import ConditionalBernoulliMixture, Logistic
from colabel.numerics.distinct_rows import distinct_rows

CONTAINERS = [np.asarray, sparse.csr_array]
UNITS = 10.0 ** np.array([0, -4, 3, 6, 1, -8])


def data(n=120, wide=0, seed=0):
    """Labels of all columns, the first of which is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.7) + np.arange(6)
    X[:, 0] = 2.0
    Y = (X - X.mean(axis=0)) @ rng.normal(size=(6, 3)) + 0.1 * rng.normal(size=(n, 3)) > 0
    return np.hstack([X, rng.normal(size=(n, wide))]), Y.astype(int)


def fit(X, Y, scale="auto", *, experts=None, n_components=3, n_steps=3, **settings):
    """Fit a mixture of regressions of these settings, or of other experts."""
    experts = experts or Logistic(**{"max_iter": 50, "scale": scale, **settings})
    clf = ConditionalBernoulliMixture(
        n_components, experts=experts, max_iter=n_steps, random_state=0
    )
    return clf.fit(X, Y)


def choose_scale(X, Y, weight, variance):
    return FeatureScale("auto", variance).fit(X, Y, weight).chosen


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.5}, {"prior": "shared"}], ids=str)
@pytest.mark.parametrize("wide", [0, 150])
def test_columns_of_many_units_are_as_good_as_standardised_ones(container, options, wide):
    X, Y = data(wide=wide)
    units = np.concatenate([UNITS, np.full(wide, 1e-3)])
    standard = StandardScaler().fit_transform(X)
    expected = fit(standard, Y, scale=True, **options).joint_log_prob(standard, Y)
    for scale in ("columns",) if wide else ("columns", "auto"):  # noise may be better left small
        rows = container(X * units)
        found = fit(rows, Y, scale, **options).joint_log_prob(rows, Y)
        np.testing.assert_allclose(found, expected, atol=1e-3)
    lost = fit(container(X * units), Y, True, **options).joint_log_prob(container(X * units), Y)
    assert lost.mean() < expected.mean() - 0.1


@pytest.mark.parametrize("container", CONTAINERS)
def test_columns_of_one_kind_are_left_in_one_unit(container):
    X, Y = data()
    rows = container(X * [1, 2, 0.5, 1, 3, 1])
    one = fit(rows, Y, True)
    np.testing.assert_array_equal(fit(rows, Y).predict_proba(rows), one.predict_proba(rows))
    assert fit(rows, Y).models_[0].gate.features.scaler.columns is None


def test_spreads_that_are_not_far_apart():
    rng = np.random.default_rng(0)
    words = rng.random((4000, 300)) < 0.5 / np.arange(1, 301)
    assert not units_differ(words.var(axis=0))
    assert not units_differ(np.zeros(4))
    assert not units_differ(np.array([0.0, 1e-300]))
    assert units_differ(np.array([1.0, 1e-200, 1e200]))
    assert units_differ(np.array([1e300, 1e308, 1e290]))
    for ratio, differ in ((0.04**2, True), (0.07**2, False)):  # of variances
        assert units_differ(np.array([2.0 - ratio**2, ratio**2])) is differ


@pytest.mark.parametrize("container", CONTAINERS)
def test_far_apart_for_a_reason_or_by_accident(container):
    """Principal components of a smooth matrix tell little where they vary little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60)) / np.arange(1, 61) ** 2
    assert units_differ(X.var(axis=0))
    labels = (X[:, :3] @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(200, 4)) > 0).astype(int)
    assert fit(container(X), labels).scale_ is True
    X, Y = data(n=200)
    assert fit(container(X * UNITS), Y).scale_ == "columns"


def normal(rng):
    return rng.normal(size=(60, 12)) / np.arange(1, 13) ** 3


def shares(rng):
    """Rows that add up to one."""
    X = np.exp(rng.normal(size=(60, 12))) * 10.0 ** -np.linspace(0, 5, 12)
    return X / X.sum(axis=1, keepdims=True)


def counts(rng):
    """Whole numbers with the same total, some of them zero, and a large constant."""
    share = 10.0 ** -np.linspace(0, 10, 11)
    X = rng.multinomial(10**11, share / share.sum(), size=60).astype(float)
    return np.hstack([X, np.full((60, 1), 1e13)])


def words(rng):
    return rng.exponential(size=(60, 12)) * (rng.random((60, 12)) < 0.3) / np.arange(1, 13) ** 4


def undecided(seed, rows=normal):
    """Labels of large features or of small ones, so that either answer is right at times."""
    rng = np.random.default_rng(seed)
    X = rows(rng)
    spread = X.std(axis=0)
    standard = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    told_by = rng.normal(size=(12, 2)) * np.arange(1.0, 13)[:, None] ** rng.uniform(-3, 0)
    told = standard @ told_by
    return X, (told + 0.3 * told.std() * rng.normal(size=told.shape) > 0).astype(np.int8)


@pytest.mark.parametrize("rows", [normal, shares, counts, words])
def test_the_choice_depends_on_neither_order_nor_repeats_nor_units(rows):
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, Y = undecided(seed, rows)
        weight = np.arange(60) % 3 + 1.0
        repeated = rng.permutation(np.repeat(np.arange(60), weight.astype(int)))
        columns = rng.permutation(12)
        answers = {
            choose_scale(X, Y, weight, 10.0),
            choose_scale(X[repeated], Y[repeated], np.ones(len(repeated)), 10.0),
            choose_scale(sparse.csr_array(X), Y, weight, 10.0),
            choose_scale(X[:, columns], Y, weight, 10.0),
            choose_scale(X * 10.0 ** rng.integers(-9, 9), Y, weight, 10.0),
            choose_scale(X * rng.uniform(0.1, 9), Y[:, ::-1], weight, 10.0),
        }
        assert len(answers) == 1
        found += answers
    assert 5 <= found.count("columns") <= 35


def test_the_choice_is_made_for_the_variance_of_the_model():
    answers = {}
    for seed in range(20):
        X, Y = undecided(seed)
        for variance in (0.01, 1000.0):
            expected = choose_scale(X, Y, np.ones(60), variance)
            assert fit(X, Y, variance=variance, n_steps=1).scale_ == expected
            answers.setdefault(seed, []).append(expected)
    assert ["columns", True] in answers.values()  # small features overfit, if they are let


def test_rows_with_equal_features_are_held_out_together(monkeypatch):
    X, Y = np.repeat(data(n=20)[0] * UNITS, 2, axis=0), np.arange(40)[:, None] % 2
    seen = []
    monkeypatch.setattr(
        module, "_held_out", lambda s, X, *a: seen.append((X, a[-1])) or np.zeros(a[-1].sum())
    )
    choose_scale(X, Y, np.ones(40), 10.0)
    for rows, out in seen:
        assert not set(map(bytes, rows[out])) & set(map(bytes, rows[~out]))
    assert np.sum([out for _, out in seen], axis=0).tolist() == [2] * 40
    assert [out.sum() for _, out in seen[::2]] == [14, 14, 12]


def test_a_disaster_in_few_rows_is_not_the_whole_answer():
    """A sensor that nearly always rests, and trembles a little."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(300, 2)) > 0).astype(np.int8)
    X *= [1, 1, 1, 1e-9, 1e-9, 1e-9]
    X[0, 3], X[:2, 4], X[:2, 5] = 1, [1, 2], [1, -1]
    X[:, 3:] *= 1e-3
    for scale in (True, "columns"):
        found = _held_out(scale, X, Y, np.ones(300), 10.0, np.arange(300) < 100)
        assert found.min() > -25.0


def test_heavy_rows_decide():
    """Half of the rows follow a small feature, the others large ones alone."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(300, 3)), 1e-4 * rng.normal(size=(300, 40))])
    follow = np.arange(300) % 2 == 0
    Y = (np.where(follow[:, None], 1e4 * X[:, 3:5], X[:, :2]) > 0).astype(np.int8)
    assert choose_scale(X, Y, np.where(follow, 1.0, 1e-2), 10.0) == "columns"
    assert choose_scale(X, Y, np.where(follow, 1e-2, 1.0), 10.0) is True


def test_light_rows_do_not_set_spreads_apart(monkeypatch):
    X, Y = data(n=60)
    X[0, 3] = 1e6
    asked = []
    monkeypatch.setattr(module, "_held_out", lambda *a: asked.append(1) or np.zeros(a[-1].sum()))
    choose_scale(X, Y, np.where(np.arange(60) > 0, 1.0, 1e-14), 10.0)
    assert not asked
    choose_scale(X, Y, np.ones(60), 10.0)
    assert asked


@pytest.mark.parametrize(("errors", "answer"), [(-2.2, True), (-1.8, "columns"), (9, "columns")])
@pytest.mark.parametrize("uneven", [0.0, 3.0])
def test_a_difference_that_may_be_luck_says_nothing(monkeypatch, errors, answer, uneven):
    """Two standard errors of a weighted mean of rows that are independent."""
    X, Y = data()
    weight = np.exp(uneven * np.random.default_rng(0).random(120))
    rows, _, share = distinct_rows(X * UNITS, Y, weight)
    share = share / share.sum()
    gain = dict(
        zip(map(bytes, rows.toarray()), np.random.default_rng(1).normal(size=120), strict=True)
    )
    deviations = np.array([gain[bytes(row)] for row in rows.toarray()])
    mean = share @ deviations
    goal = errors * np.sqrt(share**2 @ (deviations - mean) ** 2)

    def held_out(scale, rows, *rest):
        found = np.array([gain[bytes(row)] for row in rows[rest[-1]]])
        return np.zeros(len(found)) if scale is True else found - mean + goal

    monkeypatch.setattr(module, "_held_out", held_out)
    assert choose_scale(X * UNITS, Y, weight, 10.0) == answer


@pytest.mark.parametrize("scale", [True, "columns"])
def test_rows_held_out_are_as_likely_by_weights_as_by_repeats(scale):
    for seed in range(20):
        X, Y = undecided(seed)
        weight, out = np.arange(60) % 3 + 1, np.arange(60) % 4 == 0
        rows = np.repeat(np.arange(60), weight)
        found = _held_out(scale, X, Y, weight.astype(float), 10.0, out)
        twice = _held_out(scale, X[rows], Y[rows], np.ones(len(rows)), 10.0, out[rows])
        np.testing.assert_allclose(np.repeat(found, weight[out]), twice, rtol=1e-3, atol=1e-3)
        plain = _held_out(scale, X, Y, np.ones(60), 10.0, out)
        assert np.abs(plain - found).max() > 1e-2


def test_labels_that_only_rows_held_out_have_say_nothing():
    X, Y = undecided(0)
    out = np.arange(60) % 3 == 0
    expected = _held_out(True, X, Y, np.ones(60), 10.0, out)
    more = np.hstack([Y, out[:, None], ~out[:, None]]).astype(np.int8)
    np.testing.assert_array_equal(_held_out(True, X, more, np.ones(60), 10.0, out), expected)
    assert choose_scale(X, np.zeros((60, 2), dtype=np.int8), np.ones(60), 10.0) == "columns"


def test_two_rows_cannot_speak_against_it():
    X, Y = data(n=2)
    assert fit(X * UNITS, Y).scale_ == "columns"


def test_rows_that_nothing_tells_apart_cannot_either():
    X, Y = np.diag([1.0, 1e-4]), np.eye(2, dtype=np.int8)
    assert choose_scale(X, Y, np.ones(2), 10.0) == "columns"


def test_nothing_is_scaled_for_trees():
    X, Y = data(n=40)
    trees = {"experts": "boosting", "n_components": 2, "n_steps": 1}
    for scale in ("auto", "columns", True, False):
        assert fit(X * UNITS, Y, scale, **trees).scale_ is False


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("tiny", [1e-150, 1e-157, 1e-160, 1e-170, 0.0])
def test_a_feature_that_hardly_varies_takes_nothing_from_the_others(container, tiny):
    X, Y = data(n=60)
    expected = fit(X, Y, "columns").predict_proba(X)
    X = np.hstack([X, tiny * np.random.default_rng(0).normal(size=(60, 1))])
    found = fit(container(X), Y, "columns").predict_proba(container(X))
    assert np.abs(found - expected).mean() < 0.1
    assert len(np.unique(found.round(6), axis=0)) > 30


def test_sparse_rows_far_from_zero_are_multiplied_in_double_precision():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 100)) * (rng.random((3000, 100)) < 0.1)
    Y = (X[:, :2] > 0).astype(int)
    far = 1e8 + 100.0 * rng.normal(size=(3000, 1))
    assert Features("columns").fit(sparse.csr_array(X), np.ones(3000)).dtype is np.float32
    rows = np.hstack([X, far])
    dense, few = (fit(c(rows), Y, "columns", n_components=1) for c in CONTAINERS)
    assert few.models_[0].gate.features.dtype is np.float64
    assert dense.models_[0].gate.features.dtype is np.float32
    ones = sparse.csr_array(np.hstack([X, np.ones((3000, 1))]))
    assert Features(True).fit(ones, np.ones(3000)).dtype is np.float32
    found = few.joint_log_prob(CONTAINERS[1](rows), Y).mean()
    assert found == pytest.approx(dense.joint_log_prob(rows, Y).mean(), abs=1e-3)


def test_components_that_are_rounding_errors_stay_what_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    Y = (X[:, :2] > 0).astype(int)
    wide = np.hstack([X, 1e-14 * rng.normal(size=(100, 200))])
    clf = fit(wide, Y)
    assert clf.scale_ is True
    np.testing.assert_allclose(clf.predict_proba(wide), fit(X, Y).predict_proba(X), atol=2e-3)


def test_rotating_columns_of_many_units_changes_no_optimum(monkeypatch):
    X, Y = data(n=20, wide=60)
    rows, exact = X * np.concatenate([UNITS, np.ones(60)]), {"max_iter": 2000, "n_steps": 1}
    turned = fit(rows, Y, **exact).predict_proba(rows)
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    np.testing.assert_allclose(fit(rows, Y, **exact).predict_proba(rows), turned, atol=2e-3)


def test_weights_given_back_score_the_same():
    X, _ = data(n=20, wide=60)
    rows, rng = X * np.concatenate([UNITS, np.ones(60)]), np.random.default_rng(1)
    features = Features("columns").fit(rows, np.ones(20))
    coef = rng.normal(size=(4, features.rotation.shape[1]))
    whole = slice(0, 20)
    expected = features.products(rows, np.float64).scores(coef, whole)
    back, lift = features.returned(coef)
    found = features.untouched().products(rows, np.float64).scores(back, whole) + lift[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_a_row_twice_is_a_weight_of_two():
    X, Y = data()
    X *= UNITS
    weight = np.arange(len(X)) % 3
    clf = fit(X, Y, True).set_params(experts__scale="auto").fit(X, Y, sample_weight=weight)
    assert clf.scale_ == "columns"
    found = clf.predict_proba(X)
    twice = fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)).predict_proba(X)
    np.testing.assert_allclose(found, twice, atol=1e-6)
