"""Every decoder refuses what it cannot decode, by name, before any kernel sees it."""

import numpy as np
import pytest

import instances
from colabel.decoders import (
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
from colabel.losses import FBeta
from colabel.oracles import loss_augmented
from colabel.scores import Mixture, Modular, Pairwise, Support
from conformance.cases import MAKERS, VARIANTS, draw, every_case


@pytest.mark.parametrize("decoder", VARIANTS, ids=str)
def test_other_tables_are_refused(decoder):
    for table, maker in MAKERS.items():
        if table not in decoder.accepts:
            with pytest.raises(IncompatibleError, match=f"not {table.__name__}"):
                decoder.decode(maker(0))
            assert decoder.refusal(table).endswith(f"not {table.__name__}")
        else:
            assert not decoder.refusal(table, attractive=True, distribution=True)


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
        (Mixing(max_iter=-5), Pairwise),
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


def test_unknown_decoders_are_named():
    with pytest.raises(UnknownNameError, match="did you mean graph_cut"):
        make_decoder("graph-cat")
    with pytest.raises(UnknownNameError, match="not 3; there is subset_accuracy"):
        make_decoder(3)
    given = make_decoder(CardinalityThreshold(0.5))
    assert given.penalty == 0.5


def test_a_need_for_probabilities_is_checked_before_any_work():
    from colabel.decoders import Exhaustive

    class Expected(Exhaustive):
        needs_distribution = True

    assert Expected().decode(instances.modular(1, log_odds=True))
    assert not Expected().refusal(Modular, distribution=True)
    with pytest.raises(IncompatibleError, match="needs probabilities"):
        Expected().decode(instances.modular(1))
    assert "needs probabilities" in Expected().refusal(Modular, distribution=False)


def test_the_base_class_is_no_decoder():
    with pytest.raises(TypeError, match="abstract"):
        BaseDecoder()


def test_attraction_is_checked_before_any_work():
    from colabel.decoders import Exhaustive

    class Cut(Exhaustive):
        needs_attractive = True

    assert not Cut().refusal(Pairwise, attractive=True)
    assert "without repulsion" in Cut().refusal(Pairwise, attractive=False)
    assert "without repulsion" in Cut().refusal(Pairwise)
