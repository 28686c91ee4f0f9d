import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from colabel.metrics import facet_accuracy

NAMES = ["red", "blue", "small", "medium", "large"]
SETS = (("red", "blue"), ("small", "medium", "large"))
COLUMNS = {"colour": [0, 1], "size": [2, 3, 4]}


def one_hot(classes, widths=(2, 3)):
    return np.hstack([np.eye(width, dtype=int)[classes[:, s]] for s, width in enumerate(widths)])


def class_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    A, B = (np.column_stack([rng.integers(0, 2, n), rng.integers(0, 3, n)]) for _ in "AB")
    return A, B, rng.random(n) + 0.01


def test_accuracies_equal_a_count_over_the_classes():
    for seed in range(100):
        A, B, weights = class_problem(seed)
        rows = [(a == b).tolist() for a, b in zip(A, B, strict=True)]
        truth = {
            "accuracy_colour": sum(w * r[0] for w, r in zip(weights, rows, strict=True)),
            "accuracy_size": sum(w * r[1] for w, r in zip(weights, rows, strict=True)),
            "accuracy_all": sum(w * all(r) for w, r in zip(weights, rows, strict=True)),
        }
        truth = {name: value / sum(weights) for name, value in truth.items()}
        Y, Z = one_hot(A), one_hot(B)
        options = {"sample_weight": weights}
        assert facet_accuracy(Y, Z, COLUMNS, **options) == pytest.approx(truth)
        assert facet_accuracy(sparse.csr_array(Y), Z, COLUMNS, **options) == pytest.approx(truth)
        assert facet_accuracy(A, B, COLUMNS, **options) == pytest.approx(truth)
        assert facet_accuracy(A, B, ["colour", "size"], **options) == pytest.approx(truth)


def test_facets_without_names_are_numbered_from_one():
    A, B, _ = class_problem(0)
    keys = ["accuracy_1", "accuracy_2", "accuracy_all"]
    assert list(facet_accuracy(A, B)) == keys
    assert list(facet_accuracy(A, B, SETS)) == keys
    assert list(facet_accuracy(one_hot(A), one_hot(B), SETS, label_names=NAMES)) == keys


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_data_frames_bring_the_names(frame):
    build = pd.DataFrame if frame == "pandas" else pl.DataFrame
    A, B, _ = class_problem(1)
    Y, Z = (build(dict(zip(NAMES, one_hot(C).T, strict=True))) for C in (A, B))
    truth = list(facet_accuracy(A, B).values())
    assert list(facet_accuracy(Y, Z, SETS).values()) == truth
    words = [np.array(["red", "blue"])[C[:, 0]] for C in (A, B)]
    left, right = (
        build({"colour": w, "size": C[:, 1]}) for w, C in zip(words, (A, B), strict=True)
    )
    table = facet_accuracy(left, right)
    assert list(table) == ["accuracy_colour", "accuracy_size", "accuracy_all"]
    assert list(table.values()) == truth


def test_no_label_of_a_set_or_two_is_wrong():
    Y = [[1, 0, 1, 0], [1, 0, 1, 0]]
    Z = [[0, 0, 1, 0], [1, 1, 1, 0]]
    table = facet_accuracy(Y, Z, [[0, 1], [2, 3]])
    assert table == {"accuracy_1": 0.0, "accuracy_2": 1.0, "accuracy_all": 0.0}


def test_labels_outside_the_facets_do_not_count():
    assert facet_accuracy([[1, 0, 1]], [[1, 0, 0]], {"s": [0, 1]})["accuracy_all"] == 1.0


def test_facets_of_one_label_are_read_as_label_columns():
    table = facet_accuracy([[1, 0]], [[1, 1]], [[0], [1]])
    assert table == {"accuracy_1": 1.0, "accuracy_2": 0.0, "accuracy_all": 0.0}
    with pytest.raises(ValueError, match="Y_true must hold only 0 and 1, not 2"):
        facet_accuracy([[2, 0]], [[1, 1]], [[0], [1]])


Y = np.array([[1, 0, 1]])


@pytest.mark.parametrize(
    ("facets", "message"),
    [
        ([[0, 1], [1, 2]], "facet '2' has a label that is already in a facet"),
        ([[0, 0]], "facet '1' has a label that is already in a facet"),
        ([[0, 3]], "facets names 3, which is not one of the 3 labels"),
        ([[-1, 0]], "facets names -1, which is not one of the 3 labels"),
        ([["a", "b"]], "facets names 'a', which is not one of the 3 labels"),
        ([[0, 1], []], "facet '2' is empty"),
        ({"all": [0, 1]}, "a facet cannot be named 'all'"),
        ([0, 1], "facets must be a sequence of facets, not of labels"),
        ([], "facets must give each facet's labels"),
        (["colour", "size"], "2 facets for 3 class columns"),
    ],
)
def test_wrong_facets_are_refused(facets, message):
    with pytest.raises(ValueError, match=message):
        facet_accuracy(Y, Y, facets)


@pytest.mark.parametrize(
    ("true", "predicted", "facets", "message"),
    [
        ([[0, 1]], [[0, 1, 2]], None, "Y_true has shape"),
        ([[0, 1]], [[0, 1, 2]], ["a", "b"], "Y_true has shape"),
        ([0, 1], [0, 1], None, r"Y_true must be a filled \(n_samples, n_facets\) table of classes"),
        (np.zeros((0, 2)), np.zeros((0, 2)), None, "Y_true must be a filled"),
        ([[0, 1]], [[0, np.nan]], None, "Y_pred has missing classes"),
        ([[None, "a"]], [["b", "a"]], None, "Y_true has missing classes"),
        (pd.DataFrame({"a": [pd.NA]}, dtype="Int64"), [[1]], None, "Y_true has missing classes"),
    ],
)
def test_wrong_class_columns_are_refused(true, predicted, facets, message):
    with pytest.raises(ValueError, match=message):
        facet_accuracy(true, predicted, facets)


def test_label_names_must_fit_the_columns():
    with pytest.raises(ValueError, match="2 label names for 3 labels"):
        facet_accuracy(Y, Y, [["a", "b"]], label_names=["a", "b"])


def test_sparse_class_columns_hold_the_class_zero():
    A, B, _ = class_problem(2)
    sparse_table = facet_accuracy(sparse.csr_array(A), sparse.csr_array(B))
    assert sparse_table == facet_accuracy(A, B)
