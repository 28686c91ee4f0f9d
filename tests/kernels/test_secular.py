"""The sphere problem is solved in every case, the hard one included."""

import numpy as np
import pytest

from colabel._kernels.secular import sphere_rows, sphere_sizes

CASES = ("generic", "hard", "repeated", "hard and repeated", "zero", "one", "flat")


def problem(case, seed, m):
    """Eigenvalues (ascending) and linear terms."""
    rng = np.random.default_rng([CASES.index(case), seed, m])
    d, c = np.sort(rng.normal(size=m)), rng.normal(size=m) * 10.0 ** rng.integers(-6, 7)
    if "repeated" in case:
        d[: m // 2 + 1] = d[0]
    if "hard" in case:
        c[d == d[0]] = 0.0
    if case == "zero":
        c[:] = 0.0
    if case == "flat":
        d[:] = d[0]
    return (d[:1], c[:1]) if case == "one" else (d, c)


def solve(d, c, radius2):
    X, value = np.empty((1, len(d))), np.empty(1)
    sphere_rows(c[None], d - d[0], d[0], radius2, X, value)
    return X[0], value[0]


@pytest.mark.parametrize("case", CASES)
def test_point_is_on_the_sphere_and_its_value_is_the_dual_bound(case):
    for seed in range(60):
        m = 1 + seed % 9
        d, c = problem(case, seed, m)
        radius2 = float(len(d))
        x, value = solve(d, c, radius2)
        primal = c @ x - d @ x**2
        size = np.abs(c) @ np.abs(x) + np.abs(d) @ x**2 + 1e-300
        assert x @ x == pytest.approx(radius2, rel=1e-12)
        # Weak duality makes the value a bound; that the point reaches it makes both optimal.
        assert abs(value - primal) <= 1e-12 * size


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_no_random_point_of_the_sphere_is_better(scale):
    rng = np.random.default_rng(0)
    for case in CASES:
        for seed in range(8):
            d, c = problem(case, seed, 4)
            value = solve(scale * d, scale * c, 4.0)[1]
            S = rng.normal(size=(200, len(d)))
            S *= 2.0 / np.linalg.norm(S, axis=1, keepdims=True)
            reached = scale * (S @ c - S**2 @ d)
            assert reached.max() <= value + 1e-12 * scale * (np.abs(c).max() + 4 * np.abs(d).max())


def test_printed_counter_example_of_the_published_recipe():
    # max u'b - u'Au, A = diag(-3, 1, 2), b = (0, .1, .1): the hard case.
    x, value = solve(np.array([-3.0, 1.0, 2.0]), np.array([0.0, 0.1, 0.1]), 3.0)
    assert value == pytest.approx(9.0011, abs=1e-4)
    assert x[0] > 1.7


def terms(m, seed):
    rng = np.random.default_rng([7, m, seed])
    V = m + 1
    d = np.sort(rng.normal(size=m))
    lowest = d[0] if m else 0.0
    size = np.arange(V + 1.0)
    radius2 = 4.0 * size * (V - size) / V
    columns = [2 * size - V, radius2, lowest * radius2, rng.normal(size=V + 1)]
    columns += [rng.normal(size=V + 1), (rng.random(V + 1) < 0.8) * 1.0]
    columns[5][-1] = 1.0
    return d, np.stack(columns, axis=1), rng


@pytest.mark.parametrize("m", [0, 1, 2, 5, 8])
def test_sizes_equal_one_sphere_for_each_and_pruning_changes_nothing(m):
    for seed in range(12):
        d, sizes, rng = terms(m, seed)
        gaps, V = d - (d[0] if m else 0.0), m + 1
        C, G, E = rng.normal(size=(3, m)), rng.normal(size=(3, m)), rng.normal(size=m)
        row_terms = rng.normal(size=(3, 3))
        row_terms[:, 2] = rng.integers(0, V + 1, 3)
        full, one = np.empty((3, V + 1)), np.empty((3, 1))
        X, Y = np.empty((3, m)), np.empty((3, m))
        best = sphere_sizes(C, G, E, gaps, sizes, row_terms, full, X)
        again = sphere_sizes(C, G, E, gaps, sizes, row_terms, one, Y)
        np.testing.assert_array_equal(best, again)
        np.testing.assert_allclose(one[:, 0], full.max(axis=1), rtol=1e-12)
        np.testing.assert_allclose(X, Y, atol=1e-12)
        for i in range(3):
            for k in range(V + 1):
                beta, radius2, _, slope, constant, use = sizes[k]
                c = C[i] + slope * G[i] - beta * E
                expected = constant + beta / V * (row_terms[i, 0] + slope * row_terms[i, 1])
                if radius2 > 0:
                    expected += solve(d, c, radius2)[1]
                if use:
                    assert full[i, k] == pytest.approx(expected, rel=1e-10, abs=1e-10)
                else:
                    assert full[i, k] == -np.inf
