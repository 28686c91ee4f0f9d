"""Every decoder keeps its role's contract, on every table it accepts."""

import contextlib

import numpy as np
import pytest
from sklearn.base import clone

import instances
import oracles
from colabel.compat import check_compatible
from colabel.decoders import (
    DECODERS,
    BaseDecoder,
    CardinalityThreshold,
    Spectral,
    make_decoder,
)
from colabel.exceptions import IncompatibleError, UnknownNameError
from colabel.learners import loss_augmented
from colabel.losses import FBeta, Hamming, Jaccard, Subset
from colabel.scores import Mixture, Modular, Pairwise, Support

MAKERS = {
    Modular: instances.modular,
    Pairwise: instances.pairwise,
    Mixture: instances.mixture,
    Support: instances.support,
}
VARIANTS = [cls() for cls in DECODERS.values()] + [
    CardinalityThreshold(penalty=0.3),
    CardinalityThreshold(penalty=1.0),
]
CASES = [(decoder, table) for decoder in VARIANTS for table in decoder.accepts]
every_case = pytest.mark.parametrize(
    ("decoder", "table"), CASES, ids=[f"{d}-{t.__name__}" for d, t in CASES]
)
EXACT = [(decoder, table) for decoder, table in CASES if decoder.exact]
exact_case = pytest.mark.parametrize(
    ("decoder", "table"), EXACT, ids=[f"{d}-{t.__name__}" for d, t in EXACT]
)
SIZES = [(n_labels, seed) for n_labels in range(1, 6) for seed in range(22)]


def draw(decoder, table, seed, n_labels):
    """A table of the kind that the decoder asks for."""
    wishes = {}
    if table is Pairwise:
        wishes["attractive"] = decoder.needs_attractive
    if table is Modular:
        wishes["log_odds"] = decoder.needs_distribution
    return MAKERS[table](seed, n_labels=n_labels, **wishes)


def optimum(decoder, scores, nonempty=False):
    """Best objective of each row, over all labelings."""
    Z = oracles.all_labelings(scores.n_labels)
    if nonempty:
        Z = Z[Z.any(axis=1)]
    values = [decoder.objective(scores, np.tile(z, (scores.n_samples, 1))) for z in Z]
    return np.max(values, axis=0)


def close(a, b):
    np.testing.assert_array_equal(np.isneginf(a), np.isneginf(b))
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    scale = np.maximum(1.0, np.abs(b))
    np.testing.assert_allclose(a / scale, b / scale, atol=1e-10)


@every_case
@pytest.mark.parametrize("nonempty", [False, True])
def test_value_is_attained_and_lies_between_optimum_and_bound(decoder, table, nonempty):
    for n_labels, seed in SIZES:
        scores = draw(decoder, table, seed, n_labels)
        if nonempty and isinstance(scores, Support) and not scores.labelings.any():
            continue
        found = decoder.decode(scores, nonempty=nonempty)
        best = optimum(decoder, scores, nonempty)
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


@exact_case
def test_permuting_labels_leaves_the_value(decoder, table):
    for seed in range(20):
        scores = draw(decoder, table, seed, 5)
        order = np.random.default_rng(seed).permutation(5)
        found, moved = decoder.decode(scores), decoder.decode(permuted(scores, order))
        close(moved.value, found.value)
        close(decoder.objective(scores, moved.labels[:, np.argsort(order)]), found.value)


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
def test_other_tables_are_refused(decoder):
    for table, maker in MAKERS.items():
        if table not in decoder.accepts:
            with pytest.raises(IncompatibleError, match=f"not {table.__name__}"):
                decoder.decode(maker(0))
            with pytest.raises(IncompatibleError, match=f"not {table.__name__}"):
                check_compatible(table, decoder)
        else:
            check_compatible(table, decoder, attractive=True, distribution=True)


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
        with pytest.raises(IncompatibleError, match="cannot add"):
            check_compatible(table, decoder, loss, **needs)
        if loss.structure == "counts":
            with pytest.raises(IncompatibleError, match="counts"):
                loss_augmented(decoder, loss, scores, instances.labels(0, n_labels=3))
        return
    if loss.structure == "modular" and table in (Mixture, Support):
        with pytest.raises(IncompatibleError, match="sums over labels"):
            check_compatible(table, decoder, loss, **needs)
        return
    check_compatible(table, decoder, loss, **needs)
    for n_labels, seed in SIZES:
        scores = draw(decoder, table, seed, n_labels)
        Y = instances.labels(seed, n_labels=n_labels, density=(seed % 5) / 4)
        for nonempty in (False, True):
            if nonempty and isinstance(scores, Support) and not scores.labelings.any():
                continue
            found = attempt(decoder, loss, scores, Y, nonempty)
            if found is None:
                continue
            best = np.max(augmented_values(decoder, scores, loss, Y, nonempty), axis=0)
            reached = decoder.objective(scores, found.labels) + loss.value(Y, found.labels)
            close(found.value, reached)
            slack = 1e-9 * np.maximum(1.0, np.abs(np.nan_to_num(best, neginf=0.0)))
            assert np.all(found.value <= best + slack)
            assert np.all(found.upper_bound >= best - slack)
            assert not nonempty or found.labels.any(axis=1).all()
            if decoder.exact:
                close(found.value, best)


