"""QuadraticPriorSVC: a scikit-learn citizen whose objective, bounds and predictions are true."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.decoders import Exhaustive, Mixing, Spectral
from colabel.learners.augment import relaxed_augmented
from colabel.losses import FBeta, Hamming, make_loss
from colabel.structured._quadratic import QuadraticPriorSVC
from colabel.structured._submodular import SubmodularSVC

SIGNS = ["any", "attractive", "repulsive"]


@parametrize_with_checks(
    [
        QuadraticPriorSVC(0.1, max_iter=20),
        QuadraticPriorSVC(0.1, loss="hamming", learner="optimal"),
        QuadraticPriorSVC(0.1, inference="spectral", max_iter=20),
        QuadraticPriorSVC(0.1, inference="sdp", loss="hamming", learner="optimal", tol=1e-2),
        QuadraticPriorSVC(0.1, sign="attractive", inference="mincut", learner="optimal"),
        QuadraticPriorSVC(0.1, sign=None, max_iter=20),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make(seed=0, n=40, d=3, V=4):
    """Return data in which two labels go together and two exclude one another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, V)) + 0.7 * rng.normal(size=(n, V)) > 0.3
    Y[:, 1] |= Y[:, 0] & (rng.random(n) < 0.7)
    Y[:, -1] &= ~Y[:, -2]
    return X, Y.astype(int)


def fitted(X, Y, lambda_w=0.05, **options):
    usual = {"random_state": 0, "learner": "optimal", "lambda_a": 1.0}
    return QuadraticPriorSVC(lambda_w, **{**usual, **options}).fit(X, Y)


def every_labeling(V):
    return (np.arange(2**V)[:, None] >> np.arange(V)) & 1


def ridge(model, X):
    """Compute ``lambda_w m2 / 2 |(W, b)|^2 + lambda_a / 2 |A|^2`` from what a model shows."""
    m2 = np.mean(np.sum(X**2, axis=1))
    square = np.sum(model.coef_**2)
    if model.bias_scale:
        square += np.sum(model.intercept_**2) / (model.bias_scale**2 * m2)
    return 0.5 * (model.lambda_w * m2 * square + model.lambda_a * np.sum(model.prior_**2))


def objective(model, X, Y):
    """Compute the exact objective of a fitted model from scratch, by listing all labelings."""
    loss = FBeta(model.beta) if model.loss == "fbeta" else make_loss(model.loss)
    every, table = every_labeling(Y.shape[1]), model.predict_joint(X)
    costs = np.stack([loss.value(np.tile(y, (len(every), 1)), every) for y in Y])
    risk = np.mean(np.max(table.value_all(every) + costs, axis=1) - table.value(Y))
    return ridge(model, X) + risk


def relaxed_objective(model, X, Y, decoder):
    """Compute the relaxed objective of a fitted model from scratch: (value, proved bound)."""
    loss, table, Y = make_loss(model.loss), model.predict_joint(X), Y.astype(np.int8)
    found = relaxed_augmented(decoder, loss, table, Y, True)
    terms = (np.mean(v - table.value(Y)) for v in (found.value, found.upper_bound))
    return tuple(ridge(model, X) + term for term in terms)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hamming"},
        {"loss": "jaccard"},
        {"loss": "subset"},
        {"loss": "fbeta", "beta": 2.0},
        {"sign": "attractive"},
        {"sign": "repulsive"},
        {"sign": None},
        {"sign": None, "loss": "hamming"},
        {"lambda_a": 0.1, "bias_scale": 0.0},
        {"lambda_a": 3.0, "bias_scale": 2.0, "loss": "hamming"},
        {"learner": "bmrm"},
        {"sign": "attractive", "inference": "mincut", "loss": "hamming"},
    ],
    ids=str,
)
def test_the_objective_reported_is_the_exact_one(options):
    X, Y = make()
    model = fitted(X, Y, **options)
    assert objective(model, X, Y) == pytest.approx(model.objective_, rel=1e-9)
    assert 0.0 <= model.gap_ <= 1e-3 * model.objective_
    assert model.lower_bounds_.max() <= model.objective_
    assert len(model.history_) == len(model.lower_bounds_) == len(model.certified_)
    A = model.prior_
    np.testing.assert_array_equal(A, A.T)
    assert not np.diag(A).any()
    assert model.sign != "attractive" or A.max() <= 0.0
    assert model.sign != "repulsive" or A.min() >= 0.0
    assert A.any() == (model.sign is not None)


