"""RankSVM: the published problem, its proof, its threshold."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.learners import rank_dual
from colabel.learners.rank_dual import KernelRows, LinearRows, solve_ranking
from colabel.metrics import ranking_loss
from colabel.structured import RankSVM


@parametrize_with_checks([RankSVM(), RankSVM(kernel="linear", threshold_inputs="scores")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def objective_by_hand(W, X, Y, weight, C):
    """Return the published objective with a constant feature, by loops over all pairs."""
    total = 0.5 * np.sum(W**2)
    for x, y, c in zip(X, Y, weight, strict=True):
        f = [*(W @ x), 0.0]
        on = [j for j in range(len(y)) if y[j]] or [-1]
        off = [j for j in range(len(y)) if not y[j]] or [-1]
        total += C * c * np.mean([max(0.0, 1.0 - f[k] + f[j]) for k in on for j in off])
    return total


def optimum_by_hand(X, Y, weight, C):
    """Return the least objective: the quadratic programme in weights and slacks, by SciPy."""
    n_labels, d = Y.shape[1], X.shape[1]
    rows, costs = [], []
    for x, y, c in zip(X, Y, weight, strict=True):
        on = [j for j in range(n_labels) if y[j]] or [-1]
        off = [j for j in range(n_labels) if not y[j]] or [-1]
        for k in on:
            for j in off:
                row = np.zeros((n_labels + 1, d))
                row[k] += x
                row[j] -= x
                rows.append(row[:-1].ravel())
                costs.append(C * c / (len(on) * len(off)))
    A, costs, m = np.array(rows), np.array(costs), n_labels * d
    H = np.diag(np.r_[np.ones(m), np.zeros(len(costs))])
    linear = np.r_[np.zeros(m), costs]
    G = np.hstack([A, np.eye(len(costs))])
    found = minimize(
        lambda v: 0.5 * v @ H @ v + linear @ v,
        np.r_[np.zeros(m), np.ones(len(costs))],
        jac=lambda v: H @ v + linear,
        bounds=[(None, None)] * m + [(0.0, None)] * len(costs),
        constraints={"type": "ineq", "fun": lambda v: G @ v - 1.0, "jac": lambda v: G},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    return found.fun


def small(seed, n=6, d=2, n_labels=3):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), (rng.random((n, n_labels)) < 0.5).astype(np.int8)
    return X, Y, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("seed", range(15))
def test_the_solution_is_that_of_the_quadratic_programme(seed, monkeypatch):
    monkeypatch.setattr(rank_dual, "BLOCK", 1 + seed % 4)
    X, Y, weight = small(seed, n_labels=1 + seed % 4)
    C = 10.0 ** (seed % 3 - 1)
    rows = LinearRows(X, Y.shape[1])
    found = solve_ranking(rows, Y, weight, C=C, max_iter=20_000, tol=1e-6)
    assert found.converged
    constant = np.column_stack([X, np.ones(len(X))])
    W = np.column_stack([rows.coef, rows.intercept])
    assert found.objective == pytest.approx(objective_by_hand(W, constant, Y, weight, C))
    assert found.objective == pytest.approx(optimum_by_hand(constant, Y, weight, C), rel=1e-5)
    kernel = KernelRows(X @ X.T + 1.0, Y.shape[1])
    again = solve_ranking(kernel, Y, weight, C=C, max_iter=20_000, tol=1e-6)
    assert again.objective == pytest.approx(found.objective, rel=1e-5)
    np.testing.assert_allclose(kernel.scores(slice(None)), rows.scores(slice(None)), atol=1e-2)


@pytest.mark.parametrize("seed", range(10))
def test_value_and_bound_enclose_the_optimum_at_every_look(seed):
    X, Y, weight = small(seed, n=30, d=4, n_labels=4)
    best = solve_ranking(LinearRows(X, 4), Y, weight, C=3.0, max_iter=20_000, tol=1e-7)
    early = solve_ranking(LinearRows(X, 4), Y, weight, C=3.0, max_iter=7, tol=1e-12)
    assert not early.converged
    assert early.history.shape == (2, 2)  # after five passes, and after the last
    assert (early.history[:, 0] >= best.objective * (1 - 1e-6)).all()
    assert (early.history[:, 1] <= best.objective).all()
    assert early.gap == pytest.approx(early.history[-1, 0] - early.history[-1, 1])


def data(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0.3, X[:, 2] > 0.5, X[:, 0] < -0.5])
    return X, Y.astype(int)


def test_one_label_is_an_ordinary_support_vector_machine():
    X, Y = data()
    unit = np.sum(X**2, axis=1).mean()
    ours = RankSVM(alpha=0.5, kernel="linear", scale=False, tol=1e-7, max_iter=20_000).fit(
        X, Y[:, :1]
    )
    constant = np.column_stack([X / np.sqrt(unit), np.ones(len(X))])
    theirs = SVC(C=2.0, kernel="linear", tol=1e-8).fit(constant, Y[:, 0])
    # Theirs has a constant of its own besides, without a penalty: compare by our objective.
    W = np.append(ours.coef_[0] * np.sqrt(unit), ours.intercept_[0])
    signs = 2.0 * Y[:, 0] - 1.0

    def value(w):
        return 0.5 * w @ w + 2.0 * np.maximum(0.0, 1.0 - signs * (constant @ w)).sum()

    assert value(W) == pytest.approx(ours.objective_)
    other = theirs.dual_coef_[0] @ theirs.support_vectors_
    other[-1] += theirs.intercept_[0]
    assert value(W) <= value(other) + ours.gap_


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_units_of_features_do_not_matter(kernel):
    X, Y = data()

    def scores(Z, **options):
        # Rows are visited in another order, and solutions agree to the gap.
        exact = {"kernel": kernel, "tol": 1e-6, "max_iter": 20_000, "n_folds": None, **options}
        return RankSVM(alpha=1.0, **exact).fit(Z, Y).decision_function(Z)

    plain = scores(X, scale=False)
    np.testing.assert_allclose(scores(1e4 * X, scale=False), plain, atol=1e-2)
    np.testing.assert_allclose(scores(X * [1.0, 1e3, 1e-3]), scores(X), atol=1e-2)


def test_a_kernel_follows_what_no_line_can():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    Y = np.column_stack([np.sum(X**2, axis=1) > 1.4, np.sum(X**2, axis=1) < 0.8, X[:, 0] > 0])
    losses = {}
    for kernel in ("rbf", "linear"):
        model = RankSVM(alpha=0.2, kernel=kernel).fit(X[:200], Y[:200])
        losses[kernel] = ranking_loss(Y[200:], model.decision_function(X[200:]))
    assert losses["rbf"] < 0.05 < losses["linear"]


def test_thresholds_of_rows_held_out_differ_from_those_of_training():
    X, Y = data(60)
    noise = np.random.default_rng(1).normal(size=(60, 40))
    X = np.hstack([X, noise])
    models = [RankSVM(n_folds=folds, threshold_inputs="scores").fit(X, Y) for folds in (3, None)]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    assert not np.allclose(models[0].threshold_coef_, models[1].threshold_coef_)
    assert models[0].threshold_coef_.shape == (4,)
    assert RankSVM().fit(X, Y).threshold_coef_.shape == (8,)


def test_stopping_early_is_said():
    X, Y = data()
    with pytest.warns(ConvergenceWarning, match="RankSVM did not converge in 2 passes"):
        model = RankSVM(alpha=0.01, max_iter=2, tol=1e-8, n_folds=None).fit(X, Y)
    assert model.gap_ > 0
    assert model.n_iter_ == 2


def test_what_cannot_be_right_is_refused(monkeypatch):
    X, Y = data(20)
    for options, reason in (
        ({"alpha": 0.0}, "alpha must be a positive number"),
        ({"kernel": "poly"}, "kernel must be 'rbf' or 'linear'"),
        ({"gamma": -1.0}, "gamma must be a positive number"),
        ({"scale": "yes"}, "scale must be True or False"),
        ({"threshold_inputs": "best"}, "threshold_inputs must be 'ranked' or 'scores'"),
        ({"n_folds": 1}, "n_folds must be a whole number of at least 2"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
    ):
        with pytest.raises(ValueError, match=reason):
            RankSVM(**options).fit(X, Y)
    monkeypatch.setattr("colabel.structured._rank_svm.MOST_ROWS", 10)
    with pytest.raises(ValueError, match=r"matrix of 20 x 20 numbers.*kernel='linear'"):
        RankSVM().fit(X, Y)
    RankSVM(kernel="linear").fit(sparse.csr_array(X), Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_few_rows_of_yeast_are_ranked(real_data):
    from colabel.datasets import load

    train, test = load("yeast:train").take(slice(0, 300)), load("yeast:test")
    model = RankSVM(n_folds=None, tol=1e-2).fit(train.X, train.Y)
    assert ranking_loss(test.Y, model.decision_function(test.X)) < 0.20
