"""compare and summarise from Python."""

from importlib import import_module

import numpy as np
import pytest
from scipy import sparse

from colabel import BinaryRelevance, LabelPowerset
from colabel.datasets import Dataset
from colabel.exceptions import UnknownNameError
from colabel.lab import Row, Variant, compare, default_methods, summarise
from colabel.lab.methods import METHODS
from colabel.lab.rows import CellResult


def load_small(name, split=None):
    rng = np.random.default_rng(len(name))
    X = rng.normal(size=(50, 3))
    data = Dataset(X, (X > 0).astype(np.int8), tuple("abc"), tuple("xyz"), name)
    return data if split is None else data.take(slice(0, 30) if split == "train" else slice(30, 50))


def row(data, method, fold=0, **result):
    return Row(data, "cv:2", fold, 0, method, {}, CellResult(**result))


def test_the_default_methods_are_quick_ones_plain_and_tuned():
    names = default_methods()
    plain = [name for name in METHODS if METHODS[name].demo]
    assert names == [*plain, *(f"{name}+top_1" for name in plain)]


def load_many_sets(name, split=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    n_labels = 2 if name == "few" else 20
    Y = rng.integers(0, 2, size=(400, n_labels)).astype(np.int8)
    names = tuple(f"y{i}" for i in range(n_labels))
    return Dataset(X, Y, ("a", "b"), names, name)


class Constant(BinaryRelevance):
    """Predicts nothing, at once."""

    def fit(self, X, y, **params):
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((len(X), self.n_labels_), int)

    def decision_function(self, X):
        return self.predict(X)


def test_a_method_that_is_slow_with_many_label_sets_is_not_run_unasked(monkeypatch, tmp_path):
    module = import_module("colabel.lab.compare")
    monkeypatch.setattr(module, "make", lambda name, params, seed: Constant())
    cells = []
    with pytest.warns(UserWarning, match="many has 3[0-9]+ distinct labelings: powset and") as said:
        rows = compare(
            ["few", "many"],
            split="holdout:0.2",
            load_data=load_many_sets,
            run_dir=tmp_path,
            on_plan=cells.append,
        )
    assert len(said) == 1
    names = default_methods()
    assert {"powset", "powset+top_1"} <= set(names)
    assert [r.method for r in rows if r.data == "few"] == names
    quick = [name for name in names if not name.startswith("powset")]
    assert [r.method for r in rows if r.data == "many"] == quick == default_methods(301)
    assert default_methods(300) == names
    assert cells == [len(rows)]
    (named,) = compare(["many"], ["powset"], split="holdout:0.2", load_data=load_many_sets)
    assert named.method == "powset"


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("split", ["train", "test"])
def test_missing_values_fail_with_one_sentence_that_names_the_column(container, split):
    def load(name, split_asked):
        data = load_small(name, split_asked)
        X = data.X.copy()
        if split_asked == split:
            X[:2, 1] = X[3, 2] = np.nan
        return Dataset(container(X), data.Y, data.feature_names, data.label_names, name)

    (found,) = compare(
        ["x"], ["br"], split="official", load_data=lambda name, split: load(name, split)
    )
    assert found.result.status == (
        "failed: column 'b' has 2 missing values (3 in all); fill them in or leave such columns out"
    )


def test_of_a_long_reason_the_first_sentence_is_kept():
    def build(seed):
        raise ValueError("It is bad.\nYou might consider " + "much " * 60)

    (found,) = compare(["x"], [Variant("v", build, {})], split="holdout:0.5", load_data=load_small)
    assert found.result.status == "failed: ValueError: It is bad"


def test_callbacks_hear_of_every_cell_in_order():
    heard = []
    rows = compare(
        ["one", "second"],
        ["br"],
        split="cv:2",
        load_data=load_small,
        on_plan=lambda n: heard.append(n),
        on_start=lambda data, method: heard.append((data, method)),
        on_row=lambda row: heard.append(row.fold),
    )
    assert heard == [
        4,
        ("one", "br"),
        0,
        ("one", "br"),
        1,
        ("second", "br"),
        0,
        ("second", "br"),
        1,
    ]
    assert [(r.data, r.fold, r.seed) for r in rows] == [
        ("one", 0, 0), ("one", 1, 0), ("second", 0, 0), ("second", 1, 0),
    ]  # fmt: skip


def test_variants_are_built_for_each_seed():
    seeds = []

    def build(seed):
        seeds.append(seed)
        return LabelPowerset()

    variant = Variant("mine", build, {"k": 1})
    rows = compare(["x"], [variant], split="holdout:0.5", seeds=(3, 8), load_data=load_small)
    assert seeds == [3, 8]
    assert [r.as_dict()["seed"] for r in rows] == [3, 8]
    assert rows[0].as_dict()["parameters"] == {"k": 1}


def test_a_data_set_named_twice_runs_once(tmp_path):
    rows = compare(["x", "x"], ["br"], split="cv:2", load_data=load_small, run_dir=tmp_path / "r")
    assert len(rows) == 2


def test_the_official_split_is_asked_of_the_loader():
    (found,) = compare(["x"], ["br"], split="official", load_data=load_small)
    train, test = load_small("x", "train"), load_small("x", "test")
    model = BinaryRelevance().fit(train.X, train.Y)
    assert found.result.measures["subset_accuracy"] == pytest.approx(
        (model.predict(test.X) == test.Y).all(axis=1).mean()
    )


def test_wrong_names_stop_before_anything_is_written(tmp_path):
    for data, methods, split in (
        (["x"], ["nobody"], "cv:2"),
        (["x"], ["br"], "cv:0"),
        (["gone.csv"], ["br"], None),
    ):
        options = {} if data == ["gone.csv"] else {"load_data": load_small}
        with pytest.raises((UnknownNameError, FileNotFoundError)):
            compare(data, methods, split=split, run_dir=tmp_path / "r", **options)
    assert not (tmp_path / "r").exists()


def test_a_summary_averages_what_succeeded_and_counts_the_rest():
    rows = [
        row("d", "a", 0, status="ok", measures={"lrap": 0.2}, fit_seconds=1.0, predict_seconds=0.0),
        row("d", "a", 1, status="ok", measures={"lrap": 0.4}, fit_seconds=3.0, predict_seconds=0.0),
        row("d", "a", 2, status="failed: why"),
        row("d", "b", 0, status="failed: why"),
        row("e", "a", 0, status="ok", measures={"lrap": 1.0}),
    ]
    found = summarise(rows)
    assert list(found) == [("d", "a"), ("d", "b"), ("e", "a")]
    assert found["d", "a"]["lrap"] == pytest.approx(0.3)
    assert found["d", "a"]["fit_seconds"] == 2.0
    assert (found["d", "a"]["n_cells"], found["d", "a"]["n_failed"]) == (3, 1)
    assert found["d", "b"] == {"n_cells": 1, "n_failed": 1}
    assert summarise([]) == {}
