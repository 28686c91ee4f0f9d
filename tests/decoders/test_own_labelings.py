"""Finite distributions whose labelings differ between samples, and those with a rest."""

import numba
import numpy as np
import pytest

import oracles
from colabel.decoders import ExpectedF, ExpectedJaccard, Marginal, SupportMode, top_m
from colabel.decoders.support_mode import ordered_labelings
from colabel.scores import Support
from decoders import oracles_mixture as truth

SEEDS = range(150)


def draw(seed, n_samples=6, max_labels=6):
    """A table with labelings of each sample's own, and the log-probabilities of all labelings.

    Every third seed has ties, every fourth fills samples up with impossible repetitions.
    """
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, max_labels + 1))
    n_labelings = int(rng.integers(1, 2**n_labels + 1))
    Z = oracles.all_labelings(n_labels)
    own = np.array([rng.permutation(len(Z))[:n_labelings] for _ in range(n_samples)])
    scores = rng.normal(size=own.shape) * 10.0 ** rng.integers(-2, 2)
    if seed % 3 == 0:
        scores = rng.integers(-1, 2, size=own.shape).astype(float)
    labelings = Z[own]
    if seed % 4 == 0:
        out = rng.random(own.shape) < 0.4
        out[:, 0] = False
        scores[out] = -np.inf
        labelings[out] = 0
        own[out] = 0
    table = Support(labelings, scores)
    every = np.full((n_samples, len(Z)), -np.inf)
    for i in range(n_samples):
        for s in range(n_labelings):
            if scores[i, s] > -np.inf:
                every[i, own[i, s]] = table.scores[i, s]
    return table, every


def possible(table):
    return (table.labelings.any(axis=2) & (table.scores > -np.inf)).any(axis=1).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_values_and_moments_equal_enumeration(seed):
    table, every = draw(seed)
    Z = oracles.all_labelings(table.n_labels)
    p = np.exp(every)
    np.testing.assert_allclose(table.value_all(Z), every, atol=1e-12)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(table.marginals(), p @ Z, atol=1e-12)
    picked = np.random.default_rng(seed).integers(len(Z), size=table.n_samples)
    np.testing.assert_allclose(table.log_prob(Z[picked]), every[np.arange(6), picked], atol=1e-12)
    shared = Support(Z, every)
    np.testing.assert_allclose(table.correlations(), shared.correlations(), atol=1e-4)
    rows = [3, 1]
    np.testing.assert_allclose(table.take(rows).value_all(Z), every[rows], atol=1e-12)


def test_samples_follow_the_table():
    table, _ = draw(5)
    draws = table.sample(20_000, random_state=0)
    assert draws.shape == (6, 20_000, table.n_labels)
    np.testing.assert_allclose(draws.mean(axis=1), table.marginals(), atol=0.02)
    np.testing.assert_array_equal(draws, table.sample(20_000, random_state=0))


@pytest.mark.parametrize("nonempty", [False, True])
def test_mode_equals_enumeration_and_ties_go_to_fewest_labels(nonempty):
    for seed in SEEDS:
        table, every = draw(seed)
        if not nonempty or possible(table):
            found = SupportMode().decode(table, nonempty=nonempty)
            truth.assert_best(found, every, nonempty=nonempty)


@pytest.mark.parametrize("nonempty", [False, True])
def test_expectations_equal_enumeration(nonempty):
    for seed in SEEDS:
        table, every = draw(seed)
        Z = oracles.all_labelings(table.n_labels)
        right = np.array([[1.0 - oracles.hamming(y, z) for y in Z] for z in Z])
        matrices = {
            ExpectedF(0.7): truth.f_matrix(table.n_labels, 0.7),
            ExpectedJaccard(): truth.jaccard_matrix(table.n_labels),
            Marginal(): right,
        }
        for decoder, matrix in matrices.items():
            found = decoder.decode(table, nonempty=nonempty)
            truth.assert_best(found, np.exp(every) @ matrix.T, nonempty=nonempty)
            np.testing.assert_allclose(
                decoder.objective(table, found.labels), found.value, atol=1e-14
            )


def test_the_jaccard_climb_equals_that_of_a_shared_table():
    for seed in SEEDS:
        table, every = draw(seed)
        shared = Support(oracles.all_labelings(table.n_labels), every)
        own, same = (ExpectedJaccard(max_labels=0).decode(t) for t in (table, shared))
        values = np.exp(every) @ truth.jaccard_matrix(table.n_labels)
        here = values[np.arange(6), truth.place_of(own.labels)]
        np.testing.assert_allclose(own.value, here, atol=1e-12)
        np.testing.assert_allclose(own.upper_bound, same.upper_bound, atol=1e-12)
        assert (own.upper_bound >= values.max(axis=1) - 1e-12).all()


