"""The m most probable labelings equal a sort of all of them."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import instances
from colabel.decoders.top_m import top_m
from colabel.exceptions import IncompatibleError
from colabel.scores import Mixture, Modular, Support
from decoders import oracles_mixture as truth


@pytest.mark.parametrize("table", [Mixture, Modular, Support])
@pytest.mark.parametrize("regime", truth.REGIMES)
def test_top_labelings_equal_a_sort_of_all(table, regime):
    for j, scores in enumerate(truth.batches(table, regime, 1000, max_labels=7)):
        known = len(scores.labelings) if table is Support else 2**scores.n_labels
        m = min(known, (1, 2, 5, 9)[j % 4])
        labelings, values = top_m(scores, m)
        assert labelings.shape == (scores.n_samples, m, scores.n_labels)
        assert labelings.dtype == np.int8
        every = truth.log_probs(scores)
        best = -np.sort(-every, axis=1)[:, :m]
        codes = truth.place_of(labelings)
        scale = np.maximum(1.0, np.abs(np.nan_to_num(best, neginf=0.0)))
        assert np.all(np.diff(np.sort(codes, axis=1), axis=1) > 0)
        np.testing.assert_allclose(values / scale, best / scale, atol=1e-12)
        there = np.take_along_axis(every, codes, axis=1)
        np.testing.assert_allclose(there / scale, best / scale, atol=1e-12)


@pytest.mark.parametrize("table", [Mixture, Modular, Support])
@pytest.mark.parametrize("regime", truth.REGIMES)
def test_without_the_empty_labeling_the_others_follow(table, regime):
    seen = 0
    for j, scores in enumerate(truth.batches(table, regime, 300, max_labels=5)):
        known = len(scores.labelings) if table is Support else 2**scores.n_labels - 1
        m = min(known, (1, 2, 5, 40)[j % 4])
        if table is Support and not scores.labelings.any():
            with pytest.raises(ValueError, match="the only labeling known is the empty one"):
                top_m(scores, m, nonempty=True)
            continue
        labelings, values = top_m(scores, m, nonempty=True)
        every = truth.log_probs(scores)
        seen += int(np.sum(every.argmax(axis=1) == 0))
        every[:, 0] = -np.inf  # the empty one is the first of all
        best = -np.sort(-every, axis=1)[:, :m]
        scale = np.maximum(1.0, np.abs(np.nan_to_num(best, neginf=0.0)))
        np.testing.assert_allclose(values / scale, best / scale, atol=1e-12)
        assert labelings.any(axis=2).all()
    assert seen > 0


def test_all_labelings_can_be_asked_for():
    scores = instances.mixture(1, n_samples=2, n_labels=6, n_components=4)
    labelings, values = top_m(scores, 64)
    assert len(np.unique(labelings[0], axis=0)) == 64
    np.testing.assert_allclose(np.exp(values).sum(axis=1), 1.0)


def test_equal_labelings_come_smallest_first():
    labelings, _ = top_m(Mixture(np.zeros((1, 3)), np.zeros((1, 3, 5))), 6)
    assert labelings[0].sum(axis=1).tolist() == [0, 1, 1, 1, 1, 1]


def test_many_labels_lead_with_the_mode():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 20, 159)) * 3 - 3
    labelings, values = top_m(Mixture(rng.normal(size=(5, 20)) * 2, logits), 5)
    assert (np.diff(values, axis=1) <= 0).all()
    for i in range(5):
        assert len(np.unique(labelings[i], axis=0)) == 5
    # One component: the next ones flip the labels of least cost.
    one = Modular(logits[:, 0], log_odds=True)
    alone = top_m(Mixture(np.zeros((5, 1)), logits[:, :1]), 7)
    np.testing.assert_allclose(alone[1], top_m(one, 7)[1], rtol=1e-12)
    np.testing.assert_array_equal(alone[0], top_m(one, 7)[0])


def test_a_search_cut_short_says_so():
    logits = np.random.default_rng(0).normal(0.0, 0.5, size=(2, 50, 22))
    with pytest.warns(ConvergenceWarning, match="2 samples"):
        top_m(Mixture(np.zeros((2, 50)), logits), 3, max_nodes=100)


def test_the_place_of_an_empty_labeling_left_out_is_filled_with_the_first():
    for labelings in ([[0, 0], [0, 1], [1, 1]], [[[0, 0], [0, 1], [1, 1]]]):
        table = Support(labelings, np.log([[0.5, 0.2, 0.3]]))
        found, log_p = top_m(table, 3, nonempty=True)
        assert found[0].tolist() == [[1, 1], [0, 1], [1, 1]]
        np.testing.assert_allclose(log_p[0], [np.log(0.3), np.log(0.2), -np.inf])
    impossible = Support([[0, 0], [0, 1]], [[0.0, -np.inf]])
    assert top_m(impossible, 2, nonempty=True)[0].tolist() == [[[0, 1], [0, 1]]]
    with pytest.raises(ValueError, match="the only labeling known is the empty one"):
        top_m(Support([[0, 0]], [[0.0]]), 1, nonempty=True)


def test_wrong_calls_are_named():
    with pytest.raises(ValueError, match="1 to 16"):
        top_m(instances.mixture(1), 17)
    with pytest.raises(ValueError, match="1 to 15"):
        top_m(instances.mixture(1), 16, nonempty=True)
    with pytest.raises(ValueError, match="1 to 2"):
        top_m(Support([[0, 1], [1, 1]], np.zeros((3, 2))), 0)
    for scores in (
        instances.pairwise(1),
        instances.modular(1),
        instances.support(1, distribution=False),
    ):
        with pytest.raises(IncompatibleError, match="needs a table of probabilities"):
            top_m(scores, 1)


def test_no_samples_give_no_labelings():
    assert top_m(Mixture(np.zeros((0, 2)), np.zeros((0, 2, 3))), 4)[0].shape == (0, 4, 3)
    assert top_m(Modular(np.zeros((0, 3)), log_odds=True), 4)[0].shape == (0, 4, 3)
