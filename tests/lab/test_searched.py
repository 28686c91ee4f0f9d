"""Parameters chosen inside cells: on training rows alone, and every trial is kept."""

import csv
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from colabel.datasets import Dataset
from colabel.exceptions import UnknownNameError
from colabel.lab import Search, Variant, compare, make, tune, variant_of
from colabel.lab.run_folder import read_results


def load_made(name, split=None):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 4))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(90, 3)) > 0.3).astype(np.int8)
    data = Dataset(X, Y, tuple("abcd"), tuple("xyz"), name)
    if split is None:
        return data
    return data.take(slice(0, 60) if split == "train" else slice(60, 90), split)


def run(folder=None, methods=("br",), search=None, **options):
    options = {"split": "official", "load_data": load_made, **options}
    return compare(["made"], methods, search=search, run_dir=folder, **options)


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("strategy", ["grid", "random", "halving"])
def test_a_cell_is_what_tuning_by_hand_gives(strategy, tmp_path):
    search = Search("hamming_loss", strategy, n_trials=5, n_folds=2)
    (row,) = run(tmp_path, search=search, seeds=[4])
    train, test = load_made("made", "train"), load_made("made", "test")
    found = tune("br", train, "hamming_loss", strategy=strategy, n_trials=5, n_folds=2, seed=4)
    assert row.result.parameters == found.best.parameters
    model = make("br", found.best.parameters, 4).fit(train.X, train.Y)
    expected = np.mean(model.predict(test.X) != test.Y)
    assert row.result.measures["hamming_loss"] == pytest.approx(expected)
    trials = [(t["parameters"], t["value"], t["share"]) for t in row.result.trials]
    assert trials == [(t.parameters, t.value, t.share) for t in found.trials]
    # In the table, the store and the file of trials.
    (printed,) = read_results(tmp_path)
    assert json.loads(printed["parameters"]) == found.best.parameters
    inner = read(tmp_path / "inner.csv")
    assert [float(trial["value"]) for trial in inner] == [t.value for t in found.trials]
    assert {trial["method"] for trial in inner} == {"br"}
    with closing(sqlite3.connect(tmp_path / "cells.sqlite")) as file:
        (stored,) = file.execute("SELECT result FROM cells").fetchone()
    assert len(json.loads(stored)["trials"]) == len(found.trials)
    about = json.loads((tmp_path / "run.json").read_text())
    assert about["search"]["strategy"] == strategy
    assert run(tmp_path, search=search, seeds=[4]) == [row], "read, not run again"


def test_test_rows_do_not_count():
    """The same training rows with other test labels choose the same."""

    def other(name, split=None):
        data = load_made(name, split)
        if split != "test":
            return data
        return Dataset(data.X, 1 - data.Y, data.feature_names, data.label_names, name)

    search = Search(n_folds=2, n_trials=4)
    (one,), (two,) = (run(search=search, load_data=how) for how in (load_made, other))
    assert one.result.trials[0]["parameters"] == two.result.trials[0]["parameters"]
    drop = {"fit_seconds"}
    plain = [
        [{k: v for k, v in t.items() if k not in drop} for t in row.result.trials]
        for row in (one, two)
    ]
    assert plain[0] == plain[1]
    assert one.result.measures != two.result.measures


def test_searches_are_told_apart(tmp_path):
    n_run = []
    for search in (None, Search(n_folds=2, n_trials=2), Search("hamming_loss", n_folds=2)):
        run(tmp_path, search=search, on_start=lambda *what: n_run.append(what))
    assert len(n_run) == 3


def test_fixed_parameters_and_other_values():
    search = Search(n_folds=2)
    variant = variant_of("sml", search, name="mine", parameters={"couplings": None, "tol": 0.1},
                         tried={"alpha": [0.1, 0.01], "coupling_scale": [1.0]})  # fmt: skip
    (row,) = run(methods=[variant], split="holdout:0.3")
    assert row.method == "mine"
    assert len(row.result.trials) == 2
    printed = row.as_dict()["parameters"]
    assert printed["tol"] == 0.1
    assert printed["alpha"] in (0.1, 0.01)


def test_a_search_that_finds_nothing_is_a_cell_that_failed():
    variant = variant_of("br", Search(n_folds=2), tried={"C": [-1.0, -2.0]})
    (row,) = run(methods=[variant])
    assert "no setting of br could be fitted: ValueError: C must be" in row.result.status


def test_trials_of_a_grid_search_are_kept_too(tmp_path):
    def build(seed):
        grid = {"estimator__C": [0.01, 1.0]}
        return GridSearchCV(make("br"), grid, cv=2, scoring="f1_micro")

    (row,) = run(tmp_path, methods=[Variant("grid", build, {})])
    assert [trial["parameters"]["estimator__C"] for trial in row.result.trials] == [0.01, 1.0]
    assert row.result.parameters["estimator__C"] in (0.01, 1.0)
    train = load_made("made", "train")
    search = build(0).fit(train.X, train.Y)
    halves = [search.cv_results_[f"split{i}_test_score"] for i in (0, 1)]
    np.testing.assert_allclose(
        [trial["spread"] for trial in row.result.trials], np.std(halves, axis=0, ddof=1)
    )
    assert len(read(tmp_path / "inner.csv")) == 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Search(strategy="luck"), "'luck' is no search: there is grid, random, halving"),
        (lambda: Search(n_trials=0), "at least 1 trial"),
        (lambda: variant_of("br", Search("luck")), "unknown measure"),
        (lambda: variant_of("br", Search(), parameters={"C": 1.0}), "nothing of br is left"),
        (lambda: variant_of("br", parameters={"K": 1.0}), "br has no parameter 'K'"),
        (lambda: variant_of("bbr"), "no method is called 'bbr'"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(call, sentence):
    with pytest.raises(UnknownNameError, match=sentence):
        call()