def test_the_climb_starts_somewhere_where_only_the_empty_labeling_is_known():
    table = Support(np.zeros((3, 2, 4)), np.tile([0.0, -np.inf], (3, 1)))
    for decoder in (ExpectedJaccard(), ExpectedJaccard(max_labels=0), ExpectedF(), Marginal()):
        assert decoder.decode(table, nonempty=True).labels.sum(axis=1).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="only labeling known is the empty one"):
        SupportMode().decode(table, nonempty=True)


def test_top_labelings_equal_a_sort_of_all():
    for seed in SEEDS:
        table, every = draw(seed)
        m = 1 + seed % table.scores.shape[1]
        labelings, values = top_m(table, m)
        np.testing.assert_allclose(values, -np.sort(-every, axis=1)[:, :m], atol=1e-12)
        there = np.take_along_axis(every, truth.place_of(labelings), axis=1)
        sure = np.isfinite(values)
        np.testing.assert_allclose(there[sure], values[sure], atol=1e-12)
        count, tie = labelings.sum(axis=2), values[:, 1:] == values[:, :-1]
        assert np.all(np.diff(count, axis=1)[tie] >= 0)
    with pytest.raises(ValueError, match="1 to 3"):
        top_m(Support(np.eye(3)[None], np.zeros((1, 3))), 4)


def test_known_labelings_are_listed_once_and_smallest_first():
    table, _ = draw(2)
    known = ordered_labelings(table, nonempty=True)
    assert known.any(axis=1).all()
    assert len(np.unique(known, axis=0)) == len(known)
    assert (np.diff(known.sum(axis=1)) >= 0).all()
    with pytest.raises(ValueError, match="only labeling known"):
        ordered_labelings(Support(np.zeros((2, 1, 3)), np.zeros((2, 1))), nonempty=True)


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    codes = np.array([rng.permutation(2**12)[:9] for _ in range(200)])
    labelings = (codes[:, :, None] >> np.arange(12)) & 1
    table = Support(labelings, rng.normal(size=(200, 9)))
    threads, found = numba.get_num_threads(), []
    try:
        for n_threads in (1, threads):
            numba.set_num_threads(n_threads)
            found.append([d.decode(table) for d in (ExpectedF(), ExpectedJaccard())])
    finally:
        numba.set_num_threads(threads)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.value, other.value)


def test_a_rest_keeps_probabilities_and_bounds_what_is_left_out():
    labelings = np.array([[[1, 0], [1, 1]], [[0, 0], [0, 1]]])
    p = np.array([[0.5, 0.3], [0.25, 0.15]])
    table = Support(labelings, np.log(p), rest=np.log([0.2, 0.4]))
    np.testing.assert_allclose(np.exp(table.log_prob([[1, 1], [0, 1]])), [0.3, 0.15])
    np.testing.assert_allclose(np.exp(table.log_p).sum(axis=1), 1.0)
    np.testing.assert_allclose(table.marginals(), [[1.0, 0.375], [0.0, 0.375]])
    found = SupportMode().decode(table)
    np.testing.assert_allclose(np.exp(found.value), [0.5, 0.25])
    np.testing.assert_allclose(np.exp(found.upper_bound), [0.5, 0.4])
    assert found.certified.tolist() == [True, False]
    assert table.take([1]).rest.tolist() == [np.log(0.4)]
    normal = Support(labelings, np.log(p))
    for decoder in (ExpectedF(), ExpectedJaccard(), Marginal()):
        np.testing.assert_allclose(decoder.decode(table).value, decoder.decode(normal).value)


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: Support(np.zeros((2, 2, 3)), np.zeros((2, 2))), "must differ"),
        (lambda: Support(np.zeros((1, 2, 3)), np.zeros((2, 2))), "do not fit"),
        (lambda: Support(np.eye(2)[None], np.zeros((1, 2)), distribution=False), "need prob"),
        (lambda: Support(np.eye(2), np.zeros((1, 2)), rest=[0.0]), "more than 1"),
        (lambda: Support(np.eye(2), np.full((1, 2), -1.0), rest=[0.0, 0.0]), "does not fit"),
        (lambda: Support(np.eye(2), np.full((1, 2), -1.0), rest=[np.nan]), "rest must be finite"),
        (lambda: Support(np.eye(2), np.zeros((1, 2)), distribution=False, rest=[0.0]), "need prob"),
        (lambda: Support([0, 1], [[0.0]]), "do not fit"),
    ],
)
def test_bad_tables_are_refused_with_a_reason(build, reason):
    with pytest.raises(ValueError, match=reason):
        build()


def test_no_samples_and_many_labels():
    empty = Support(np.zeros((0, 2, 3)), np.zeros((0, 2)))
    for decoder in (SupportMode(), ExpectedF(), ExpectedJaccard(), Marginal()):
        assert decoder.decode(empty).labels.shape == (0, 3)
    many = np.zeros((1, 2, 70), dtype=np.int8)
    many[0, 1, 69] = 1
    assert Support(many, np.zeros((1, 2))).marginals()[0, 69] == 0.5
