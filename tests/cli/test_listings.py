"""methods, datasets, info and help: what a newcomer sees, and the JSON that scripts read."""

import json
import os
import runpy
from dataclasses import replace
from importlib.metadata import entry_points

import numpy as np
import pytest

import colabel
from cli.samples import small_data
from colabel.cli import main
from colabel.cli._app import COMMANDS
from colabel.datasets import Dataset, list_datasets, write
from colabel.lab.methods import METHODS, RULES

HOSTILE = ("[red]x[/red]", "a\nb", "\x1b[31mc", '"quoted", d', "søl ☀ 日", "[/]")
CAPABILITIES = {
    "predict_proba",
    "decision_function",
    "predict_joint",
    "sparse_features",
    "sparse_labels",
    "named_labels",
    "sample_weight",
    "needs_label_sets",
}


def width(text):
    return max(len(line) for line in text.splitlines())


def hostile_data():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(30, len(HOSTILE))).astype(np.int8)
    return Dataset(rng.normal(size=(30, 2)), Y, ("f", "[bold]g"), HOSTILE, "[blue]bad")


def test_the_command_is_installed_as_colabel():
    (script,) = entry_points(group="console_scripts", name="colabel")
    assert script.load() is main


def test_version_is_printed(run):
    assert run("--version") == (0, f"colabel {colabel.__version__}\n", "")


