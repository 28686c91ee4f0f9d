"""Exact search equals sorting, in blocks or not, sparse or dense; ties go to the earlier row."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer

import oracles_neighbors as oracle
from colabel.neighbors._search import fit_index, nearest


def problem(seed):
    """Points that coincide, that are equally far, or neither."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 20)), int(rng.integers(1, 5))
    draw = rng.normal if seed % 3 == 0 else lambda size: rng.integers(-1, 2, size).astype(float)
    points = draw(size=(n, d))
    points[-1] = points[0]
    return draw(size=(int(rng.integers(1, 8)), d)), points, int(rng.integers(1, n + 3))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("own", [False, True])
def test_search_equals_sorting(form, own, monkeypatch):
    monkeypatch.setattr("colabel.neighbors._search.BLOCK_BYTES", 2000)
    for seed in range(60):
        queries, points, k = problem(seed)
        queries = points if own else queries
        found = nearest(form(queries), form(points), k, leave_own_out=own)
        index, distance = oracle.nearest(queries, points, k, own)
        np.testing.assert_array_equal(found.index, index)
        np.testing.assert_allclose(found.distance, distance, atol=1e-12)
        assert found.k == min(k, len(points) - own)


def test_points_far_from_the_origin_are_told_apart():
    points = np.array([[1e8], [1e8 + 1e-3], [1e8 + 3e-3], [1e8 - 2e-3]])
    found = nearest(points, points, 2, leave_own_out=True)
    assert found.index.tolist() == [[1, 3], [0, 2], [1, 0], [0, 1]]
    assert found.distance[0, 0] == points[1, 0] - points[0, 0]


def test_a_row_is_left_out_by_its_place_and_not_by_its_distance():
    points = np.zeros((4, 2))
    found = nearest(points, points, 3, leave_own_out=True)
    assert found.index.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert nearest(points, points, 2).index.tolist() == [[0, 1]] * 4


def test_forms_may_be_mixed_and_nothing_asked_is_nothing_found():
    queries, points, _ = problem(1)
    expected = nearest(queries, points, 1).index
    np.testing.assert_array_equal(nearest(sparse.csr_array(queries), points, 1).index, expected)
    np.testing.assert_array_equal(nearest(queries, sparse.csr_array(points), 1).index, expected)
    assert nearest(points[:0], points, 3).index.shape == (0, 2) or len(points) > 2
    assert nearest(points[:1], points[:1], 3, leave_own_out=True).index.shape == (1, 0)


def test_an_index_answers_in_the_same_order():
    for seed in range(10):
        _, points, _ = problem(3 * seed)
        k = len(points) - 1
        index = fit_index(KNeighborsTransformer(n_neighbors=k, mode="distance"), points)
        found = nearest(points, points, k, index=index, leave_own_out=True)
        expected = nearest(points, points, k, leave_own_out=True)
        np.testing.assert_allclose(found.distance, expected.distance, atol=1e-7)
        assert not (found.index == np.arange(len(points))[:, None]).any()
    assert fit_index(None, points) is None
