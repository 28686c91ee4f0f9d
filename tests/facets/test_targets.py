"""Containers of classes and indicators come in, the same come out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from colabel.facets import CooccurrenceDecomposition, IndependentDecomposition
from colabel.facets._targets import encode_facets, one_hot

CODES = np.array([[0, 1], [2, 0], [1, 1], [0, 0]])
LABELS = one_hot(CODES, (3, 2))
SETS = {"kind": [0, 1, 2], "age": [3, 4]}
WORDS = np.array([["cat", "old"], ["eel", "new"], ["dog", "old"], ["cat", "new"]])


def test_one_hot_turns_one_label_of_each_set_on():
    np.testing.assert_array_equal(
        LABELS, [[1, 0, 0, 0, 1], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [1, 0, 0, 1, 0]]
    )


@pytest.mark.parametrize(
    "Y",
    [
        WORDS,
        WORDS.astype(object),
        CODES + 5,
        CODES * 1.5,
        np.array([[1, -1], [2, 1], [1, 1], [1, -1]], dtype="int8"),
    ],
    ids=["str", "object", "int", "float", "int8"],
)
def test_arrays_of_classes_come_back_as_they_were(Y):
    if Y.dtype.kind == "f":
        with pytest.raises(ValueError, match="Unknown label type"):
            encode_facets(Y)
        return
    codes, target = encode_facets(Y)
    back = target.restore(codes)
    assert back.dtype == Y.dtype
    np.testing.assert_array_equal(back, Y)


def test_frames_of_classes_keep_names_dtypes_and_index():
    frame = pd.DataFrame({"kind": WORDS[:, 0], "n": CODES[:, 1] + 4}, index=list("wxyz"))
    codes, target = encode_facets(frame)
    back = target.restore(codes, like=frame)
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)
    assert back["n"].dtype == np.int64
    other = pl.from_pandas(frame)
    codes, target = encode_facets(other)
    assert target.restore(codes).equals(other)
    assert target.names == ("kind", "n")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_indicators_come_back_in_their_container(container):
    codes, target = encode_facets(container(LABELS), SETS)
    np.testing.assert_array_equal(codes, CODES)
    back = target.restore(codes)
    assert sparse.issparse(back) == sparse.issparse(container(LABELS))
    np.testing.assert_array_equal(back.toarray() if sparse.issparse(back) else back, LABELS)


def test_columns_of_a_set_may_stand_anywhere():
    order = [3, 0, 4, 2, 1]
    frame = pd.DataFrame(LABELS[:, order], columns=[f"l{c}" for c in order])
    facets = {"age": ["l3", "l4"], "kind": ["l0", "l1", "l2"]}
    codes, target = encode_facets(frame, facets)
    np.testing.assert_array_equal(codes, CODES[:, ::-1])
    assert target.restore(codes).equals(frame.astype(np.int8))
    assert [list(c) for c in target.classes] == list(facets.values())
    p = target.probabilities([np.tile([0.25, 0.75], (4, 1)), np.tile([0.5, 0.2, 0.3], (4, 1))])
    np.testing.assert_allclose(p[0], [0.25, 0.5, 0.75, 0.3, 0.2])


def test_zeros_and_ones_without_sets_are_sets_of_two():
    codes, target = encode_facets(LABELS)
    assert target.form.kind == "array"
    assert target.sizes == (2,) * 5
    np.testing.assert_array_equal(target.restore(codes), LABELS)


def test_a_vector_is_one_set_and_a_column_is_taken_as_one():
    codes, target = encode_facets(WORDS[:, 0])
    np.testing.assert_array_equal(target.restore(codes), WORDS[:, 0])
    with pytest.warns(DataConversionWarning):
        assert encode_facets(WORDS[:, :1])[1].one_dimensional


BAD = {
    "two of a set": (np.array([[1, 1, 0, 0, 1]]), SETS, "row 0 has 2 labels of facet 'kind'"),
    "none of a set": (np.array([[1, 0, 0, 0, 0]]), SETS, "row 0 has 0 labels of facet 'age'"),
    "a label in no set": (LABELS, {"kind": [0, 1, 2]}, "label 3 is in none of the facets"),
    "a label twice": (LABELS, [[0, 1, 2], [2, 3, 4]], "already in a facet"),
    "no such label": (LABELS, [[0, 1, 2], [3, 9]], "names 9"),
    "a vector": (np.array([0, 1, 1]), [[0], [1]], "need a matrix"),
    "missing": (np.array([["a", None], ["b", "c"]], dtype=object), None, "missing classes"),
    "NaN": (np.array([[1.0, np.nan], [2.0, 3.0]]), None, "NaN"),
    "mixed": (np.array([["a", 1], [2, 3]], dtype=object), None, "of one kind"),
    "no columns": (np.zeros((3, 0), dtype=str), None, "no columns"),
    "three axes": (np.zeros((2, 2, 2)), None, "1 or 2 axes"),
    "none at all": (None, None, "requires y"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_targets_get_one_clear_sentence(case):
    Y, facets, reason = BAD[case]
    with pytest.raises(ValueError, match=reason):
        encode_facets(Y, facets)


def test_the_score_is_the_share_of_samples_right_in_all_facets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    codes = np.column_stack([np.digitize(X[:, 0], [-0.4, 0.4]), X[:, 1] + 0.5 * X[:, 2] > 0])
    codes[::7, 1] = 1 - codes[::7, 1]
    words = np.array([["a", "b", "c"], ["x", "y", "-"]])
    Y = np.column_stack([words[0][codes[:, 0]], words[1][codes[:, 1].astype(int)]])
    forms = [
        (Y, None),
        (pd.DataFrame(Y, columns=["p", "q"]), None),
        (one_hot(codes, (3, 2)), [[0, 1, 2], [3, 4]]),
        (sparse.csr_array(one_hot(codes, (3, 2))), [[0, 1, 2], [3, 4]]),
    ]
    for form, facets in forms:
        model = IndependentDecomposition(facets=facets).fit(X, form)
        found = model.predict_proba(X)
        parts = found if isinstance(found, list) else [found[:, :3], found[:, 3:]]
        guess = np.column_stack([part.argmax(axis=1) for part in parts])
        expected = np.mean(np.all(guess == np.column_stack([codes[:, 0], codes[:, 1]]), axis=1))
        # Classes of the second set are in the order of their names, x before y.
        assert model.score(X, form) == pytest.approx(expected)
    model = IndependentDecomposition().fit(X, Y[:, 0])
    assert model.score(X, Y[:, 0]) == np.mean(model.predict(X) == Y[:, 0])
    weight = np.arange(80.0)
    one = CooccurrenceDecomposition().fit(X, Y)
    right = np.all(one.predict(X) == Y, axis=1)
    assert one.score(X, Y, weight) == pytest.approx(np.average(right, weights=weight))


@pytest.mark.parametrize("make", [lambda rows: np.array(rows, dtype=object), list])
def test_columns_of_several_kinds_keep_their_classes(make):
    rows = [["red", 1], ["blue", 0], ["red", 0], ["blue", 1]]
    codes, target = encode_facets(make(rows))
    assert [c.dtype.kind for c in target.classes] == ["O", "i"]
    back = target.restore(codes)
    assert back.dtype == object
    assert back.tolist() == rows
    X = np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    assert IndependentDecomposition().fit(X, make(rows)).score(X, make(rows)) == 1.0


def test_a_frame_of_one_column_comes_back_as_a_frame():
    X = np.arange(4.0)[:, None]
    frame = pd.DataFrame({"c": WORDS[:, 0]})
    found = IndependentDecomposition().fit(X, frame).predict(X)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == ["c"]
