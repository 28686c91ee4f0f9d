"""Every decoder keeps its role's contract, on every table it accepts."""

import numba
import numpy as np
import pytest
from sklearn.base import clone

import instances
import oracles
from colabel.decoders import BranchAndBound, CardinalityThreshold, make_decoder
from colabel.exceptions import IncompatibleError
from colabel.losses import FBeta, Hamming, Jaccard, Subset
from colabel.oracles import loss_augmented
from colabel.scores import Mixture, Modular, Pairwise, Support
from conformance.cases import (
    SIZES,
    VARIANTS,
    all_values,
    close,
    draw,
    drawn,
    drawn_losses,
    every_case,
    exact_case,
)


@every_case
@pytest.mark.parametrize("nonempty", [False, True])
def test_value_is_attained_and_lies_between_optimum_and_bound(decoder, table, nonempty):
    for n_labels, seed in SIZES:
        scores, values = drawn(decoder, table, seed, n_labels)
        if nonempty and isinstance(scores, Support) and not scores.labelings.any():
            continue
        found = decoder.decode(scores, nonempty=nonempty)
        best = values[:, int(nonempty) :].max(axis=1)
        assert found.labels.shape == (scores.n_samples, n_labels)
        assert found.labels.dtype == np.int8
        assert np.isin(found.labels, (0, 1)).all()
        assert not nonempty or found.labels.any(axis=1).all()
        close(found.value, decoder.objective(scores, found.labels))
        slack = 1e-9 * np.maximum(1.0, np.abs(np.nan_to_num(best, neginf=0.0)))
        assert np.all(found.value <= best + slack)
        assert np.all(found.upper_bound >= best - slack)
        if decoder.exact:
            close(found.value, best)
            assert found.certified[np.isfinite(best)].all()


def permuted(scores, order):
    """The same table with label ``order[i]`` in place ``i``."""
    if isinstance(scores, Modular):
        return Modular(scores.unary[:, order], scores.log_odds)
    if isinstance(scores, Mixture):
        return Mixture(scores.log_weights, scores.logits[:, :, order])
    if isinstance(scores, Support):
        return Support(scores.labelings[:, order], scores.scores, scores.distribution)
    place = np.argsort(order)
    return Pairwise(scores.unary[:, order], place[scores.edges], scores.couplings)


@every_case
def test_permuting_labels_permutes_the_answer(decoder, table):
    equal = total = 0
    for seed in range(30):
        scores = draw(decoder, table, seed, 5)
        order = np.random.default_rng(seed).permutation(5)
        found, moved = decoder.decode(scores), decoder.decode(permuted(scores, order))
        back = moved.labels[:, np.argsort(order)]
        close(decoder.objective(scores, back), moved.value)
        values = np.sort(all_values(decoder, scores)[0], axis=1)
        # A single best labeling is found wherever its labels stand; of several, any.
        with np.errstate(invalid="ignore"):
            alone = values[:, -1] - values[:, -2] > 1e-9 * np.maximum(1.0, np.abs(values[:, -1]))
        same = np.all(back == found.labels, axis=1)
        if decoder.exact or isinstance(decoder, BranchAndBound):
            close(moved.value, found.value)
            assert np.all(same[alone])
        scale = np.maximum(1.0, np.abs(found.upper_bound))
        with np.errstate(invalid="ignore"):
            gap = np.abs(moved.upper_bound - found.upper_bound)
        assert np.all(gap[np.isfinite(gap)] <= 1e-3 * scale[np.isfinite(gap)])
        equal, total = equal + same[alone].sum(), total + alone.sum()
    assert equal >= 0.97 * total
    assert total > 0


@every_case
def test_threads_do_not_change_a_bit(decoder, table, monkeypatch):
    scores = draw(decoder, table, 2, 6)
    scores = scores.take(np.arange(80) % scores.n_samples)
    found, most = [], numba.config.NUMBA_NUM_THREADS
    before = numba.get_num_threads()
    try:
        for threads in (1, 2, 3):
            # Kernels with loops of their own have no more threads than the machine allows.
            numba.set_num_threads(min(threads, most))
            with monkeypatch.context() as patch:
                patch.setattr(numba, "get_num_threads", lambda threads=threads: threads)
                found.append(decoder.decode(scores))
    finally:
        numba.set_num_threads(before)
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels, found[0].labels)
        np.testing.assert_array_equal(other.value, found[0].value)
        np.testing.assert_array_equal(other.upper_bound, found[0].upper_bound)