@pytest.mark.parametrize("loss", ["hamming", "f1"])
@pytest.mark.parametrize("sign", SIGNS)
def test_relaxed_objectives_are_above_the_exact_one_and_proved(sign, loss):
    X, Y = make(n=20)
    options = {"sign": sign, "loss": loss, "tol": 1e-2}
    exact = fitted(X, Y, **options)
    optimum = exact.objective_ - exact.gap_
    for inference, decoder in (("spectral", Spectral()), ("sdp", Mixing(tol=1e-10))):
        model = fitted(X, Y, inference=inference, **options)
        value, bound = relaxed_objective(model, X, Y, decoder)
        assert model.objective_ >= value - 1e-9
        assert model.objective_ == pytest.approx(bound, rel=1e-4)
        assert model.objective_ >= objective(model, X, Y) - 1e-9
        assert model.objective_ >= optimum - 1e-9
        assert model.gap_ <= 1e-2 * model.objective_
        assert np.isnan(model.certified_).all()


def test_spectral_is_above_sdp_is_above_exact():
    """Hamming loss: each set of moments holds the next one, so minima are in the same order."""
    X, Y = make(n=25)
    exact, sdp, spectral = (
        fitted(X, Y, inference=name, loss="hamming", lambda_w=0.02)
        for name in ("exact", "sdp", "spectral")
    )
    assert exact.lower_bounds_.max() <= sdp.objective_
    assert sdp.lower_bounds_.max() <= spectral.objective_
    assert spectral.lower_bounds_.max() > sdp.objective_  # the sphere is not tight


@pytest.mark.parametrize("loss", ["hamming", "f1"])
def test_attraction_by_cuts_is_exact(loss):
    """Cuts and lists of all labelings reach the same objective, each within its gap."""
    X, Y = make(V=5)
    cut, listed = (
        fitted(X, Y, sign="attractive", inference=name, loss=loss) for name in ("mincut", "exact")
    )
    np.testing.assert_array_equal(cut.coef_, listed.coef_)
    assert cut.certified_[-1] == pytest.approx(1.0)
    assert objective(cut, X, Y) == pytest.approx(cut.objective_, rel=1e-9)
    # What a solver with enumeration finds: no lower, and its bound no higher.
    sure = enumerated(cut, X, Y)
    assert sure.lower.max() <= cut.objective_
    assert cut.lower_bounds_.max() <= sure.history.min()


def enumerated(model, X, Y):
    """Solve the problem of a model with all labelings listed, by cutting planes."""
    from colabel.learners.cutting_plane import CuttingPlane
    from colabel.learners.distinct_rows import distinct_rows

    rows = distinct_rows(sparse.csr_array(X), Y.astype(np.int8), None)
    problem = model._problem(model._oracles(model.sign), *rows)
    problem.oracles = (Exhaustive(),) * 3
    return CuttingPlane(1e-4).solve(problem)


@pytest.mark.parametrize("loss", ["hamming", "f1"])
@pytest.mark.parametrize("sign", SIGNS)
def test_exact_inference_reaches_the_optimum_of_enumeration(sign, loss):
    X, Y = make(seed=1, V=4)
    model = fitted(X, Y, sign=sign, loss=loss, tol=1e-4)
    sure = enumerated(model, X, Y)
    assert sure.lower.max() <= model.objective_
    assert model.lower_bounds_.max() <= sure.history.min()
    assert model.objective_ == pytest.approx(sure.history.min(), rel=3e-4)


