"""Log-linear models: the optimum, by brute force and by scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from colabel.linear import eigenbasis as eigenbasis_module
from colabel.linear import log_likelihood, log_linear
from colabel.linear.eigenbasis import Eigenbasis
from colabel.linear.log_likelihood import Labelings, Likelihood
from colabel.linear.log_linear import fit_log_linear, fit_multinomial, label_pairs
from colabel.numerics.distinct_labelings import distinct_labelings
from linear.oracles_log_linear import crf_objective, numeric_gradient
from oracles import all_labelings


def problem(seed):
    """Tiny data of every kind: few or many rows, one label or several, all labelings or some."""
    rng = np.random.default_rng(seed)
    n, d, n_labels = (int(rng.integers(1, top)) for top in (13, 7, 5))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 2)
    if seed % 5 == 0:
        X[:, 0] = 3.0  # a constant feature
    if seed % 7 == 0:
        X = np.round(X)
    Y = (rng.random((n, n_labels)) < rng.random(n_labels)).astype(np.int8)
    labelings, code = distinct_labelings(Y)
    varies = Y.any(axis=0) & ~Y.all(axis=0)
    if seed % 3 == 0:  # all labelings that agree on the labels with one value
        labelings = all_labelings(n_labels)
        labelings = labelings[(labelings[:, ~varies] == Y[0, ~varies]).all(axis=1)]
        code = np.array([int(np.flatnonzero((labelings == y).all(axis=1))[0]) for y in Y])
    weight = rng.uniform(0.1, 4.0, n) if seed % 2 else np.ones(n)
    variances = 10.0 ** rng.uniform(-2, 2, 2)
    return X, code, labelings, weight, variances


def symmetric(labelings, couplings):
    A = np.zeros(2 * (labelings.shape[1],))
    i, j = label_pairs(labelings).T
    A[i, j] = A[j, i] = couplings
    return A


def fitted(X, code, labelings, weight, variances, **options):
    return fit_log_linear(
        X,
        code,
        labelings,
        penalty=1 / variances[0],
        pair_penalty=1 / variances[1],
        weight=weight,
        **options,
    )


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_the_solution_is_the_optimum_of_the_likelihood_spelt_out(start):
    for seed in range(start, start + 20):
        X, code, labelings, weight, variances = problem(seed)
        rows = sparse.csr_array(X) if seed % 4 == 1 else X
        found = fitted(rows, code, labelings, weight, variances, tol=1e-12)
        assert found.converged
        edges = label_pairs(labelings)
        shapes = found.coef.shape, found.intercept.shape, found.couplings.shape
        ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])[:-1]

        def objective(
            point,
            ends=ends,
            shapes=shapes,
            edges=edges,
            data=(X, code, labelings),
            rest=(variances, weight),
        ):
            W, b, couplings = (
                part.reshape(shape)
                for part, shape in zip(np.split(point, ends), shapes, strict=True)
            )
            A = np.zeros(2 * (len(b),))
            A[edges[:, 0], edges[:, 1]] = couplings
            return crf_objective(*data, (W, b, A), *rest)

        point = np.concatenate([found.coef.ravel(), found.intercept, found.couplings])
        assert objective(point) == pytest.approx(found.history[-1], rel=1e-8, abs=1e-8)
        slope = numeric_gradient(objective, point)
        scale = weight.sum() * max(1.0, np.abs(X).max())
        assert np.abs(slope).max() < 2e-5 * scale, seed
        assert np.all(np.diff(found.history) <= 1e-9 * found.history[0])
        assert 0.0 <= found.gap < 1e-4 * max(1.0, found.history[-1])


def test_the_gradient_is_that_of_the_objective():
    for seed in range(100):
        X, code, labelings, weight, _ = problem(seed)
        rng = np.random.default_rng(seed)
        S = labelings.astype(float)
        counts = log_linear._smoothed(np.bincount(code, weight, minlength=len(S)))
        features, spectrum, _ = log_linear._turned(S, counts)
        pairs = log_linear.eigenbasis(
            log_linear._pair_features(S), counts, np.column_stack([np.ones(len(S)), S]), 0.5
        )
        if seed % 2:
            features, spectrum = None, np.full(len(S), 0.2)
        listed = Labelings(features, spectrum, pairs)
        task = Likelihood.build(X, code, weight, listed, 2.0, 0.5)
        point = rng.normal(size=sum(part.size for part in task.scale))
        slope = numeric_gradient(lambda z, task=task: task.evaluate(z)[0], point)
        np.testing.assert_allclose(task.evaluate(point)[1], slope, rtol=1e-5, atol=1e-5)


def objective_of(model, X, y, C, weight):
    scores = X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    loss = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
    return weight @ loss + np.sum(model.coef_**2) / (2 * C)


@pytest.mark.parametrize("seed", range(12))
def test_multinomial_regression_equals_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    n, d, k = (60, 5, 3) if seed % 3 else (30, 40, 6)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d) * 10
    code = rng.integers(k, size=n)
    code[:k] = np.arange(k)
    weight = rng.uniform(0.5, 2.0, n)
    C = 10.0 ** (seed % 4 - 2)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=20000).fit(X, code, weight)
    best = objective_of(theirs, X, code, C, weight)
    rows = sparse.csr_array(X) if seed % 2 else X
    ours = fit_multinomial(rows, code, penalty=1 / C, weight=weight, tol=1e-8)
    assert ours.converged.all()
    assert ours.objective[0] == pytest.approx(best, rel=1e-6)
    theirs.coef_, theirs.intercept_ = ours.coef, ours.intercept
    assert objective_of(theirs, X, code, C, weight) == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(ours.coef.sum(axis=0), 0.0, atol=1e-9 * np.abs(ours.coef).max())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_turned_and_plain_classes_meet_at_one_optimum(n_classes, monkeypatch):
    rng = np.random.default_rng(n_classes)
    X, code = rng.normal(size=(40, 12)), rng.integers(n_classes, size=40)
    turned = fit_multinomial(X, code, tol=1e-12)
    monkeypatch.setattr(log_linear, "TURN_CLASSES", 10**6)
    plain = fit_multinomial(X, code, tol=1e-12)
    np.testing.assert_allclose(turned.coef, plain.coef, atol=1e-5)
    np.testing.assert_allclose(turned.intercept, plain.intercept, atol=1e-5)


def test_one_label_is_logistic_regression():
    rng = np.random.default_rng(0)
    for seed in range(10):
        n, d = (50, 4) if seed % 2 else (15, 30)
        X = rng.normal(size=(n, d)) + 5.0
        y = (X[:, 0] + rng.logistic(size=n) > 5.0).astype(np.int64)
        weight, C = rng.uniform(0.5, 2.0, n), 10.0 ** (seed % 5 - 2)
        theirs = LogisticRegression(C=C, tol=1e-12, max_iter=20000).fit(X, y, weight)
        ours = fitted(X, y, np.array([[0], [1]]), weight, (C, 1.0), tol=1e-10)
        best = objective_of(theirs, X, y, C, weight)
        assert ours.history[-1] == pytest.approx(best, rel=1e-6)
        np.testing.assert_allclose(ours.coef, theirs.coef_, atol=1e-3)
        assert ours.couplings.shape == (0,)


def test_the_gap_tells_the_distance_from_the_optimum():
    for seed in range(40):
        X, code, labelings, weight, variances = problem(seed)
        best = fitted(X, code, labelings, weight, variances, tol=1e-14).history[-1]
        for max_iter in (2, 5, 100):
            found = fitted(X, code, labelings, weight, variances, max_iter=max_iter, tol=1e-6)
            assert found.history[-1] - best <= 4.0 * found.gap + 1e-9 * (1.0 + best)
            assert found.n_iter <= max_iter
            assert len(found.history) == found.n_iter + 1


def test_small_blocks_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(50, 4)), rng.integers(2, size=(50, 3)).astype(np.int8)
    labelings, code = distinct_labelings(Y)
    whole = fit_log_linear(X, code, labelings, tol=1e-12)
    monkeypatch.setattr(log_likelihood, "BLOCK_SCORES", 20)
    monkeypatch.setattr(log_likelihood, "LEAST_ROWS", 3)
    for rows in (X, sparse.csr_array(X)):
        parts = fit_log_linear(rows, code, labelings, tol=1e-12)
        np.testing.assert_allclose(parts.coef, whole.coef, atol=1e-6)
        np.testing.assert_allclose(parts.couplings, whole.couplings, atol=1e-5)


def test_coordinates_do_not_change_the_optimum(monkeypatch):
    for seed in range(40):
        X, code, labelings, weight, variances = problem(seed)
        turned = fitted(X, code, labelings, weight, variances, tol=1e-12)
        monkeypatch.setattr(eigenbasis_module, "LARGEST_ORDER", 0)
        for rows in (X, sparse.csr_array(X)):
            kept = fitted(rows, code, labelings, weight, variances, tol=1e-12, max_iter=5000)
            assert kept.history[-1] == pytest.approx(turned.history[-1], rel=1e-6, abs=1e-9)
        monkeypatch.undo()


def test_features_of_any_scale_reach_the_optimum():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 5)), rng.integers(2, size=(200, 2)).astype(np.int8)
    labelings, code = distinct_labelings(Y)
    unit = 10.0 ** np.array([-6, -3, 0, 3, 6])
    found = fit_log_linear(X * unit, code, labelings, tol=1e-8)
    again = fit_log_linear(X * unit, code, labelings, tol=1e-14, max_iter=20000)
    assert found.converged
    assert found.history[-1] == pytest.approx(again.history[-1], rel=1e-6)
    near, far = (fit_log_linear(X + shift, code, labelings, tol=1e-8) for shift in (0.0, 1e6))
    assert far.history[-1] == pytest.approx(near.history[-1], rel=1e-6)


def test_a_perfect_fit_is_converged():
    X = np.concatenate([np.full((5, 3), -1e8), np.full((5, 3), 1e8)])
    found = fit_log_linear(X, np.repeat([0, 1], 5), np.array([[0, 1], [1, 0]]))
    assert found.converged
    assert found.history[-1] < 1e-6


def test_pairs_are_those_that_occur_in_order():
    labelings = np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]])
    assert label_pairs(labelings).tolist() == [[0, 1], [0, 3], [1, 3]]
    assert label_pairs(np.eye(4)).shape == (0, 2)


@pytest.mark.parametrize("seed", range(60))
def test_eigenbasis_only_turns(seed):
    """Scores are those of the old features less a combination of the free ones; lengths stay."""
    rng = np.random.default_rng(seed)
    n, d, f = int(rng.integers(2, 12)), int(rng.integers(1, 12)), int(rng.integers(0, 3))
    X = rng.normal(size=(n, d))
    if seed % 4 == 0:
        X[:, -1] = X[:, 0]
    free = np.column_stack([np.ones(n), rng.integers(2, size=(n, f))])
    weight = rng.uniform(0.1, 3.0, n)
    rows = sparse.csr_array(X) if seed % 3 == 0 else X
    basis = eigenbasis_module.eigenbasis(rows, weight, free, 1.0)
    assert basis.turn is not None
    Z = rng.normal(size=(len(basis.spectrum), 2))
    coef, scores = basis.coefficients(Z), basis.scores(Z)
    np.testing.assert_allclose(np.linalg.norm(coef, axis=0), np.linalg.norm(Z, axis=0))
    root = np.sqrt(weight)[:, None]
    rest = X @ coef - scores
    explained = free @ np.linalg.lstsq(root * free, root * rest, rcond=None)[0]
    np.testing.assert_allclose(explained, rest, atol=1e-8)
    np.testing.assert_allclose(free.T @ (weight[:, None] * scores), 0.0, atol=1e-8)
    moments = basis.rows.T @ (weight[:, None] * basis.rows)
    np.testing.assert_allclose(moments, np.diag(basis.spectrum), atol=1e-8)


def test_eigenbasis_keeps_coordinates_that_it_could_only_blur():
    rng = np.random.default_rng(0)
    weight, free = rng.uniform(0.5, 2.0, 8), np.ones((8, 1))
    for d in (3, 20):
        X = rng.normal(size=(8, d)) * np.geomspace(1.0, 1e9, d)
        for rows in (X, sparse.csr_array(X)):
            basis = eigenbasis_module.eigenbasis(rows, weight, free, 1.0)
            assert basis.turn is None
            Z = rng.normal(size=(d, 1))
            assert basis.coefficients(Z) is Z
            centred = X - weight @ X / weight.sum()
            np.testing.assert_allclose(basis.scores(Z), centred @ Z, rtol=1e-6)
            np.testing.assert_allclose(basis.spectrum, weight @ centred**2, rtol=1e-6)


def test_eigenbasis_of_nothing_is_empty():
    basis = eigenbasis_module.eigenbasis(np.ones((4, 9)), np.ones(4), np.ones((4, 1)), 1.0)
    assert isinstance(basis, Eigenbasis)
    assert basis.spectrum.shape == (0,)
    assert basis.coefficients(np.zeros((0, 2))).shape == (9, 2)


@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 40])
def test_label_sets_are_the_unique_rows(n_labels, monkeypatch):
    rng = np.random.default_rng(n_labels)
    monkeypatch.setattr("colabel.numerics.distinct_labelings.BLOCK_ENTRIES", 3 * n_labels)
    for n in (1, 2, 50):
        Y = (rng.random((n, n_labels)) < 0.1).astype(np.int8)
        expected, place = np.unique(Y, axis=0, return_inverse=True)
        for labels in (Y, sparse.csr_array(Y)):
            found, code = distinct_labelings(labels)
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(code, place.ravel())
            assert found.dtype == np.int8
            assert code.dtype == np.int64
