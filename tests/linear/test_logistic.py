"""Batched logistic regressions: the optima of scikit-learn, and of Newton's method."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from colabel.linear import design, logistic
from colabel.linear.logistic import LinearFit, fit_logistic, fit_softmax
from colabel.numerics.products import make_products
from linear import oracles_logistic as truth

KINDS = (
    "plain",
    "few rows",
    "constant feature",
    "duplicated columns",
    "separable",
    "large",
    "large means",
    "tiny",
    "mixed scales",
    "one row",
    "one feature",
    "binary",
)


def features(kind, rng):
    """Return a feature matrix of each sort that has ever been trouble."""
    n, d = int(rng.integers(20, 120)), int(rng.integers(2, 15))
    X = rng.normal(size=(n, d))
    match kind:
        case "few rows":
            return rng.normal(size=(d, 3 * d))
        case "constant feature":
            X[:, 0] = 3.0
        case "duplicated columns":
            X = np.column_stack([X, X, -X[:, 0]])
        case "large":
            X *= 1e6
        case "large means":
            X += 1e6
        case "tiny":
            X *= 1e-6
        case "mixed scales":
            X *= 10.0 ** rng.integers(-5, 6, size=d)
        case "one row":
            X = X[:1]
        case "one feature":
            X = X[:, :1]
        case "binary":
            X = (X > 1.0).astype(float)
    return X


def labels(kind, X, rng, n_columns=3):
    scores = X @ rng.normal(size=(X.shape[1], n_columns))
    scores = (scores - scores.mean(axis=0)) / (scores.std(axis=0) + 1e-300)
    noise = 0.0 if kind == "separable" else 1.0
    return (scores + noise * rng.logistic(size=scores.shape) > 0.5).astype(float)


def objectives(X, Y, found, **terms):
    """Objectives of a fit by the plain formula."""
    each = [
        truth.objective(X, y, w, b, **terms)
        for y, w, b in zip(Y.T, found.coef, found.intercept, strict=True)
    ]
    return np.array(each)


def assert_optimal(X, Y, found, **terms):
    """Compare with Newton's method; a constant label has no optimum, its objective falls to 0."""
    reached = objectives(X, Y, found, **terms)
    np.testing.assert_allclose(found.objective, reached, rtol=1e-7, atol=1e-9 * len(Y))
    for y, value in zip(Y.T, reached, strict=True):
        if np.ptp(y) == 0:
            assert value <= 1e-6 * len(Y)
        else:
            best = truth.newton(X, y, **terms)[0]
            assert abs(value - best) <= 1e-6 * best


@pytest.fixture(params=["turned", "as they are", "sparse"])
def way(request, monkeypatch):
    """Force each of the designs."""
    turned = request.param == "turned"
    monkeypatch.setattr(design, "_turning_pays", lambda *_: turned)
    if request.param == "sparse":
        monkeypatch.setattr("colabel.numerics.products.DENSE_SHARE", 2.0)
    return sparse.csr_array if request.param == "sparse" else np.asarray


@pytest.mark.parametrize("kind", KINDS)
def test_optimum_equals_newtons(kind, way):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = features(kind, rng)
        Y = labels(kind, X, rng)
        penalty = float(rng.choice([0.01, 1.0, 100.0]))
        found = fit_logistic(way(X), Y, penalty=penalty, max_iter=20_000)
        assert found.converged.all()
        assert_optimal(X, Y, found, penalty=penalty)


@pytest.mark.parametrize("kind", ["plain", "few rows", "binary", "large means"])
def test_optimum_equals_scikit_learns(kind, way):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = features(kind, rng)
        Y = labels(kind, X, rng)
        Y[0], Y[1] = 0.0, 1.0
        weight = rng.random(len(X)) + 0.1
        found = fit_logistic(way(X), Y, weight=weight, penalty=0.5)
        reached = objectives(X, Y, found, penalty=0.5, weight=weight)
        for y, value in zip(Y.T, reached, strict=True):
            model = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
            model.fit(X - X.mean(axis=0), y, sample_weight=weight)
            terms = {"penalty": 0.5, "weight": weight}
            w, b = model.coef_[0], model.intercept_[0]
            best = truth.objective(X - X.mean(axis=0), y, w, b, **terms)
            assert abs(value - best) <= 1e-6 * best


