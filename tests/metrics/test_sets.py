import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

from colabel import metrics
from metrics import oracles_metrics as oracle
from metrics.instances_metrics import problem

SEEDS = range(120)
UNDEFINED = (0.0, 1.0, np.nan)
AVERAGES = ["samples", "micro", "macro", "weighted", None]
RATIOS = ["f1", "precision", "recall", "jaccard"]
OURS = {kind: getattr(metrics, f"{kind}_score") for kind in RATIOS}
THEIRS = {kind: getattr(sk, f"{kind}_score") for kind in RATIOS}
TOGETHER = ["precision", "recall", "f1"]


def assert_equal(ours, theirs, message=""):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15, err_msg=message)


@cache
def together(seed, average, zero_division):
    """What scikit-learn says of one problem in one go: precision, recall, F1 and support."""
    Y, Z, _, weights = problem(seed)
    options = {"average": average, "sample_weight": weights, "zero_division": zero_division}
    return sk.precision_recall_fscore_support(Y, Z, **options)


@pytest.mark.parametrize("kind", RATIOS)
@pytest.mark.parametrize("average", AVERAGES)
def test_ratios_equal_scikit_learn(kind, average):
    for seed in SEEDS:
        Y, Z, _, weights = problem(seed)
        zero_division = UNDEFINED[seed % (2 if kind == "jaccard" else 3)]
        options = {"average": average, "sample_weight": weights, "zero_division": zero_division}
        ours = OURS[kind](Y, Z, **options)
        if kind in TOGETHER:
            theirs = together(seed, average, zero_division)[TOGETHER.index(kind)]
        else:
            theirs = THEIRS[kind](Y, Z, **options)
        assert_equal(ours, theirs, f"{seed} {zero_division}")


@pytest.mark.parametrize("beta", [0.0, 0.5, 2.0, np.inf])
@pytest.mark.parametrize("average", AVERAGES)
def test_fbeta_equals_scikit_learn(average, beta):
    for seed in range(40):
        Y, Z, _, weights = problem(seed)
        options = {"beta": beta, "average": average, "sample_weight": weights, "zero_division": 1.0}
        assert_equal(metrics.fbeta_score(Y, Z, **options), sk.fbeta_score(Y, Z, **options))


def test_subset_accuracy_and_hamming_loss_equal_scikit_learn():
    for seed in SEEDS:
        Y, Z, _, weights = problem(seed)
        options = {"sample_weight": weights}
        assert_equal(metrics.subset_accuracy(Y, Z, **options), sk.accuracy_score(Y, Z, **options))
        assert_equal(metrics.hamming_loss(Y, Z, **options), sk.hamming_loss(Y, Z, **options))


@pytest.mark.parametrize("n_labels", [None, 1])
@pytest.mark.parametrize("kind", RATIOS)
def test_example_ratios_follow_the_papers_convention_for_empty_sets(kind, n_labels):
    for seed in SEEDS:
        Y, Z, _, weights = problem(seed, n_labels)
        rows = [oracle.example_ratio(kind, y, z) for y, z in zip(Y, Z, strict=True)]
        ours = OURS[kind](Y, Z, sample_weight=weights)
        assert_equal(ours, oracle.mean(rows, weights), str(seed))


def test_f2_follows_the_papers_convention_for_empty_sets():
    for seed in SEEDS:
        Y, Z, _, weights = problem(seed)
        rows = [oracle.example_ratio("f", y, z, beta=2.0) for y, z in zip(Y, Z, strict=True)]
        ours = metrics.fbeta_score(Y, Z, beta=2.0, sample_weight=weights)
        assert_equal(ours, oracle.mean(rows, weights))


def test_one_label_equals_scikit_learn_binary_measures():
    for seed in range(30):
        Y, Z, _, weights = problem(seed, n_labels=1)
        for kind in RATIOS:
            theirs = THEIRS[kind](Y[:, 0], Z[:, 0], sample_weight=weights, zero_division=0.0)
            for average in ("micro", "macro"):
                assert_equal(OURS[kind](Y, Z, average=average, sample_weight=weights), theirs)