def attempt(decoder, loss, scores, Y, nonempty):
    """Decode, or None where a decoder may say no.

    The sphere relaxation takes losses that are affine in the hits for every set size; Jaccard and
    subset loss are so for some truths only.
    """
    if not (isinstance(decoder, Spectral) and isinstance(loss, Jaccard | Subset)):
        return loss_augmented(decoder, loss, scores, Y, nonempty=nonempty)
    with contextlib.suppress(IncompatibleError):
        return loss_augmented(decoder, loss, scores, Y, nonempty=nonempty)
    return None


def augmented_values(decoder, scores, loss, Y, nonempty):
    Z = oracles.all_labelings(scores.n_labels)
    rows = [np.tile(z, (len(Y), 1)) for z in Z if z.any() or not nonempty]
    return [decoder.objective(scores, row) + loss.value(Y, row) for row in rows]


def test_counts_are_refused_for_the_wrong_table():
    with pytest.raises(IncompatibleError, match="not Pairwise"):
        loss_augmented(make_decoder("threshold"), FBeta(), instances.pairwise(0), None)


def test_exhaustive_refuses_too_many_labels():
    with pytest.raises(IncompatibleError, match="25 labels"):
        make_decoder("exhaustive").decode(instances.modular(0, n_labels=25))


@pytest.mark.parametrize("name", ["support_mode", "exhaustive"])
def test_nothing_but_the_empty_labeling_to_choose_from_is_an_error(name):
    scores = Support([[0, 0]], np.zeros((2, 1)))
    with pytest.raises(ValueError, match="only labeling known is the empty one"):
        make_decoder(name).decode(scores, nonempty=True)


def test_large_batches_are_searched_in_parts(monkeypatch):
    from colabel.decoders import exhaustive, threshold

    scores, Y = instances.modular(1, n_samples=50, n_labels=5), instances.labels(1, 50, 5)
    whole = loss_augmented(make_decoder("threshold"), FBeta(), scores, Y)
    monkeypatch.setattr(threshold, "CELLS", 40)
    monkeypatch.setattr(exhaustive, "CELLS", 40)
    for name in ("threshold", "exhaustive"):
        part = loss_augmented(make_decoder(name), FBeta(), scores, Y)
        close(part.value, whole.value)


def test_unknown_decoders_are_named():
    with pytest.raises(UnknownNameError, match="one of threshold"):
        make_decoder("graph-cat")
    with pytest.raises(UnknownNameError, match="got 3"):
        make_decoder(3)
    given = make_decoder(CardinalityThreshold(0.5))
    assert given.penalty == 0.5


def test_cardinality_price_is_the_same_as_uniform_repulsion():
    for seed in range(30):
        scores = instances.modular(seed, n_labels=5)
        a = 0.25 * (1 + seed % 4)
        repel = -2.0 * a * (1.0 - np.eye(5))
        pairs = Pairwise.from_dense(scores.unary - a, repel)
        best = make_decoder("exhaustive").decode(pairs).value
        close(CardinalityThreshold(a).decode(scores).value, best)


def test_a_need_for_probabilities_is_checked_before_any_work():
    from colabel.decoders import Exhaustive

    class Expected(Exhaustive):
        needs_distribution = True

    check_compatible(instances.modular(1, log_odds=True), Expected())
    check_compatible(Modular, Expected(), distribution=True)
    with pytest.raises(IncompatibleError, match="needs probabilities"):
        check_compatible(instances.modular(1), Expected())
    with pytest.raises(IncompatibleError, match="needs probabilities"):
        check_compatible(Modular, Expected(), distribution=False)


def test_the_base_class_is_no_decoder():
    with pytest.raises(TypeError, match="abstract"):
        BaseDecoder()


def test_attraction_is_checked_before_any_work():
    from colabel.decoders import Exhaustive

    class Cut(Exhaustive):
        needs_attractive = True

    check_compatible(instances.pairwise(1, attractive=True), Cut())
    with pytest.raises(IncompatibleError, match="without repulsion"):
        check_compatible(instances.pairwise(1), Cut())
    with pytest.raises(IncompatibleError, match="without repulsion"):
        check_compatible(Pairwise, Cut(), attractive=False)
