"""Stratified splitters: what is promised about rows, labels, groups, seeds and bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from scipy import sparse, stats
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from colabel.datasets import load
from colabel.model_selection import (
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    train_validation_test_split,
)


def make_labels(n_samples=200, n_labels=12, seed=0):
    """Return labels of falling frequency, a common factor making them dependent."""
    rng = np.random.default_rng(seed)
    p = 0.6 / np.arange(1, n_labels + 1) ** 0.8
    return (rng.random((n_samples, n_labels)) < p * rng.choice([0.3, 1.7], (n_samples, 1))) * 1


def fold_of(splitter, Y, groups=None):
    """Return each row's test fold, having checked that it has exactly one."""
    fold = np.full(sparse.csr_array(Y).shape[0] if sparse.issparse(Y) else len(Y), -1)
    for j, (train, test) in enumerate(splitter.split(np.zeros(len(fold)), Y, groups)):
        assert (fold[test] == -1).all()
        fold[test] = j
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(len(fold)))
    assert (fold >= 0).all()
    return fold


def label_deviation(Y, fold):
    """Return LD of Sechidis et al. 2011, over the labels that are neither never nor always on."""
    Y = Y[:, (Y.sum(axis=0) > 0) & (Y.sum(axis=0) < len(Y))]
    per_fold = [Y[fold == j] for j in np.unique(fold)]
    odds = [part.sum(axis=0) / (len(part) - part.sum(axis=0)) for part in per_fold]
    return np.abs(np.array(odds) - Y.sum(axis=0) / (len(Y) - Y.sum(axis=0))).mean()


def example_deviation(fold, k):
    """Return ED of Sechidis et al. 2011."""
    return np.abs(np.bincount(fold, minlength=k) - len(fold) / k).mean()


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("seed", [0, 1])
def test_balance_is_at_least_that_of_iterative_stratification(k, seed):
    Y = make_labels(seed=seed)
    ours, theirs = [], []
    for state in range(5):
        fold = fold_of(IterativeStratifiedKFold(k, random_state=state), Y)
        peer = fold_of(MultilabelStratifiedKFold(k, shuffle=True, random_state=state), Y)
        ours.append((label_deviation(Y, fold), example_deviation(fold, k)))
        theirs.append((label_deviation(Y, peer), example_deviation(peer, k)))
    assert (np.mean(ours, axis=0) <= np.mean(theirs, axis=0) + 1e-12).all()


@pytest.mark.parametrize("k", [5, 10])
def test_balance_on_yeast_is_several_times_better(k):
    Y = load("yeast").Y
    fold = fold_of(IterativeStratifiedKFold(k, random_state=0), Y)
    peer = fold_of(MultilabelStratifiedKFold(k, shuffle=True, random_state=0), Y)
    assert label_deviation(Y, fold) < label_deviation(Y, peer) / 3
    assert example_deviation(fold, k) < example_deviation(peer, k)


@pytest.mark.parametrize("n_samples", [10, 11, 14])
def test_fold_sizes_differ_by_at_most_one(n_samples):
    sizes = np.bincount(fold_of(IterativeStratifiedKFold(5), make_labels(n_samples)))
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_on", [0, 1, 3, 5, 17, 50])
def test_one_label_is_spread_as_evenly_as_can_be(n_on):
    Y = (np.arange(50) < n_on).astype(int)[:, None]
    fold = fold_of(IterativeStratifiedKFold(5, random_state=0), Y)
    per_fold = np.bincount(fold, weights=Y[:, 0], minlength=5)
    assert per_fold.max() - per_fold.min() <= 1


def test_classes_of_a_flat_target_are_spread_evenly():
    y = np.repeat(["a", "b", "c"], [25, 13, 6])
    fold = fold_of(IterativeStratifiedKFold(4, random_state=0), y)
    per_fold = np.array([[np.sum((y == c) & (fold == j)) for c in "abc"] for j in range(4)])
    assert (np.ptp(per_fold, axis=0) <= 1).all()