def test_all_terms_at_once_equal_newtons(way):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = features(rng.choice(KINDS[:5]), rng)
        n, d = X.shape
        Y, c = rng.random((n, 3)), rng.normal(size=(3, d))
        weight = rng.random(n) * (rng.random(n) < 0.7)
        weight[0] = 1.0
        terms = {"penalty": float(rng.choice([0.1, 1.0, 10.0])), "weight": weight}
        center = c if rng.random() < 0.5 else None
        mask = rng.random((3, d)) < 0.6 if rng.random() < 0.5 else None
        found = fit_logistic(way(X), Y, center=center, mask=mask, **terms)
        assert found.converged.all()
        for j in range(3):
            free = None if mask is None else mask[j]
            at = np.zeros(d) if center is None else center[j] * (True if free is None else free)
            best = truth.newton(X, Y[:, j], center=at, free=free, **terms)[0]
            value = truth.objective(
                X, Y[:, j], found.coef[j], found.intercept[j], center=at, **terms
            )
            assert abs(value - best) <= 1e-6 * best
            assert found.objective[j] == pytest.approx(value, rel=1e-9)
            if free is not None:
                np.testing.assert_array_equal(found.coef[j, ~free], 0.0)


def test_coefficients_outside_the_row_space_stay_with_the_center(way):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 30)), rng.integers(2, size=(6, 2)).astype(float)
    center = rng.normal(size=(2, 30))
    found = fit_logistic(way(X), Y, center=center, tol=1e-10)
    inside = np.linalg.pinv(X) @ X
    np.testing.assert_allclose((found.coef - center) @ inside, found.coef - center, atol=1e-4)


def test_zero_weights_are_as_rows_left_out(way):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 4)), rng.integers(2, size=(50, 3))
    weight = (rng.random(50) < 0.5) * rng.random(50)
    kept = weight > 0
    found = fit_logistic(way(X), Y, weight=weight)
    left = fit_logistic(way(X[kept]), Y[kept], weight=weight[kept])
    np.testing.assert_array_equal(found.coef, left.coef)
    products = make_products(way(X))
    found = fit_logistic(products, Y, weight=weight)
    left = fit_logistic(products.take(np.flatnonzero(kept)), Y[kept], weight=weight[kept])
    np.testing.assert_array_equal(found.coef, left.coef)


def test_soft_targets_are_weighted_copies(way):
    rng = np.random.default_rng(1)
    X, T, weight = rng.normal(size=(40, 5)), rng.random((40, 2)), rng.random(40) + 0.1
    soft = fit_logistic(way(X), T, weight=weight, tol=1e-11)
    for j in range(2):
        both = np.concatenate([weight * T[:, j], weight * (1 - T[:, j])])
        hard = fit_logistic(
            way(np.tile(X, (2, 1))), np.repeat([1, 0], 40)[:, None], weight=both, tol=1e-11
        )
        np.testing.assert_allclose(soft.coef[j], hard.coef[0], atol=1e-5)
        assert soft.objective[j] == pytest.approx(hard.objective[0], rel=1e-9)


def test_a_warm_start_needs_fewer_steps_and_ends_the_same(way):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 20)) * 10.0 ** rng.integers(-1, 2, 20) + 5.0
    Y = labels("plain", X, rng)
    cold = fit_logistic(way(X), Y, tol=1e-8)
    near = LinearFit(cold.coef * 1.001, cold.intercept, cold.objective, cold.converged, 0)
    warm = fit_logistic(way(X), Y, tol=1e-8, start=near)
    assert warm.n_iter < cold.n_iter
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=2e-8)
    again = fit_logistic(way(X), Y, tol=1e-6, start=cold)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.coef, cold.coef, rtol=1e-9)
    np.testing.assert_allclose(again.intercept, cold.intercept, rtol=1e-7)


def test_a_start_with_center_and_mask_is_taken_as_it_is(way):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(60, 5)) + 2.0, rng.integers(2, size=(60, 2))
    center, mask = rng.normal(size=(2, 5)), rng.random((2, 5)) < 0.7
    done = fit_logistic(way(X), Y, center=center, mask=mask, tol=1e-9)
    spoilt = LinearFit(done.coef + ~mask, done.intercept, done.objective, done.converged, 0)
    again = fit_logistic(way(X), Y, center=center, mask=mask, start=spoilt)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.coef, done.coef, atol=1e-12)


