"""The mixture kernels against plain arithmetic, also interpreted."""

import numpy as np
import pytest

from colabel._kernels import mixture_best, mixture_lists, mixture_mode, mixture_parts
from colabel.scores import Mixture
from decoders import oracles_mixture as truth
from kernels.outside import outside

exp_minus_abs = outside(mixture_parts.exp_minus_abs)
keep_components = outside(mixture_parts.keep_components)
goal_of, hopeless = outside(mixture_best.goal_of), outside(mixture_best.hopeless)
enqueue = outside(mixture_lists._enqueue)


def test_exponentials_have_full_accuracy_and_end_at_zero():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300) * 10.0 ** rng.integers(-12, 3, size=300)
    x = np.concatenate([x, [0.0, -0.0, 1.0, 707.9, -707.9]])
    out = np.empty_like(x)
    exp_minus_abs(x, out)
    np.testing.assert_allclose(out, np.exp(-np.minimum(np.abs(x), 708)), rtol=2e-15)
    exp_minus_abs(np.array([708.0, -1e300, 800.0]), out)
    assert out[:3].tolist() == [0.0, 0.0, 0.0]


def kept_tables(weights, logits, spare):
    n_components, n_labels = logits.shape
    kept, head = np.empty(n_components, np.int64), np.empty(n_components)
    factors = np.empty((n_components, 2 * n_labels))
    some = np.empty(n_labels)
    n = keep_components(weights, logits, spare, kept, head, factors, some)
    return kept[:n], head[:n], factors[:n].reshape(n, 2, n_labels)


def test_heads_are_the_best_log_joint_of_each_component():
    for seed in range(40):
        weights, logits = truth.mixture_arrays(("normal", "integer", "few")[seed % 3], seed)
        kept, head, factors = kept_tables(weights, logits, logits.shape[1])
        spoken = np.abs(logits[kept])
        np.testing.assert_allclose(head, weights[kept] - np.log1p(np.exp(-spoken)).sum(axis=1))
        np.testing.assert_allclose(factors[:, 1], np.exp(np.minimum(logits[kept], 0)), rtol=2e-15)
        np.testing.assert_allclose(factors[:, 0], np.exp(-np.maximum(logits[kept], 0)), rtol=2e-15)


def test_long_products_do_not_overflow():
    kept, head, _ = kept_tables(np.zeros(1), np.zeros((1, 3000)), 0)
    assert kept.tolist() == [0]
    np.testing.assert_allclose(head, -3000 * np.log(2.0))


def test_components_are_dropped_only_below_what_is_sought():
    logits = np.array([[50.0, 30.0], [-1.0, 1.0], [0.5, 0.5]])
    weights = np.array([0.0, -42.0, -np.inf])
    assert kept_tables(weights, logits, 0)[0].tolist() == [0]
    # The second best labeling of the first component is 30 lower.
    assert kept_tables(weights, logits, 1)[0].tolist() == [0, 1]
    assert kept_tables(weights[::-1].copy(), logits[::-1].copy(), 1)[0].tolist() == [2, 1]


def test_look_ahead_and_charge_are_sums():
    rng = np.random.default_rng(1)
    logits, shares = rng.normal(size=(5, 7)), rng.random(5)
    shares[2] = 0.0
    factors, up = rng.random((5, 14)), np.empty(14)
    outside(mixture_parts.look_ahead)(shares, factors, up)
    np.testing.assert_allclose(up, shares @ factors)
    signs, joint = np.array([1.0, -1, 0, 0, 1, -1, 1]), np.empty(5)
    outside(mixture_parts.charge)(logits, np.arange(5), np.ones(5), signs, joint)
    np.testing.assert_allclose(joint, 1.0 - np.maximum(-signs * logits, 0.0).sum(axis=1))