def test_rows_without_labels_are_spread_evenly():
    Y = make_labels(300, 5)
    bare = Y.sum(axis=1) == 0
    fold = fold_of(IterativeStratifiedKFold(5, random_state=0), Y)
    per_fold = np.bincount(fold, weights=bare)
    assert bare.sum() > 50
    assert np.ptp(per_fold) <= 2


@given(
    Y=st.integers(2, 25).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=n)
    ),
    k=st.integers(2, 6),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_any_labels_and_groups_give_full_folds_and_whole_groups(Y, k, data):
    ids = st.lists(st.integers(0, 8), min_size=len(Y), max_size=len(Y))
    groups = data.draw(st.none() | ids)
    splitter = IterativeStratifiedKFold(k, random_state=0)
    if k > len(Y) or (groups is not None and k > len(set(groups))):
        with pytest.raises(ValueError, match="cannot"):
            fold_of(splitter, np.array(Y), groups)
        return
    fold = fold_of(splitter, np.array(Y), groups)
    assert set(fold) == set(range(k))
    if groups is not None:
        assert all(len(set(fold[np.array(groups) == g])) == 1 for g in set(groups))


def test_groups_are_balanced_too():
    Y = make_labels(1000, 8)
    groups = np.random.default_rng(1).integers(0, 150, 1000).astype(str)
    fold = fold_of(IterativeStratifiedKFold(5, random_state=0), Y, groups)
    random = np.random.default_rng(2).integers(0, 5, 1000)
    assert all(len(set(fold[groups == g])) == 1 for g in set(groups))
    assert label_deviation(Y, fold) < label_deviation(Y, random) / 2
    assert example_deviation(fold, 5) <= 2


def test_one_huge_group_leaves_no_fold_empty():
    groups = np.r_[np.zeros(90), np.arange(1, 5)]
    fold = fold_of(IterativeStratifiedKFold(5, random_state=0), make_labels(94), groups)
    assert sorted(np.bincount(fold)) == [1, 1, 1, 1, 90]