def test_without_a_prior_labels_are_learned_one_by_one():
    """The Hamming loss of V labels is the mean of their own: coefficients are V times smaller."""
    X, Y = make(V=3)
    options = {"sign": None, "loss": "hamming", "tol": 1e-7, "max_iter": 20000}
    together = fitted(X, Y, 0.06, **options)
    assert not together.prior_.any()
    for label, column in enumerate(Y.T):
        alone = fitted(X, column[:, None], 0.02, **options)
        np.testing.assert_allclose(3.0 * together.coef_[label], alone.coef_[0], atol=0.01)
        assert 3.0 * together.intercept_[label] == pytest.approx(alone.intercept_[0], abs=0.01)


def test_without_a_prior_the_f1_machine_is_reverse_multi_label_learning():
    X, Y = make()
    ours = fitted(X, Y, 0.06, sign=None, tol=1e-6, max_iter=10000)
    # There the unit is that of rows with the constant feature: twice as large.
    theirs = SubmodularSVC(0.03, couplings=None, tol=1e-6, max_iter=10000, random_state=0).fit(X, Y)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.01)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("inference", ["exact", "spectral", "sdp"])
def test_a_heavy_penalty_on_the_prior_leaves_none(inference):
    X, Y = make(n=20, V=3)
    options = {"loss": "hamming", "tol": 1e-3}
    none = fitted(X, Y, sign=None, **options)
    heavy = fitted(X, Y, lambda_a=1e6, inference=inference, **options)
    assert np.abs(heavy.prior_).max() < 1e-5
    assert heavy.objective_ >= none.objective_ - none.gap_ - 1e-4
    if inference == "exact":
        assert heavy.objective_ == pytest.approx(none.objective_, rel=3e-3)


def test_a_prior_lowers_the_objective():
    X, Y = make(n=80)
    found = {sign: fitted(X, Y, sign=sign, lambda_a=0.1) for sign in (*SIGNS, None)}
    for sign in SIGNS:
        assert found[sign].objective_ < found[None].objective_ - found[None].gap_
        assert found["any"].objective_ - found["any"].gap_ <= found[sign].objective_
    A = found["any"].prior_
    assert A[0, 1] < 0.0  # they go together
    assert A[-1, -2] > 0.0  # they exclude one another


@pytest.mark.parametrize(
    ("sign", "inference"),
    [
        *product([*SIGNS, None], ["exact", "spectral", "sdp"]),
        ("attractive", "mincut"),
        (None, "mincut"),
    ],
)
def test_prediction_is_the_best_of_all_labelings(sign, inference):
    X, Y = make(n=25, V=6 if inference in ("exact", "mincut") else 4)
    options = {"inference": inference, "loss": "hamming", "tol": 1e-2}
    model = fitted(X, Y, sign=sign, lambda_a=0.03, **options)
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


@pytest.mark.parametrize("inference", ["exact", "spectral"])
def test_weights_count_like_repetition(inference):
    X, Y = make()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    model = QuadraticPriorSVC(0.1, inference=inference, random_state=0)
    a = clone(model).fit(X, Y, sample_weight=weight)
    b = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.prior_, b.prior_, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit(X, Y, sample_weight=-np.ones(len(X)))


@pytest.mark.parametrize("inference", ["exact", "spectral", "sdp"])
def test_units_of_the_features_do_not_matter(inference):
    X, Y = make(n=25)
    options = {"inference": inference, "loss": "hamming"}
    a, b = fitted(X, Y, **options), fitted(1024.0 * X, Y, **options)
    # Rows are visited in another order, and the first step is another: both end within the gap.
    assert b.objective_ == pytest.approx(a.objective_, rel=2e-3)
    np.testing.assert_allclose(1024.0 * b.coef_, a.coef_, atol=0.02)
    np.testing.assert_allclose(b.intercept_, a.intercept_, atol=0.02)
    np.testing.assert_allclose(b.prior_, a.prior_, atol=0.02)


