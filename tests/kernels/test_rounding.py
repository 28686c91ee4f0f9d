"""Rounding gives labelings that no flip improves, at the value it says."""

import numpy as np
import pytest

from colabel._kernels import rounding
from colabel._kernels.rounding import round_factors, round_rows, round_sizes
from kernels.outside import outside

climb, climb_pairs = outside(rounding.climb), outside(rounding.climb_pairs)
pair_reach, sort_falling = outside(rounding.pair_reach), outside(rounding.sort_falling)


def problem(seed, V, n=4):
    rng = np.random.default_rng(seed)
    unary, C = rng.normal(size=(n, V)), rng.normal(size=(V, V))
    if seed % 2:
        unary, C = np.round(unary), np.round(C)
    C = np.triu(C, 1)
    return rng, unary, C + C.T


def objective(unary, C, truth, table, z):
    hits = int(truth @ z)
    return unary @ z + 0.5 * z @ C @ z + table[hits, int(z.sum()) - hits]


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("V", [1, 2, 5, 9])
def test_no_flip_of_one_or_two_labels_improves_the_rounded_labeling(V, nonempty):
    for seed in range(20):
        rng, unary, C = problem(seed, V)
        truth = np.zeros((4, V), np.int8)
        n_true = seed % (V + 1)
        truth[:, :n_true] = 1
        table = rng.random((n_true + 1, V - n_true + 1)) * (seed % 3)
        labels = np.full((4, V), 7, np.int8)
        round_rows(unary, C, rng.normal(size=(4, V)), truth, table, nonempty, labels)
        assert np.isin(labels, (0, 1)).all()
        for i in range(4):
            z = labels[i].astype(float)
            now = objective(unary[i], C, truth[i], table, z)
            assert z.any() or not nonempty
            for j in range(V):
                for m in range(j + 1):
                    other = z.copy()
                    other[j] = 1 - z[j]
                    other[m] = 1 - z[m]
                    if other.any() or not nonempty:
                        new = objective(unary[i], C, truth[i], table, other)
                        assert new <= now + 1e-12


def test_all_prefixes_of_the_order_are_tried():
    unary, C = np.array([[-1.0, -1.0, -1.0]]), 1.4 * (1 - np.eye(3))
    labels = np.zeros((1, 3), np.int8)
    round_rows(unary, C, np.zeros((1, 3)), labels.copy(), np.zeros((1, 4)), False, labels)
    assert labels.all()


def test_climb_returns_the_objective_at_its_labels():
    for seed in range(30):
        rng, unary, C = problem(seed, 6, n=1)
        labels = (rng.random(6) < 0.5).astype(np.int8)
        truth, table = np.array([1, 1, 0, 0, 0, 0], np.int8), rng.random((3, 5))
        field = unary[0] + C @ labels
        value = climb(unary[0], C, truth, table, False, labels, field)
        assert value == pytest.approx(objective(unary[0], C, truth, table, labels.astype(float)))
        np.testing.assert_allclose(field, unary[0] + C @ labels, atol=1e-12)


def test_more_draws_are_never_worse():
    for seed in range(10):
        rng, unary, C = problem(seed, 7)
        factors, draws = rng.normal(size=(4, 3, 7)), rng.normal(size=(12, 3))
        values = []
        for count in (1, 4, 12):
            labels = np.zeros((4, 7), np.int8)
            round_factors(unary, C, factors, draws[:count], False, labels)
            z = labels.astype(float)
            values.append((unary * z).sum(axis=1) + 0.5 * np.einsum("il,lm,im->i", z, C, z))
        assert np.all(np.diff(values, axis=0) >= -1e-12)


@pytest.mark.parametrize("V", [1, 2, 3, 10, 40])
def test_order_is_falling(V):
    strength = np.round(np.random.default_rng(V).normal(size=V), 1)
    order = np.empty(V, np.int64)
    sort_falling(strength, order)
    assert sorted(order) == list(range(V))
    assert np.all(np.diff(strength[order]) <= 0)


def test_two_labels_that_pay_only_together_are_found():
    unary, C = np.full(5, -3.0), np.full((5, 5), -9.0)
    np.fill_diagonal(C, 0.0)
    C[1, 3] = C[3, 1] = 7.0
    labels, table = np.zeros(5, np.int8), np.zeros((1, 6))
    field, truth = np.empty(5), np.zeros(5, np.int8)
    reach = pair_reach(C, table)
    np.testing.assert_array_equal(reach, [9.0] * 5)
    climb_pairs(unary, C, reach, truth, table, False, labels, field)
    np.testing.assert_array_equal(labels, [0, 1, 0, 1, 0])
    np.testing.assert_allclose(field, unary + C @ labels)


def test_the_last_label_is_replaced_by_a_better_one():
    unary, C = np.array([-3.0, -1.0, -2.0]), np.zeros((3, 3))
    labels, truth = np.array([1, 0, 0], np.int8), np.zeros(3, np.int8)
    value = climb(unary, C, truth, np.zeros((1, 4)), True, labels, unary.copy())
    np.testing.assert_array_equal(labels, [0, 1, 0])
    assert value == -1.0


@pytest.mark.parametrize("size", [0, 1, 3, 6])
def test_no_swap_improves_a_labeling_of_given_size(size):
    for seed in range(10):
        rng, unary, C = problem(seed, 6, n=2)
        labels = np.zeros((2, 6), np.int8)
        factors, draws = rng.normal(size=(2, 3, 6)), rng.normal(size=(3, 3))
        round_sizes(unary, C, rng.normal(size=(2, 6)), factors, draws, size, labels)
        assert np.all(labels.sum(axis=1) == size)
        for i in range(2):
            z = labels[i].astype(float)
            for j in np.flatnonzero(z):
                for m in np.flatnonzero(1 - z):
                    other = z.copy()
                    other[[j, m]] = 0.0, 1.0
                    gain = unary[i] @ (other - z) + 0.5 * (other @ C @ other - z @ C @ z)
                    assert gain <= 1e-12
