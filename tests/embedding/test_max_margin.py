"""Maximum margin codes minimise their objective, and prove how nearly."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from colabel.embedding import CCAOutputCode, MaxMarginOutputCode
from colabel.embedding._code_margins import CodeMargins
from colabel.metric_learning.metric_bundle import minimise_planes
from embedding.oracles_embedding import margin_loss, margin_minimum


def data(seed, n=12, d=3, q=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q)) > 0.2).astype(float)
    W = np.linalg.lstsq(np.column_stack([X, np.ones(n)]), Y, rcond=None)[0]
    return X, Y, np.column_stack([X, np.ones(n)]) @ W


def metric(seed, q):
    factor = np.random.default_rng([seed, 1]).normal(size=(q, 1 + seed % q))
    return factor @ factor.T + (seed % 2) * np.eye(q)


def test_plane_touches_the_loss_and_stays_below_it():
    for seed in range(24):
        _, Y, Z = data(seed, q=1 + seed % 4)
        q = Y.shape[1]
        Q, C = metric(seed, q), 1.0 + seed % 10
        plane = CodeMargins(Y, Z, C, 1e-8)(Q)
        risk = margin_loss(Q, Y, Z, C)[0] - 0.5 * np.trace(Q)
        assert plane.value == pytest.approx(risk, rel=1e-4)
        for other in range(3):
            P = metric(100 * seed + other, q)
            height = plane.offset + np.vdot(plane.gradient, P)
            assert height <= margin_loss(P, Y, Z, C)[0] - 0.5 * np.trace(P) + 1e-4


def test_rough_programs_still_bound_the_loss():
    for seed in range(20):
        _, Y, Z = data(seed)
        Q = metric(seed, 3)
        rough = CodeMargins(Y, Z, 10.0, 0.5)(Q)
        risk = margin_loss(Q, Y, Z, 10.0)[0] - 0.5 * np.trace(Q)
        assert rough.value >= risk - 1e-4
        assert rough.offset + np.vdot(rough.gradient, Q) <= risk + 1e-4


def test_objective_is_as_small_as_subgradients_find_and_the_gap_holds():
    for seed in range(4):
        _, Y, Z = data(seed)
        C = (1.0, 10.0)[seed % 2]
        found = minimise_planes(CodeMargins(Y, Z, C, 1e-7), np.eye(3), tol=1e-3, max_iter=400)
        V = found.coef
        objective = found.history[-1]
        assert objective == pytest.approx(margin_loss(V @ V.T, Y, Z, C)[0], rel=1e-3)
        slow = margin_minimum(Y, Z, C, 120)
        assert objective <= slow * 1.002
        assert slow >= objective - found.gap - 1e-9
        assert np.diff(found.history).max() <= 0.0


def test_minimum_of_a_known_function():
    # R(Q) = max(0, <A, I - Q>) with A = 2 a a': the minimum is on the ray of a.
    a = np.array([3.0, 4.0]) / 5.0
    A = 2.0 * np.outer(a, a)

    def plane_at(Q):
        from colabel.metric_learning.metric_bundle import Plane

        value = np.vdot(A, np.eye(2) - Q)
        return Plane(value, 2.0, -A) if value > 0 else Plane(0.0, 0.0, np.zeros((2, 2)))

    found = minimise_planes(plane_at, 0.1 * np.eye(2), tol=1e-4, max_iter=500)
    np.testing.assert_allclose(found.coef @ found.coef.T, np.outer(a, a), atol=0.02)
    assert found.history[-1] == pytest.approx(0.5, rel=1e-3)
    assert found.converged


def test_dropping_planes_loses_no_proof(monkeypatch):
    _, Y, Z = data(3, n=30, q=4)
    whole = minimise_planes(CodeMargins(Y, Z, 10.0, 1e-6), np.eye(4), tol=1e-2, max_iter=300)
    monkeypatch.setattr("colabel.metric_learning.metric_bundle.MOST_PLANES", 6)
    few = minimise_planes(CodeMargins(Y, Z, 10.0, 1e-6), np.eye(4), tol=1e-2, max_iter=300)
    assert few.history[-1] == pytest.approx(whole.history[-1], rel=0.02)
    assert few.history[-1] - few.gap <= whole.history[-1] + 1e-9


def test_progress_is_reported():
    _, Y, Z = data(1)
    seen = []
    minimise_planes(
        CodeMargins(Y, Z, 1.0, 1e-6), np.eye(3), max_iter=5, report=lambda *line: seen.append(line)
    )
    assert [line[0] for line in seen] == list(range(1, len(seen) + 1))
    assert all(gap >= 0 for _, _, gap in seen)


def test_codes_are_eigenvectors_of_the_metric_and_keep_it():
    X, Y, _ = data(2, n=60, q=4)
    model = MaxMarginOutputCode(variance="unit", C=5.0).fit(X, Y)
    V = model.components_.T
    off = V.T @ V
    np.testing.assert_allclose(off, np.diag(np.diag(off)), atol=1e-9)
    assert np.all(np.diff(np.diag(off)) <= 1e-12)
    np.testing.assert_allclose(model.metric_, 2.0 * V @ V.T, atol=1e-9)
    assert MaxMarginOutputCode(1, C=5.0).fit(X, Y).components_.shape == (1, 4)
    assert 0.0 <= model.gap_ <= model.history_[-1]


def test_labels_that_exclude_one_another_do_not_freeze_mean_field():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 10))
    Y = np.eye(4, dtype=int)[np.argmax(X[:, :4] + 0.3 * rng.normal(size=(600, 4)), axis=1)]
    variance = np.var(Y[:300], axis=0).mean()
    for model in (MaxMarginOutputCode(), CCAOutputCode()):
        model.fit(X[:300], Y[:300])
        assert np.mean((model.predict(X[300:]) == Y[300:]).all(axis=1)) > 0.7
        # The sum of the labels does not vary, but is not trusted beyond reason.
        along = np.einsum("kq,kq->k", model.components_, model.components_) * model.precision_
        assert along.max() <= 20.0 / variance * (1.0 + 1e-9)


def test_too_few_planes_are_a_warning():
    X, Y, _ = data(4, n=40)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 planes"):
        MaxMarginOutputCode(max_iter=1).fit(X, Y)
