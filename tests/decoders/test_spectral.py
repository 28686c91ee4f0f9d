"""The sphere relaxation against enumeration, and its own facts."""

import numpy as np
import pytest

import oracles
from colabel.decoders.spectral import Spectral
from colabel.decoders.spins import Spins
from colabel.losses import FBeta, Hamming, Jaccard, Subset
from colabel.oracles import loss_augmented
from colabel.scores import Pairwise
from decoders import oracles_relaxations as slow
from decoders.oracles_cut import losses

every_regime = pytest.mark.parametrize("regime", slow.REGIMES)


def slack(scores):
    return 1e-12 * (np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum())


@every_regime
@pytest.mark.parametrize("nonempty", [False, True])
def test_optimum_lies_between_value_and_bound(regime, nonempty):
    hits = total = 0
    for scores in slow.tables(regime, max_labels=12):
        found = Spectral().decode(scores, nonempty=nonempty)
        best, tol = slow.optimum(scores, nonempty=nonempty), slack(scores)
        assert np.all(np.abs(found.value - scores.value(found.labels)) <= 1e-3 * tol)
        assert not nonempty or found.labels.any(axis=1).all()
        assert np.all(found.value <= best + tol)
        # The oracle's own sums are rounded: hence the thousandth.
        assert np.all(found.upper_bound >= best - 1e-3 * tol)
        hits += np.sum(found.value >= best - tol)
        total += len(best)
    assert total >= 2000
    assert hits >= 0.8 * total


def test_change_of_variables_equals_the_one_read_off_all_values():
    for scores in slow.tables("mixed", 12, 3, 5):
        spins = Spins.of(scores)
        constant, b, M = slow.spin_form(scores)
        np.testing.assert_allclose(spins.constant, constant, atol=1e-12)
        np.testing.assert_allclose(spins.linear, b, atol=1e-12)
        np.testing.assert_allclose(spins.matrix / 8, M, atol=1e-12)


def test_labels_that_do_not_interact_are_solved_and_certified():
    for scores in slow.tables("no couplings", 20):
        found = Spectral().decode(scores)
        assert found.certified.all()
        np.testing.assert_array_equal(found.labels, scores.unary > 0)


@every_regime
def test_relaxation_equals_a_slow_minimisation_of_its_dual(regime):
    for scores in slow.tables(regime, 10, 2, 6):
        relaxed, spins = Spectral().relax(scores), Spins.of(scores)
        for i in range(scores.n_samples):
            expected = slow.sphere_maximum(spins.linear[i], spins.matrix / 8, scores.n_labels)
            scale = np.abs(scores.unary[i]).sum() + np.abs(scores.couplings).sum()
            assert abs(relaxed.value[i] - spins.constant[i] - expected) <= 1e-6 * scale + 1e-300


@every_regime
def test_relaxed_value_is_the_score_of_its_moments(regime):
    for scores in slow.tables(regime, 16, 5):
        relaxed = Spectral().relax(scores)
        value = np.einsum("il,il->i", scores.unary, relaxed.mean)
        value += relaxed.pairs(scores.edges) @ scores.couplings
        assert np.all(np.abs(value - relaxed.value) <= slack(scores))
        np.testing.assert_allclose(relaxed.U, np.einsum("il,im->ilm", relaxed.u, relaxed.u))
        np.testing.assert_allclose(np.sum(relaxed.u**2, axis=1), scores.n_labels)


def test_moments_are_the_gradient_of_the_relaxed_value():
    scores = slow.table("mixed", np.random.default_rng(3), 3, 6)
    relaxed, h = Spectral().relax(scores), 1e-6
    for label in range(6):
        step = np.zeros_like(scores.unary)
        step[:, label] = h
        up, down = (Spectral().relax(scores.plus_unary(s * step)).value for s in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * h), relaxed.mean[:, label], atol=1e-6)
    moments = relaxed.pairs(scores.edges)
    for e in range(len(scores.edges)):
        c = scores.couplings.copy()
        c[e] += h
        up = Spectral().relax(Pairwise(scores.unary, scores.edges, c)).value
        c[e] -= 2 * h
        down = Spectral().relax(Pairwise(scores.unary, scores.edges, c)).value
        np.testing.assert_allclose((up - down) / (2 * h), moments[:, e], atol=1e-6)


