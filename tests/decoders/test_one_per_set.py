"""One label of each set: against enumeration, on every table."""

import numpy as np
import pytest

import instances
import oracles_facets as oracles
from colabel.decoders import OnePerSet, make_decoder
from colabel.scores import Mixture, Support

SETS = {
    2: [[[0], [1]], [[0, 1]], [[1]]],
    5: [[[0, 1], [2, 3, 4]], [[4, 0], [1]], [[3, 1, 0]], {"a": [0, 2], "b": [3, 4]}],
    6: [[[0, 1], [2, 3], [4, 5]], [[5, 4, 3], [0, 1, 2]]],
}
CASES = [(n, facets) for n, all_facets in SETS.items() for facets in all_facets]


@pytest.mark.parametrize("maker", [instances.modular, instances.mixture, instances.support])
@pytest.mark.parametrize(("n_labels", "facets"), CASES, ids=str)
def test_decoding_equals_enumeration(maker, n_labels, facets):
    members = list(facets.values()) if isinstance(facets, dict) else facets
    fine = oracles.one_per_set(n_labels, members)
    for seed in range(25):
        scores = maker(seed, n_labels=n_labels)
        found = OnePerSet(facets).decode(scores)
        for some in members:
            np.testing.assert_array_equal(found.labels[:, some].sum(axis=1), 1)
        best = np.max([scores.value(np.tile(z, (scores.n_samples, 1))) for z in fine], axis=0)
        none = np.isneginf(best)
        np.testing.assert_array_equal(np.isneginf(found.value), none)
        assert found.value[~none] == pytest.approx(best[~none], abs=1e-9, rel=1e-12)
        assert found.certified[~none].all()


def test_a_support_without_a_fitting_labeling_falls_back_on_its_marginals():
    table = Support([[1, 1, 0, 0], [1, 0, 0, 0]], np.log([[0.3, 0.7]]))
    found = OnePerSet([[0, 1], [2, 3]]).decode(table)
    np.testing.assert_array_equal(found.labels, [[1, 0, 1, 0]])
    assert np.isneginf(found.value[0])
    own = Support([[[1, 1, 0, 0], [1, 0, 0, 0]]], np.log([[0.3, 0.7]]))
    np.testing.assert_array_equal(OnePerSet([[0, 1], [2, 3]]).decode(own).labels, found.labels)


def test_large_logits_keep_their_digits():
    logits = np.array([[[800.0, -700.0, -750.0], [-900.0, 3.0, -2.0]]])
    table = Mixture(np.log([[1e-30, 1.0]]), logits)
    found = OnePerSet().decode(table)
    values = table.value_all(np.eye(3))
    assert found.value[0] == pytest.approx(values.max(), rel=1e-14)


def test_a_search_cut_short_is_not_certified():
    rng = np.random.default_rng(1)
    table = Mixture(np.zeros((30, 6)), rng.normal(size=(30, 6, 24)))
    facets = np.arange(24).reshape(6, 4).tolist()
    short = OnePerSet(facets, max_nodes=6).decode(table)
    whole = OnePerSet(facets).decode(table)
    assert whole.certified.all()
    assert not short.certified.all()
    assert np.all(short.value <= whole.value)
    assert np.all(short.upper_bound >= whole.value - 1e-12)


def test_facets_that_cannot_be_are_refused():
    scores = instances.modular(0, n_labels=3)
    for facets, reason in (
        ([[0, 3]], "0 to 2"),
        ([[0, -1]], "0 to 2"),
        ([[0, 1], [1, 2]], "not share labels"),
        ([[0], []], "is empty"),
        ([], "at least one facet"),
    ):
        with pytest.raises(ValueError, match=reason):
            OnePerSet(facets).decode(scores)
    assert isinstance(make_decoder("one_per_set"), OnePerSet)
