"""Designs: the same rows in whatever coordinates, and when other coordinates are chosen."""

import numpy as np
import pytest
from scipy import sparse

from colabel.linear import design
from colabel.linear.design import DenseDesign, ProductsDesign, make_design
from colabel.numerics.products import DenseProducts, SparseProducts, make_products

WAYS = ("dense", "sparse", "turned", "too large to copy")


def make(way, X, weight, monkeypatch, penalty=1.0):
    monkeypatch.setattr(design, "_turning_pays", lambda *_: way == "turned")
    if way == "too large to copy":
        monkeypatch.setattr(design, "LARGEST_COPY", 0)
    X = SparseProducts(X, np.float64) if way == "sparse" else X
    return make_design(X, weight, penalty, 3, turn=True, max_iter=100)


def score(made, points):
    if isinstance(made, DenseDesign):
        return points @ made.rows.T
    return np.hstack([scores for _, scores in made.scores(points)])


def gather(made, residuals):
    """Gradients of residuals (n_points, n_rows)."""
    if isinstance(made, DenseDesign):
        return residuals @ made.rows
    total = np.zeros((len(residuals), len(made.mean) + 1))
    for rows, _ in made.scores(total):
        made.add_gradient(total, residuals[:, rows], rows)
    made.centre(total)
    return total


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", [(30, 5), (4, 9), (1, 3), (700, 2)])
def test_scores_and_gradients_are_those_of_the_features(way, shape, monkeypatch):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=shape) + 3.0, rng.random(shape[0]) + 0.1
    made = make(way, X, weight, monkeypatch)
    kind = DenseDesign if way in ("dense", "turned") else ProductsDesign
    assert type(made) is kind
    assert (made.basis is not None) == (way == "turned")
    coef, intercept = rng.normal(size=(3, shape[1])), rng.normal(size=3)
    residuals = rng.normal(size=(3, shape[0]))
    expected = coef @ X.T + intercept[:, None]
    found = score(made, made.encode(coef, intercept))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    gradient = gather(made, residuals)
    # The derivative of residual sums along any other model, written in points.
    other = made.encode(rng.normal(size=(3, shape[1])), rng.normal(size=3))
    change, at = made.decode(other)
    slope = np.einsum("cn,cn->c", residuals, change @ X.T + at[:, None])
    np.testing.assert_allclose(np.einsum("cd,cd->c", gradient, other), slope, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_models_come_back_but_for_what_rows_cannot_show(way, monkeypatch):
    rng = np.random.default_rng(1)
    for shape in ((30, 5), (4, 9)):
        X, weight = rng.normal(size=shape) + 3.0, rng.random(shape[0]) + 0.1
        made = make(way, X, weight, monkeypatch)
        coef, intercept = rng.normal(size=(2, shape[1])), rng.normal(size=2)
        back, at = made.decode(made.encode(coef, intercept))
        np.testing.assert_allclose(back @ X.T + at[:, None], coef @ X.T + intercept[:, None])
        if way != "turned" or shape[0] > shape[1]:
            np.testing.assert_allclose(back, coef)
        size = np.linalg.norm(made.encode(coef, intercept)[:, :-1], axis=1)
        np.testing.assert_allclose(np.linalg.norm(back, axis=1), size)
        assert back.flags.c_contiguous


@pytest.mark.parametrize("way", WAYS)
def test_variances_are_those_of_the_points(way, monkeypatch):
    rng = np.random.default_rng(2)
    X, weight = rng.normal(size=(50, 4)) * [1.0, 5.0, 0.0, 0.1], rng.random(50) + 0.1
    made = make(way, X, weight, monkeypatch)
    rows = score(made, np.eye(4, 5))
    share = weight / weight.sum()
    np.testing.assert_allclose(rows @ share, 0.0, atol=1e-12)
    np.testing.assert_allclose((rows**2) @ share, made.variance, atol=1e-12)


@pytest.mark.parametrize("n_points", [1, 2, 300, 10_000])
def test_blocks_and_parts_cover_all_rows_once(n_points, monkeypatch):
    monkeypatch.setattr(design, "PART", 3000)
    for n in (1, 5, 1000, 1031):
        X = np.random.default_rng(3).normal(size=(n, 70))
        made = make_design(make_products(X), np.ones(n), 1.0, n_points, turn=False, max_iter=9)
        assert isinstance(made, DenseDesign)
        batch = made.batch(np.zeros((2, n)))
        assert batch.rows is made.rows
        blocks = np.split(batch.columns, range(71 * batch.step, 71 * n, 71 * batch.step))
        transposed = np.hstack([block.reshape(71, -1) for block in blocks])
        np.testing.assert_array_equal(transposed, made.rows.T)
        starts, stops = zip(*made.parts(2), strict=True)
        assert (starts[0], stops[-1]) == (0, n)
        assert starts[1:] == stops[:-1]
        assert all(start % made.step == 0 for start in starts)


def test_products_are_small_where_that_is_fast():
    from colabel._kernels.logistic_fit import block_rows

    assert block_rows(1211, 295, 50) == 64  # a gate on scene: 19 blocks
    assert block_rows(100, 121, 16) == 100  # an expert
    assert block_rows(4880, 1837, 159) == 407  # too large to be small
    assert block_rows(0, 3, 2) == block_rows(1, 1, 1) == 1


def test_turning_is_chosen_where_it_pays():
    def pays(n, d, n_columns, density=None, max_iter=1000):
        if density is None:
            return design._turning_pays(np.empty((n, d)), n_columns, max_iter)
        nnz = int(density * n * d)
        entries = np.ones(nnz, np.int8), np.zeros(nnz, np.int32)
        X = sparse.csr_array((*entries, np.linspace(0, nnz, n + 1).astype(np.int32)), shape=(n, d))
        return design._turning_pays(X, n_columns, max_iter)

    assert pays(1500, 103, 14)  # yeast
    assert pays(30_000, 120, 101)  # mediamill
    assert pays(333, 1449, 38, 0.01)  # medical
    assert not pays(1500, 103, 1)
    assert not pays(1500, 103, 14, max_iter=3)
    assert not pays(1123, 1001, 52, 0.08)  # enron
    assert not pays(4880, 1836, 159, 0.04)  # bibtex
    assert not pays(21_519, 500, 22, 0.05)  # tmc2007-500
    assert not pays(10_000, 9_000, 5_000)  # beyond an eigendecomposition


def test_products_and_constrained_models_keep_their_coordinates(monkeypatch):
    monkeypatch.setattr(design, "_turning_pays", lambda *_: True)
    X = np.random.default_rng(5).normal(size=(20, 3))
    weight = np.ones(20)
    turned = make_design(X, weight, 1.0, 2, turn=True, max_iter=9)
    assert turned.basis is not None
    for features, penalty, turn in (
        (make_products(X), 1.0, True),
        (X, 1.0, False),
        (X, 0.0, True),
        (X * 1e9, 1.0, True),  # the rounding of its second moments is larger than the penalty
    ):
        kept = make_design(features, weight, penalty, 2, turn=turn, max_iter=9)
        assert kept.basis is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_are_dense_where_there_are_many_entries(dtype, monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 10)) * (rng.random((30, 10)) < 0.5)
    full, thin = sparse.csr_array(X), sparse.csr_array(X * (rng.random((30, 10)) < 0.1))
    assert isinstance(make_products(full, dtype), DenseProducts)
    assert isinstance(make_products(thin, dtype), SparseProducts)
    monkeypatch.setattr("colabel.numerics.products.DENSE_BYTES", 100)
    assert isinstance(make_products(full, dtype), SparseProducts)
    assert make_products(X, dtype).dtype == dtype