def test_kept_labelings_stay_ordered_and_distinct():
    labels, values = np.zeros((3, 4), np.int8), np.full(3, -np.inf)
    best = mixture_best.Best(labels, values, True)
    offer = outside(mixture_best.offer)
    offers = [((1, 0, 0, 0), -2.0), ((0, 0, 0, 0), -1.0), ((1, 1, 0, 0), -1.0)]
    offers += [((1, 0, 0, 0), -2.0), ((0, 1, 0, 0), -1.0), ((0, 0, 0, 1), -3.0)]
    offers += [((0, 1, 1, 1), -2.0), ((1, 1, 1, 1), -0.5)]
    for state, value in offers:
        offer(np.array(state, np.int8), value, best)
    assert values.tolist() == [-0.5, -1.0, -1.0]
    assert labels.tolist() == [[1, 1, 1, 1], [0, 1, 0, 0], [1, 1, 0, 0]]
    reach, fewest = goal_of(best, -1.0)
    assert (reach, fewest) == (1.0, 2)
    assert hopeless(0.9, 0, (reach, fewest))
    assert hopeless(1.0, 2, (reach, fewest))
    assert not hopeless(1.0, 1, (reach, fewest))
    assert goal_of(best, -1e9)[0] > 1e300


def search(scores, m, nonempty=False, max_nodes=10_000):
    n_samples = scores.n_samples
    labels = np.zeros((n_samples, m, scores.n_labels), np.int8)
    values, proof = np.empty((n_samples, m)), np.empty((n_samples, 2))
    work = mixture_mode.workspace(scores.n_components, scores.n_labels)
    mixture_mode.top_labelings(
        scores.log_weights, scores.logits, nonempty, max_nodes, work, labels, values, proof
    )
    return labels, values, proof


@pytest.mark.parametrize("regime", truth.REGIMES)
def test_search_equals_enumeration(regime):
    for j, scores in enumerate(truth.batches(Mixture, regime, 60, max_labels=5)):
        nonempty = j % 2 == 1
        m = min(1 + j % 3, 2**scores.n_labels - nonempty)
        labels, values, proof = search(scores, m, nonempty)
        every = truth.log_probs(scores)[:, int(nonempty) :]
        best = -np.sort(-every, axis=1)[:, :m]
        scale = np.maximum(1.0, np.abs(best))
        np.testing.assert_allclose(values / scale, best / scale, atol=1e-12)
        there = np.take_along_axis(every, truth.place_of(labels) - int(nonempty), axis=1)
        np.testing.assert_allclose(there / scale, best / scale, atol=1e-12)
        assert np.isneginf(proof[:, 0]).all()


def test_a_cap_leaves_a_bound():
    rng = np.random.default_rng(0)
    scores = Mixture(np.zeros((2, 12)), rng.normal(0.0, 0.5, size=(2, 12, 8)))
    _, values, proof = search(scores, 1, max_nodes=3)
    best = truth.log_probs(scores).max(axis=1)
    assert (proof[:, 1] == 3).all()
    assert (np.maximum(proof[:, 0], values[:, 0]) >= best - 1e-12).all()
    assert (proof[:, 0] > values[:, 0]).any()


@pytest.mark.parametrize("regime", truth.REGIMES)
def test_ranked_lists_equal_enumeration(regime):
    with np.errstate(over="ignore"):  # interpreted, the hash wraps around with a warning
        for j, scores in enumerate(truth.batches(Mixture, regime, 30, max_labels=4)):
            nonempty = j % 2 == 1
            labels = np.zeros((scores.n_samples, scores.n_labels), np.int8)
            proof = np.empty((scores.n_samples, 2))
            mixture_lists.ranked_lists(
                scores.log_weights, scores.logits, nonempty, 1000, labels, proof
            )
            every = truth.log_probs(scores)[:, int(nonempty) :]
            scale = np.maximum(1.0, np.abs(every.max(axis=1)))
            np.testing.assert_allclose(proof[:, 0] / scale, every.max(axis=1) / scale, atol=1e-12)
            np.testing.assert_array_equal(proof[:, 1], proof[:, 0])


def test_a_pool_grows_without_losing_labelings():
    n_labels, dequeue = 70, outside(mixture_lists._dequeue)
    pool = outside(mixture_lists._new_pool)(4, n_labels)
    tops, words = np.full(2, -1, np.int64), np.zeros(2, np.uint64)
    with np.errstate(over="ignore"):
        for size, key in enumerate((3.0, 5.0, 4.0)):
            words[size % 2] ^= np.uint64(1) << np.uint64(size)
            tops[1] = enqueue(pool, size, 1, key, words, tops)
        pool = outside(mixture_lists._grown)(pool, 3)
        assert enqueue(pool, 3, 1, 9.0, words, tops) == -1
        order = []
        while tops[1] >= 0:
            order.append(pool.keys[tops[1]])
            tops[1] = dequeue(pool, tops[1])
    assert order == [5.0, 4.0, 3.0]
    assert pool.keys.size == 8
