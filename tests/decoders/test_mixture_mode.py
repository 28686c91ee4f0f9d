"""The most probable labeling of a mixture equals enumeration, and a node cap is honest."""

import math

import numba
import numpy as np
import pytest

import oracles
from colabel.decoders.mixture_mode import MixtureMode
from colabel.scores import Mixture
from decoders import oracles_mixture as truth

N_PROBLEMS = 1000


def check_exact(decoder, scores, nonempty, *, ties=True):
    found = decoder.decode(scores, nonempty=nonempty)
    values = truth.log_probs(scores)
    truth.assert_best(found, values, nonempty=nonempty, tie=1e-14, ties=ties)


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("regime", truth.REGIMES)
def test_search_equals_enumeration(regime, nonempty):
    for scores in truth.batches(Mixture, regime, N_PROBLEMS):
        check_exact(MixtureMode(), scores, nonempty)


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("regime", truth.REGIMES)
def test_the_papers_algorithm_equals_enumeration(regime, nonempty):
    for scores in truth.batches(Mixture, regime, 300):
        check_exact(MixtureMode("paper"), scores, nonempty, ties=False)


def test_array_oracle_equals_the_scalar_one():
    for seed in range(20):
        weights, logits = truth.mixture_arrays("normal", seed)
        scores = Mixture(weights[None], logits[None])
        Z, values = oracles.all_labelings(logits.shape[1]), truth.log_probs(scores)[0]
        for z, value in zip(Z, values, strict=True):
            assert math.isclose(
                truth.mixture_log_prob(scores.log_weights[0], logits, z),
                value,
                rel_tol=1e-12,
                abs_tol=1e-12,
            )


def hard(n_samples, n_labels, seed=0):
    """Equal components that know little: no labeling stands out."""
    logits = np.random.default_rng(seed).normal(0.0, 0.5, size=(n_samples, 50, n_labels))
    return Mixture(np.zeros((n_samples, 50)), logits)


@pytest.mark.parametrize("algorithm", ["search", "paper"])
@pytest.mark.parametrize("nonempty", [False, True])
def test_a_node_cap_returns_an_incumbent_below_its_bound(algorithm, nonempty):
    scores = hard(5, 22)
    found = MixtureMode(algorithm, max_nodes=300).decode(scores, nonempty=nonempty)
    assert (found.gap > 0).all()
    assert not found.certified.any()
    assert np.isfinite(found.upper_bound).all()
    np.testing.assert_allclose(found.value, scores.value(found.labels), rtol=1e-12)
    more = MixtureMode(algorithm, max_nodes=3000).decode(scores, nonempty=nonempty)
    assert (more.value >= found.value).all()
    assert (more.upper_bound <= found.upper_bound + 1e-12).all()


@pytest.mark.parametrize("max_nodes", [1, 2, 5])
def test_bounds_hold_at_any_cap(max_nodes):
    for algorithm in ("search", "paper"):
        scores = hard(20, 9, seed=max_nodes)
        found = MixtureMode(algorithm, max_nodes=max_nodes).decode(scores)
        best = truth.log_probs(scores).max(axis=1)
        assert np.all(found.value <= best + 1e-12)
        assert np.all(found.upper_bound >= best - 1e-12)


@pytest.mark.parametrize("n_labels", [53, 159])
def test_both_algorithms_agree_on_many_labels(n_labels):
    rng = np.random.default_rng(n_labels)
    logits = 3.0 * rng.normal(size=(20, 6, n_labels)) - 5.0
    scores = Mixture(4.0 * rng.normal(size=(20, 6)), logits)
    search, paper = MixtureMode().decode(scores), MixtureMode("paper").decode(scores)
    done = paper.certified
    assert done.sum() >= 10
    assert search.certified.all()
    np.testing.assert_allclose(search.value[done], paper.value[done], rtol=1e-12)
    assert (search.value >= paper.value - 1e-12).all()
    np.testing.assert_allclose(search.value, scores.value(search.labels), rtol=1e-11)


def test_one_component_is_a_cut_at_zero():
    logits = np.random.default_rng(0).normal(size=(30, 1, 200)) * 5
    found = MixtureMode().decode(Mixture(np.zeros((30, 1)), logits))
    np.testing.assert_array_equal(found.labels, logits[:, 0] > 0)
    assert found.certified.all()


@pytest.mark.parametrize("algorithm", ["search", "paper"])
def test_results_do_not_depend_on_threads_or_batches(algorithm):
    rng = np.random.default_rng(1)
    scores = Mixture(rng.normal(size=(70, 9)), rng.normal(size=(70, 9, 23)))
    decoder = MixtureMode(algorithm, max_nodes=2000)
    whole = decoder.decode(scores)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = decoder.decode(scores)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(alone.labels, whole.labels)
    np.testing.assert_array_equal(alone.value, whole.value)
    np.testing.assert_array_equal(alone.upper_bound, whole.upper_bound)
    for i in range(10):
        row = decoder.decode(scores.take([i]))
        np.testing.assert_array_equal(row.labels, whole.labels[[i]])
        np.testing.assert_allclose(row.value, whole.value[[i]], rtol=1e-13)


@pytest.mark.parametrize("algorithm", ["search", "paper"])
def test_no_samples_give_no_labelings(algorithm):
    found = MixtureMode(algorithm).decode(Mixture(np.zeros((0, 3)), np.zeros((0, 3, 4))))
    assert found.labels.shape == (0, 4)
    assert found.value.shape == found.upper_bound.shape == (0,)


def test_an_unknown_algorithm_is_named():
    with pytest.raises(ValueError, match="'fast'"):
        MixtureMode("fast").decode(hard(1, 3))


def test_a_cap_on_the_papers_lists_still_leaves_a_labeling_that_is_not_empty():
    # The first labelings of both lists are empty, and no more are dequeued.
    scores = Mixture(np.log([[0.5, 0.5]]), -3.0 - np.arange(10.0).reshape(1, 2, 5) / 10)
    found = MixtureMode("paper", max_nodes=1).decode(scores, nonempty=True)
    assert found.labels.tolist() == [[1, 0, 0, 0, 0]]
    np.testing.assert_allclose(found.value, scores.log_prob(found.labels))
    assert found.upper_bound[0] > found.value[0]