@pytest.mark.parametrize("inference", ["exact", "spectral"])
def test_the_order_of_labels_and_rows_changes_nothing(inference):
    X, Y = make()
    a = fitted(X, Y, inference=inference, tol=1e-6, max_iter=5000)
    b = fitted(X, Y[:, ::-1], inference=inference, tol=1e-6, max_iter=5000)
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-6)
    np.testing.assert_allclose(a.coef_, b.coef_[::-1], atol=0.02)
    np.testing.assert_allclose(a.prior_, b.prior_[::-1, ::-1], atol=0.02)
    order = np.random.default_rng(0).permutation(len(X))
    c = clone(a).fit(X[order], Y[order])
    np.testing.assert_allclose(a.coef_, c.coef_, atol=1e-8)


def test_dense_and_sparse_features_give_the_same_model():
    X, Y = make()
    X[np.abs(X) < 0.5] = 0.0
    for inference in ("exact", "spectral"):
        a = fitted(X, Y, inference=inference)
        b = fitted(sparse.csr_array(X), sparse.csr_array(Y), inference=inference)
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


@pytest.mark.parametrize(("inference", "sign"), [("exact", "any"), ("spectral", "repulsive")])
def test_other_learners_bound_the_same_optimum(inference, sign):
    X, Y = make(n=25)
    options = {"inference": inference, "sign": sign, "loss": "hamming", "lambda_w": 0.2}
    usual = fitted(X, Y, **options)
    planes = fitted(X, Y, learner="bmrm", **options)
    assert planes.objective_ == pytest.approx(usual.objective_, rel=2e-3)
    descent = QuadraticPriorSVC(learner="subgradient", max_iter=600, random_state=0, **options)
    with pytest.warns(ConvergenceWarning, match='use learner="optimal"'):
        descent.fit(X, Y)
    assert descent.n_iter_ == 600
    for model in (usual, planes, descent):
        for other in (usual, planes, descent):
            assert model.lower_bounds_.max() <= other.objective_ + 1e-9
    # The published steps are slow, yet on their way from what ridge regression gives.
    assert descent.objective_ < 3.0 * usual.objective_
    assert descent.history_[-1] < descent.history_[0]


