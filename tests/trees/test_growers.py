"""Growing trees: LightGBM's and scikit-learn's against those libraries used plainly."""

import lightgbm
import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

from colabel.mixture import BoostedTrees
from colabel.trees import growers
from colabel.trees.growers import LightGBMSource, ScikitSource, make_source

SOURCES = [LightGBMSource, ScikitSource]


def settings(**changes):
    usual = {"n_leaves": 5, "reg_lambda": 1.0, "min_child_weight": 1e-3, "feature_fraction": 0.5}
    return BoostedTrees(**{**usual, **changes})


def problem(seed, n=60, d=5, levels=None):
    """Rows, residuals in [-1, 1], curvatures and shares; with ``levels``, many equal numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if levels is None else rng.integers(levels, size=(n, d)) - 1.0
    p = rng.uniform(0.05, 0.95, size=n)
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(float)
    return X, y - p, p * (1.0 - p), rng.uniform(size=n)


def added(trees, lines, X, n_lines=1):
    out = np.zeros((n_lines, X.shape[0]))
    trees.add_to(out, X, lines)
    return out


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_trees_harvested_say_what_the_library_said(source, levels, kind):
    for seed in range(10):
        X, residual, curvature, share = problem(seed, levels=levels)
        grower = source(settings(feature_fraction=0.5), kind(X), np.ones(60)).grower(None, seed)
        said = [grower.grow(line, residual, curvature, share) for line in (0, 1, 0)]
        trees, lines = grower.harvest()
        assert lines.tolist() == [0, 1, 0]
        expected = np.stack([said[0] + said[2], said[1]])
        np.testing.assert_allclose(added(trees, lines, kind(X), 2), expected, atol=1e-12)


def test_lightgbm_with_derivatives_of_the_logistic_loss_is_its_own_classifier():
    X, residual, *_ = problem(3, n=200)
    y = (residual > 0).astype(float)
    chosen = settings(learning_rate=0.3, feature_fraction=1.0, reg_lambda=0.5)
    grower = LightGBMSource(chosen, X, np.ones(200)).grower(None, 0)
    score = np.full(200, np.log(y.mean() / (1.0 - y.mean())))
    for _ in range(15):
        p = 1.0 / (1.0 + np.exp(-score))
        score += grower.grow(0, y - p, p * (1.0 - p), np.ones(200))
    params = {
        "objective": "binary",
        "num_leaves": 5,
        "learning_rate": 0.3,
        "lambda_l2": 0.5,
        "min_data_in_leaf": 0,
        "max_bin": 63,
        "min_data_in_bin": 1,
        "verbosity": -1,
        "num_threads": 1,
    }
    expected = lightgbm.train(params, lightgbm.Dataset(X, y), 15).predict(X, raw_score=True)
    np.testing.assert_allclose(score, expected, atol=1e-5)


def test_scikit_trees_are_weighted_least_squares_with_newton_leaves():
    X, residual, curvature, share = problem(4)
    chosen = settings(learning_rate=0.5, feature_fraction=1.0, reg_lambda=2.0, n_leaves=4)
    found = ScikitSource(chosen, X, np.ones(60)).grower(None, 0).grow(0, residual, curvature, share)
    plain = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(X, residual, share)
    leaf = plain.apply(X)
    for node in np.unique(leaf):
        here = leaf == node
        step = share[here] @ residual[here] / (share[here] @ curvature[here] + 2.0)
        np.testing.assert_allclose(found[here], 0.5 * step, rtol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_beside_a_threshold_go_where_scikit_learn_sent_them(kind):
    """The threshold is a single, 1000; doubles a little above it round to it."""
    low, high = (float(x) for x in np.nextafter(np.float32(1000.0), np.float32([0.0, 2000.0])))
    X = np.array([[low], [low], [high], [high]])
    chosen = settings(feature_fraction=1.0)
    grower = ScikitSource(chosen, kind(X), np.ones(4)).grower(None, 0)
    said = grower.grow(0, np.array([-0.5, -0.5, 0.5, 0.5]), np.full(4, 0.25), np.ones(4))
    assert said[0] < 0.0 < said[2]
    trees, lines = grower.harvest()
    assert trees.threshold[0, 0] == 1000.0
    new = np.array([[low], [1000.0], [1000.0 + 1e-6], [high - 1e-6], [high]])
    np.testing.assert_allclose(added(trees, lines, kind(new))[0], said[[0, 0, 0, 2, 2]])


@pytest.mark.parametrize("source", SOURCES)
def test_a_row_weighted_counts_as_one_repeated(source):
    for seed in range(10):
        # Few levels: many splits are equally good, and the same one must be taken.
        X, residual, curvature, share = problem(seed, n=20, levels=3)
        residual = np.sign(residual) * 0.3
        times = np.random.default_rng(seed).integers(1, 5, size=20)
        again = np.repeat(np.arange(20), times)
        chosen = settings(feature_fraction=0.5)
        one = source(chosen, X, times.astype(float)).grower(None, seed)
        two = source(chosen, X[again], np.ones(len(again))).grower(None, seed)
        for _ in range(5):
            one.grow(0, residual, curvature, share)
            two.grow(0, residual[again], curvature[again], share[again])
        found = [added(*grower.harvest(), X) for grower in (one, two)]
        np.testing.assert_allclose(found[0], found[1], atol=1e-12)


@pytest.mark.parametrize("source", SOURCES)
def test_rows_left_out_are_rows_that_are_not_there(source):
    X, residual, curvature, share = problem(5)
    rows = np.sort(np.random.default_rng(0).choice(60, 25, replace=False))
    chosen = settings(feature_fraction=0.5)
    part = source(chosen, X, np.ones(60)).grower(rows, 3)
    alone = source(chosen, X[rows], np.ones(25)).grower(None, 3)
    for grower in (part, alone):
        for _ in range(3):
            grower.grow(0, residual[rows], curvature[rows], share[rows])
    found = [added(*grower.harvest(), X[rows]) for grower in (part, alone)]
    assert found[0].any()
    if source is ScikitSource:  # LightGBM's part keeps the bins of all rows
        np.testing.assert_array_equal(*found)
    else:
        np.testing.assert_allclose(*found, atol=0.1)


@pytest.mark.parametrize("source", SOURCES)
def test_a_grower_that_finds_no_split_goes_on(source):
    X, residual, curvature, share = problem(9)
    grower = source(settings(), X, np.ones(60)).grower(None, 0)
    nothing = np.zeros(60)
    for turn in range(3):
        assert not grower.grow(0, nothing, nothing, share).any()
        said = grower.grow(1, residual, curvature, share)
        assert not grower.grow(2, nothing, curvature, share).any()
        trees, lines = grower.harvest()
        found = added(trees, lines, X, 3)
        np.testing.assert_allclose(found, [nothing, said, nothing], atol=1e-12, err_msg=str(turn))
    trees, lines = grower.harvest()
    assert len(trees) == len(lines) == 0


@pytest.mark.parametrize("X", [np.zeros((1, 3)), np.zeros((5, 1)), sparse.csr_array((4, 2))])
def test_features_without_bins_are_left_to_scikit_learn(X):
    n = X.shape[0]
    source = make_source(settings(), X, np.ones(n))
    assert isinstance(source, ScikitSource)
    said = source.grower(None, 0).grow(0, np.full(n, 0.5), np.full(n, 0.25), np.ones(n))
    np.testing.assert_allclose(said, 0.1 * 0.5 * n / (0.25 * n + 1.0))


@pytest.mark.parametrize("X", [np.ones((8, 2)), [[1.0], [1.0 + 1e-15]], [[-2.0]]])
def test_constant_features_do_no_harm(X):
    X = np.array(X)
    n = len(X)
    grower = make_source(settings(), X, np.ones(n)).grower(None, 0)
    for _ in range(3):
        said = grower.grow(0, np.full(n, 0.5), np.full(n, 0.25), np.ones(n))
        assert (said == said[0]).all()


@pytest.mark.parametrize("source", SOURCES)
def test_no_curvature_is_no_division_by_zero(source):
    X, residual, *_ = problem(6)
    chosen = settings(reg_lambda=0.0, min_child_weight=0.0)
    grower = source(chosen, X, np.ones(60)).grower(None, 0)
    assert np.isfinite(grower.grow(0, residual, np.zeros(60), np.ones(60))).all()


def test_a_seed_fixes_the_features_that_trees_look_at():
    X, residual, curvature, share = problem(7, d=30)
    for source in SOURCES:
        made = source(settings(feature_fraction=0.2), X, np.ones(60))
        values = []
        for seed in (1, 1, 2):
            grower = made.grower(None, seed)
            values.append([grower.grow(0, residual, curvature, share) for _ in range(3)])
        np.testing.assert_array_equal(values[0], values[1])
        assert not np.array_equal(values[0], values[2])


def test_scikit_learn_steps_in_where_lightgbm_is_missing(monkeypatch):
    X, weight = np.eye(3), np.ones(3)
    assert isinstance(make_source(settings(), X, weight), LightGBMSource)
    monkeypatch.setattr(growers, "find_spec", lambda name: None)
    assert isinstance(make_source(settings(), X, weight), ScikitSource)


@pytest.mark.parametrize("source", SOURCES)
def test_leaves_keep_the_least_weight(source):
    X, residual, curvature, _ = problem(8)
    chosen = settings(min_child_weight=4.0, feature_fraction=1.0)
    said = source(chosen, X, np.ones(60)).grower(None, 0).grow(0, residual, curvature, np.ones(60))
    _, leaf = np.unique(said, return_inverse=True)
    counted = curvature if source is LightGBMSource else np.ones(60)
    assert len(np.unique(leaf)) > 1
    assert np.bincount(leaf, counted).min() >= 4.0


BAD = {
    "n_trees": (0, 1.5, "many"),
    "n_leaves": (1, 2.0),
    "max_bin": (1,),
    "learning_rate": (0.0, 1.5, None),
    "feature_fraction": (0.0, -0.1, 2),
    "reg_lambda": (-1.0, np.inf, np.nan, "1"),
    "min_child_weight": (0.0, -1e-9, None),
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name} of BoostedTrees must"):
        BoostedTrees(**{name: value}).check("experts")
    BoostedTrees().check("experts")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_with_few_features_are_spared_less_readily(kind):
    X = np.ones((40, 10))
    whole = LightGBMSource(settings(), kind(X), np.ones(40))
    X[:, 1:] = 0.0
    tenth = LightGBMSource(settings(), kind(X), np.ones(40))
    n_trees = growers.BOOSTER_ROWS // 30
    assert whole.parts_pay(31, n_trees)
    assert not whole.parts_pay(29, n_trees)
    assert tenth.parts_pay(31, 10 * n_trees)
    assert not tenth.parts_pay(31, 9 * n_trees)