def test_batches_of_columns_change_nothing(monkeypatch, way):
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(80, 6)), rng.integers(2, size=(80, 7))
    center = rng.normal(size=(7, 6))
    mask = rng.random((7, 6)) < 0.8
    start = fit_logistic(way(X), Y, max_iter=2)
    whole = fit_logistic(way(X), Y, center=center, mask=mask, start=start, tol=1e-10)
    for n_bytes in (1, 20_000):
        monkeypatch.setattr(logistic, "BATCH_BYTES", n_bytes)
        parts = fit_logistic(way(X), Y, center=center, mask=mask, start=start, tol=1e-10)
        np.testing.assert_allclose(parts.coef, whole.coef, atol=1e-7)
        np.testing.assert_allclose(parts.objective, whole.objective, rtol=1e-10)
        assert parts.converged.shape == (7,)


def test_permuting_columns_permutes_answers(way):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(80, 6)), rng.integers(2, size=(80, 7))
    order = rng.permutation(7)
    one, other = fit_logistic(way(X), Y, tol=1e-10), fit_logistic(way(X), Y[:, order], tol=1e-10)
    np.testing.assert_allclose(other.coef, one.coef[order], atol=1e-7)
    np.testing.assert_allclose(other.intercept, one.intercept[order], atol=1e-7)


def test_permuting_rows_and_shifting_features_changes_only_the_intercept(way):
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(80, 6)), rng.integers(2, size=(80, 2))
    order = rng.permutation(80)
    one = fit_logistic(way(X), Y, tol=1e-11)
    other = fit_logistic(way(X[order] + 50.0), Y[order], tol=1e-11)
    np.testing.assert_allclose(other.coef, one.coef, atol=1e-6)
    np.testing.assert_allclose(
        other.intercept + 50.0 * other.coef.sum(axis=1), one.intercept, atol=1e-5
    )


def test_constant_targets_end_with_a_large_intercept(way):
    """There is no optimum: the value falls to zero as the intercept grows."""
    X = np.random.default_rng(7).normal(size=(30, 3))
    found = fit_logistic(way(X), np.column_stack([np.ones(30), np.zeros(30)]))
    assert found.converged.all()
    assert found.intercept[0] > 10
    assert found.intercept[1] < -10
    assert np.abs(found.coef).max() < 1e-3


def test_single_precision_is_close(way):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 10)) + 3.0
    Y = labels("plain", X, rng)
    single = fit_logistic(make_products(way(X), np.float32), Y, tol=1e-5)
    assert single.converged.all()
    reached = objectives(X, Y, single)
    best = fit_logistic(way(X), Y).objective
    np.testing.assert_allclose(reached, best, rtol=1e-5)
    assert single.coef.dtype == np.float64


def test_no_columns_and_no_steps():
    X = np.ones((4, 2))
    none = fit_logistic(X, np.zeros((4, 0)))
    assert none.coef.shape == (0, 2)
    assert none.intercept.shape == (0,)
    first = fit_logistic(X, np.array([[0.0], [1.0], [1.0], [1.0]]), max_iter=0)
    assert not first.converged[0]
    assert first.intercept[0] == pytest.approx(np.log(3.5 / 1.5))


def test_running_out_of_steps_is_told(way):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(100, 8)) * 10.0 ** np.arange(8)
    found = fit_logistic(way(X), labels("plain", X, rng), max_iter=2)
    assert not found.converged.all()
    assert found.n_iter == 2