def test_nothing_true_and_nothing_predicted_is_right_by_example_and_zero_by_label():
    Y = np.zeros((3, 2))
    for ratio in OURS.values():
        assert ratio(Y, Y) == 1.0
        assert ratio(Y, Y, average="micro") == ratio(Y, Y, average="macro") == 0.0
        assert np.isnan(ratio(Y, Y, average="macro", zero_division=np.nan))


def test_an_empty_prediction_of_a_filled_set_has_no_precision_by_default():
    Y, Z = [[1, 1], [1, 0]], [[0, 0], [1, 0]]
    assert metrics.precision_score(Y, Z) == 0.5
    assert metrics.precision_score(Y, Z, zero_division=1.0) == 1.0
    assert metrics.precision_score(Y, Z, zero_division=np.nan) == 1.0


def test_undefined_samples_that_count_are_not_replaced_by_defined_ones_that_do_not():
    Y, Z = [[1, 0], [0, 0]], [[1, 0], [0, 0]]
    options = {"zero_division": np.nan, "sample_weight": [0.0, 1.0]}
    assert np.isnan(metrics.f1_score(Y, Z, **options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(sk.f1_score(np.array(Y), np.array(Z), average="samples", **options))


SPARSE = "csr_array csc_array coo_array lil_array dok_array bsr_array dia_array csr_matrix"


@pytest.mark.parametrize("name", SPARSE.split())
def test_sparse_labels_of_any_format_give_what_dense_ones_give(name):
    build = getattr(sparse, name)
    for seed in range(20):
        Y, Z, _, weights = problem(seed)
        for true, predicted in ((build(Y), build(Z)), (build(Y), Z), (Y, build(Z))):
            for measure in (metrics.hamming_loss, metrics.subset_accuracy):
                ours = measure(true, predicted, sample_weight=weights)
                assert_equal(ours, measure(Y, Z, sample_weight=weights))
            for average in AVERAGES:
                options = {"average": average, "sample_weight": weights}
                ours = metrics.f1_score(true, predicted, **options)
                assert_equal(ours, metrics.f1_score(Y, Z, **options))


def test_stored_zeros_and_unsorted_indices_are_read_right_and_left_alone():
    data, indices = np.array([1, 0, 1]), np.array([2, 1, 0])
    Y = sparse.csr_array((data, indices, np.array([0, 3, 3])), shape=(2, 3))
    assert metrics.f1_score(Y, [[1, 0, 1], [0, 0, 0]]) == 1.0
    assert metrics.subset_accuracy(Y, [[1, 1, 1], [0, 0, 0]]) == 0.5
    assert data.tolist() == [1, 0, 1]
    assert indices.tolist() == [2, 1, 0]


def test_sparse_labels_are_never_made_dense():
    rng = np.random.default_rng(0)
    shape, n = (1_000_000, 100_000), 10_000  # dense, each would take 100 GB
    cells = rng.integers(shape[0], size=n), rng.integers(shape[1], size=n)
    Y = sparse.coo_array((np.ones(n, dtype=bool), cells), shape=shape)
    assert metrics.f1_score(Y, Y) == metrics.f1_score(Y, Y, average="micro") == 1.0
    assert metrics.subset_accuracy(Y, Y) == 1.0
    assert metrics.hamming_loss(Y, sparse.csr_array(shape)) == Y.tocsr().nnz / (shape[0] * shape[1])


def test_weights_act_as_repetitions():
    rng = np.random.default_rng(3)
    for seed in range(30):
        Y, Z, _, _ = problem(seed)
        times = rng.integers(0, 4, len(Y))
        times[0] = 1
        repeated = np.repeat(Y, times, axis=0), np.repeat(Z, times, axis=0)
        for average in AVERAGES:
            ours = metrics.f1_score(Y, Z, average=average, sample_weight=times)
            assert_equal(ours, metrics.f1_score(*repeated, average=average))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average": "binary"}, "average must be 'example'"),
        ({"zero_division": 0.5}, "zero_division must be 0, 1, nan or None, not 0.5"),
        ({"zero_division": "warn"}, "zero_division must be 0, 1, nan or None, not 'warn'"),
        ({"beta": -1.0}, "beta must be a number that is not negative, not -1.0"),
        ({"beta": np.nan}, "beta must be a number that is not negative"),
        ({"beta": "1"}, "beta must be a number that is not negative"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.fbeta_score([[1, 0]], [[1, 0]], **options)
