"""Marginal and expected-F decoding equal enumeration for every kind of distribution."""

import numba
import numpy as np
import pytest

import instances
import oracles
from colabel.decoders.expected_f import ExpectedF
from colabel.decoders.marginal import Marginal
from colabel.exceptions import IncompatibleError
from colabel.scores import Mixture, Modular, Support
from decoders import oracles_mixture as truth

TABLES = (Modular, Mixture, Support)
every_table = pytest.mark.parametrize("table", TABLES)


def check(decoder, scores, matrix, nonempty):
    found = decoder.decode(scores, nonempty=nonempty)
    np.testing.assert_allclose(decoder.objective(scores, found.labels), found.value, atol=1e-14)
    truth.assert_best(found, np.exp(truth.log_probs(scores)) @ matrix.T, nonempty=nonempty)


@every_table
@pytest.mark.parametrize("regime", truth.REGIMES)
def test_expected_f_equals_enumeration(table, regime):
    for j, scores in enumerate(truth.batches(table, regime, 1000, max_labels=6)):
        beta = (1.0, 0.5, 2.0, 0.7, 0.0)[j % 5]
        check(ExpectedF(beta), scores, truth.f_matrix(scores.n_labels, beta), j % 2 == 1)


@every_table
@pytest.mark.parametrize("nonempty", [False, True])
def test_marginals_equal_enumeration(table, nonempty):
    for regime in truth.REGIMES:
        for scores in truth.batches(table, regime, 300, max_labels=5):
            check(Marginal(), scores, truth.hamming_matrix(scores.n_labels), nonempty)


@every_table
@pytest.mark.parametrize("beta", [1.0, 0.5, 3.0])
def test_objective_is_the_expectation_of_any_labeling(table, beta):
    for seed in range(5):
        for scores in truth.batches(table, "normal", 50, max_labels=6):
            Z = oracles.all_labelings(scores.n_labels)
            z = Z[(seed * 7919) % len(Z)]
            values = ExpectedF(beta).objective(scores, np.tile(z, (scores.n_samples, 1)))
            row = truth.f_matrix(scores.n_labels, beta)[(seed * 7919) % len(Z)]
            np.testing.assert_allclose(values, np.exp(truth.log_probs(scores)) @ row, atol=1e-13)


@pytest.mark.parametrize("n_labels", [159, 400])
def test_many_labels_agree_with_sampling(n_labels):
    rng = np.random.default_rng(n_labels)
    scores = Mixture(rng.normal(size=(3, 5)), rng.normal(size=(3, 5, n_labels)) * 2 - 3)
    found = ExpectedF().decode(scores)
    drawn = scores.sample(20_000, random_state=0).astype(float)
    for i in range(3):
        z = found.labels[i].astype(float)
        total = drawn[i].sum(axis=1) + z.sum()
        f = 2 * drawn[i] @ z / total
        assert abs(f.mean() - found.value[i]) < 5 * f.std() / np.sqrt(len(f))
    for other in (Marginal().decode(scores).labels, 1 - found.labels):
        assert (ExpectedF().objective(scores, other) <= found.value).all()


def test_many_equal_labels_have_the_binomial_answer():
    """With 300 labels of probability 1/2 each, E[F] of k labels is known from binomials."""
    from scipy.stats import binom

    n = 300
    scores = Modular(np.zeros((1, n)), log_odds=True)
    s = np.arange(1, n + 1)
    k = np.arange(1, n + 1)[:, None]
    gain = np.sum(binom.pmf(s, n, 0.5) * 2 * (k * s / n) / (s + k), axis=1)
    found = ExpectedF().decode(scores)
    assert abs(found.value[0] - gain.max()) < 1e-12
    assert found.labels.sum() == 1 + np.argmax(gain)


@every_table
def test_results_do_not_depend_on_threads_or_batches(table):
    maker = {Modular: instances.modular, Mixture: instances.mixture, Support: instances.support}
    options = {"log_odds": True} if table is Modular else {}
    scores = maker[table](1, n_samples=50, n_labels=7, **options)
    whole = ExpectedF().decode(scores)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = ExpectedF().decode(scores)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(alone.labels, whole.labels)
    np.testing.assert_array_equal(alone.value, whole.value)
    for i in range(5):
        row = ExpectedF().decode(scores.take([i]))
        np.testing.assert_array_equal(row.labels, whole.labels[[i]])
        np.testing.assert_allclose(row.value, whole.value[[i]], rtol=1e-12)


@pytest.mark.parametrize("decoder", [ExpectedF(), Marginal()], ids=str)
def test_scores_without_probabilities_are_refused(decoder):
    for scores in (instances.modular(1), instances.support(1, distribution=False)):
        with pytest.raises(IncompatibleError, match="needs probabilities"):
            decoder.decode(scores)


@pytest.mark.parametrize("decoder", [ExpectedF(), Marginal()], ids=str)
def test_no_samples_and_only_the_empty_labeling_known(decoder):
    found = decoder.decode(Mixture(np.zeros((0, 2)), np.zeros((0, 2, 3))))
    assert found.labels.shape == (0, 3)
    found = decoder.decode(Support([[0, 0]], np.zeros((2, 1))), nonempty=True)
    assert found.labels.sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize("beta", [-1.0, np.nan, np.inf])
def test_a_beta_out_of_range_is_named(beta):
    with pytest.raises(ValueError, match="beta must be"):
        ExpectedF(beta).decode(instances.mixture(1))


def test_a_huge_beta_is_recall():
    scores = instances.mixture(1, n_labels=5)
    found = ExpectedF(1e200).decode(scores)
    # Recall is 1 with all labels on, and an empty truth counts for the empty prediction only.
    full = ExpectedF(1e200).objective(scores, np.ones((8, 5)))
    never = np.exp(scores.log_prob(np.zeros((8, 5))))
    np.testing.assert_allclose(full, 1.0 - never, atol=1e-12)
    assert np.all(found.value >= full - 1e-12)
    for beta in (0.3, 1.0, 3.0):
        weights, k = ExpectedF(beta)._weights(6), np.arange(7.0)
        below = beta**2 * k + k[:, None]
        np.testing.assert_allclose(weights * below, np.where(below > 0, 1.0 + beta**2, 0.0))