@every_regime
def test_every_number_of_labels_is_bounded_by_its_own_sphere(regime):
    for scores in slow.tables(regime, 24, 6):
        bounds = Spectral().size_bounds(scores)
        Z = oracles.all_labelings(scores.n_labels)
        values, size, tol = scores.value_all(Z), Z.sum(axis=1), slack(scores)
        for k in range(scores.n_labels + 1):
            assert np.all(bounds[:, k] >= values[:, size == k].max(axis=1))
        # None and all of the labels leave one point: nothing is relaxed.
        assert np.all(np.abs(bounds[:, 0]) <= tol)
        assert np.all(np.abs(bounds[:, -1] - values[:, size == scores.n_labels][:, 0]) <= tol)
        assert np.all(bounds.max(axis=1) <= Spectral().relax(scores).upper_bound + tol)


@pytest.mark.parametrize("loss", [FBeta(), FBeta(2.0), Jaccard(), Subset()], ids=str)
@pytest.mark.parametrize("nonempty", [False, True])
def test_counts_losses_are_added_within_their_bound(loss, nonempty):
    hits = total = 0
    for regime in slow.REGIMES:
        for seed, scores in enumerate(slow.tables(regime, 14, 15, 7)):
            rng = np.random.default_rng(seed)
            Y = (rng.random(scores.unary.shape) < (seed % 5) / 4).astype(np.int8)
            added = losses(Y, slow.labelings(scores.n_labels), loss)
            best = slow.optimum(scores, nonempty=nonempty, loss=added)
            found = loss_augmented(Spectral(), loss, scores, Y, nonempty=nonempty)
            tol = slack(scores) + 1e-12  # the loss is of order one
            reached = scores.value(found.labels) + loss.value(Y, found.labels)
            assert not nonempty or found.labels.any(axis=1).all()
            assert np.all(np.abs(found.value - reached) <= tol)
            assert np.all(found.value <= best + tol)
            assert np.all(found.upper_bound >= best - 1e-3 * tol)
            hits += np.sum(found.value >= best - tol)
            total += len(best)
    assert total >= 2000
    assert hits >= 0.85 * total


def test_relaxed_f_loss_is_exact_for_a_given_number_of_labels_and_its_moments_fit():
    rng = np.random.default_rng(5)
    scores, loss = slow.table("mixed", rng, 30, 6), FBeta()
    Y = (rng.random((30, 6)) < 0.4).astype(np.int8)
    relaxed = Spectral().relax_counts(scores, Y, loss.counts_table)
    size = relaxed.mean.sum(axis=1)
    np.testing.assert_allclose(size, np.round(size), atol=1e-9)
    below = Y.sum(axis=1) + size
    hits = (Y * relaxed.mean).sum(axis=1)
    value = np.einsum("il,il->i", scores.unary, relaxed.mean)
    value += relaxed.pairs(scores.edges) @ scores.couplings
    value += np.where(below > 0, 1 - 2 * hits / np.maximum(below, 1e-9), 0.0)
    np.testing.assert_allclose(value, relaxed.value, atol=1e-9)
    other = Spectral().relax_counts(scores, Y, loss.counts_table, nonempty=True)
    assert np.all(other.value <= relaxed.value + 1e-12)


def test_modular_loss_goes_through_the_unaries():
    rng = np.random.default_rng(6)
    scores, Y = slow.table("mixed", rng, 20, 5), (rng.random((20, 5)) < 0.4).astype(np.int8)
    found = loss_augmented(Spectral(), Hamming(), scores, Y)
    reached = scores.value(found.labels) + Hamming().value(Y, found.labels)
    np.testing.assert_allclose(found.value, reached)


@pytest.mark.parametrize("n_labels", [1, 4])
def test_no_samples_give_empty_results(n_labels):
    scores = Pairwise.from_dense(np.zeros((0, n_labels)), np.zeros((n_labels, n_labels)))
    found = Spectral().decode(scores)
    assert found.labels.shape == (0, n_labels)
    added = Spectral().decode_counts(scores, found.labels, FBeta().counts_table)
    assert added.value.shape == (0,)
    assert Spectral().size_bounds(scores).shape == (0, n_labels + 1)


def test_a_batch_equals_row_by_row():
    for n_labels in (1, 5, 30):
        scores = slow.table("mixed", np.random.default_rng(n_labels), 9, n_labels)
        whole = Spectral().decode(scores)
        for i in range(9):
            row = Spectral().decode(scores.take([i]))
            np.testing.assert_array_equal(row.labels[0], whole.labels[i])
            np.testing.assert_allclose(row.upper_bound[0], whole.upper_bound[i], rtol=1e-12)