def test_a_seed_fixes_the_folds_and_another_changes_them():
    Y = make_labels()
    first, again, other = (fold_of(IterativeStratifiedKFold(random_state=s), Y) for s in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    stream = IterativeStratifiedKFold(random_state=np.random.RandomState(3))
    assert np.array_equal(fold_of(stream, Y), first)
    assert not np.array_equal(fold_of(stream, Y), first)


def test_without_shuffling_the_folds_depend_on_the_data_alone():
    Y = make_labels()
    folds = [fold_of(IterativeStratifiedKFold(shuffle=False), Y) for _ in range(2)]
    assert np.array_equal(*folds)


def containers():
    names = [f"l{i}" for i in range(12)]
    return {
        "bool": lambda Y: Y.astype(bool),
        "float": lambda Y: Y.astype(float),
        "list": lambda Y: Y.tolist(),
        "csr_array": sparse.csr_array,
        "csc_matrix": sparse.csc_matrix,
        "coo_array": sparse.coo_array,
        "explicit zeros": with_explicit_zeros,
        "pandas": lambda Y: pd.DataFrame(Y, columns=names, index=np.arange(len(Y))[::-1]),
        "pandas boolean": lambda Y: pd.DataFrame(Y, columns=names).astype("boolean"),
        "polars": lambda Y: pl.DataFrame(Y, schema=names),
    }


def with_explicit_zeros(Y):
    table = sparse.csr_array(np.ones_like(Y))
    table.data[:] = Y.ravel()
    return table


@pytest.mark.parametrize("container", list(containers()))
def test_the_container_of_the_labels_does_not_matter(container):
    Y = make_labels()
    splitter = IterativeStratifiedKFold(random_state=0)
    assert np.array_equal(fold_of(splitter, containers()[container](Y)), fold_of(splitter, Y))


def test_no_fold_is_preferred():
    Y = make_labels(12, 3)  # two rows too many for five equal folds
    runs = [fold_of(IterativeStratifiedKFold(5, random_state=s), Y) for s in range(500)]
    sizes = np.sum([np.bincount(fold, minlength=5) for fold in runs], axis=0)
    assert stats.chisquare(sizes).pvalue > 1e-3
    for row in (0, 5, 11):
        assert stats.chisquare(np.bincount(np.array(runs)[:, row], minlength=5)).pvalue > 1e-3


@pytest.mark.parametrize("Y", [np.zeros((20, 2), int), np.tile([[1, 0], [0, 1]], (10, 1))])
def test_every_row_is_tested_equally_often(Y):
    splits = IterativeStratifiedShuffleSplit(500, test_size=0.2, random_state=0)
    tested = np.bincount(np.concatenate([test for _, test in splits.split(Y, Y)]), minlength=20)
    assert tested.sum() == 500 * 4
    assert stats.chisquare(tested).pvalue > 1e-3


def test_order_of_rows_in_the_file_does_not_decide_the_fold():
    y = np.repeat([0, 1], 20)
    first = [fold_of(IterativeStratifiedKFold(4, random_state=s), y)[:2] for s in range(400)]
    together = np.mean([a == b for a, b in first])
    assert abs(together - 4 / 19) < 0.07  # of 19 other zeros, 4 share the fold of row 0


@pytest.mark.parametrize(
    ("sizes", "n_train", "n_test"),
    [
        ({}, 180, 20),
        ({"test_size": 0.25}, 150, 50),
        ({"train_size": 0.7}, 140, 60),
        ({"test_size": 33}, 167, 33),
        ({"train_size": 11}, 11, 189),
        ({"test_size": 0.07, "train_size": 0.29}, 58, 14),
        ({"test_size": 0.123, "train_size": 100}, 100, 25),
    ],
)
def test_shuffle_split_sizes_are_exact_and_balanced(sizes, n_train, n_test):
    Y = make_labels()
    splitter = IterativeStratifiedShuffleSplit(3, random_state=0, **sizes)
    assert splitter.get_n_splits() == 3
    splits = list(splitter.split(Y, Y))
    for train, test in splits:
        assert (len(train), len(test)) == (n_train, n_test)
        assert not set(train) & set(test)
        assert np.abs(Y[test].sum(axis=0) - n_test / 200 * Y.sum(axis=0)).max() < 2
    assert not np.array_equal(splits[0][1], splits[1][1])
    again = list(splitter.split(Y, Y))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))


def test_shuffle_split_keeps_groups_whole():
    Y, groups = make_labels(), np.repeat(np.arange(40), 5)
    splits = IterativeStratifiedShuffleSplit(5, test_size=0.2, random_state=0)
    for train, test in splits.split(Y, Y, groups):
        assert not set(groups[train]) & set(groups[test])
        assert len(test) == 40


@pytest.mark.parametrize("enable", [False, True])
def test_scikit_learn_hands_groups_to_the_splitter(enable):
    Y, groups = make_labels(60, 3), np.repeat(np.arange(20), 3)
    seen = []

    class Spy(IterativeStratifiedKFold):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    with sklearn.config_context(enable_metadata_routing=enable):
        given = {"params": {"groups": groups}} if enable else {"groups": groups}
        cross_validate(KNeighborsClassifier(), Y, Y, cv=Spy(3, random_state=0), **given)
    assert np.array_equal(seen[0], groups)


def test_grid_search_and_cross_val_score_accept_the_splitters():
    Y = make_labels(80, 3)
    folds = IterativeStratifiedKFold(4, random_state=0)
    assert folds.get_n_splits(Y, Y) == 4
    assert len(cross_val_score(KNeighborsClassifier(), Y, Y, cv=folds)) == 4
    splits = IterativeStratifiedShuffleSplit(2, test_size=0.25, random_state=0)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=splits).fit(Y, Y)
    assert search.n_splits_ == 2
    assert repr(folds) == "IterativeStratifiedKFold(n_splits=4, random_state=0, shuffle=True)"