def test_published_descent_starts_from_ridge_regression():
    X, Y = make(n=20)
    model = QuadraticPriorSVC(0.05, learner="subgradient", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    m2 = np.mean(np.sum(X**2, axis=1))
    rows = np.column_stack([X, np.full(20, np.sqrt(m2))])
    gram = rows.T @ rows / 20 + 0.05 * m2 * np.eye(4)
    W = np.linalg.solve(gram, rows.T @ (2.0 * Y - 1.0) / 20)
    # One step is short where lambda is small.
    np.testing.assert_allclose(model.coef_, W[:-1].T, atol=0.5)
    assert np.corrcoef(model.coef_.ravel(), W[:-1].T.ravel())[0, 1] > 0.9


def test_the_empty_set_can_be_forbidden():
    X, Y = make()
    Y[:30] = 0
    assert not fitted(X, Y).predict(X).any(axis=1).all()
    assert fitted(X, Y, empty="forbid").predict(X).any(axis=1).all()


def test_a_decoder_may_be_asked_for():
    X, Y = make()
    usual = fitted(X, Y, lambda_a=0.1)
    for decoder in (Exhaustive(), "exhaustive"):
        other = fitted(X, Y, lambda_a=0.1, decoder=decoder)
        np.testing.assert_array_equal(other.predict(X), usual.predict(X))


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
        {"inference": "spectral"},
        {"inference": "sdp", "loss": "hamming"},
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
        model = fitted(X, Y, 0.3, inference="sdp", tol=2e-2)
        assert model.gap_ <= 2e-2 * model.objective_ + 1e-9
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"lambda_w": 0}, "lambda_w must be a positive number"),
        ({"lambda_w": True}, "lambda_w must be a positive number, not True"),
        ({"lambda_a": -1.0}, "lambda_a must be a positive number"),
        ({"lambda_a": np.nan}, "lambda_a must be a positive number"),
        ({"beta": 0.0}, "beta must be a positive number"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"bias_scale": -1.0}, "bias_scale must be a number of at least 0"),
        ({"bias_scale": False}, "bias_scale must be a number of at least 0"),
        ({"sign": "both"}, "sign must be 'any', 'attractive', 'repulsive' or None"),
        ({"inference": "lp"}, "inference must be 'exact', 'mincut', 'sdp' or 'spectral'"),
        ({"inference": None}, "inference must be 'exact'"),
        ({"learner": "sgd"}, "learner must be 'averaged', 'optimal'"),
        ({"loss": "zero"}, "loss must be"),
        ({"limit": -1}, "limit must be a whole number of at least 0"),
        ({"limit": True}, "limit must be a whole number"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"empty": "never"}, "empty must be 'allow' or 'forbid'"),
        ({"inference": "mincut"}, 'inference="mincut" needs sign="attractive"'),
        ({"inference": "mincut", "sign": "repulsive"}, 'needs sign="attractive"'),
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
        ({"max_iter": 2}, "raise max_iter, lambda_w or tol"),
        ({"max_iter": 3, "inference": "spectral"}, "raise max_iter, lambda_w or tol"),
        ({"max_iter": 3, "learner": "bmrm"}, "raise max_iter, lambda_w or tol"),
        ({"max_iter": 5, "learner": "subgradient"}, 'use learner="optimal"'),
        ({"limit": 0, "sign": "attractive", "lambda_a": 0.01}, "raise limit, or use inference="),
    ],
    ids=str,
)
def test_not_converging_is_said_where_fit_was_called(options, words):
    X, Y = make(n=60, V=6)
    usual = {"learner": "optimal", "lambda_a": 1.0}
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


def test_more_labels_than_can_be_listed():
    """With F1, repulsion and many labels no oracle is exact; the gap is honest all the same."""
    X, Y = make(n=12, V=18)
    model = QuadraticPriorSVC(1.0, tol=0.5, max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    assert model.objective_ >= objective(model, X, Y) - 1e-9
    assert model.predict(X).shape == Y.shape


def test_progress_is_shown(capsys):
    X, Y = make(n=20)
    for inference in ("exact", "spectral"):
        fitted(X, Y, verbose=True, tol=1e-2, inference=inference)
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
    model = QuadraticPriorSVC(inference="spectral", random_state=0).fit(train.X, train.Y)
    assert 1.0 - evaluate(test.Y, model.predict(test.X))["example_f1"] <= 0.365
    assert model.decode(test.X).certified.all()


@pytest.mark.parametrize("inference", ["exact", "spectral", "sdp"])
@pytest.mark.parametrize("lambda_w", [1e-2, 1e3])
def test_the_mean_of_steps_is_judged_honestly(inference, lambda_w):
    X, Y = make(n=30, V=4)
    model = QuadraticPriorSVC(lambda_w, inference=inference, max_iter=10, random_state=0)
    model.fit(X, Y)
    assert model.objective_ >= objective(model, X, Y) - 1e-9
    # That of no parameters: the largest loss, and more where losses are relaxed.
    assert model.objective_ <= (1.5 if inference == "spectral" else 1.01)
    assert 0.0 <= model.gap_ <= model.objective_
    assert model.n_iter_ == 10
    scaled = QuadraticPriorSVC(**model.get_params()).fit(1024.0 * X, Y)
    assert scaled.objective_ == pytest.approx(model.objective_, rel=1e-6)


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
