"""Label sets of data reach the estimators, in cells, in searches and on the command line."""

import json

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colabel import BinaryRelevance, IndependentDecomposition, OnePerSetClassifier
from colabel.cli import main
from colabel.datasets import Dataset, make_facets
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab import METHODS, compare, make
from colabel.lab.cell import run_cell
from colabel.lab.methods import with_facets
from colabel.lab.tune import tune

COLUMNS = {"kind": [0, 1, 2], "age": [3, 4]}


@pytest.fixture(scope="module")
def data():
    made = make_facets(90, 4, (3, 2), dependence=0.8, random_state=0)
    names = tuple("uvwxy")
    sets = {"kind": names[:3], "age": names[3:]}
    return Dataset(made.X, made.Y, tuple("abcd"), names, "made", facets=sets)


def plain(data):
    return Dataset(data.X, data.Y, data.feature_names, data.label_names, "plain")


def test_an_estimator_for_label_sets_is_told_the_columns(data):
    assert with_facets(IndependentDecomposition(), data).facets == COLUMNS
    inside = make_pipeline(StandardScaler(), IndependentDecomposition())
    assert with_facets(inside, data)[-1].facets == COLUMNS
    search = GridSearchCV(IndependentDecomposition(), {})
    assert with_facets(search, data).estimator.facets == COLUMNS
    own = IndependentDecomposition(facets=[[0, 1, 2], [3, 4]])
    assert with_facets(own, data).facets == [[0, 1, 2], [3, 4]]
    assert with_facets(own, plain(data)) is own


def test_any_other_is_held_to_one_label_of_each_set(data):
    held = with_facets(BinaryRelevance(), data)
    assert isinstance(held, OnePerSetClassifier)
    assert (held.rule, held.facets) == ("joint", COLUMNS)
    ordinary = BinaryRelevance()
    assert with_facets(ordinary, plain(data)) is ordinary
    assert with_facets(None, plain(data)) is None  # whatever it is, the cell will say


def test_without_label_sets_one_sentence_says_so(data):
    with pytest.raises(ColabelError, match=r"^LabelStacking needs facets, .* plain has none$"):
        with_facets(make("stacking"), plain(data))
    result = run_cell(lambda: make("dsml"), plain(data), plain(data))
    assert result.status.startswith("failed: ColabelError: DualSetBoosting needs facets")


@pytest.mark.parametrize("name", [n for n, method in METHODS.items() if method.facets])
def test_every_method_for_label_sets_runs_in_a_cell(data, name):
    result = run_cell(lambda: make(name, seed=0), data, data)
    assert result.ok, result.status
    kind, age, both = (result.measures[f"accuracy_{s}"] for s in ("kind", "age", "all"))
    assert 0.5 < both <= min(kind, age)
    assert both == pytest.approx(result.measures["subset_accuracy"])


def test_both_rules_are_names(data):
    by_rule = {rule: make(f"powset+{rule}") for rule in ("joint", "argmax")}
    assert [model.rule for model in by_rule.values()] == ["joint", "argmax"]
    measures = {rule: run_cell(lambda m=m: m, data, data).measures for rule, m in by_rule.items()}
    unasked = run_cell(lambda: make("powset"), data, data).measures
    assert unasked == measures["joint"]
    for name in ("dsml+joint", "dsml+global"):
        with pytest.raises(UnknownNameError, match="no method is called"):
            make(name)


def test_such_data_are_compared_by_methods_made_for_them(data):
    rows = compare(["made"], split="holdout:0.3", load_data=lambda name, split=None: data)
    assert {row.method for row in rows} == {n for n, m in METHODS.items() if m.facets}
    assert all(row.result.ok for row in rows)


def test_a_search_knows_the_sets(data):
    found = tune("indep", data, "subset_accuracy", space={"C": (0.1, 1.0)}, n_folds=2)
    assert not found.best.failed
    assert found.best.value > 0.4


def test_the_command_line_fits_predicts_and_measures(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("colabel.cli.fit.load_training_data", lambda *a, **k: data)
    monkeypatch.setattr("colabel.cli.evaluate.load_for_model", lambda *a, **k: data)
    monkeypatch.setattr("colabel.cli.predict.load_for_model", lambda *a, **k: data)
    model, file = str(tmp_path / "m"), tmp_path / "p.npz"

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([*arguments])
        assert stop.value.code == 0

    for method in ("coupled", "br"):
        run("fit", "made", "-m", method, "-o", model)
        run("predict", model, "made", "-o", str(file))
        found = np.load(file)["Y"]
        assert (found[:, :3].sum(axis=1) == 1).all()
        assert (found[:, 3:].sum(axis=1) == 1).all()
        capsys.readouterr()
        run("evaluate", model, "made", "--json")
        measures = json.loads(capsys.readouterr().out)["measures"]
        assert {"accuracy_kind", "accuracy_age", "accuracy_all"} <= set(measures)