def test_three_way_split_is_exact_and_returns_each_container():
    Y = make_labels()
    frame, rows = pd.DataFrame({"a": np.arange(200)}), list(range(200))
    parts = train_validation_test_split(
        frame, rows, sparse.csr_array(Y), Y=Y, sizes=(0.5, 0.25, 0.25), random_state=0
    )
    assert len(parts) == 12
    assert [len(p) for p in parts[:3]] == [100, 50, 50]
    assert isinstance(parts[0], pd.DataFrame)
    assert isinstance(parts[3], list)
    assert sorted(parts[3] + parts[4] + parts[5]) == rows
    for j, share in enumerate((0.5, 0.25, 0.25)):
        assert parts[j]["a"].tolist() == parts[3 + j]
        assert np.array_equal(parts[6 + j].toarray(), parts[9 + j])
        assert np.array_equal(parts[9 + j], Y[parts[3 + j]])
        assert np.abs(parts[9 + j].sum(axis=0) - share * Y.sum(axis=0)).max() < 1.5


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((0.7, 0.3), [7, 3]),
        ((1, 9), [1, 9]),
        ((0.25, 0.25, 0.5), [3, 2, 5]),
        ((0.1,) * 10, [1] * 10),
    ],
)
def test_sizes_may_be_fractions_or_counts_of_any_number_of_parts(sizes, expected):
    parts = train_validation_test_split(Y=np.eye(10, 2, dtype=int), sizes=sizes, random_state=0)
    assert [len(p) for p in parts] == expected


def test_three_way_split_keeps_groups_whole():
    Y, groups = make_labels(), np.repeat(np.arange(50), 4)
    parts = train_validation_test_split(groups, Y=Y, groups=groups, random_state=0)[:3]
    assert [len(p) for p in parts] == [120, 40, 40]
    assert len(set().union(*parts)) == 50 == sum(len(set(p)) for p in parts)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda Y: IterativeStratifiedKFold(1), "at least 2"),
        (lambda Y: IterativeStratifiedKFold(2.5), "whole number"),
        (lambda Y: IterativeStratifiedKFold(shuffle=False, random_state=0), "without shuffle"),
        (lambda Y: IterativeStratifiedShuffleSplit(0), "at least 1"),
        (lambda Y: next(IterativeStratifiedKFold(9).split(Y, Y)), "9 folds cannot be made of 8"),
        (lambda Y: next(IterativeStratifiedKFold(3).split(Y, Y, [0, 1] * 4)), "2 groups cannot"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y, Y, [None, 1] * 4)), "one kind"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y)), "labels are missing"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y[1:], Y)), "inconsistent"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y, Y, [0])), "inconsistent"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y, Y * 2)), "table of 0 and 1"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y, Y * np.nan)), "NaN"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y, [0.5] * 8)), "continuous"),
        (lambda Y: next(IterativeStratifiedKFold().split(Y, np.full((8, 2), "a"))), "0 and 1"),
        (lambda Y: next(IterativeStratifiedKFold().split([], [])), "0 samples"),
        (lambda Y: next(IterativeStratifiedShuffleSplit(test_size=8).split(Y, Y)), "test_size=8"),
        (lambda Y: next(IterativeStratifiedShuffleSplit(test_size=1.0).split(Y, Y)), "test_size"),
        (lambda Y: next(IterativeStratifiedShuffleSplit(train_size="a").split(Y, Y)), "train_size"),
        (
            lambda Y: next(IterativeStratifiedShuffleSplit(test_size=5, train_size=4).split(Y, Y)),
            "cannot give 4",
        ),
        (lambda Y: train_validation_test_split(Y=None), "labels are missing"),
        (lambda Y: train_validation_test_split(Y=Y, sizes=(1.0,)), "two parts"),
        (lambda Y: train_validation_test_split(Y=Y, sizes=(0.5, 0.4)), "sum to 1"),
        (lambda Y: train_validation_test_split(Y=Y, sizes=(3, 4)), "sum to 1"),
        (lambda Y: train_validation_test_split(Y=Y, sizes=(0.98, 0.01, 0.01)), "too few"),
        (lambda Y: train_validation_test_split(Y=Y, sizes=(True, False)), "fraction between"),
    ],
)
def test_bad_calls_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call(make_labels(8, 2))
