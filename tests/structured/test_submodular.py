"""SubmodularSVC: a scikit-learn citizen that reaches its optimum, whatever the data."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.exceptions import IncompatibleError
from colabel.learners import CuttingPlane
from colabel.losses import BaseLoss, Jaccard, make_loss
from colabel.persistence import load, save
from colabel.structured import QuadraticPriorSVC, SubmodularSVC, SubmodularSVCCV


@parametrize_with_checks([SubmodularSVC(tol=1e-2), SubmodularSVC(couplings=None)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make(seed=0, n=80, d=4, V=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, V)) + 0.5 * rng.normal(size=(n, V)) > 0.4
    Y[:, 1] |= Y[:, 0] & (rng.random(n) < 0.8)
    return X, Y.astype(int)


def objective(model, X, Y):
    """Compute the objective of a fitted model from scratch, by listing all labelings."""
    V = Y.shape[1]
    every = (np.arange(2**V)[:, None] >> np.arange(V)) & 1
    unit = np.mean(np.sum(X**2, axis=1))
    constant = np.sqrt(unit) * model.intercept_scaling * model.fit_intercept
    m2 = unit + constant**2
    table = model.predict_joint(X)
    values = table.value_all(every)
    loss = make_loss(model.loss)
    costs = np.stack([loss.value(np.tile(y, (len(every), 1)), every) for y in Y])
    risk = np.mean(np.max(values + costs, axis=1) - table.value(Y))
    square = np.sum(model.coef_**2)
    if constant:
        square += np.sum((model.intercept_ / constant) ** 2)
    i, j = np.nonzero(np.triu(model.couplings_, 1))
    counts = Y.T @ Y
    C = counts[i, j] / np.max(np.triu(counts, 1), initial=1)
    strength = model.coupling_scale * np.sqrt(m2) * C
    square += np.sum((model.couplings_[i, j] / strength) ** 2)
    return 0.5 * model.alpha * m2 * square + risk


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"couplings": None},
        {"learner": "bmrm"},
        {"loss": "f2"},
        {"fit_intercept": False},
        {"pairs": 3, "coupling_scale": 3.0},
        {"intercept_scaling": 0.3, "pairs": 1.0},
    ],
    ids=str,
)
def test_the_objective_reported_is_the_objective(options):
    X, Y = make()
    model = SubmodularSVC(0.05, random_state=0, **options).fit(X, Y)
    value = objective(model, X, Y)
    assert value == pytest.approx(model.objective_, rel=1e-9)
    assert model.gap_ <= 1e-3 * model.objective_
    assert np.all(model.couplings_ >= 0.0)
    np.testing.assert_array_equal(model.couplings_, model.couplings_.T)
    assert model.lower_bounds_.max() <= model.objective_
    assert len(model.history_) == len(model.lower_bounds_) == len(model.certified_)


def test_couplings_lower_the_objective():
    X, Y = make(n=200)
    with_pairs = SubmodularSVC(0.05, coupling_scale=3.0, random_state=0).fit(X, Y)
    without = SubmodularSVC(0.05, couplings=None, random_state=0).fit(X, Y)
    assert np.any(with_pairs.couplings_ > 0)
    assert not np.any(without.couplings_)
    assert with_pairs.objective_ < without.objective_ - without.gap_


def test_without_pairs_it_is_reverse_multi_label_learning():
    X, Y = make()
    none = SubmodularSVC(0.05, couplings=None, random_state=0).fit(X, Y)
    zero = SubmodularSVC(0.05, pairs=0, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(zero.coef_, none.coef_)
    np.testing.assert_array_equal(zero.predict(X), none.predict(X))


def test_the_order_of_labels_and_rows_changes_nothing():
    X, Y = make(V=6)
    a = SubmodularSVC(0.05, tol=1e-6, max_iter=2000, random_state=0).fit(X, Y)
    b = clone(a).fit(X, Y[:, ::-1])
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-6)
    np.testing.assert_allclose(a.coef_, b.coef_[::-1], atol=0.02)
    np.testing.assert_allclose(a.couplings_, b.couplings_[::-1, ::-1], atol=0.02)
    order = np.random.default_rng(0).permutation(len(X))
    c = clone(a).fit(X[order], Y[order])
    np.testing.assert_array_equal(a.coef_, c.coef_)


def test_units_of_the_features_do_not_matter():
    X, Y = make()
    a = SubmodularSVC(random_state=0).fit(X, Y)
    b = SubmodularSVC(random_state=0).fit(1024.0 * X, Y)
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-3)
    np.testing.assert_allclose(
        a.decision_function(X), b.decision_function(1024.0 * X), rtol=0.1, atol=0.1
    )


def test_dense_and_sparse_features_give_the_same_model():
    X, Y = make()
    X[np.abs(X) < 0.5] = 0.0
    a = SubmodularSVC(random_state=0).fit(X, Y)
    b = SubmodularSVC(random_state=0).fit(sparse.csr_array(X), sparse.csr_array(Y))
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_weights_count_like_repetition():
    X, Y = make()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    a = SubmodularSVC(random_state=0).fit(X, Y, sample_weight=weight)
    b = SubmodularSVC(random_state=0).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )
    np.testing.assert_array_equal(a.coef_, b.coef_)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        SubmodularSVC().fit(X, Y, sample_weight=-np.ones(len(X)))


@pytest.mark.parametrize("loss", ["hamming", "jaccard", "subset", Jaccard(), "f1"], ids=str)
def test_other_losses(loss):
    X, Y = make(n=40)
    model = SubmodularSVC(0.1, loss=loss, random_state=0).fit(X, Y)
    assert model.gap_ <= 1e-3 * model.objective_
    value = objective(model, X, Y)
    assert value == pytest.approx(model.objective_, rel=1e-9)


def test_recall_counts_more_with_a_larger_beta():
    X, Y = make(n=200)
    few, many = (
        SubmodularSVC(loss=f"f{b}", random_state=0).fit(X, Y).predict(X) for b in (0.3, 3.0)
    )
    assert many.sum() > few.sum()


def test_algorithm_2_is_available_and_its_gap_is_honest():
    X, Y = make(V=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SubmodularSVC(
            0.01, oracle="algorithm2", coupling_scale=3.0, pairs=1.0, random_state=0
        ).fit(X, Y)
    exact = SubmodularSVC(0.01, coupling_scale=3.0, pairs=1.0, random_state=0).fit(X, Y)
    assert objective(model, X, Y) == pytest.approx(model.objective_, rel=1e-9)
    assert model.objective_ >= exact.lower_bounds_.max() - 1e-12
    assert model.lower_bounds_.max() <= exact.objective_ + 1e-12
    assert model.certified_[-1] < exact.certified_[-1] == pytest.approx(1.0)
    # What Algorithm 3 proves is true, so it proves no more than an oracle that proves all it can.
    assert len(model.certified_algorithm3_) == len(model.certified_)
    assert model.certified_algorithm3_.max() > 0.0
    assert model.certified_algorithm3_[-1] < exact.certified_[-1]
    assert len(exact.certified_algorithm3_) == 0


def test_algorithm_3_is_recorded_as_it_is(monkeypatch):
    X, Y = make(n=30, V=4)
    monkeypatch.setattr(
        "colabel.oracles.published.algorithm_3",
        lambda scores, Y, labels, table: np.arange(len(Y)) < len(Y) // 2,
    )
    model = SubmodularSVC(0.1, oracle="algorithm2", pairs=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    np.testing.assert_allclose(model.certified_algorithm3_, 0.5)


def test_a_cut_may_be_asked_for_by_name():
    X, Y = make()
    model = SubmodularSVC(decoder="graph_cut", coupling_scale=3.0, random_state=0).fit(X, Y)
    usual = SubmodularSVC(coupling_scale=3.0, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), usual.predict(X))
    with pytest.raises(IncompatibleError, match="decodes Pairwise tables"):
        SubmodularSVC(decoder="graph_cut", couplings=None).fit(X, Y)


def test_not_converging_is_said():
    X, Y = make()
    with pytest.warns(ConvergenceWarning, match="too high; raise max_iter"):
        model = SubmodularSVC(1e-4, max_iter=2, random_state=0).fit(X, Y)
    assert model.n_iter_ <= 2


@pytest.mark.parametrize("learner", ["optimal", "bmrm"])
def test_warm_start_goes_on_from_the_last_fit(learner):
    X, Y = make()
    options = {"learner": learner, "random_state": 0, "pairs": 4}
    model = SubmodularSVC(0.05, warm_start=True, **options).fit(X, Y)
    first = model.n_iter_
    assert model.fit(X, Y).n_iter_ < first
    model.set_params(alpha=0.04).fit(X, Y)
    cold = SubmodularSVC(0.04, **options).fit(X, Y)
    assert model.n_iter_ < cold.n_iter_
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-3)
    # Other data, another loss or (for planes) another scale: from the beginning.
    for change in ({"loss": "f2"}, {"coupling_scale": 2.0}):
        model.set_params(**change).fit(X, Y)
        again = SubmodularSVC(0.04, **options).set_params(**change).fit(X, Y)
        assert model.objective_ == pytest.approx(again.objective_, rel=2e-3)
        model.set_params(loss="f1", coupling_scale=1.0)
    other = model.fit(X[:50], Y[:50])
    fresh = SubmodularSVC(0.04, **options).fit(X[:50], Y[:50])
    np.testing.assert_array_equal(other.coef_, fresh.coef_)


def test_shift_moves_the_scores():
    X, Y = make()
    plain = SubmodularSVC(random_state=0).fit(X, Y)
    moved = SubmodularSVC(random_state=0, shift=0.5).fit(X, Y)
    unary = plain.predict_joint(X).unary
    np.testing.assert_allclose(moved.predict_joint(X).unary, unary + 0.5)
    assert moved.predict(X).sum() > plain.predict(X).sum()


def test_prediction_is_the_best_of_all_labelings():
    X, Y = make()
    model = SubmodularSVC(coupling_scale=3.0, random_state=0).fit(X, Y)
    every = (np.arange(32)[:, None] >> np.arange(5)) & 1
    table = model.predict_joint(X)
    best = table.value_all(every).max(axis=1)
    np.testing.assert_allclose(table.value(model.predict(X)), best, atol=1e-12)
    assert model.decode(X).certified.all()
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X))
    assert not hasattr(model, "predict_proba")


def test_the_empty_set_can_be_forbidden():
    X, Y = make()
    model = SubmodularSVC(empty="forbid", shift=-100.0, random_state=0).fit(X, Y)
    assert model.predict(X).any(axis=1).all()
    assert not SubmodularSVC(shift=-100.0, random_state=0).fit(X, Y).predict(X).any()


@pytest.mark.parametrize("couplings", ["cooccurrence", None])
@pytest.mark.parametrize("learner", ["optimal", "bmrm"])
def test_degenerate_data_is_normal_data(couplings, learner):
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(12, 30))
    odd = np.column_stack([wide[:, :2], np.ones(12), wide[:, 0]])
    for X in (wide, odd, np.zeros((12, 2)), 1e-200 * odd):
        for Y in (
            np.zeros((12, 3), dtype=int),
            np.ones((12, 3), dtype=int),
            (wide[:, :1] > 0).astype(int),
            np.eye(12, dtype=int),
            np.tile([0, 1], (12, 1)),
        ):
            model = SubmodularSVC(couplings=couplings, learner=learner, random_state=0).fit(X, Y)
            assert model.predict(X).shape == Y.shape
            assert np.isfinite(model.decision_function(X)).all()
            assert model.gap_ <= 1e-3 * model.objective_ + 1e-9
    one = SubmodularSVC(couplings=couplings, learner=learner).fit(wide[:1], [[0, 1, 1]])
    np.testing.assert_array_equal(one.predict(wide[:1]), [[0, 1, 1]])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"alpha": 0}, "alpha must be a positive"),
        ({"alpha": "much"}, "alpha must be a positive"),
        ({"tol": -1.0}, "tol must be a positive"),
        ({"shift": np.nan}, "shift must be a number"),
        ({"couplings": "all"}, "couplings must be 'cooccurrence' or None"),
        ({"oracle": "magic"}, "oracle must be an oracle object or one of certified"),
        ({"learner": "sgd"}, "learner must be a learner object or one of optimal"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"limit": 1.5}, "limit must be a whole number"),
        ({"pairs": 1.5}, "pairs must be a number of at least 0 and at most 1"),
        ({"pairs": -1}, "pairs must be a whole number"),
        ({"loss": "zero"}, "loss must be"),
        ({"loss": "jaccard", "oracle": "algorithm2"}, "can add F-beta only, not Jaccard"),
    ],
    ids=str,
)
def test_bad_parameters_get_one_clear_sentence(options, reason):
    X, Y = make(n=20)
    with pytest.raises(ValueError, match=reason):
        SubmodularSVC(**options).fit(X, Y)


def test_progress_is_shown(capsys):
    X, Y = make(n=30)
    SubmodularSVC(verbose=True, random_state=0).fit(X, Y)
    assert "SubmodularSVC: done" in capsys.readouterr().err


def test_real_data_reach_what_the_findings_say(real_data):
    from colabel.datasets import load
    from colabel.metrics import evaluate

    train, test = load("yeast:train"), load("yeast:test")
    model = SubmodularSVC(couplings=None, random_state=0).fit(train.X, train.Y)
    assert 1.0 - evaluate(test.Y, model.predict(test.X))["example_f1"] <= 0.356


def test_a_warm_start_needs_the_same_rows():
    """The same numbers in the same columns, but in other rows, are other data."""
    Y = np.array([[0, 0, 1], [1, 1, 1], [1, 0, 0], [0, 0, 0], [0, 1, 1]])
    first, second = np.zeros((5, 4)), np.zeros((5, 4))
    first[[0, 1, 3, 3], range(4)] = 1.0
    second[[0, 2, 4, 4], range(4)] = 1.0
    settings = {"couplings": None, "fit_intercept": False, "learner": "bmrm", "random_state": 0}
    warm = SubmodularSVC(1e-3, warm_start=True, **settings).fit(first, Y).fit(second, Y)
    cold = SubmodularSVC(1e-3, **settings).fit(second, Y)
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-3)


def test_a_fitted_model_keeps_its_couplings(toy):
    X, Y = toy
    model = SubmodularSVC(random_state=0).fit(X, Y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(couplings=None).predict(X), before)
    assert not model.fit(X, Y).couplings_.any()


def test_a_share_of_pairs_may_be_of_any_real_type(toy):
    X, Y = toy
    found = [SubmodularSVC(pairs=p, random_state=0).fit(X, Y) for p in (0.5, np.float32(0.5))]
    np.testing.assert_array_equal(found[0].couplings_, found[1].couplings_)


@pytest.mark.parametrize("learner", ["optimal", "bmrm"])
def test_the_objective_is_an_upper_bound_wherever_training_stops(learner):
    X, Y = make(n=40, V=6)
    for max_iter in range(1, 20, 2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SubmodularSVC(
                0.02,
                coupling_scale=3.0,
                pairs=1.0,
                learner=learner,
                max_iter=max_iter,
                tol=0.05,
                random_state=0,
            ).fit(X, Y)
        assert model.objective_ >= objective(model, X, Y) - 1e-9


def test_what_keeps_the_gap_open_is_named():
    X, Y = make(n=60, V=6)
    options = {"coupling_scale": 3.0, "pairs": 1.0, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="raise limit"):
        SubmodularSVC(0.01, limit=0, tol=1e-6, max_iter=3000, **options).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match='use oracle="certified"'):
        SubmodularSVC(0.01, oracle="algorithm2", **options).fit(X, Y)


def test_features_that_cannot_be_squared_are_refused():
    X, Y = make(n=20)
    with pytest.raises(ValueError, match="beyond double precision; scale the features"):
        SubmodularSVC().fit(1e153 * X, Y)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"beta": 2.0}, {"loss": "f2"}),
        ({"solver": "dual"}, {}),
        ({"solver": "bmrm"}, {"learner": "bmrm"}),
        ({"solver": "bmrm", "line_search": True}, {"learner": CuttingPlane(line_search=True)}),
        ({"max_cuts": 70}, {"limit": 70}),
    ],
    ids=str,
)
def test_old_names_are_taken_for_one_version(old, new):
    X, Y = make(n=30)
    with pytest.warns(FutureWarning, match="is an old name"):
        before = SubmodularSVC(0.1, random_state=0, **old)
    after = SubmodularSVC(0.1, random_state=0, **new)
    np.testing.assert_array_equal(before.fit(X, Y).coef_, after.fit(X, Y).coef_)
    assert not set(old) & set(before.get_params())


def test_a_warm_start_knows_losses_that_print_alike():
    class Weighted(BaseLoss):
        structure = "modular"

        def __init__(self, weight):
            self.weight = weight

        def value(self, Y, Z):
            return np.abs(np.asarray(Y) - Z) @ self._share()

        def as_modular(self, Y):
            return Y @ self._share(), (1 - 2 * np.asarray(Y)) * self._share()

        def _share(self):
            weight = np.asarray(self.weight[-5:], dtype=float)
            return weight / weight.sum()

    X, Y = make(n=30)
    first, second = Weighted([1.0] * 40), Weighted([1.0] * 35 + [9.0, 1.0, 1.0, 1.0, 1.0])
    warm = SubmodularSVC(0.1, loss=first, warm_start=True, random_state=0).fit(X, Y)
    warm.set_params(loss=second).fit(X, Y)
    cold = SubmodularSVC(0.1, loss=second, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(warm.coef_, cold.coef_)


def test_a_model_that_starts_warm_can_be_saved_without_its_rows(tmp_path):
    X, Y = make(n=30)
    model = SubmodularSVC(0.1, warm_start=True, random_state=0).fit(X, Y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert not hasattr(again, "_warm")


def test_old_and_new_names_are_not_given_together():
    with pytest.raises(TypeError, match="max_cuts is an old name of limit; give one of them"):
        SubmodularSVC(max_cuts=3, limit=4)
    with pytest.raises(TypeError, match="give one of them"):
        SubmodularSVC().set_params(max_cuts=3, limit=4)
    with pytest.raises(TypeError, match="lambda_w is an old name of alpha"):
        QuadraticPriorSVC(0.1, lambda_w=0.2)
    with pytest.warns(FutureWarning, match="no effect"):
        assert SubmodularSVC(line_search=False).learner == "optimal"
    with pytest.raises(TypeError, match="solver"):
        SubmodularSVCCV(solver="dual")
