"""The semidefinite relaxation with a loss of counts: between the optimum and the sphere."""

import numpy as np
import pytest

from colabel.decoders import Mixing, Spectral
from colabel.decoders.spectral import by_size, loss_lines
from colabel.losses import FBeta, Jaccard, Subset
from colabel.oracles import loss_augmented
from decoders import oracles_relaxations as slow
from decoders.oracles_cut import losses


def slack(scores):
    size = np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum()
    return 1e-6 * size + 1e-12


@pytest.mark.parametrize("loss", [FBeta(), FBeta(2.0), Jaccard(), Subset()], ids=str)
@pytest.mark.parametrize("nonempty", [False, True])
def test_counts_losses_are_added_within_their_bound(loss, nonempty):
    hits = total = 0
    for regime in slow.REGIMES:
        for seed, scores in enumerate(slow.tables(regime, 14, 3, 6)):
            rng = np.random.default_rng(seed)
            Y = (rng.random(scores.unary.shape) < (seed % 5) / 4).astype(np.int8)
            added = losses(Y, slow.labelings(scores.n_labels), loss)
            best = slow.optimum(scores, nonempty=nonempty, loss=added)
            found = loss_augmented(Mixing(), loss, scores, Y, nonempty=nonempty)
            tol = slack(scores)
            reached = scores.value(found.labels) + loss.value(Y, found.labels)
            assert not nonempty or found.labels.any(axis=1).all()
            assert np.all(np.abs(found.value - reached) <= tol)
            assert np.all(found.value <= best + tol)
            assert np.all(found.upper_bound >= best - 1e-3 * tol)
            sphere = Spectral().relax_counts(scores, Y, loss.counts_table, nonempty=nonempty)
            assert np.all(found.upper_bound <= sphere.upper_bound + tol)
            hits += np.sum(found.value >= best - tol)
            total += len(best)
    assert hits >= 0.9 * total


@pytest.mark.parametrize("certify", [False, True])
def test_moments_are_feasible_and_their_value_is_the_relaxed_one(certify):
    rng = np.random.default_rng(5)
    scores, loss = slow.table("mixed", rng, 30, 6), FBeta()
    Y = (rng.random((30, 6)) < 0.4).astype(np.int8)
    relaxed = Mixing().relax_counts(scores, Y, loss.counts_table, certify=certify)
    size = relaxed.mean.sum(axis=1)
    np.testing.assert_allclose(size, np.round(size), atol=1e-6)
    np.testing.assert_allclose(np.einsum("ill->il", relaxed.U), 1.0, atol=1e-9)
    spare = relaxed.U - np.einsum("il,im->ilm", relaxed.u, relaxed.u)
    assert np.linalg.eigvalsh(spare).min() >= -1e-9
    hits, below = (Y * relaxed.mean).sum(axis=1), Y.sum(axis=1) + size
    added = np.where(below > 0.5, 1.0 - 2.0 * hits / np.maximum(below, 1.0), 0.0)
    pairs = relaxed.pairs(scores.edges) @ scores.couplings
    value = (scores.unary * relaxed.mean).sum(axis=1) + pairs + added
    np.testing.assert_allclose(relaxed.value, value, atol=1e-6)
    assert np.all(relaxed.value <= relaxed.upper_bound + 1e-12)


def test_no_bound_is_asked_for_where_it_is_not_needed():
    scores = slow.table("mixed", np.random.default_rng(1), 5, 6)
    quick, sure = (Mixing().relax(scores, certify=c) for c in (False, True))
    assert np.all(np.isinf(quick.upper_bound))
    np.testing.assert_array_equal(quick.u, sure.u)
    fixed = Mixing().relax(scores, size=2, certify=False)
    assert np.all(np.isinf(fixed.upper_bound))


def test_without_labels_there_is_one_labeling():
    scores = slow.table("mixed", np.random.default_rng(1), 5, 6)
    none = type(scores)(np.zeros((3, 0)), np.zeros((0, 2)), np.zeros(0))
    found = Mixing().decode_counts(none, np.zeros((3, 0), np.int8), FBeta().counts_table)
    np.testing.assert_array_equal(found.value, np.zeros(3))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("nonempty", [False, True])
def test_the_size_is_the_best_of_all_sizes(seed, nonempty):
    rng = np.random.default_rng(seed)
    scores, loss = slow.table(slow.REGIMES[seed % len(slow.REGIMES)], rng, 12, 6), FBeta()
    Y = (rng.random((12, 6)) < 0.4).astype(np.int8)
    best = np.full(12, -np.inf)
    for rows, n_true in by_size(Y):
        lines = loss_lines(loss.counts_table(n_true, 6))
        for size in range(int(nonempty), 7):
            table = scores.take(rows).plus_unary(lines[size, 1] * Y[rows])
            value = Mixing().relax(table, size=size).value + lines[size, 0]
            best[rows] = np.maximum(best[rows], value)
    found = Mixing().relax_counts(scores, Y, loss.counts_table, nonempty=nonempty)
    assert np.all(np.abs(found.value - best) <= 10 * slack(scores))
