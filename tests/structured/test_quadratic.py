"""QuadraticPriorSVC: a scikit-learn citizen that predicts the best labeling, on any data."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.decoders import Exhaustive
from colabel.learners import AveragedDescent
from colabel.losses import Hamming
from colabel.structured import QuadraticPriorSVC, SubmodularSVC
from structured.quadratic_data import SIGNS, every_labeling, fitted, make, objective


@parametrize_with_checks(
    [
        QuadraticPriorSVC(0.1, max_iter=20),
        QuadraticPriorSVC(0.1, loss="hamming", learner="optimal"),
        QuadraticPriorSVC(0.1, oracle="spectral", max_iter=20),
        QuadraticPriorSVC(0.1, oracle="sdp", loss="hamming", learner="optimal", tol=1e-2),
        QuadraticPriorSVC(0.1, sign="attractive", oracle="mincut", learner="optimal"),
        QuadraticPriorSVC(0.1, sign=None, max_iter=20),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("sign", "oracle"),
    [
        *product([*SIGNS, None], ["certified", "spectral", "sdp"]),
        ("attractive", "mincut"),
        (None, "mincut"),
    ],
)
def test_prediction_is_the_best_of_all_labelings(sign, oracle):
    X, Y = make(n=25, V=6 if oracle in ("certified", "mincut") else 4)
    options = {"oracle": oracle, "loss": "hamming", "tol": 1e-2}
    model = fitted(X, Y, sign=sign, coupling_alpha=0.03, **options)
    table, every = model.predict_joint(X), every_labeling(Y.shape[1])
    best = table.value_all(every).max(axis=1)
    predicted = model.predict(X)
    np.testing.assert_allclose(table.value(predicted), best, atol=1e-9)
    assert model.decode(X).certified.all()
    np.testing.assert_array_equal(model.decision_function(X) > 0, predicted)
    assert not hasattr(model, "predict_proba")
    spins = 2.0 * every - 1.0
    unary = X @ model.coef_.T + model.intercept_
    paper = 0.5 * (unary @ spins.T - np.einsum("zi,ij,zj->z", spins, model.prior_, spins))
    spread = table.value_all(every) - paper
    np.testing.assert_allclose(spread, np.broadcast_to(spread[:, :1], spread.shape), atol=1e-9)


@pytest.mark.parametrize("oracle", ["certified", "spectral"])
def test_weights_count_like_repetition(oracle):
    X, Y = make()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    model = QuadraticPriorSVC(0.1, oracle=oracle, random_state=0)
    a = clone(model).fit(X, Y, sample_weight=weight)
    b = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.prior_, b.prior_, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit(X, Y, sample_weight=-np.ones(len(X)))


@pytest.mark.parametrize("oracle", ["certified", "spectral", "sdp"])
def test_units_of_the_features_do_not_matter(oracle):
    X, Y = make(n=25)
    options = {"oracle": oracle, "loss": "hamming"}
    a, b = fitted(X, Y, **options), fitted(1024.0 * X, Y, **options)
    # Rows are visited in another order, and the first step is another: both end within the gap.
    assert b.objective_ == pytest.approx(a.objective_, rel=2e-3)
    np.testing.assert_allclose(1024.0 * b.coef_, a.coef_, atol=0.02)
    np.testing.assert_allclose(b.intercept_, a.intercept_, atol=0.02)
    np.testing.assert_allclose(b.prior_, a.prior_, atol=0.02)


@pytest.mark.parametrize("oracle", ["certified", "spectral"])
def test_the_order_of_labels_and_rows_changes_nothing(oracle):
    X, Y = make()
    a = fitted(X, Y, oracle=oracle, tol=1e-6, max_iter=5000)
    b = fitted(X, Y[:, ::-1], oracle=oracle, tol=1e-6, max_iter=5000)
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-6)
    np.testing.assert_allclose(a.coef_, b.coef_[::-1], atol=0.02)
    np.testing.assert_allclose(a.prior_, b.prior_[::-1, ::-1], atol=0.02)
    order = np.random.default_rng(0).permutation(len(X))
    c = clone(a).fit(X[order], Y[order])
    np.testing.assert_allclose(a.coef_, c.coef_, atol=1e-8)


def test_dense_and_sparse_features_give_the_same_model():
    X, Y = make()
    X[np.abs(X) < 0.5] = 0.0
    for oracle in ("certified", "spectral"):
        a = fitted(X, Y, oracle=oracle)
        b = fitted(sparse.csr_array(X), sparse.csr_array(Y), oracle=oracle)
        np.testing.assert_array_equal(a.coef_, b.coef_)
        predicted = b.predict(sparse.csr_array(X))
        np.testing.assert_array_equal(predicted.toarray(), a.predict(X))


def test_the_seed_fixes_the_result():
    X, Y = make()
    for options in ({}, {"learner": "subgradient", "max_iter": 200}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            a, b, c = (fitted(X, Y, random_state=s, **options) for s in (1, 1, 2))
        np.testing.assert_array_equal(a.coef_, b.coef_)
        np.testing.assert_array_equal(a.prior_, b.prior_)
        assert not np.array_equal(a.coef_, c.coef_)


def test_the_empty_set_can_be_forbidden():
    X, Y = make()
    Y[:30] = 0
    assert not fitted(X, Y).predict(X).any(axis=1).all()
    assert fitted(X, Y, empty="forbid").predict(X).any(axis=1).all()


def test_a_decoder_may_be_asked_for():
    X, Y = make()
    usual = fitted(X, Y, coupling_alpha=0.1)
    for decoder in (Exhaustive(), "exhaustive"):
        other = fitted(X, Y, coupling_alpha=0.1, decoder=decoder)
        np.testing.assert_array_equal(other.coef_, usual.coef_)
        table = usual.predict_joint(X)  # labelings may differ where they are equally good
        np.testing.assert_allclose(
            table.value(other.predict(X)), table.value(usual.predict(X)), atol=1e-12
        )


DEGENERATE = {
    "never": np.zeros((9, 3), dtype=int),
    "always": np.ones((9, 3), dtype=int),
    "one label": (np.arange(9) % 2)[:, None],
    "one each": np.eye(9, 3, dtype=int),
    "fixed": np.tile([0, 1], (9, 1)),
}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hamming"},
        {"oracle": "spectral"},
        {"oracle": "sdp", "loss": "hamming"},
        {"sign": "attractive"},
        {"sign": "repulsive"},
        {"sign": None},
        {"learner": "bmrm"},
    ],
    ids=str,
)
def test_degenerate_data_is_normal_data(options):
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(9, 20))
    odd = np.column_stack([wide[:, :2], np.ones(9), wide[:, 0]])
    for X in (wide, odd, np.zeros((9, 2)), 1e-200 * odd):
        for Y in DEGENERATE.values():
            model = fitted(X, Y, tol=1e-2, **options)
            assert model.predict(X).shape == Y.shape
            assert np.isfinite(model.decision_function(X)).all()
            assert model.gap_ <= 1e-2 * model.objective_ + 1e-9
            assert model.prior_.shape == (Y.shape[1],) * 2
    one = fitted(wide[:1], [[0, 1, 1]], tol=1e-2, **options)
    np.testing.assert_array_equal(one.predict(wide[:1]), [[0, 1, 1]])


def test_sdp_with_f1_takes_degenerate_data_too():
    X = np.random.default_rng(1).normal(size=(6, 2))
    for Y in (np.zeros((6, 2), dtype=int), np.eye(6, 2, dtype=int)):
        model = fitted(X, Y, 0.3, oracle="sdp", tol=2e-2)
        assert model.gap_ <= 2e-2 * model.objective_ + 1e-9
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"alpha": 0}, "alpha must be a positive number"),
        ({"alpha": True}, "alpha must be a positive number, not True"),
        ({"coupling_alpha": -1.0}, "coupling_alpha must be a positive number"),
        ({"coupling_alpha": np.nan}, "coupling_alpha must be a positive number"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"intercept_scaling": -1.0}, "intercept_scaling must be a number of at least 0"),
        ({"intercept_scaling": False}, "intercept_scaling must be a number of at least 0"),
        ({"fit_intercept": 0.5}, "fit_intercept must be True or False"),
        ({"sign": "both"}, "sign must be 'any', 'attractive', 'repulsive' or None"),
        ({"oracle": "lp"}, "oracle must be an oracle object or one of certified"),
        ({"oracle": None}, "oracle must be an oracle"),
        ({"learner": "sgd"}, "learner must be a learner object or one of optimal"),
        ({"loss": "zero"}, "loss must be"),
        ({"limit": -1}, "limit must be a whole number of at least 0"),
        ({"limit": True}, "limit must be a whole number"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"empty": "never"}, "empty must be 'allow' or 'forbid'"),
        ({"oracle": "mincut"}, "a minimum cut needs labels that only attract"),
        ({"oracle": "mincut", "sign": "repulsive"}, "needs labels that only attract"),
    ],
    ids=str,
)
def test_bad_parameters_get_one_clear_sentence(options, reason):
    X, Y = make(n=10)
    with pytest.raises(ValueError, match=reason) as error:
        QuadraticPriorSVC(**options).fit(X, Y)
    assert "\n" not in str(error.value)


def test_features_that_cannot_be_squared_are_refused():
    X, Y = make(n=20)
    with pytest.raises(ValueError, match="beyond double precision; scale the features"):
        QuadraticPriorSVC().fit(1e153 * X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_iter": 2}, "raise max_iter, alpha or tol"),
        ({"max_iter": 3, "oracle": "spectral"}, "raise max_iter, alpha or tol"),
        ({"max_iter": 3, "learner": "bmrm"}, "raise max_iter, alpha or tol"),
        ({"max_iter": 5, "learner": "subgradient"}, 'use learner="optimal"'),
        ({"limit": 0, "sign": "attractive", "coupling_alpha": 0.01}, "raise limit, or use oracle="),
    ],
    ids=str,
)
def test_not_converging_is_said_where_fit_was_called(options, words):
    X, Y = make(n=60, V=6)
    usual = {"learner": "optimal", "coupling_alpha": 1.0}
    model = QuadraticPriorSVC(1e-3, tol=1e-6, random_state=0, **{**usual, **options})
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert text.startswith("QuadraticPriorSVC stopped after")
    assert words in text
    assert model.gap_ > 1e-6 * model.objective_
    assert model.objective_ >= objective(model, X, Y) - 1e-9


def test_the_submodular_machine_warns_at_the_same_line():
    X, Y = make()
    with pytest.warns(ConvergenceWarning) as caught:
        SubmodularSVC(1e-4, max_iter=2, random_state=0).fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]


def test_progress_is_shown(capsys):
    X, Y = make(n=20)
    for oracle in ("certified", "spectral"):
        fitted(X, Y, verbose=True, tol=1e-2, oracle=oracle)
        assert "QuadraticPriorSVC: done" in capsys.readouterr().err


def test_a_fitted_model_keeps_its_sign():
    X, Y = make()
    model = fitted(X, Y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.set_params(sign=None).predict(X), before)
    assert not model.fit(X, Y).prior_.any()


def test_a_loss_object_is_as_good_as_its_name():
    X, Y = make()
    a, b = fitted(X, Y, loss="hamming"), fitted(X, Y, loss=Hamming())
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_real_data_reach_what_the_findings_say(real_data):
    from colabel.datasets import load
    from colabel.metrics import evaluate

    train, test = load("yeast:train"), load("yeast:test")
    model = QuadraticPriorSVC(oracle="spectral", random_state=0).fit(train.X, train.Y)
    assert 1.0 - evaluate(test.Y, model.predict(test.X))["example_f1"] <= 0.365
    assert model.decode(test.X).certified.all()


def test_wide_sparse_features_stay_sparse():
    rng = np.random.default_rng(0)
    X = sparse.random(200, 400_000, density=5e-5, format="csr", random_state=0)
    Y = rng.integers(0, 2, (200, 3))
    model = QuadraticPriorSVC(sign=None, max_iter=1, random_state=0).fit(X, Y)
    assert model.coef_.shape == (3, 400_000)


def test_equal_columns_and_hardly_any_penalty_can_be_started_from():
    X, Y = make(n=30, V=3)
    X = np.column_stack([X, X])
    assert np.isfinite(QuadraticPriorSVC(1e-20, max_iter=1, random_state=0).fit(X, Y).coef_).all()


def test_old_names_are_taken_for_one_version():
    X, Y = make(n=20)
    with pytest.warns(FutureWarning, match="set alpha instead"):
        old = QuadraticPriorSVC(lambda_w=0.1, random_state=0)
    assert old.get_params() == QuadraticPriorSVC(0.1, random_state=0).get_params()
    for name, value, new in [
        ("lambda_a", 0.3, {"coupling_alpha": 0.3}),
        ("inference", "exact", {"oracle": "certified"}),
        ("inference", "sdp", {"oracle": "sdp"}),
        ("bias_scale", 0.0, {"intercept_scaling": 0.0}),
    ]:
        with pytest.warns(FutureWarning, match=f"{name} of QuadraticPriorSVC is an old name"):
            other = QuadraticPriorSVC(max_iter=2, random_state=0).set_params(**{name: value})
        assert {key: other.get_params()[key] for key in new} == new
        usual = QuadraticPriorSVC(max_iter=2, random_state=0, **new).fit(X, Y)
        np.testing.assert_array_equal(other.fit(X, Y).coef_, usual.coef_)
    with pytest.warns(FutureWarning, match="n_passes of AveragedDescent"):
        assert AveragedDescent(n_passes=3).max_iter == 3


def test_old_names_go_by_the_new_values_given_with_them():
    with pytest.warns(FutureWarning, match="set loss instead"):
        model = QuadraticPriorSVC().set_params(loss="fbeta", beta=2.0)
    assert model.loss.beta == 2.0
    with pytest.warns(FutureWarning, match="no effect"):
        assert QuadraticPriorSVC().set_params(loss="hamming", beta=2.0).loss == "hamming"
