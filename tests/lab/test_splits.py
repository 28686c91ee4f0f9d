"""How data is divided: by name, by folds, by share."""

import numpy as np
import pytest

from colabel.datasets import Dataset, load
from colabel.exceptions import DatasetNotFoundError, UnknownNameError
from colabel.lab.splits import check_split, default_split, list_folds


def numbered(n_samples=60):
    """Data whose only feature is the row's number."""
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(n_samples, 4)).astype(np.int8)
    return Dataset(np.arange(n_samples, dtype=float)[:, None], Y, ("row",), tuple("abcd"), "rows")


def rows(data):
    return data.X[:, 0].astype(int).tolist()


def folds(split, seeds=(0,)):
    return list_folds("rows", split, seeds, lambda name, split=None: numbered())


@pytest.mark.parametrize("split", ["official", "cv:2", "cv:10", "holdout:0.3", "holdout:.5"])
def test_good_splits_are_taken_as_they_are(split):
    assert check_split(split) == split


@pytest.mark.parametrize(
    "split",
    ["", "cv", "cv:", "cv:1", "cv:0", "cv:-3", "cv:2.5", "holdout:0", "holdout:1", "holdout:nan",
     "holdout:x", "train", "official:2", "CV:3"],
)  # fmt: skip
def test_bad_splits_are_refused_with_the_remedy(split):
    with pytest.raises(UnknownNameError, match=r"use official, cv:K .* or holdout:F"):
        check_split(split)


def test_the_default_is_the_official_split_where_there_is_one():
    assert default_split("yeast") == default_split("Yeast") == "official"
    assert default_split("cal500") == "cv:5"
    assert default_split("some/file.csv") == "cv:5"


def test_the_official_split_is_that_of_the_data():
    (fold,) = list_folds("yeast", "official")
    train, test = fold.train(), fold.test()
    np.testing.assert_array_equal(train.X, load("yeast:train").X)
    np.testing.assert_array_equal(test.Y, load("yeast:test").Y)
    assert (fold.name, fold.seed, fold.number, fold.facets) == ("yeast", 0, 0, ())


def test_folds_test_every_row_once():
    parts = folds("cv:4")
    assert [fold.number for fold in parts] == [0, 1, 2, 3]
    assert sorted(row for fold in parts for row in rows(fold.test())) == list(range(60))
    for fold in parts:
        assert sorted(rows(fold.train()) + rows(fold.test())) == list(range(60))
        assert (fold.train().split, fold.test().split) == ("train", "test")


def test_a_held_out_share_has_its_size():
    (fold,) = folds("holdout:0.3")
    assert fold.test().n_samples == 18
    assert sorted(rows(fold.train()) + rows(fold.test())) == list(range(60))


def test_a_seed_draws_its_own_folds_and_the_same_ones_again():
    first, second = folds("holdout:0.5", (0, 1))
    assert (first.seed, second.seed) == (0, 1)
    assert rows(first.test()) != rows(second.test())
    assert rows(folds("holdout:0.5", (1,))[0].test()) == rows(second.test())


def test_the_data_is_loaded_once_for_all_seeds():
    calls = []

    def count(name, split=None):
        calls.append((name, split))
        return numbered()

    assert len(list_folds("rows", "cv:3", (0, 1, 2), count)) == 9
    assert calls == [("rows", None)]


def test_missing_data_stop_at_once():
    with pytest.raises(DatasetNotFoundError):
        list_folds("nothing.csv", "cv:3")
    with pytest.raises(UnknownNameError, match="no official train/test split"):
        list_folds("cal500", "official")
