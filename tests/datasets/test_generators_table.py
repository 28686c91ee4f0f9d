"""The generated mixture as a score table: the truth of Table 1 of Li et al. (2016)."""

import numpy as np
import pytest

from colabel.datasets import make_bernoulli_mixture
from colabel.decoders import Marginal, MixtureMode
from colabel.scores import Mixture


def accuracy(Y, Z):
    return (Y == Z).all(axis=1).mean()


@pytest.mark.parametrize("target", ["argmax", "sample"])
@pytest.mark.parametrize("noise", [0.0, 1.2, 3.0])
@pytest.mark.parametrize("averaged", [True, False])
def test_the_table_gives_the_log_probability_of_every_labeling(target, noise, averaged):
    truth = make_bernoulli_mixture(20, target=target, noise=noise, random_state=0).truth
    X = np.random.default_rng(1).normal(size=(30, 7))
    table = Mixture(*truth.mixture(X, averaged=averaged))
    assert (table.n_samples, table.n_components, table.n_labels) == (30, 3, 4)
    expected = truth.log_prob(X, averaged=averaged)
    np.testing.assert_allclose(table.value_all(truth.labelings), expected, atol=1e-9)
    np.testing.assert_allclose(np.exp(expected).sum(axis=1), 1.0, rtol=1e-9)


def test_without_noise_the_table_is_the_scores():
    truth = make_bernoulli_mixture(5, random_state=0).truth
    X = np.random.default_rng(1).normal(size=(9, 7))
    plain, scores = Mixture(*truth.mixture(X)), Mixture(*truth.scores(X))
    np.testing.assert_allclose(plain.log_weights, scores.log_weights, atol=1e-12)
    np.testing.assert_array_equal(plain.logits, scores.logits)


def test_decoding_the_table_reaches_the_upper_bounds_of_table_1():
    """Test rows only; 100 per cent for argmax without noise, the optimal accuracy for samples."""
    half = slice(4000, None)
    for seed in range(2):
        data = make_bernoulli_mixture(8000, random_state=seed)
        modes = MixtureMode().decode(Mixture(*data.truth.mixture(data.X[half]))).labels
        assert accuracy(data.Y[half], modes) == 1.0
        for noise in (0.0, 2.0):
            drawn = make_bernoulli_mixture(8000, target="sample", noise=noise, random_state=seed)
            table = Mixture(*drawn.truth.mixture(drawn.X[half]))
            found = MixtureMode().decode(table)
            error = 4 * 0.5 / np.sqrt(4000)
            bound = np.exp(found.value).mean()
            assert abs(bound - drawn.optimal_accuracy) < error
            assert abs(accuracy(drawn.Y[half], found.labels) - bound) < error
            apart = Marginal().decode(table).labels
            assert accuracy(drawn.Y[half], apart) < bound + error


def test_labels_are_drawn_from_the_table():
    data = make_bernoulli_mixture(20000, target="sample", noise=1.5, random_state=3)
    table = Mixture(*data.truth.mixture(data.X))
    error = 4.5 * 0.5 / np.sqrt(len(data.Y))
    np.testing.assert_allclose(data.Y.mean(axis=0), table.marginals().mean(axis=0), atol=error)
    other = table.sample(1, random_state=0)[:, 0]
    np.testing.assert_allclose(np.corrcoef(data.Y.T), np.corrcoef(other.T), atol=0.04)
