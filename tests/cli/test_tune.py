"""``colabel tune``."""

import json

import pytest

from cli.samples import LABELS
from colabel import load
from colabel.lab.methods import METHODS


@pytest.fixture
def tuned(run, files):
    def call(*arguments):
        return run("tune", f"{files.name}/small.csv", *LABELS, *arguments)

    return call


def test_a_table_of_settings_and_the_best_of_them(tuned):
    outcome = tuned("-m", "br", "--metric", "hamming_loss", "--folds", "2")
    assert (outcome.code, outcome.err) == (0, "")
    title, heading, _, *rows, best = outcome.out.splitlines()
    assert title == "br on data/small.csv: 9 settings by 2 folds"
    assert heading.split() == ["C", "hamming_loss", "↓", "±", "fit", "s"]
    values = [float(row.split()[1]) for row in rows]
    assert values == sorted(values)
    assert len(values) == 9
    assert best == f"best: -p estimator__C={float(rows[0].split()[0])!r}"


def test_json_has_every_trial(tuned, files):
    search = ("--try", "C=[0.001,1,10]", "--try", 'empty=["allow","forbid"]', "-p", "tol=1e-3")
    outcome = tuned("-m", "powset", "--metric", "subset_accuracy", *search, "--seed", 4, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert list(found) == [
        "data", "method", "metric", "n_samples", "folds", "seed", "best", "trials", "model",
    ]  # fmt: skip
    assert (found["method"], found["metric"], found["n_samples"]) == (
        "powset",
        "subset_accuracy",
        40,
    )
    assert (found["folds"], found["seed"], found["model"]) == (3, 4, None)
    assert len(found["trials"]) == 6
    assert found["best"] == found["trials"][0]
    keys = {"parameters", "value", "spread", "fit_seconds", "failed", "share"}
    assert set(found["best"]) == keys
    assert set(found["best"]["parameters"]) == {"estimator__C", "empty"}
    assert 0 <= found["best"]["value"] <= 1


@pytest.mark.parametrize("option", ["--metric", "--measure"])
def test_a_measure_may_be_named_in_short(tuned, fails, files, option):
    outcome = tuned("-m", "br", option, "f1", "--try", "C=[1]", "--json")
    assert json.loads(outcome.out)["metric"] == "example_f1"
    call = ("tune", files / "small.csv", *LABELS, "-m", "br", option)
    assert "did you mean example_f1" in fails(2, *call, "exampl_f1")


def test_the_best_is_fitted_to_all_rows_and_kept(run, tuned, files, tmp_path):
    search = ("-m", "br+global", "--metric", "example_f1", "--try", "C=[1e-6,1]", "--json")
    found = json.loads(tuned(*search, "-o", "best").out)
    assert found["model"] == "best"
    assert found["best"]["parameters"] == {"estimator__estimator__C": 1}
    model = load(tmp_path / "best")
    assert model.estimator_.estimator.C == 1
    evaluated = run("evaluate", "best", files / "other.csv", "--json")
    assert json.loads(evaluated.out)["method"] == "br+global"
    assert json.loads(evaluated.out)["measures"]["example_f1"] > 0.5
    said = tuned(*search[:-1], "-o", "again").out
    assert "fitted it to 40 samples in" in said
    assert said.rstrip().endswith("model in again")
    # The same as fitting with the parameters printed.
    (best,) = [line for line in said.splitlines() if line.startswith("best: ")]
    run("fit", files / "small.csv", *LABELS, "-m", "br+global", *best.split()[1:], "-o", "by-hand")
    by_hand = run("evaluate", "by-hand", files / "other.csv", "--json").out
    assert json.loads(by_hand)["measures"] == json.loads(evaluated.out)["measures"]


def test_a_few_trials_of_a_large_space(tuned):
    arguments = (
        "-m",
        "cbm-lr",
        "--metric",
        "log_likelihood",
        "--trials",
        3,
        "--folds",
        2,
        "--json",
    )
    found = json.loads(tuned(*arguments, "-p", "max_iter=1").out)
    assert len(found["trials"]) == 3
    assert set(found["best"]["parameters"]) == set(METHODS["cbm-lr"].space) - {"max_iter"}


def test_settings_that_fail_are_counted(tuned, fails, files):
    outcome = tuned("-m", "br", "--metric", "example_f1", "--try", "C=[-1,1]")
    assert outcome.code == 0
    assert "1 of 2 settings failed: ValueError: C must be a positive number" in outcome.out
    every = ("-m", "br", "--metric", "example_f1", "--try", "C=[-1,0]")
    reason = fails(1, "tune", files / "small.csv", *LABELS, *every)
    assert "no setting of br could be fitted: ValueError: C must be a positive number" in reason


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-m", "bt", "--metric", "example_f1"), "no method is called 'bt'"),
        (("-m", "br", "--metric", "luck"), "unknown measure"),
        (("-m", "br"), "Missing option"),
        (("-m", "br", "--metric", "example_f1", "--try", "C=1"), "--try takes KEY=[V,...]"),
        (("-m", "br", "--metric", "example_f1", "--try", "C=[]"), "--try takes KEY=[V,...]"),
        (("-m", "br", "--metric", "example_f1", "-p", "C=1"), "nothing of br is left to search"),
        (("-m", "br", "--metric", "example_f1", "-p", "c=1"), "br has no parameter 'c'"),
        (("-m", "br", "--metric", "example_f1", "--folds", "1"), "Invalid value for '--folds'"),
        (("-m", "br", "--metric", "example_f1", "--folds", "41"), "41 folds of 40 samples"),
        (("-m", "ovr-svm", "--metric", "log_likelihood"), "gives labelings no probability"),
        (("-m", "br", "--metric", "lrap", "-o", "no/model"), "the folder no does not exist"),
    ],
)
def test_wrong_calls_get_one_sentence(fails, files, arguments, reason):
    assert reason in fails(2, "tune", files / "small.csv", *LABELS, *arguments)