@pytest.mark.parametrize("kind", [DenseProducts, SparseProducts])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_by_blocks_are_those_of_the_matrix(kind, dtype, monkeypatch):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 8)) * (rng.random((600, 8)) < 0.4)
    products = kind(sparse.csr_array(X) if kind is SparseProducts else X, dtype)
    coef, residuals = rng.normal(size=(3, 8)).astype(dtype), rng.normal(size=(3, 600)).astype(dtype)
    tol = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    for scores in (2**17, 1):
        monkeypatch.setattr("colabel.numerics.products.BLOCK_SCORES", scores)
        monkeypatch.setattr("colabel.numerics.products.TOGETHER", 2 if scores == 1 else 64)
        blocks = products.blocks(3)
        assert (len(blocks) > 1) == (scores == 1)
        found = np.concatenate([products.scores(coef, rows) for rows in blocks], axis=1)
        np.testing.assert_allclose(found, coef @ X.T, **tol)
        assert found.dtype == dtype
        part = sum(
            products.gradient(np.ascontiguousarray(residuals[:, rows]), rows) for rows in blocks
        )
        np.testing.assert_allclose(part, residuals @ X, **tol)
        weight = rng.random(600)
        mean, variance = products.moments(weight)
        np.testing.assert_allclose(mean, np.average(X, axis=0, weights=weight), **tol)
        squares = np.average((X - mean) ** 2, axis=0, weights=weight)
        np.testing.assert_allclose(variance, squares, **tol)
    rows = np.array([5, 2, 300])
    taken = products.take(rows)
    assert type(taken) is kind
    np.testing.assert_allclose(taken.scores(coef, slice(0, 3)), coef @ X[rows].T, **tol)
