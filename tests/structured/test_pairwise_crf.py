"""The pairwise conditional random field: its own facts."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import LabelPowerset, save
from colabel import load as load_model
from colabel.datasets import load
from colabel.decoders import BranchAndBound, Exhaustive
from colabel.structured import PairwiseCRF
from colabel.structured import _pairwise_crf as module
from oracles import all_labelings


@parametrize_with_checks(
    [PairwiseCRF(), PairwiseCRF(inference="auto", alpha=0.1, decoder="expected_f")]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def planted(n, seed=0, n_labels=3):
    """Rows drawn from a pairwise model; its weights, intercepts and couplings."""
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(n_labels, 2)), rng.normal(size=n_labels) * 0.5
    A = np.triu(rng.normal(size=(n_labels, n_labels)) * 1.5, 1)
    X = rng.normal(size=(n, 2))
    S = all_labelings(n_labels).astype(float)
    scores = (X @ W.T + b) @ S.T + np.einsum("sl,lm,sm->s", S, A, S)
    p = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    drawn = (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
    return X, S[drawn].astype(int), W, b, A + A.T


def test_recovers_the_model_that_drew_the_labels():
    X, Y, W, b, A = planted(40000)
    for inference in ("support", "exact"):  # all eight labelings are seen
        model = PairwiseCRF(alpha=1e-3, inference=inference).fit(X, Y)
        np.testing.assert_allclose(model.coef_, W, atol=0.1)
        np.testing.assert_allclose(model.intercept_, b, atol=0.1)
        np.testing.assert_allclose(model.couplings_, A, atol=0.12)


def test_table_is_the_model_normalised_over_its_labelings():
    X, Y, *_ = planted(80, n_labels=4)
    Y[:, 0] &= Y[:, 1]  # half the labelings never occur
    for inference in ("support", "exact"):
        model = PairwiseCRF(inference=inference).fit(X, Y)
        S = model.labelings_.astype(float)
        assert len(S) == (16 if inference == "exact" else len(np.unique(Y, axis=0)))
        scores = (X @ model.coef_.T + model.intercept_) @ S.T
        scores += np.einsum("sl,lm,sm->s", S, np.triu(model.couplings_), S)
        scores -= logsumexp(scores, axis=1, keepdims=True)
        table = model.predict_joint(X)
        np.testing.assert_allclose(table.scores, scores, atol=1e-9)
        np.testing.assert_allclose(model.predict_proba(X), np.exp(scores) @ S, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), S[scores.argmax(axis=1)])
        loss = -table.log_prob(Y).sum() + np.sum(model.coef_**2) / 2
        loss += np.sum(np.triu(model.couplings_) ** 2) / 8
        assert loss == pytest.approx(model.history_[-1], rel=1e-9)


def test_four_numbers_a_pair_are_one_of_four_times_the_variance():
    X, Y, *_ = planted(60, seed=3)
    S, C = all_labelings(3).astype(float), 0.7
    pairs = [(0, 1), (0, 2), (1, 2)]
    kinds = [(u, v) for u in (0, 1) for v in (0, 1)]
    G = np.array([[(s[i] == u) and (s[j] == v) for i, j in pairs for u, v in kinds] for s in S])
    G, code = G.astype(float), (Y @ [4, 2, 1]).astype(int)

    def objective(point):
        W, b, theta = point[:6].reshape(3, 2), point[6:9], point[9:]
        scores = (X @ W.T + b) @ S.T + G @ theta
        evidence = logsumexp(scores, axis=1)
        p = np.exp(scores - evidence[:, None])
        p[np.arange(60), code] -= 1.0
        by_W, by_theta = (p @ S).T @ X + W / C, p.sum(axis=0) @ G + theta / C
        value = (evidence - scores[np.arange(60), code]).sum()
        value += (np.sum(W**2) + np.sum(theta**2)) / (2 * C)
        return value, np.concatenate([by_W.ravel(), (p @ S).sum(axis=0), by_theta])

    options = {"maxiter": 10000, "ftol": 1e-16, "gtol": 1e-9}
    best = minimize(objective, np.zeros(21), jac=True, method="L-BFGS-B", options=options)
    scores = (X @ best.x[:6].reshape(3, 2).T + best.x[6:9]) @ S.T + G @ best.x[9:]
    model = PairwiseCRF(alpha=1 / C, inference="exact", tol=1e-12).fit(X, Y)
    expected = scores - logsumexp(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_joint(X).scores, expected, atol=1e-4)
    assert model.history_[-1] == pytest.approx(best.fun, rel=1e-8)


def test_without_couplings_labels_are_independent_regressions():
    X, Y, *_ = planted(100, seed=1)
    model = PairwiseCRF(alpha=0.5, coupling_alpha=1e9, inference="exact", tol=1e-12).fit(X, Y)
    for label in range(3):
        alone = LogisticRegression(C=2.0, tol=1e-10, max_iter=5000).fit(X, Y[:, label])
        p = alone.predict_proba(X)[:, 1]
        np.testing.assert_allclose(model.predict_proba(X)[:, label], p, atol=1e-5)


def test_one_label_is_logistic_regression():
    X, Y, *_ = planted(70, seed=2)
    y = Y[:, 0]
    alone = LogisticRegression(C=3.0, tol=1e-10, max_iter=5000).fit(X, y)
    for target in (y, y[:, None]):
        model = PairwiseCRF(alpha=1 / 3.0, tol=1e-12).fit(X, target)
        scores = model.decision_function(X).ravel()
        np.testing.assert_allclose(scores, alone.decision_function(X), atol=1e-4)
        loss = np.log1p(np.exp(-(2 * y - 1) * scores)).sum() + np.sum(model.coef_**2) / 6
        best = np.log1p(np.exp(-(2 * y - 1) * alone.decision_function(X))).sum()
        best += np.sum(alone.coef_**2) / 6
        assert loss == pytest.approx(best, rel=1e-6)


def test_classes_of_a_vector_are_multinomial_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=90), [-0.5, 0.5])]
    alone = LogisticRegression(tol=1e-10, max_iter=5000).fit(X, y)
    model = PairwiseCRF(tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert not model.couplings_.any()


def test_couplings_see_what_labels_alone_do_not():
    """Two labels that exclude each other, with a tie in the features."""
    X = np.zeros((40, 1))
    Y = np.tile([[0, 1], [1, 0]], (20, 1))
    model = PairwiseCRF(alpha=0.01, inference="exact").fit(X, Y)
    assert model.couplings_[0, 1] < -3.0
    assert np.exp(model.predict_joint(X[:1]).log_prob([[1, 1]]))[0] < 0.01
    np.testing.assert_allclose(model.predict_proba(X), 0.5, atol=1e-6)


def test_pairwise_table_scores_labelings_as_the_distribution_does():
    X, Y, *_ = planted(50, n_labels=5)
    model = PairwiseCRF(inference="exact").fit(X, Y)
    table = model.predict_pairwise(X)
    S = model.labelings_
    difference = table.value_all(S) - model.predict_joint(X).value_all(S)
    np.testing.assert_allclose(difference - difference[:, :1], 0.0, atol=1e-9)
    for decoder in (BranchAndBound(), Exhaustive()):
        np.testing.assert_array_equal(decoder.decode(table).labels, model.predict(X))
    sparse_rows = model.predict_pairwise(sparse.csr_array(X))
    np.testing.assert_allclose(sparse_rows.unary, table.unary)


def test_decoding_aims_at_any_measure():
    X, Y, *_ = planted(200, n_labels=4)
    model = PairwiseCRF(inference="exact").fit(X, Y)
    for decoder in ("marginal", "expected_f", "expected_jaccard", "exhaustive"):
        found = model.decode(X, decoder)
        assert found.labels.shape == Y.shape
        own = PairwiseCRF(inference="exact", decoder=decoder).fit(X, Y).predict(X)
        np.testing.assert_array_equal(own, found.labels)
    np.testing.assert_array_equal(
        model.decode(X, "marginal").labels, (model.predict_proba(X) > 0.5).astype(int)
    )


def test_labels_with_one_value_keep_it(toy):
    X, Y = toy
    for inference in ("support", "exact", "auto"):
        model = PairwiseCRF(inference=inference).fit(X, Y)
        predicted = model.predict(X)
        np.testing.assert_array_equal(predicted[:, 2:4], Y[:, 2:4])
        assert (predicted == Y).mean() > 0.9
        assert len(model.labelings_) == (8 if inference != "support" else len(np.unique(Y, axis=0)))
        np.testing.assert_array_equal(model.labelings_[:, 2], 1)


@pytest.mark.parametrize("inference", ["support", "exact"])
def test_degenerate_data_is_normal_data(inference):
    rng = np.random.default_rng(1)
    wide, flat = rng.normal(size=(12, 30)), np.ones((12, 3))
    for X in (wide, flat, wide[:1], wide[:, :1], sparse.csr_array(wide), sparse.csr_array((12, 3))):
        n = X.shape[0]
        for Y in (
            np.zeros((n, 3), dtype=int),
            np.ones((n, 3), dtype=int),
            rng.integers(2, size=(n, 1)),
            np.eye(n, dtype=int),
            np.tile([0, 1], (n, 1)),
            rng.integers(2, size=(n, 4)),
        ):
            model = PairwiseCRF(inference=inference).fit(X, Y)
            assert model.predict(X).shape == Y.shape
            assert np.isfinite(model.decision_function(X)).all()
            assert np.isfinite(model.coef_).all()
            assert model.history_[-1] <= model.history_[0]
            seen = {row.tobytes() for row in Y}
            if inference == "support":
                assert {row.tobytes() for row in model.predict(X)} <= seen


def test_the_empty_set_is_predicted_only_where_allowed():
    X, Y, *_ = planted(100, seed=5)
    Y[X[:, 0] > 0] = 0
    model = PairwiseCRF(alpha=0.1).fit(X, Y)
    assert not model.predict(X).any(axis=1).all()
    assert PairwiseCRF(alpha=0.1, empty="forbid").fit(X, Y).predict(X).any(axis=1).all()
    with pytest.raises(ValueError, match="no training row has a label"):
        PairwiseCRF(empty="forbid").fit(X, 0 * Y)


def test_weights_count_rows_and_zero_weights_leave_no_label_set_behind(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    for data in (X, sparse.csr_array(X)):
        weighted = PairwiseCRF(tol=1e-12).fit(data, Y, sample_weight=weight)
        repeated = PairwiseCRF(tol=1e-12).fit(data[rows], Y[rows])
        np.testing.assert_array_equal(weighted.labelings_, repeated.labelings_)
        np.testing.assert_allclose(
            weighted.predict_proba(data), repeated.predict_proba(data), atol=1e-6
        )
    with pytest.raises(ValueError, match="non-zero"):
        PairwiseCRF().fit(X, Y, sample_weight=0 * weight)


def test_containers_and_repeats_give_the_same(toy):
    X, Y = toy
    model = PairwiseCRF().fit(X, Y)
    again = PairwiseCRF().fit(X, sparse.csr_array(Y))
    np.testing.assert_array_equal(model.coef_, again.coef_)
    np.testing.assert_array_equal(again.predict(X).toarray(), model.predict(X))
    from_sparse = PairwiseCRF(tol=1e-12).fit(sparse.csr_array(X), Y)
    tight = PairwiseCRF(tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(from_sparse.coef_, tight.coef_, atol=1e-6)


def test_saved_models_predict_the_same(toy, tmp_path):
    X, Y = toy
    model = PairwiseCRF().fit(X, Y)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X)
    )


def test_stopping_early_is_said(toy):
    X, Y = toy
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 iterations"):
        model = PairwiseCRF(max_iter=2).fit(X, Y)
    assert model.n_iter_ == 2
    assert len(model.history_) == 3
    tight = PairwiseCRF(tol=1e-12).fit(X, Y)
    assert model.history_[-1] - tight.history_[-1] <= model.gap_
    assert np.all(np.diff(tight.history_) <= 0)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"alpha": 0.0}, "alpha must be a positive number, not 0.0"),
        ({"C": "1"}, "alpha must be a positive number"),
        ({"coupling_alpha": np.inf}, "coupling_alpha must be a positive number"),
        ({"inference": "gibbs"}, "'support', 'exact' or 'auto', not 'gibbs'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, not 0"),
        ({"tol": -1.0}, "tol must be a number of at least 0, not -1.0"),
        ({"empty": "never"}, "'allow' or 'forbid'"),
    ],
)
def test_wrong_parameters_get_one_clear_sentence(toy, parameters, reason):
    with pytest.raises(ValueError, match=reason):
        PairwiseCRF(**parameters).fit(*toy)


def test_exact_inference_is_refused_for_many_labels(toy, monkeypatch):
    X, Y = toy
    monkeypatch.setattr(module, "EXACT_LABELS", 2)
    with pytest.raises(ValueError, match="too many for 3 labels"):
        PairwiseCRF(inference="exact").fit(X, Y)
    fallen_back = PairwiseCRF(inference="auto").fit(X, Y)
    np.testing.assert_array_equal(fallen_back.labelings_, np.unique(Y, axis=0))


def test_scene_is_within_two_points_of_the_published_accuracy(real_data):
    """Table 2 of Li et al. (2016): pair-CRF 68.8, PowSet 68.1, at variance 1."""
    train, test = load("scene:train"), load("scene:test")
    assert PairwiseCRF().fit(train.X, train.Y).score(test.X, test.Y) >= 0.668
    assert LabelPowerset().fit(train.X, train.Y).score(test.X, test.Y) >= 0.675


def test_marginals_are_calibrated_on_planted_data():
    X, Y, W, b, A = planted(20000, seed=7)
    model = PairwiseCRF(alpha=0.01, inference="exact").fit(X, Y)
    S = all_labelings(3).astype(float)
    scores = (X @ W.T + b) @ S.T + np.einsum("sl,lm,sm->s", S, np.triu(A), S)
    true = np.exp(scores - logsumexp(scores, axis=1, keepdims=True)) @ S
    np.testing.assert_allclose(model.predict_proba(X), true, atol=0.05)
    assert np.abs(expit(X @ W.T + b) - true).max() > 0.1  # what couplings add
