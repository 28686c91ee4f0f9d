"""The tables of Liu and Tsang (2015): their columns, their numbers, and ours beside them."""

from dataclasses import replace

import numpy as np
import pytest

from colabel.datasets import Dataset
from colabel.lab import find_tables, reproduce
from colabel.lab.papers.lmknn_2015 import AS_PUBLISHED, TABLE_3, TABLE_4, TIMES
from colabel.neighbors import KNNClassifier, LargeMarginKNN, MLkNN

PAPER = ("BR", "PLST", "CCA", "MMOC", "kNN", "ML-kNN", "LM-kNN")
# As printed, row by row.
PRINTED_3 = """
scene          0.6911 0.5924 0.7281 0.7297 0.7221 0.7387 0.7300
cal500         0.3448 0.3032 0.3533 -      0.3593 0.3184 0.3542
corel5k        0.0956 0.0801 -      -      0.0321 0.0278 0.1670
delicious      0.2598 0.1423 -      -      0.2154 0.1738 0.3104
eurlex-dc-test 0.2673 0.2304 -      -      0.6540 0.6252 0.7207
"""
PRINTED_4 = """
scene          0.6169 0.4588 0.7320 0.7338 0.6815 0.6874 0.7101
cal500         0.3446 0.3062 0.3516 -      0.3561 0.3216 0.3511
corel5k        0.0781 0.0587 -      -      0.0223 0.0178 0.1295
delicious      0.2174 0.1131 -      -      0.1878 0.1518 0.2553
eurlex-dc-test 0.2556 0.1530 -      -      0.5741 0.5496 0.6812
"""


def made(name, split="all", *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.5, X[:, 0] < -0.3, rng.random(60) < 0.2])
    return Dataset(X, Y.astype(np.int8), tuple("abcd"), tuple("uvwx"), name, split)


def entry_of(plan, name):
    (found,) = [entry for entry in plan.entries if entry.name == name]
    return found


def test_the_tables_are_registered():
    assert find_tables("lmknn-2015") == [TABLE_3, TABLE_4, TIMES]
    assert (TABLE_3.measure, TABLE_4.measure) == ("micro_f1", "example_f1")
    for plan in (TABLE_3, TABLE_4, TIMES):
        assert plan.split == "cv:10"
        assert plan.stand_ins == {"eurlex-dc-test": "EUR-Lex (dc)"}
        assert set(plan.unavailable) == {"EUR-Lex (dc)", "EUR-Lex (ed)"}


@pytest.mark.parametrize(("plan", "printed"), [(TABLE_3, PRINTED_3), (TABLE_4, PRINTED_4)])
def test_the_numbers_are_those_printed(plan, printed):
    expected = {}
    for data, *values in map(str.split, printed.strip().split("\n")):
        for name, value in zip(PAPER, values, strict=True):
            if value != "-" and any(entry.name == name for entry in plan.entries):
                expected[data, name] = float(value)
    assert plan.published() == expected


def test_columns_are_what_they_say():
    for plan in (TABLE_3, TABLE_4):
        lm = entry_of(plan, "LM-kNN").build(0)
        assert isinstance(lm, LargeMarginKNN)
        assert (lm.n_neighbors, lm.C, lm.tol, lm.threshold) == (10, 10.0, 1e-3, 0.5)
        assert {key: getattr(lm, key) for key in AS_PUBLISHED} == AS_PUBLISHED
        assert entry_of(plan, "LM-kNN, Q = I").build(0).metric == "identity"
        assert isinstance(entry_of(plan, "kNN").build(0), KNNClassifier)
        assert isinstance(entry_of(plan, "ML-kNN").build(0), MLkNN)
        defaults = entry_of(plan, "defaults").build(0)
        assert defaults.get_params() == LargeMarginKNN().get_params()
        for name in ("tuned kNN", "tuned ML-kNN", "tuned LM-kNN", "tuned, Q = I"):
            model = entry_of(plan, name).build(0)
            assert {model.n_neighbors, model.weights, model.threshold} == {"tune"}
            assert model.measure == plan.measure, "tuned for what the table shows"


def test_every_neighbour_column_runs_and_times_are_drawn(tmp_path):
    neighbours = {"knn", "mlknn", "lmknn", "plst"}
    for plan in (TABLE_3, TIMES):
        entries = tuple(entry for entry in plan.entries if entry.method in neighbours)
        small = replace(plan, data=("made",), entries=entries, load_data=made, split="cv:2")
        found = reproduce(small, tmp_path / plan.name)
        assert not found.failed
        cells = {("made", entry.name) for entry in entries}
        assert set(found.ours) == set(found.spread) == cells
        assert set(found.seconds) == set(found.predict_seconds) == cells
        assert all(0.0 <= value <= 1.0 for value in found.ours.values())
        assert (found.picture is not None) == (plan is TIMES)
        if found.picture is not None:
            assert found.picture.stat().st_size > 1000


def test_small_versions_are_one_split_of_scene():
    for plan in (TABLE_3, TABLE_4, TIMES):
        small = plan.small()
        assert (small.data, small.split) == (("scene",), "holdout:0.2")
        assert not {"br", "cca", "mmoc"} & {entry.method for entry in small.entries}


def test_times_are_those_of_cells_of_table_3():
    keys = {entry.variant("scene").key for entry in TABLE_3.entries}
    assert {entry.variant("scene").key for entry in TIMES.entries} <= keys


def test_codes_of_hundreds_of_labels_are_left_out_with_a_reason():
    for plan in (TABLE_3, TABLE_4, TIMES):
        expected = {(data, "MMOC") for data in ("corel5k", "delicious", "eurlex-dc-test")}
        assert set(plan.left_out()) == expected
        assert not expected & set(plan.published()), "the paper has dashes there"
        assert not plan.small().left_out()
