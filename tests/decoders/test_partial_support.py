"""Tables that hold a part of a distribution: what decoders prove is true of the whole."""

import numpy as np
import pytest

import oracles
from colabel.decoders import ExpectedF, ExpectedJaccard, Marginal
from colabel.scores import Support
from decoders import oracles_mixture as truth


def hamming_matrix(n_labels):
    Z = oracles.all_labelings(n_labels)
    return (Z[:, None] == Z).mean(axis=2)


# Each decoder, and what it maximises the expectation of: [prediction, truth].
CASES = {
    "f1": (ExpectedF(), lambda n: truth.f_matrix(n, 1.0)),
    "f2": (ExpectedF(beta=2.0), lambda n: truth.f_matrix(n, 2.0)),
    "jaccard": (ExpectedJaccard(), truth.jaccard_matrix),
    "jaccard, climbing": (ExpectedJaccard(max_labels=0), truth.jaccard_matrix),
    "hamming": (Marginal(), hamming_matrix),
}


def draw(seed, n_samples=5):
    """Probabilities of all labelings, and which of them are listed (shared, or each row's own)."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    peaked = [0.3, 3.0, 30.0][seed % 3]
    every = rng.normal(size=(n_samples, 2**n_labels)) * peaked
    every -= np.logaddexp.reduce(every, axis=1, keepdims=True)
    n_listed = int(rng.integers(1, 2**n_labels + 1))
    order = np.argsort(-every, axis=1) if seed % 2 else rng.random(every.shape).argsort(axis=1)
    return every, order[:, :n_listed]


def table_of(every, listed, own):
    Z = oracles.all_labelings(int(np.log2(every.shape[1])))
    if not own:
        listed = np.broadcast_to(listed[:1], listed.shape)
    out = every.copy()
    np.put_along_axis(out, listed, -np.inf, axis=1)
    labelings = Z[listed] if own else Z[listed[0]]
    return Support(labelings, np.take_along_axis(every, listed, axis=1), rest=out.max(axis=1))


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("nonempty", [False, True])
def test_bounds_hold_for_the_whole_and_certificates_are_true(case, own, nonempty):
    decoder, matrix = CASES[case]
    proved = unproved = 0
    for seed in range(150):
        every, listed = draw(seed)
        table = table_of(every, listed, own)
        found = decoder.decode(table, nonempty=nonempty)
        values = np.exp(every) @ matrix(table.n_labels).T
        best = values[:, int(nonempty) :].max(axis=1)
        here = values[np.arange(len(best)), truth.place_of(found.labels)]
        assert (found.upper_bound >= best - 1e-12).all()
        sure = found.certified
        np.testing.assert_allclose(here[sure], best[sure], atol=1e-8)
        np.testing.assert_allclose(found.value[sure], best[sure], atol=1e-8)
        proved += sure.sum()
        unproved += (~sure).sum()
    assert min(proved, unproved) > 50


def test_doubt_is_the_distance_of_the_part_from_the_whole():
    for seed in range(60):
        every, listed = draw(seed)
        table = table_of(every, listed, own=True)
        part = np.zeros(every.shape)
        np.put_along_axis(part, listed, np.exp(table.log_p), axis=1)
        distance = 0.5 * np.abs(part - np.exp(every)).sum(axis=1)
        np.testing.assert_allclose(table.doubt, distance, atol=1e-12)
        least, most = table.marginal_bounds()
        marginals = np.exp(every) @ oracles.all_labelings(table.n_labels)
        assert (least <= marginals + 1e-12).all()
        assert (most >= marginals - 1e-12).all()
    whole = Support(table.labelings, table.scores)
    assert not whole.doubt.any()
    for bound in whole.marginal_bounds():
        np.testing.assert_allclose(bound, whole.marginals(), atol=1e-12)


def test_one_labeling_of_many_proves_nothing():
    """What is perfect for the labelings listed need not be good for the others."""
    table = Support([[[1, 0, 0]]], np.log([[0.4]]), rest=np.log([0.3]))
    for decoder in (ExpectedF(), ExpectedJaccard(), Marginal()):
        found = decoder.decode(table)
        assert found.value.tolist() == [1.0]
        assert not found.certified.any()


def test_rows_of_a_table_are_those_of_the_whole_table():
    every, listed = draw(7)
    table = table_of(every, listed, own=True)
    np.testing.assert_array_equal(table.take([3, 1]).doubt, table.doubt[[3, 1]])
