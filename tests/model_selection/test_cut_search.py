"""The search for cuts against trying them all."""

from itertools import product

import numpy as np
import pytest

import oracles
from colabel.model_selection._cut_search import (
    CUT_MEASURES,
    best_global_cut,
    best_label_cuts,
    measure_of,
)

every_measure = pytest.mark.parametrize("measure", CUT_MEASURES)


def problem(seed):
    rng = np.random.default_rng(seed)
    n, n_labels = rng.integers(1, 7), rng.integers(1, 4)
    scores = rng.normal(size=(n, n_labels)).round(int(rng.integers(0, 3)))
    if seed % 10 == 0:
        scores = np.full((n, n_labels), 0.5)
    Y = rng.random((n, n_labels)) < (0.0, 0.3, 0.6, 1.0)[seed % 4]
    return scores, Y, float((0.5, 1.0, 2.0)[seed % 3])


def with_top_1(on, scores):
    empty = ~on.any(axis=1)
    on[empty, scores[empty].argmax(axis=1)] = True
    return on


def candidates(scores):
    return np.concatenate([scores.ravel(), [scores.min() - 1]])


def best_of(measure, values):
    return min(values) if measure == "hamming_loss" else max(values)


@every_measure
def test_measure_equals_the_definition(measure):
    for seed in range(100):
        scores, Y, beta = problem(seed)
        on = scores > 0
        expected = oracles.measure(measure, Y, on, beta)
        assert measure_of(on, Y, measure, beta=beta) == pytest.approx(expected, abs=1e-12)


@every_measure
def test_weights_count_rows(measure):
    for seed in range(40):
        scores, Y, beta = problem(seed)
        weight = np.random.default_rng(seed).integers(1, 4, len(Y))
        rows = np.repeat(np.arange(len(Y)), weight)
        weighted = measure_of(scores > 0, Y, measure, beta=beta, weight=weight.astype(float))
        repeated = measure_of(scores[rows] > 0, Y[rows], measure, beta=beta)
        assert weighted == pytest.approx(repeated, abs=1e-12)
        options = {"beta": beta, "weight": weight.astype(float)}
        for found, whole in (
            (
                best_global_cut(scores, Y, measure, **options),
                best_global_cut(scores[rows], Y[rows], measure, beta=beta),
            ),
            (
                best_label_cuts(scores, Y, measure, **options),
                best_label_cuts(scores[rows], Y[rows], measure, beta=beta),
            ),
        ):
            np.testing.assert_allclose(found.threshold, whole.threshold)


@every_measure
@pytest.mark.parametrize("top_1", [False, True])
def test_global_cut_is_the_best_of_all(measure, top_1):
    for seed in range(150):
        scores, Y, beta = problem(seed)

        def value(cut, scores=scores, Y=Y, beta=beta):
            on = scores > cut
            return measure_of(with_top_1(on, scores) if top_1 else on, Y, measure, beta=beta)

        found = best_global_cut(scores, Y, measure, beta=beta, top_1=top_1)
        best = best_of(measure, [value(cut) for cut in candidates(scores)])
        assert value(found.threshold) == pytest.approx(best, abs=1e-9)
        if measure != "hamming_loss":
            assert found.value == pytest.approx(best, abs=1e-9)


@every_measure
def test_label_cuts_are_the_best_of_all_where_they_claim_it(measure):
    for seed in range(80):
        scores, Y, beta = problem(seed)
        found = best_label_cuts(scores, Y, measure, beta=beta)
        value = measure_of(scores > found.threshold, Y, measure, beta=beta)
        every = product(*(candidates(column) for column in scores.T))
        values = [measure_of(scores > np.array(cuts), Y, measure, beta=beta) for cuts in every]
        best = best_of(measure, values)
        if CUT_MEASURES[measure].over == "rows":
            start = best_global_cut(scores, Y, measure, beta=beta).value
            assert start - 1e-9 <= value <= best + 1e-9
            assert_no_single_cut_improves(scores, Y, measure, beta, found.threshold, value)
        else:
            assert value == pytest.approx(best, abs=1e-9)


def assert_no_single_cut_improves(scores, Y, measure, beta, cuts, value):
    for label in range(Y.shape[1]):
        for cut in candidates(scores[:, label]):
            moved = np.array(cuts)
            moved[label] = cut
            assert measure_of(scores > moved, Y, measure, beta=beta) <= value + 1e-9


@every_measure
def test_of_equal_cuts_the_highest_is_taken(measure):
    scores, Y = np.array([[0.1, 0.2], [0.3, 0.4]]), np.zeros((2, 2), dtype=bool)
    cut = best_global_cut(scores, Y, measure)
    assert cut.threshold > 0.4
    assert (best_label_cuts(scores, Y, measure).threshold > 0.3).all()


def test_adjacent_floats_can_be_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    scores, Y = np.array([[low, high]]), np.array([[False, True]])
    cut = best_global_cut(scores, Y, "hamming_loss")
    np.testing.assert_array_equal(scores > cut.threshold, Y)


def test_rounding_does_not_hide_a_tie():
    for seed in range(300):
        scores, Y, beta = problem(seed)
        cut = best_global_cut(scores, Y, "example_f1", beta=beta)
        higher = [c for c in scores.ravel() if c > cut.threshold]
        values = [measure_of(scores > c, Y, "example_f1", beta=beta) for c in higher]
        assert all(value < cut.value - 1e-13 for value in values)


def test_huge_scores_give_a_finite_cut():
    scores, Y = np.array([[1.5e308, -1.5e308]]), np.array([[False, False]])
    with np.errstate(over="ignore"):
        assert np.isfinite(best_global_cut(scores, Y, "hamming_loss").threshold)


def test_large_problems_agree_with_the_measure():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5_000, 50))
    Y = scores + rng.normal(size=scores.shape) > 1.5
    cut = best_global_cut(scores, Y, "example_f1")
    on = scores > cut.threshold
    assert measure_of(on, Y, "example_f1") == pytest.approx(cut.value, abs=1e-9)
