"""Canonical correlations are those of scikit-learn and of the eigenproblem; decoding is exact."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import expit
from sklearn.cross_decomposition import CCA

import oracles
from colabel.decoders import BranchAndBound, MeanField
from colabel.decoders.mean_field import hot_enough
from colabel.embedding import CCAOutputCode
from colabel.embedding._canonical import canonical_directions, constant_directions
from colabel.scores import Pairwise


def data(seed, n=80, d=6, q=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q)) > 0.2).astype(int)
    return X, Y


def test_directions_solve_the_generalised_eigenproblem():
    for seed in range(60):
        X, Y = data(seed, d=3 + seed % 5, q=2 + seed % 4)
        n, q = Y.shape
        alpha = (0.0, 2.0)[seed % 2]
        model = CCAOutputCode(alpha=alpha, shrinkage=0.1 * (seed % 3)).fit(X, Y)
        Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
        within = Yc.T @ Yc / n
        within = within + 0.1 * (seed % 3) * np.trace(within) / q * np.eye(q)
        inner = np.linalg.solve(Xc.T @ Xc + alpha * np.eye(X.shape[1]), Xc.T @ Yc)
        square = eigh(Yc.T @ Xc @ inner / n, within, eigvals_only=True)[::-1]
        expected = np.sqrt(np.maximum(square, 0.0))[: len(model.correlations_)]
        np.testing.assert_allclose(model.correlations_, expected, atol=1e-7)
        V = model.components_.T
        np.testing.assert_allclose(V.T @ within @ V, np.eye(V.shape[1]), atol=1e-7)


def test_correlations_are_those_of_scikit_learn():
    X, Y = data(1, n=300, q=3)
    theirs = CCA(n_components=3, max_iter=5000, tol=1e-12).fit(X, Y)
    a, b = theirs.transform(X, Y)
    expected = [np.corrcoef(a[:, k], b[:, k])[0, 1] for k in range(3)]
    model = CCAOutputCode(alpha=0.0).fit(X, Y)
    np.testing.assert_allclose(model.correlations_, expected, atol=1e-4)


def test_there_are_no_more_variates_than_features_or_labels_that_vary():
    X, Y = data(2, d=2, q=5)
    assert CCAOutputCode(alpha=0.0).fit(X, Y).components_.shape == (2, 5)
    assert CCAOutputCode(1).fit(X, Y).components_.shape == (1, 5)
    Y[:, 1], Y[:, 2] = 1, Y[:, 0]
    X, _ = data(2, d=9)
    # Two equal labels: three variates, and their difference, which is always 0.
    twins = CCAOutputCode(99).fit(X, Y)
    assert twins.components_.shape == (4, 5)
    known = np.abs(twins.components_[-1])
    np.testing.assert_allclose(known, [0.5**0.5, 0, 0.5**0.5, 0, 0], atol=1e-9)
    assert (twins.correlations_[:3] > 0).all()
    assert twins.correlations_[3] == 0
    constant = CCAOutputCode().fit(X, np.ones((80, 2), dtype=int))
    assert constant.components_.shape == (0, 2)
    assert constant.predict(X).all()
    V, rho = canonical_directions(np.zeros((3, 3)), np.zeros((3, 3)), 3)
    assert V.shape == (3, 0)
    assert len(rho) == 0


def test_the_sum_of_labels_that_exclude_one_another_is_known():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, q = int(rng.integers(20, 400)), 2 + seed % 5
        X, W = rng.normal(size=(n + 100, 4)), rng.normal(size=(4, q))
        best = (X @ W + rng.gumbel(size=(n + 100, q))).argmax(axis=1)
        Y = np.column_stack([np.eye(q, dtype=int)[best], rng.random(n + 100) < 0.5])
        model = CCAOutputCode(1, decoder="branch_and_bound").fit(X[:n], Y[:n])
        expected = np.append(np.full(q, q**-0.5), 0.0)
        np.testing.assert_allclose(np.abs(model.components_[-1]), expected, atol=1e-6)
        assert np.mean(model.predict(X[n:])[:, :q].sum(axis=1) == 1) > 0.9


def test_rows_that_are_fewer_than_labels_fix_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 2)), rng.integers(0, 2, (6, 9))
    assert CCAOutputCode(alpha=0.0).fit(X, Y).components_.shape == (2, 9)
    assert constant_directions(np.zeros((3, 3)), 9).shape == (3, 0)


@pytest.mark.parametrize("n_on", [1, 5, 6, 74, 75, 79])
def test_what_few_rows_say_is_not_known_for_sure(n_on):
    X, Y = data(8)
    Y[:, 2:] = (np.arange(80) < n_on)[:, None]  # two labels that were never seen apart
    found = CCAOutputCode().fit(X, Y)
    constant = found.components_[found.correlations_ == 0.0]
    # Independent labels would have differed in about twice as many rows as either is rare in.
    assert len(constant) == (1 if 6 <= n_on <= 74 else 0)
    if len(constant):
        np.testing.assert_allclose(np.abs(constant[0]), [0.0, 0.0, 0.5**0.5, 0.5**0.5], atol=1e-7)


def test_what_many_rows_say_is_told_from_what_few_do():
    rng = np.random.default_rng(0)
    one = np.eye(3)[rng.integers(0, 3, 200)]
    twins = np.repeat(np.arange(200)[:, None] < 2, 2, axis=1)
    Y = np.hstack([one, twins])
    found = constant_directions(np.cov(Y.T, bias=True), 200)
    np.testing.assert_allclose(np.abs(found.T), [[3**-0.5] * 3 + [0.0] * 2], atol=1e-7)


def test_score_of_a_labeling_is_that_of_its_code():
    for seed in range(40):
        X, Y = data(seed, q=2 + seed % 4)
        weight = (1.0, 0.3)[seed % 2]
        model = CCAOutputCode(alpha=1.0, code_weight=weight).fit(X, Y)
        table = model.predict_joint(X[:3])
        odds = X[:3] @ model.coef_.T + model.intercept_
        z = X[:3] @ model.regression_coef_.T + model.regression_intercept_
        Z = oracles.all_labelings(Y.shape[1])
        for i in range(3):
            miss = (Z - z[i]) @ model.components_.T
            expected = Z @ odds[i] - 0.5 * weight * miss**2 @ model.precision_
            found = table.take([i]).value_all(Z)[0]
            np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-8)


def test_variances_are_mean_squares_of_errors_left_out_or_not():
    X, Y = data(5, n=20)
    for kind in ("training", "left_out"):
        model = CCAOutputCode(alpha=0.7, variance=kind).fit(X, Y)
        errors = np.empty(Y.shape)
        for i in range(20):
            kept = np.arange(20) != i if kind == "left_out" else np.arange(20) >= 0
            A, B = X[kept], Y[kept].astype(float)
            Ac, Bc = A - A.mean(axis=0), B - B.mean(axis=0)
            W = np.linalg.solve(Ac.T @ Ac + 0.7 * np.eye(6), Ac.T @ Bc)
            errors[i] = Y[i] - (X[i] - A.mean(axis=0)) @ W - B.mean(axis=0)
        expected = np.mean((errors @ model.components_.T) ** 2, axis=0)
        np.testing.assert_allclose(1.0 / model.precision_, expected, rtol=1e-6)


def test_exact_decoding_equals_enumeration_and_is_certified():
    for seed in range(25):
        X, Y = data(seed, q=2 + seed % 9, d=4)
        model = CCAOutputCode(decoder="branch_and_bound").fit(X, Y)
        table = model.predict_joint(X[:10])
        found = model.decode(X[:10])
        assert found.certified.all()
        best = table.value_all(oracles.all_labelings(Y.shape[1])).max(axis=1)
        np.testing.assert_allclose(found.value, best, atol=1e-8)
        quick = model.decode(X[:10], MeanField())
        assert np.all(quick.value <= best + 1e-8)
        assert np.all(quick.upper_bound >= best - 1e-8)


def test_annealed_mean_field_is_nearly_always_the_best_labeling():
    reached = {1.0: 0, 64.0: 0}
    for seed in range(30):
        X, Y = data(seed, q=6, d=8)
        Y[:, 5] = Y[:, 4] ^ (np.random.default_rng(seed).random(80) < 0.03)
        table = CCAOutputCode(alpha=1.0).fit(X, Y).predict_joint(X)
        best = BranchAndBound().decode(table).value
        for heat in reached:
            reached[heat] += np.mean(MeanField(heat).decode(table).value >= best - 1e-8) / 30
    assert reached[64.0] > 0.8
    assert reached[64.0] >= reached[1.0]


def strong_table(seed, strength):
    """Couplings of any sign, up to hundreds of times what one label is worth by itself."""
    rng = np.random.default_rng(seed)
    edges = np.array(np.triu_indices(8, 1)).T
    return Pairwise(rng.normal(size=(20, 8)), edges, strength * rng.normal(size=len(edges)))


def test_annealing_starts_where_there_is_one_optimum():
    tables = [strong_table(seed, 10.0 ** (seed % 4 - 1)) for seed in range(40)]
    heats = []
    for table in tables:
        heat = hot_enough(table.dense())
        steepest = np.abs(table.dense()).sum(axis=1).max() / 4.0
        assert heat >= steepest
        assert heat == 1.0 or heat < 2.0 * steepest
        heats.append(heat)
    # Of each table: the unaries of its samples, its couplings, its heat.
    unary = np.stack([table.unary for table in tables])
    couplings = np.stack([table.dense() for table in tables])
    heat = np.array(heats)[:, None, None]
    ends = np.stack([np.zeros(unary.shape), np.ones(unary.shape), expit(unary)])
    for _ in range(3000):
        ends = expit((unary + ends @ couplings) / heat)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-6)


def test_a_hotter_start_changes_nothing_and_a_colder_one_loses():
    plain = hot = hotter = 0.0
    for seed in range(30):
        table = strong_table(seed, 300.0)
        heat = hot_enough(table.dense())
        assert heat > 64.0
        found = MeanField(tol=1e-9).decode(table)
        hot += found.value.mean()
        hotter += MeanField(64.0 * heat, tol=1e-9).decode(table).value.mean()
        plain += MeanField(1.0, tol=1e-9).decode(table).value.mean()
    assert hot == pytest.approx(hotter, rel=1e-3)
    assert hot > 1.02 * plain


def test_label_scores_are_log_odds_of_mean_field():
    X, Y = data(3)
    model = CCAOutputCode().fit(X, Y)
    scores = model.decision_function(X)
    table = model.predict_joint(X)
    means = expit(scores)
    np.testing.assert_allclose(scores, table.unary + means @ table.dense(), atol=0.02)
    np.testing.assert_array_equal(scores > 0, model.predict(X) == 1)
    exact = CCAOutputCode(decoder="branch_and_bound").fit(X, Y)
    np.testing.assert_array_equal(exact.decision_function(X) > 0, exact.predict(X) == 1)


def test_without_weight_of_the_code_labels_are_apart():
    X, Y = data(4)
    model = CCAOutputCode(code_weight=0.0).fit(X, Y)
    odds = X @ model.coef_.T + model.intercept_
    np.testing.assert_array_equal(model.predict(X), odds > 0)


def test_the_empty_set_can_be_forbidden():
    X, Y = data(6)
    Y[:] = np.random.default_rng(0).random(Y.shape) < 0.05
    assert not CCAOutputCode().fit(X, Y).predict(X).any(axis=1).all()
    assert CCAOutputCode(empty="forbid").fit(X, Y).predict(X).any(axis=1).all()


def test_mean_field_that_has_not_settled_says_so():
    X, Y = data(7)
    table = CCAOutputCode(alpha=1.0).fit(X, Y).predict_joint(X)
    with pytest.warns(UserWarning, match="has not settled after 1 sweeps"):
        MeanField(max_iter=1, tol=1e-12).decode(table)
    for params, reason in (
        ({"temperature": 0.5}, "temperature must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ):
        with pytest.raises(ValueError, match=reason):
            MeanField(**params).decode(table)


def test_couplings_beyond_the_floats_have_a_temperature():
    assert hot_enough(np.full((2, 2), 1e307)) < np.inf
    with np.errstate(over="ignore"):
        assert hot_enough(np.full((2, 2), 1e308)) == 2.0**1000
