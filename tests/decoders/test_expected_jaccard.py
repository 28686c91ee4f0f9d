"""Expected-Jaccard decoding: exact where it says so, below a true bound elsewhere."""

import numpy as np
import pytest

import instances
from colabel.decoders.expected_f import ExpectedF
from colabel.decoders.expected_jaccard import ExpectedJaccard
from colabel.exceptions import IncompatibleError
from colabel.scores import Mixture, Modular, Support
from decoders import oracles_mixture as truth

TABLES = (Modular, Mixture, Support)
every_table = pytest.mark.parametrize("table", TABLES)
every_regime = pytest.mark.parametrize("regime", truth.REGIMES)


def expectations(scores):
    return np.exp(truth.log_probs(scores)) @ truth.jaccard_matrix(scores.n_labels)


@every_table
@every_regime
def test_enumeration_and_independent_labels_are_exact(table, regime):
    for j, scores in enumerate(truth.batches(table, regime, 1000, max_labels=6)):
        nonempty = j % 2 == 1
        found = ExpectedJaccard().decode(scores, nonempty=nonempty)
        truth.assert_best(found, expectations(scores), nonempty=nonempty)


@pytest.mark.parametrize("table", [Mixture, Support])
@every_regime
def test_the_climb_lies_below_the_optimum_and_the_bound_above(table, regime):
    short = 0
    for j, scores in enumerate(truth.batches(table, regime, 1000, max_labels=6)):
        nonempty = j % 2 == 1
        found = ExpectedJaccard(max_labels=0).decode(scores, nonempty=nonempty)
        assert not nonempty or found.labels.any(axis=1).all()
        values = expectations(scores)
        here = values[np.arange(len(values)), truth.place_of(found.labels)]
        best = values[:, int(nonempty) :].max(axis=1)
        np.testing.assert_allclose(found.value, here, atol=1e-12)
        assert np.all(found.upper_bound >= best - 1e-12)
        short += np.sum(found.value < best - 1e-9)
    assert short <= 20  # of 1 000


@pytest.mark.parametrize("table", [Mixture, Support])
def test_the_bound_is_no_worse_than_the_expected_f(table):
    for scores in truth.batches(table, "normal", 300, max_labels=6):
        bound = ExpectedJaccard(max_labels=0).decode(scores).upper_bound
        assert (bound <= ExpectedF().decode(scores).value + 1e-12).all()


def test_a_certain_component_certifies_the_climb():
    logits = np.where(np.random.default_rng(0).random((20, 1, 40)) < 0.2, 30.0, -30.0)
    found = ExpectedJaccard().decode(Mixture(np.zeros((20, 1)), logits))
    np.testing.assert_array_equal(found.labels, logits[:, 0] > 0)
    assert found.certified.all()


def test_a_climb_ends_where_no_flip_gains():
    rng = np.random.default_rng(2)
    mixture = Mixture(rng.normal(size=(6, 4)), rng.normal(size=(6, 4, 20)) - 1.0)
    codes = rng.permutation(2**12)[:40]
    labelings = (codes[:, None] >> np.arange(12)) & 1
    for scores in (mixture, Support(labelings, rng.normal(size=(6, 40)))):
        decoder = ExpectedJaccard()
        found = decoder.decode(scores)
        assert (found.value <= found.upper_bound).all()
        for label in range(scores.n_labels):
            flipped = found.labels.copy()
            flipped[:, label] ^= 1
            assert (decoder.objective(scores, flipped) <= found.value + 1e-12).all()


def test_many_labels_agree_with_sampling():
    rng = np.random.default_rng(3)
    scores = Mixture(rng.normal(size=(3, 5)), rng.normal(size=(3, 5, 120)) * 2 - 3)
    found = ExpectedJaccard().decode(scores)
    drawn = scores.sample(20_000, random_state=0).astype(float)
    for i in range(3):
        z = found.labels[i].astype(float)
        hits = drawn[i] @ z
        index = hits / (drawn[i].sum(axis=1) + z.sum() - hits)
        assert abs(index.mean() - found.value[i]) < 5 * index.std() / np.sqrt(len(index))


@every_table
def test_scores_without_probabilities_are_refused(table):
    scores = instances.support(1, distribution=False) if table is Support else instances.modular(1)
    with pytest.raises(IncompatibleError, match="needs probabilities"):
        ExpectedJaccard().decode(scores)


@pytest.mark.parametrize("max_labels", [0, 10])
def test_no_samples_and_only_the_empty_labeling_known(max_labels):
    decoder = ExpectedJaccard(max_labels)
    for scores in (
        Mixture(np.zeros((0, 2)), np.zeros((0, 2, 3))),
        Support([[0, 0, 1]], np.zeros((0, 1))),
    ):
        assert decoder.decode(scores).labels.shape == (0, 3)
    found = decoder.decode(Support([[0, 0]], np.zeros((2, 1))), nonempty=True)
    assert found.labels.sum(axis=1).tolist() == [1, 1]
    assert found.value.tolist() == [0.0, 0.0]