def test_without_arguments_the_help_is_shown(run):
    outcome = run()
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == run("--help").out
    places = [outcome.out.index(f"│ {command} ") for command in COMMANDS]
    assert places == sorted(places), "in the order in which a newcomer needs them"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_fits_80_columns(run, command):
    outcome = run(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"Usage: colabel {command}" in outcome.out
    assert width(outcome.out) <= 80


def test_methods_json_lists_every_name_with_the_fields_of_the_contract(run):
    rows = json.loads(run("methods", "--json").out)
    names = [row["name"] for row in rows]
    ordinary = [name for name, method in METHODS.items() if not method.facets]
    assert names == [*METHODS, *(f"{name}+{rule}" for name in ordinary for rule in RULES)]
    assert {"br", "ovr-svm", "powset", "br+global", "br+top_1", "powset+cardinality"} <= set(names)
    for row in rows:
        assert {"name", "class", "paper", "capabilities"} <= set(row)
        assert set(row["capabilities"]) == CAPABILITIES
        assert all(isinstance(can, bool) for can in row["capabilities"].values())
    by_name = {row["name"]: row for row in rows}
    assert by_name["br"]["class"] == "BinaryRelevance"
    assert by_name["br"]["capabilities"]["predict_proba"]
    assert not by_name["ovr-svm"]["capabilities"]["predict_proba"]
    assert by_name["ovr-svm+global"]["class"] == "TunedThreshold"


def test_methods_are_shown_in_80_columns(run):
    outcome = run("methods")
    assert outcome.code == 0
    assert width(outcome.out) <= 80
    for name, method in METHODS.items():
        assert name in outcome.out
        assert method.paper in outcome.out
    assert "NAME+cardinality" in outcome.out


def test_datasets_json_says_what_is_known_and_where_it_is(run):
    rows = {row["name"]: row for row in json.loads(run("datasets", "--json").out)}
    assert list(rows) == [info.name for info in list_datasets()]
    yeast = rows["yeast"]
    assert (yeast["n_samples"], yeast["n_features"], yeast["n_labels"]) == (2417, 103, 14)
    assert yeast["splits"] == ["all", "train", "test"]
    assert os.path.isdir(yeast["found"])
    assert rows["enron"]["found"] is None
    assert rows["enron"]["citation"]


def test_datasets_are_shown_in_80_columns(run):
    outcome = run("datasets")
    assert outcome.code == 0
    assert width(outcome.out) <= 80
    assert "…" not in outcome.out
    assert all(info.name in outcome.out for info in list_datasets())
    assert "COLABEL_DATA" in outcome.out


def test_data_found_elsewhere_is_listed(run, real_data):
    rows = {row["name"]: row for row in json.loads(run("datasets", "--json").out)}
    assert rows["enron"]["found"]
    assert run("info", "enron:train").out.startswith("enron (train): 1123 samples")


def test_a_download_that_has_nothing_to_do_succeeds(run):
    outcome = run("datasets", "--download", "yeast", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out)


def test_info_json_has_the_fields_of_the_contract(run):
    found = json.loads(run("info", "yeast:train", "--json").out)
    assert (found["n_samples"], found["n_features"], found["n_labels"]) == (1500, 103, 14)
    assert found["cardinality"] == pytest.approx(6342 / 1500)
    assert found["density"] == pytest.approx(found["cardinality"] / 14)
    assert found["n_labelsets"] == 164
    assert [label["name"] for label in found["labels"]] == [f"Class{i}" for i in range(1, 15)]
    assert sum(label["count"] for label in found["labels"]) == 6342
    assert (found["name"], found["split"], found["sparse"]) == ("yeast", "train", False)
    assert found["dependence"]["pairs"][0]["labels"] == ["Class12", "Class13"]


def test_info_shows_frequent_labels_and_dependent_pairs(run):
    outcome = run("info", "yeast")
    assert outcome.out.startswith("yeast (all): 2417 samples, 103 dense features, 14 labels")
    assert "most dependent pairs" in outcome.out
    assert "mean |φ| over label pairs: 0." in outcome.out
    assert width(outcome.out) <= 80


def test_info_of_one_constant_label_says_no_pairs(run):
    data = small_data(labels=("only",))
    data.Y[:] = 1
    write(data, "one.npz")
    outcome = run("info", "one.npz")
    assert outcome.code == 0
    assert "only" in outcome.out
    assert "pairs\n" not in outcome.out


@pytest.mark.parametrize("ending", ["npz", "arff"])
def test_hostile_names_are_shown_as_text(run, ending):
    data = hostile_data()
    if ending == "arff":  # whose XML cannot hold control characters
        names = tuple(name.replace("\n", " ").replace("\x1b", "") for name in HOSTILE)
        data = replace(data, label_names=names)
    write(data, f"bad.{ending}")
    shown = run("info", f"bad.{ending}")
    assert shown.code == 0
    assert "[red]x[/red]" in shown.out
    assert "\x1b" not in shown.out
    assert "søl ☀ 日" in shown.out
    assert '"quoted", d' in shown.out
    if ending == "npz":
        assert r"a\nb" in shown.out
        assert r"\x1b[31mc" in shown.out
    found = json.loads(run("info", f"bad.{ending}", "--json").out)
    assert [label["name"] for label in found["labels"]] == list(data.label_names)


def test_hostile_names_survive_fit_predict_and_evaluate(run, tmp_path):
    import csv

    write(hostile_data(), "bad.npz")
    assert run("fit", "bad.npz", "-m", "br", "-o", "[m]").code == 0
    assert "br on bad.npz" in run("evaluate", "[m]", "bad.npz").out
    assert run("predict", "[m]", "bad.npz", "-o", "[p].csv").out.endswith("[p].csv\n")
    with (tmp_path / "[p].csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == list(HOSTILE)
    compared = run("compare", "bad.npz", "-m", "br", "--split", "holdout:0.5", "-o", "[r]")
    assert compared.out.startswith("bad.npz (holdout:0.5)")
    assert compared.out.endswith("[r]/results.csv\n".replace("/", os.sep))


def test_exclusive_label_sets_are_measured_by_set(run, monkeypatch):
    data = hostile_data()
    rng = np.random.default_rng(1)
    Y = np.zeros((30, 6), np.int8)
    Y[np.arange(30), rng.integers(0, 3, 30)] = 1
    Y[np.arange(30), rng.integers(3, 6, 30)] = 1
    sets = {"[b]font": HOSTILE[:3], "style": HOSTILE[3:]}
    data = Dataset(data.X, Y, data.feature_names, HOSTILE, "sets", facets=sets)
    monkeypatch.setattr("colabel.datasets.load", lambda *args, **kwargs: data)
    monkeypatch.setattr("colabel.lab.splits.load", lambda *args, **kwargs: data)
    assert run("fit", "sets.npz", "-m", "powset", "-o", "m").code == 0
    found = json.loads(run("evaluate", "m", "sets.npz", "--json").out)["measures"]
    assert list(found)[-3:] == ["accuracy_[b]font", "accuracy_style", "accuracy_all"]
    assert "accuracy_[b]font ↑" in run("evaluate", "m", "sets.npz").out
    outcome = run("compare", "sets.npz", "-m", "powset", "--split", "holdout:0.4", "-o", "r")
    assert outcome.code == 0
    with open("r/results.csv", encoding="utf-8") as file:
        assert file.readline().strip().endswith("lrap,accuracy_[b]font,accuracy_style,accuracy_all")


def test_the_package_runs_as_a_program(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["colabel", "--version"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("colabel", run_name="__main__")
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"colabel {colabel.__version__}\n"
