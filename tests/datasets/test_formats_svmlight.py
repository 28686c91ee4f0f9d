"""svmlight: labels, bases, comments, headers, widths; scikit-learn is the oracle."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from colabel.datasets.formats import _assemble, read
from colabel.exceptions import DataFormatError


def svm(tmp_path, text):
    path = tmp_path / "x.svm"
    path.write_text(text)
    return path


def test_labels_before_features_counted_from_one(tmp_path):
    data = read(svm(tmp_path, "0,2 1:0.5 3:2\n 2:1\n1\n1:7\n"))
    assert data.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, 0], [7, 0, 0]]
    assert data.Y.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert data.feature_names == ("feature_0", "feature_1", "feature_2")
    assert data.label_names == ("label_0", "label_1", "label_2")


def test_a_zero_index_anywhere_means_counting_from_zero(tmp_path):
    data = read(svm(tmp_path, "0 1:5\n0 0:6\n"))
    assert data.X.toarray().tolist() == [[0, 5], [6, 0]]


def test_the_base_can_be_given_so_that_files_agree(tmp_path):
    path = svm(tmp_path, "0 1:5 2:6\n")
    assert read(path).X.toarray().tolist() == [[5, 6]]
    assert read(path, zero_based=False).X.toarray().tolist() == [[5, 6]]
    assert read(path, zero_based=True).X.toarray().tolist() == [[0, 5, 6]]
    headed = svm(tmp_path, "1 3 1\n0 1:5 2:6\n")
    assert read(headed, zero_based=False).X.toarray().tolist() == [[5, 6, 0]]
    with pytest.raises(DataFormatError, match="against zero_based=False"):
        read(svm(tmp_path, "0 0:5\n"), zero_based=False)
    with pytest.raises(ValueError, match="zero_based must be True, False or"):
        read(path, zero_based="yes")
    with pytest.raises(ValueError, match="zero_based= has no meaning for csv"):
        read(tmp_path / "x.csv", labels=1, zero_based=False)


def test_a_label_matrix_far_larger_than_its_file_stays_sparse(tmp_path):
    data = read(svm(tmp_path, "999999 1:1\n" + "0 1:1\n" * 20))
    assert sparse.issparse(data.Y)
    assert data.Y.shape == (21, 1_000_000)
    assert data.Y.sum() == 21


def test_a_label_matrix_that_is_well_filled_is_dense(tmp_path, monkeypatch):
    monkeypatch.setattr(_assemble, "FREE_LABEL_CELLS", 1)
    assert not sparse.issparse(read(svm(tmp_path, "63 1:1\n")).Y)
    assert sparse.issparse(read(svm(tmp_path, "64 1:1\n")).Y)


def test_comments_query_ids_blanks_and_order(tmp_path):
    text = "# remark\n2,0 qid:7 3:1 1:2 # why\n\n1  2:3 \n+1,0.0 1:nan\n"
    data = read(svm(tmp_path, text))
    expected = [[2, 0, 1], [0, 3, 0], [np.nan, 0, 0]]
    assert np.array_equal(data.X.toarray(), expected, equal_nan=True)
    assert data.Y.tolist() == [[1, 0, 1], [0, 1, 0], [1, 1, 0]]
    assert data.X.has_canonical_format


def test_a_label_named_twice_is_on_once(tmp_path):
    assert read(svm(tmp_path, "1,1 1:1\n")).Y.tolist() == [[0, 1]]


def test_stored_zeros_are_dropped(tmp_path):
    assert read(svm(tmp_path, "0 1:0 2:1\n")).X.nnz == 1


def test_the_extreme_classification_header_sets_sizes_and_base(tmp_path):
    data = read(svm(tmp_path, "3 4 5\n1 1:2\n\n 3:1\n"))
    assert data.X.toarray().tolist() == [[0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert data.Y.shape == (3, 5)
    without_blank_rows = read(svm(tmp_path, "2 4 5\n1 1:2\n\n 3:1\n"))
    assert without_blank_rows.n_samples == 2


def test_widths_can_be_given(tmp_path):
    data = read(svm(tmp_path, "0 1:1\n"), n_features=7, n_labels=3)
    assert (data.n_features, data.n_labels) == (7, 3)
    wider_than_free = read(svm(tmp_path, "0 1100000:1\n"), n_features=1_100_000)
    assert wider_than_free.n_features == 1_100_000


@pytest.mark.parametrize("block", [64, 1 << 18])
def test_reading_equals_scikit_learn(tmp_path, monkeypatch, block):
    monkeypatch.setattr("colabel.datasets.formats._stream.BLOCK_BYTES", block)
    rng = np.random.default_rng(0)
    lines = []
    for i in range(300):
        ids = rng.choice(12, rng.integers(1, 4), replace=False)
        cols = np.sort(rng.choice(40, rng.integers(1, 9), replace=False)) + 1
        values = [f"{j}:{v:.6g}" for j, v in zip(cols, rng.normal(size=len(cols)), strict=True)]
        lines.append(",".join(map(str, ids)) + " " + " ".join(values) + ("  # c" * (i % 70 == 3)))
    path = svm(tmp_path, "\n".join(lines) + "\n")
    X, labels = load_svmlight_file(str(path), n_features=40, multilabel=True)
    data = read(path, n_features=40, n_labels=12)
    assert np.array_equal(data.X.toarray(), X.toarray())
    assert [tuple(map(float, np.flatnonzero(row))) for row in data.Y] == [
        tuple(sorted(ids)) for ids in labels
    ]
