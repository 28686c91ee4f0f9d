"""Every decoder keeps its role's contract, on every table it accepts."""

import numba
import numpy as np
import pytest
from sklearn.base import clone

import instances
import oracles
from colabel.compat import check_compatible
from colabel.decoders import (
    DECODERS,
    BaseDecoder,
    BranchAndBound,
    CardinalityThreshold,
    Exhaustive,
    ExpectedF,
    ExpectedJaccard,
    GraphCut,
    Mixing,
    MixtureMode,
    make_decoder,
    top_m,
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


def quick(decoder, table):
    """Whether the objective is the score of a table that scores many labelings at once."""
    return type(decoder)._objective is BaseDecoder._objective and table in (Modular, Pairwise)


def all_values(decoder, scores, nonempty=False):
    """Objective of all labelings, and these: (n_samples, n_labelings), (n_labelings, n_labels)."""
    Z = oracles.all_labelings(scores.n_labels)[int(nonempty) :]
    if quick(decoder, type(scores)):
        return scores.value_all(Z), Z
    rows = scores.take(np.repeat(np.arange(scores.n_samples), len(Z)))
    values = decoder.objective(rows, np.tile(Z, (scores.n_samples, 1)))
    return values.reshape(scores.n_samples, len(Z)), Z


def optimum(decoder, scores, nonempty=False):
    """Best objective of each row, over all labelings."""
    return all_values(decoder, scores, nonempty)[0].max(axis=1)


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
            found = loss_augmented(decoder, loss, scores, Y, nonempty=nonempty)
            best = augmented_values(decoder, scores, loss, Y, nonempty).max(axis=1)
            reached = decoder.objective(scores, found.labels) + loss.value(Y, found.labels)
            close(found.value, reached)
            slack = 1e-9 * np.maximum(1.0, np.abs(np.nan_to_num(best, neginf=0.0)))
            assert np.all(found.value <= best + slack)
            assert np.all(found.upper_bound >= best - slack)
            assert not nonempty or found.labels.any(axis=1).all()
            if decoder.exact:
                close(found.value, best)


def augmented_values(decoder, scores, loss, Y, nonempty):
    values, Z = all_values(decoder, scores, nonempty)
    added = loss.value(np.repeat(Y, len(Z), axis=0), np.tile(Z, (len(Y), 1)))
    return values + added.reshape(values.shape)


def scaled(scores, seed):
    """Numbers of very different sizes within one table: some labels and some pairs."""
    rng = np.random.default_rng(seed)
    label = np.where(rng.random(scores.n_labels) < 0.3, 10.0 ** rng.integers(-8, 9), 1.0)
    if isinstance(scores, Modular):
        return Modular(scores.unary * label, scores.log_odds)
    if isinstance(scores, Mixture):
        return Mixture(scores.log_weights, scores.logits * label)
    if isinstance(scores, Pairwise):
        pair = 10.0 ** (
            rng.integers(-8, 9, len(scores.edges)) * (rng.random(len(scores.edges)) < 0.1)
        )
        return Pairwise(scores.unary * label, scores.edges, scores.couplings * pair)
    return Support(scores.labelings, scores.scores * 10.0 ** rng.integers(-8, 3))


@every_case
@pytest.mark.parametrize("regime", ["normal", "ties", "equal", "scales"])
def test_twelve_labels(decoder, table, regime):
    # Of the tables of ``instances``, seeds 1, 3 and 7 are normal, whole numbers, and all equal.
    first = {"normal": 1, "ties": 3, "equal": 7, "scales": 1}[regime]
    for n_labels, seed in ((11, first), (12, first + 21), (12, first + 42)):
        scores = draw(decoder, table, seed, n_labels)
        scores = scaled(scores, seed) if regime == "scales" else scores
        scores = scores if quick(decoder, table) else scores.take(slice(0, 3))
        values = all_values(decoder, scores)[0]
        for nonempty in (False, True):
            found = decoder.decode(scores, nonempty=nonempty)
            best = values[:, int(nonempty) :].max(axis=1)
            size = np.maximum(np.abs(best), table_size(scores))
            assert not nonempty or found.labels.any(axis=1).all()
            assert np.all(
                np.abs(found.value - decoder.objective(scores, found.labels)) <= 1e-13 * size
            )
            assert np.all(found.value <= best + 1e-13 * size)
            assert np.all(found.upper_bound >= best - 1e-13 * size)
            if decoder.exact or isinstance(decoder, BranchAndBound):
                assert np.all(found.value >= best - 1e-13 * size)
            assert not decoder.exact or found.certified.all()


def table_size(scores):
    """The sum of all numbers that a score may add, of each sample."""
    if isinstance(scores, Pairwise):
        return np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum()
    if isinstance(scores, Modular):
        return 1.0 + np.abs(scores.unary).sum(axis=1)
    return np.full(scores.n_samples, 1.0)


@every_case
def test_labelings_of_another_shape_are_refused(decoder, table):
    scores = draw(decoder, table, 1, 3)
    n = scores.n_samples
    for shape in ((n, 6), (n, 2), (n - 1, 3), (n + 1, 3), (3,), (n, 3, 1), (1, 3)):
        with pytest.raises(ValueError, match="Z must hold a labeling for each sample"):
            decoder.objective(scores, np.ones(shape))
        if "counts" in decoder.handles:
            with pytest.raises(ValueError, match="Y must hold a labeling for each sample"):
                decoder.decode_counts(scores, np.ones(shape), FBeta().counts_table)
    for other in set(MAKERS) - set(decoder.accepts):
        with pytest.raises(IncompatibleError, match=f"not {other.__name__}"):
            decoder.objective(MAKERS[other](0), np.ones((8, 4)))


@every_case
def test_true_labels_are_those_above_zero(decoder, table):
    if "counts" not in decoder.handles:
        return
    scores, Y = draw(decoder, table, 2, 4), instances.labels(3)
    found = decoder.decode_counts(scores, Y, FBeta().counts_table)
    signs = decoder.decode_counts(scores, 2.0 * Y - 1.0, FBeta().counts_table)
    np.testing.assert_array_equal(signs.value, found.value)


@every_case
def test_a_table_without_labels_has_the_empty_labeling_only(decoder, table):
    empty = {
        Modular: Modular(np.zeros((2, 0)), log_odds=True),
        Pairwise: Pairwise(np.zeros((2, 0)), np.zeros((0, 2)), []),
        Mixture: Mixture(np.zeros((2, 3)), np.zeros((2, 3, 0))),
        Support: Support(np.zeros((1, 0)), np.zeros((2, 1))),
    }[table]
    found = decoder.decode(empty)
    assert found.labels.shape == (2, 0)
    np.testing.assert_array_equal(found.value, decoder.objective(empty, found.labels))
    np.testing.assert_array_equal(found.upper_bound, found.value)
    with pytest.raises(ValueError, match="no labeling but the empty one"):
        decoder.decode(empty, nonempty=True)
    if "counts" in decoder.handles:
        added = decoder.decode_counts(empty, found.labels, FBeta().counts_table)
        np.testing.assert_array_equal(added.upper_bound, found.value)


@pytest.mark.parametrize(
    ("decoder", "table"),
    [
        (CardinalityThreshold(-1.0), Modular),
        (CardinalityThreshold(np.nan), Modular),
        (BranchAndBound(max_nodes=-1), Pairwise),
        (BranchAndBound(max_nodes=1.5), Pairwise),
        (BranchAndBound(time_limit=-0.1), Pairwise),
        (BranchAndBound(time_limit=np.nan), Pairwise),
        (Mixing(max_sweeps=-5), Pairwise),
        (Mixing(tol=np.nan), Pairwise),
        (Mixing(n_roundings=0), Pairwise),
        (MixtureMode(max_nodes=0), Mixture),
        (ExpectedF(-1.0), Mixture),
        (ExpectedF(np.inf), Mixture),
        (ExpectedJaccard(max_labels=-1), Mixture),
        (Exhaustive(max_labels=2.5), Modular),
    ],
    ids=str,
)
def test_parameters_without_sense_are_refused(decoder, table):
    with pytest.raises(ValueError, match=r"must be .*(at least|0 seconds)"):
        decoder.decode(MAKERS[table](0))


def test_arguments_without_sense_are_refused():
    pairs = instances.pairwise(0)
    with pytest.raises(ValueError, match="size must be a whole number"):
        Mixing().decode_size(pairs, 1.5)
    pairs = instances.pairwise(0, attractive=True)
    with pytest.raises(ValueError, match="max_cuts must be a whole number"):
        GraphCut(max_cuts=-1).decode_counts(pairs, instances.labels(0), FBeta().counts_table)
    for bad in ({"m": 1.5}, {"m": 2, "max_nodes": 0}, {"m": 0}):
        with pytest.raises(ValueError, match="must be a whole number"):
            top_m(instances.mixture(0), **bad)


@pytest.mark.parametrize("table", [Mixture, Support])
def test_rows_of_a_distribution_keep_every_bit(table):
    for seed in range(20):
        scores = MAKERS[table](seed)
        for rows in ([3], slice(2, 7, 2), np.arange(8) % 3 == 0):
            some = scores.take(rows)
            for name, array in vars(scores).items():
                if isinstance(array, np.ndarray) and len(array) == 8 and name != "labelings":
                    np.testing.assert_array_equal(getattr(some, name), array[rows])
                    assert getattr(some, name).flags.c_contiguous
        with pytest.raises(ValueError, match="single number"):
            scores.take(0)


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
