"""The container, and how labels depend on one another."""

import numpy as np
import pytest
from scipy import sparse

from colabel.datasets import Dataset, label_dependence


def make(Y, **more):
    Y = np.asarray(Y, dtype=np.int8)
    names = tuple(f"l{i}" for i in range(Y.shape[1]))
    return Dataset(np.zeros((len(Y), 2)), Y, ("a", "b"), names, **more)


def test_statistics_are_counted():
    data = make([[1, 0, 1], [1, 0, 1], [0, 0, 0], [1, 1, 1]])
    assert data.statistics() == {
        "n_samples": 4,
        "n_features": 2,
        "n_labels": 3,
        "cardinality": 7 / 4,
        "density": 7 / 12,
        "n_labelsets": 3,
    }
    as_sparse = Dataset(data.X, sparse.csr_array(data.Y), ("a", "b"), data.label_names)
    assert as_sparse.statistics() == data.statistics()


def test_no_samples_and_no_labels_are_counted_too():
    assert make(np.zeros((0, 2))).statistics()["cardinality"] == 0.0
    assert make(np.zeros((3, 0))).statistics()["density"] == 0.0


def test_more_than_sixty_four_labels_are_told_apart():
    Y = np.zeros((3, 200), dtype=np.int8)
    Y[1, 150] = 1
    Y[2, 199] = 1
    assert make(Y).statistics()["n_labelsets"] == 3


def test_take_keeps_names_and_marks_the_split():
    data = make([[1, 0], [0, 1], [1, 1]], name="toy", source="here")
    part = data.take([2, 0], split="train")
    np.testing.assert_array_equal(part.Y, [[1, 1], [1, 0]])
    assert (part.name, part.split, part.source) == ("toy", "train", "here")
    assert data.take(slice(1)).split == "all"
    assert "3 samples, 2 dense features, 2 labels" in repr(data)


@pytest.mark.parametrize(
    ("X", "features", "labels", "reason"),
    [
        (np.zeros((3, 2)), ("a", "b"), ("l",), "X has 3 rows, Y has 2"),
        (np.zeros((2, 2)), ("a",), ("l",), "1 feature names for 2 columns"),
        (np.zeros((2, 2)), ("a", "b"), (), "0 label names for 1 columns"),
    ],
)
def test_parts_that_do_not_fit_are_refused(X, features, labels, reason):
    with pytest.raises(ValueError, match=reason):
        Dataset(X, np.zeros((2, 1), dtype=np.int8), features, labels)


def test_phi_is_the_correlation_of_two_labels():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 5)) < 0.4).astype(np.int8)
    Y[:, 3] = Y[:, 0]
    Y[:, 4] = 1
    names = tuple("abcde")
    for labels in (Y, sparse.csr_array(Y)):
        found = label_dependence(labels, names)
        expected = np.corrcoef(Y[:, :4].T)
        pairs = np.abs(expected[np.triu_indices(4, 1)])
        assert found["mean_abs_phi"] == pytest.approx(pairs.mean())
        assert found["pairs"][0] == {
            "labels": ["a", "d"],
            "phi": pytest.approx(1.0),
            "together": int(Y[:, 0].sum()),
        }
        assert len(found["pairs"]) == 6


def test_labels_that_never_vary_have_no_pairs():
    assert label_dependence(np.ones((4, 3)), tuple("abc")) == {"mean_abs_phi": 0.0, "pairs": []}


def test_only_the_most_frequent_labels_are_paired(monkeypatch):
    monkeypatch.setattr("colabel.datasets._dependence.MAX_LABELS", 2)
    Y = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 0, 0]])
    found = label_dependence(Y, tuple("abc"))
    assert [pair["labels"] for pair in found["pairs"]] == [["a", "c"]]