def test_elastic_nets_equal_saga():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 12))
        y = labels("plain", X, rng, 1)
        C, ratio = float(rng.choice([0.1, 1.0])), float(rng.choice([0.1, 0.5, 0.9]))
        terms = {"penalty": (1 - ratio) / C, "l1": ratio / C}
        found = fit_logistic(X, y, **terms)
        model = LogisticRegression(
            C=C, l1_ratio=ratio, solver="saga", tol=1e-9, max_iter=50_000, random_state=0
        ).fit(X, y[:, 0])
        best = truth.objective(X, y[:, 0], model.coef_[0], model.intercept_[0], **terms)
        assert abs(found.objective[0] - best) <= 1e-5 * best
        assert objectives(X, y, found, **terms)[0] == pytest.approx(found.objective[0], rel=1e-10)
        held = np.abs(model.coef_[0]) < 1e-7
        np.testing.assert_array_equal(found.coef[0] == 0.0, held)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_elastic_nets_meet_the_conditions_of_an_optimum(kind, ratio, way):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = features(kind, rng)
        Y = labels(kind, X, rng)
        weight = rng.random(len(X)) + 0.2
        terms = {"penalty": 1.0 - ratio, "l1": ratio, "weight": weight}
        found = fit_logistic(way(X), Y, tol=1e-10, max_iter=20_000, **terms)
        assert found.converged.all()
        np.testing.assert_allclose(
            objectives(X, Y, found, **terms), found.objective, rtol=1e-8, atol=1e-9
        )
        size = np.abs(X - X.mean(axis=0)).max() + np.abs(X.mean(axis=0)).max() + 1.0
        for y, w, b in zip(Y.T, found.coef, found.intercept, strict=True):
            assert truth.worst_slope(X, y, w, b, **terms) <= 2e-4 * size


def test_a_strong_norm_leaves_only_the_intercept(way):
    rng = np.random.default_rng(10)
    X, Y = rng.normal(size=(50, 4)), rng.integers(2, size=(50, 2))
    found = fit_logistic(way(X), Y, penalty=0.0, l1=1e4)
    np.testing.assert_array_equal(found.coef, 0.0)
    rate = Y.mean(axis=0)
    np.testing.assert_allclose(found.intercept, np.log(rate / (1 - rate)), atol=1e-3)


def test_a_norm_draws_to_the_center_and_respects_the_mask(way):
    rng = np.random.default_rng(11)
    X, Y = rng.normal(size=(50, 6)), rng.integers(2, size=(50, 3))
    center = rng.normal(size=(3, 6))
    strong = fit_logistic(way(X), Y, l1=1e4, center=center)
    np.testing.assert_array_equal(strong.coef, center)
    mask = rng.random((3, 6)) < 0.5
    found = fit_logistic(way(X), Y, l1=0.5, mask=mask)
    np.testing.assert_array_equal(found.coef[~mask], 0.0)
    for j in range(3):
        part = fit_logistic(way(X[:, mask[j]]), Y[:, [j]], l1=0.5)
        assert found.objective[j] == pytest.approx(part.objective[0], rel=2e-6)


def multinomial(rng, n_classes):
    X = rng.normal(size=(int(rng.integers(n_classes + 5, 90)), int(rng.integers(1, 8))))
    code = np.argmax(
        X @ rng.normal(size=(X.shape[1], n_classes)) + rng.gumbel(size=(len(X), n_classes)), axis=1
    )
    code[:n_classes] = np.arange(n_classes)
    return X, code


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_softmax_equals_scikit_learns_multinomial(n_classes, way):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, code = multinomial(rng, n_classes)
        T, weight = np.eye(n_classes)[code], rng.random(len(X)) + 0.1
        terms = {"penalty": 0.5, "weight": weight}
        found = fit_softmax(way(X), T, **terms)
        value = truth.softmax_objective(X, T, found.coef, found.intercept, **terms)
        assert found.objective.shape == found.converged.shape == (1,)
        assert found.converged.all()
        assert value == pytest.approx(found.objective[0], rel=1e-10)
        if n_classes > 2:  # with two, scikit-learn fits one difference
            model = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000)
            model.fit(X, code, sample_weight=weight)
            best = truth.softmax_objective(X, T, model.coef_, model.intercept_, **terms)
            assert abs(value - best) <= 1e-6 * best
        else:
            binary = fit_logistic(way(X), T[:, 1:], penalty=0.25, weight=weight)
            assert value == pytest.approx(binary.objective[0], rel=2e-6)


def test_softmax_of_soft_targets_is_that_of_weighted_copies(way):
    rng = np.random.default_rng(0)
    X, T, weight = rng.normal(size=(40, 4)), rng.dirichlet(np.ones(3), 40), rng.random(40)
    soft = fit_softmax(way(X), T, weight=weight, tol=1e-9)
    hard = fit_softmax(
        way(np.tile(X, (3, 1))),
        np.repeat(np.eye(3), 40, axis=0),
        weight=(weight * T.T).ravel(),
        tol=1e-9,
    )
    np.testing.assert_allclose(soft.coef, hard.coef, atol=1e-4)
    assert soft.objective[0] == pytest.approx(hard.objective[0], rel=1e-8)


