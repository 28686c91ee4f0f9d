"""Count tables and expected gains against enumeration, also interpreted."""

import numpy as np
import pytest

import oracles
from colabel._kernels import expected_f, expected_jaccard
from colabel.scores import Mixture, Modular, Support
from decoders import oracles_mixture as truth


def empty_tables(scores):
    n_samples, n_labels = scores.n_samples, scores.n_labels
    shape = (n_samples, n_labels + 1)
    return np.full((*shape, n_labels), np.nan), np.full(shape, np.nan), np.empty(n_samples, int)


def tables_of(scores):
    out = empty_tables(scores)
    if isinstance(scores, Mixture):
        expected_f.mixture_counts(scores.log_weights, scores.logits, *out)
    else:
        expected_f.support_counts(*on_of(scores), scores.scores, *out)
    return out


def on_of(scores):
    starts = np.concatenate([[0], np.cumsum(scores.labelings.sum(axis=1, dtype=np.int64))])
    return starts, np.nonzero(scores.labelings)[1].astype(np.int64)


def problems(table, n_problems=25):
    for regime in truth.REGIMES:
        yield from truth.batches(table, regime, n_problems, max_labels=5)


@pytest.mark.parametrize("table", [Mixture, Support])
def test_tables_are_probabilities_of_label_and_count(table):
    for scores in problems(table):
        tables, sizes, tops = tables_of(scores)
        Z, p = oracles.all_labelings(scores.n_labels), np.exp(truth.log_probs(scores))
        for s in range(scores.n_labels + 1):
            chosen = Z.sum(axis=1) == s
            size, joint = p[:, chosen].sum(axis=1), p[:, chosen] @ Z[chosen]
            kept = tops >= s
            np.testing.assert_allclose(sizes[kept, s], size[kept], atol=1e-14)
            if s > 0:
                np.testing.assert_allclose(tables[kept, s], joint[kept], atol=1e-14)
            assert np.all(size[~kept] < 1e-18)


def test_taking_labels_out_is_stable_for_many_labels():
    """Row sums: sum_l P(y_l = 1, |y| = s) = s P(|y| = s)."""
    rng = np.random.default_rng(0)
    for spread in (0.0, 1.0, 5.0, 20.0):
        scores = Mixture(np.zeros((1, 2)), rng.normal(size=(1, 2, 90)) * spread)
        tables, sizes, tops = tables_of(scores)
        s = np.arange(1, tops[0] + 1)
        found = tables[0, 1 : tops[0] + 1].sum(axis=1)
        np.testing.assert_allclose(found, s * sizes[0, 1 : tops[0] + 1], atol=1e-12)
        marginals = tables[0, 1 : tops[0] + 1].sum(axis=0)
        np.testing.assert_allclose(marginals, scores.marginals()[0], atol=1e-12)


@pytest.mark.parametrize("table", [Mixture, Support])
@pytest.mark.parametrize("nonempty", [False, True])
def test_the_best_labeling_by_counts_equals_enumeration(table, nonempty):
    for scores in problems(table, 10):
        counts = tables_of(scores)
        n_labels = scores.n_labels
        k = np.arange(n_labels + 1.0)
        weights = 2.0 / np.maximum(k[:, None] + k, 1.0)
        labels = np.empty((scores.n_samples, n_labels), np.int8)
        values, again = np.empty(scores.n_samples), np.empty(scores.n_samples)
        expected_f.best_by_counts(*counts, weights, nonempty, labels, values)
        expected_f.value_by_counts(*counts, weights, labels, again)
        np.testing.assert_allclose(again, values, atol=1e-14)
        every = np.exp(truth.log_probs(scores)) @ truth.f_matrix(n_labels, 1.0).T
        np.testing.assert_allclose(values, every[:, int(nonempty) :].max(axis=1), atol=1e-13)
        there = every[np.arange(len(every)), truth.place_of(labels)]
        np.testing.assert_allclose(there, values, atol=1e-13)


def jaccard_of(scores):
    return np.exp(truth.log_probs(scores)) @ truth.jaccard_matrix(scores.n_labels)


@pytest.mark.parametrize("nonempty", [False, True])
def test_independent_labels_have_an_exact_best_jaccard(nonempty):
    for scores in problems(Modular, 10):
        labels, values = np.empty(scores.unary.shape, np.int8), np.empty(scores.n_samples)
        order = np.argsort(-scores.unary, axis=1)
        expected_jaccard.independent_jaccard(scores.unary, order, nonempty, labels, values)
        every = jaccard_of(scores)
        np.testing.assert_allclose(values, every[:, int(nonempty) :].max(axis=1), atol=1e-13)
        there = every[np.arange(len(every)), truth.place_of(labels)]
        np.testing.assert_allclose(there, values, atol=1e-13)


def test_mixture_jaccard_is_the_expectation():
    for j, scores in enumerate(problems(Mixture, 10)):
        every, values = jaccard_of(scores), np.empty(scores.n_samples)
        Z = oracles.all_labelings(scores.n_labels)
        which = (np.arange(scores.n_samples) * 7 + j) % len(Z)
        expected_jaccard.mixture_jaccard(scores.log_weights, scores.logits, Z[which], values)
        np.testing.assert_allclose(values, every[np.arange(len(which)), which], atol=1e-13)


@pytest.mark.parametrize("table", [Mixture, Support])
@pytest.mark.parametrize("nonempty", [False, True])
def test_climbs_end_at_labelings_no_flip_improves(table, nonempty):
    for j, scores in enumerate(problems(table, 6)):
        every, rows = jaccard_of(scores), np.arange(scores.n_samples)
        Z = oracles.all_labelings(scores.n_labels)
        labels = Z[np.maximum((rows * 7 + j) % len(Z), int(nonempty))]
        start = every[rows, truth.place_of(labels)]
        values = start.copy()
        if table is Mixture:
            expected_jaccard.climb_mixture(
                scores.log_weights, scores.logits, nonempty, labels, values
            )
        else:
            expected_jaccard.climb_support(*on_of(scores), scores.scores, nonempty, labels, values)
        here = every[rows, truth.place_of(labels)]
        np.testing.assert_allclose(values, here, atol=1e-13)
        assert np.all(values >= start)
        for label in range(scores.n_labels):
            flipped = labels.copy()
            flipped[:, label] ^= 1
            allowed = flipped.any(axis=1) | (not nonempty)
            assert np.all(every[rows, truth.place_of(flipped)][allowed] <= here[allowed] + 2e-13)