@every_case
def test_a_batch_equals_row_by_row(decoder, table):
    for seed in range(20):
        scores = draw(decoder, table, seed, 4)
        whole = decoder.decode(scores)
        for i in range(scores.n_samples):
            row = decoder.decode(scores.take([i]))
            close(row.value, whole.value[[i]])


@exact_case
def test_ties_go_to_the_fewest_labels(decoder, table):
    for seed in range(0, 60, 3):
        scores = draw(decoder, table, seed, 4)
        found = decoder.decode(scores)
        Z = oracles.all_labelings(4)
        for i in range(scores.n_samples):
            row = scores.take(np.full(len(Z), i))
            values = decoder.objective(row, Z)
            equal = Z[values >= found.value[i]]
            if np.unique(values[np.isfinite(values)]).size < np.isfinite(values).sum():
                assert found.labels[i].sum() <= equal.sum(axis=1).min(initial=99)


@every_case
def test_input_is_left_alone(decoder, table):
    scores = draw(decoder, table, 5, 4)
    kept = {k: np.copy(v) for k, v in vars(scores).items() if isinstance(v, np.ndarray)}
    decoder.decode(scores)
    for name, array in kept.items():
        np.testing.assert_array_equal(getattr(scores, name), array)


@pytest.mark.parametrize("decoder", VARIANTS, ids=str)
def test_decoder_can_be_cloned_and_shown(decoder):
    assert clone(decoder).get_params() == decoder.get_params()
    assert repr(clone(decoder)) == repr(decoder)


@pytest.mark.parametrize("loss", [Hamming(), Subset(), Jaccard(), FBeta(), FBeta(2.0)], ids=str)
@every_case
def test_loss_augmented_decoding_equals_enumeration(decoder, table, loss):
    needs = {"attractive": True, "distribution": True}
    scores = draw(decoder, table, 0, 3)
    if loss.structure not in decoder.handles:
        assert "cannot add" in decoder.refusal(table, loss, **needs)
        if loss.structure == "counts":
            with pytest.raises(IncompatibleError, match="counts"):
                loss_augmented(decoder, loss, scores, instances.labels(0, n_labels=3))
        return
    if loss.structure == "modular" and table in (Mixture, Support):
        assert "sums over labels" in decoder.refusal(table, loss, **needs)
        return
    assert not decoder.refusal(table, loss, **needs)
    for n_labels, seed in SIZES:
        scores, values = drawn(decoder, table, seed, n_labels)
        Y, added = drawn_losses(loss, seed, n_labels)
        for nonempty in (False, True):
            if nonempty and isinstance(scores, Support) and not scores.labelings.any():
                continue
            found = loss_augmented(decoder, loss, scores, Y, nonempty=nonempty)
            best = (values + added)[:, int(nonempty) :].max(axis=1)
            reached = decoder.objective(scores, found.labels) + loss.value(Y, found.labels)
            close(found.value, reached)
            slack = 1e-9 * np.maximum(1.0, np.abs(np.nan_to_num(best, neginf=0.0)))
            assert np.all(found.value <= best + slack)
            assert np.all(found.upper_bound >= best - slack)
            assert not nonempty or found.labels.any(axis=1).all()
            if decoder.exact:
                close(found.value, best)


def test_large_batches_are_searched_in_parts(monkeypatch):
    from colabel.decoders import exhaustive, threshold

    scores, Y = instances.modular(1, n_samples=50, n_labels=5), instances.labels(1, 50, 5)
    whole = loss_augmented(make_decoder("threshold"), FBeta(), scores, Y)
    monkeypatch.setattr(threshold, "CELLS", 40)
    monkeypatch.setattr(exhaustive, "CELLS", 40)
    for name in ("threshold", "exhaustive"):
        part = loss_augmented(make_decoder(name), FBeta(), scores, Y)
        close(part.value, whole.value)


def test_cardinality_price_is_the_same_as_uniform_repulsion():
    for seed in range(30):
        scores = instances.modular(seed, n_labels=5)
        a = 0.25 * (1 + seed % 4)
        repel = -2.0 * a * (1.0 - np.eye(5))
        pairs = Pairwise.from_dense(scores.unary - a, repel)
        best = make_decoder("exhaustive").decode(pairs).value
        close(CardinalityThreshold(a).decode(scores).value, best)