def test_softmax_warm_starts_classes_and_constants(way):
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(60, 5)) + 4.0, rng.dirichlet(np.ones(4) * 0.2, 60)
    cold = fit_softmax(way(X), T, tol=1e-8)
    again = fit_softmax(way(X), T, start=cold)
    assert again.n_iter == 0
    np.testing.assert_allclose(again.coef, cold.coef, rtol=1e-8)
    alone = fit_softmax(way(X), np.ones((60, 1)))
    assert alone.objective[0] == 0.0
    np.testing.assert_array_equal(alone.coef, 0.0)
    unused = fit_softmax(way(X), np.column_stack([T, np.zeros(60)]))
    assert unused.converged.all()
    assert unused.objective[0] == pytest.approx(cold.objective[0], rel=1e-3)


def test_softmax_elastic_net_equals_saga():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, code = multinomial(rng, 3)
        T, terms = np.eye(3)[code], {"penalty": 0.5, "l1": 0.5}
        found = fit_softmax(X, T, **terms)
        model = LogisticRegression(
            l1_ratio=0.5, solver="saga", tol=1e-9, max_iter=50_000, random_state=0
        ).fit(X, code)
        best = truth.softmax_objective(X, T, model.coef_, model.intercept_, **terms)
        assert abs(found.objective[0] - best) <= 1e-5 * best
        assert (found.coef == 0.0).any()


def test_single_precision_softmax_is_close():
    rng = np.random.default_rng(2)
    X, T = rng.normal(size=(200, 8)), rng.dirichlet(np.ones(5), 200)
    single = fit_softmax(make_products(X, np.float32), T, tol=1e-5)
    best = fit_softmax(X, T).objective[0]
    value = truth.softmax_objective(X, T, single.coef, single.intercept)
    assert value == pytest.approx(best, rel=1e-5)


def test_fits_are_joined_and_taken_apart():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(40, 3)), rng.integers(2, size=(40, 5))
    whole = fit_logistic(X, Y)
    parts = [whole.take(slice(0, 2)), whole.take(np.array([2, 3, 4]))]
    joined = LinearFit.concatenate(parts)
    for name in ("coef", "intercept", "objective", "converged"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    assert joined.n_iter == whole.n_iter
    assert LinearFit.concatenate(parts[:1]) is parts[0]


@pytest.mark.parametrize("seed", range(6))
def test_words_that_no_row_has_keep_the_coefficients_of_the_center(seed):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(30, 7)) * (rng.random((30, 7)) < 0.4)
    words = np.sort(rng.choice(12, 7, replace=False))
    wide = np.zeros((30, 12))
    wide[:, words] = dense
    Y = rng.random((30, 3)) < 0.4
    center, mask = rng.normal(size=(3, 12)), rng.random((3, 12)) < 0.7
    start = fit_logistic(wide, Y, max_iter=2)
    options = {"penalty": 0.3, "center": center, "mask": mask, "start": start}
    found = fit_logistic(sparse.csr_array(wide), Y, **options)
    expected = fit_logistic(wide, Y, **options)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-7)
    unseen = np.setdiff1d(np.arange(12), words)
    np.testing.assert_array_equal(found.coef[:, unseen], (center * mask)[:, unseen])
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-4)


def test_rows_without_any_word_fit():
    found = fit_logistic(sparse.csr_array((4, 3)), np.array([[0], [1], [1], [1]]))
    assert not found.coef.any()


def test_the_model_given_back_has_the_objective_that_was_reached():
    """Fewer rows than features, whose means and scales differ by many orders of magnitude."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, d = 40, 60
        scale = 10.0 ** rng.uniform(-4, 4, d)
        X = scale * (rng.normal(size=(n, d)) + rng.uniform(0, 2, d))
        Y = (rng.random((n, 3)) < 0.3).astype(float)
        fit = fit_logistic(X, Y, penalty=1.0, tol=1e-6)
        scores = X @ fit.coef.T + fit.intercept
        loss = (np.logaddexp(0.0, scores) - Y * scores).sum(axis=0)
        value = loss + 0.5 * (fit.coef**2).sum(axis=1)
        np.testing.assert_allclose(value, fit.objective, rtol=1e-4, atol=1e-6)
