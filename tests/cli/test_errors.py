"""Bad calls and failing work: the exit status, and one sentence that names file and remedy."""

import json
import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest

import colabel
from cli.samples import LABELS, small_data
from colabel.datasets import write


class Malicious:
    def __reduce__(self):
        return os.system, ("touch executed",)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["fly"], "No such command 'fly'"),
        (["--fast"], "No such option"),
        (["fit"], "Missing argument 'DATA'"),
        (["fit", "yeast", "-o", "m"], "'--method'"),
        (["fit", "yeast", "-m", "br"], "'--output'"),
        (["fit", "yeast", "-m", "br", "-o", "m", "--fast"], "No such option"),
        (["fit", "yeast", "-m", "br", "-o", "m", "--seed", "x"], "Invalid value for '--seed'"),
        (["fit", "yeast", "-m", "brr", "-o", "m"], "did you mean br"),
        (["fit", "yeast", "-m", "br+best", "-o", "m"], "no method is called 'br+best'"),
        (["fit", "yeast", "-m", "zzz", "-o", "m"], "see: colabel methods"),
        (["fit", "yeast", "-m", "br", "-p", "C", "-o", "m"], "-p takes key=value, not 'C'"),
        (["fit", "yeast", "-m", "br", "-p", "=1", "-o", "m"], "-p takes key=value"),
        (["fit", "yeast", "-m", "br", "-p", "max_itr=9", "-o", "m"], "max_iter"),
        (["fit", "yeast", "-m", "br", "-p", "zzz=9", "-o", "m"], "it has decoder, empty"),
        (["fit", "yeats", "-m", "br", "-o", "m"], "did you mean yeast"),
        (["fit", "yeast:valid", "-m", "br", "-o", "m"], "no split called 'valid'"),
        (["fit", "enron", "-m", "br", "-o", "m"], "set COLABEL_DATA"),
        (["fit", "gone.csv", "-m", "br", "-o", "m"], "there is no file gone.csv"),
        (["fit", ".", "-m", "br", "-o", "m"], ". is a folder: name a data file in it"),
        (["fit", "yeast", "-m", "br", "-o", "."], ". is a folder; -o takes a file name"),
        (["fit", "yeast", "-m", "br", "-o", "no/m"], "the folder no does not exist"),
        (["fit", "yeast", "--labels", "2", "-m", "br", "-o", "m"], "yeast names its labels"),
        (["info", "yeast:train", "--xml", "a.xml"], "yeast:train names its labels"),
        (["evaluate", "gone", "yeast"], "there is no model file gone; colabel fit makes one"),
        (["predict", "gone", "yeast", "-o", "p.txt"], ".csv, .svm or .npz, not p.txt"),
        (["predict", "gone", "yeast", "-o", "p.svm", "--proba"], "--proba needs a .csv or .npz"),
        (["predict", "gone", "yeast", "-o", "no/p.csv"], "the folder no does not exist"),
        (["datasets", "--download", "yeats"], "did you mean yeast"),
        (["reproduce", "nobody-1999", "-o", "r"], ", relaxations-2015, "),
        (["reproduce", "relaxations-2015.table9", "-o", "r"], "relaxations-2015.table2"),
        (["compare", "-o", "r"], "name the data to compare on, or give --plan FILE"),
        (["compare", "yeast", "-m", "br,bf", "-o", "r"], "no method is called 'bf'"),
        (["compare", "yeast", "-m", " ,", "-o", "r"], "-m takes names"),
        (["compare", "yeast", "yeats", "-o", "r"], "'yeats' is neither"),
        (["compare", "yeast", "--split", "cv:1", "-o", "r"], "'cv:1' is not a split"),
        (["compare", "yeast", "--split", "cv:x", "-o", "r"], "'cv:x' is not a split"),
        (["compare", "yeast", "--split", "holdout:1", "-o", "r"], "use official, cv:K"),
        (["compare", "yeast", "--split", "random", "-o", "r"], "'random' is not a split"),
        (["compare", "yeast:test", "--split", "official", "-o", "r"], "yeast:test asks for"),
        (["compare", "cal500", "--split", "official", "-o", "r"], "no official train/test split"),
        (["compare", "yeast", "--seeds", "0", "-o", "r"], "Invalid value for '--seeds'"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_a_wrong_call_is_status_2_and_says_what_to_write(fails, tmp_path, call, words):
    assert words in fails(2, *call)
    assert list(tmp_path.iterdir()) == [], "a wrong call leaves nothing behind"


def test_a_csv_file_without_label_columns_asks_for_them(fails, files):
    assert "give --labels" in fails(2, "info", files / "small.csv")
    assert "a count of 9 label columns does not fit the 6 columns" in fails(
        2, "info", files / "small.csv", "--labels", "9"
    )
    assert "label 'zzz' is no attribute" in fails(2, "info", files / "small.csv", "--labels", "zzz")
    assert "--labels has no meaning for npz files" in " ".join(
        fails(2, "info", files / "small.npz", "--labels", "-1").split()
    )


def test_a_wrong_choice_of_labels_is_a_wrong_call_with_a_suggestion(fails, files, tmp_path):
    sentence = fails(2, "info", files / "small.csv", "--labels", "sea,sky,skyy")
    assert sentence.endswith("; did you mean sky?\n")
    assert "Invalid value" not in sentence
    assert "two label names mean the same attribute" in fails(
        2, "info", files / "small.csv", "--labels", "sea,sea"
    )
    assert "--labels names no column" in fails(2, "info", files / "small.csv", "--labels", " , ")
    assert "--labels 'a\\nb' cannot be read" in fails(
        2, "info", files / "small.csv", "--labels", "a\nb"
    )
    (tmp_path / "empty.csv").write_text("a,y\n")  # nothing to suggest from
    assert fails(2, "info", "empty.csv", "--labels", "z").endswith("attribute of the data file\n")


def test_a_label_file_that_does_not_fit_is_a_bad_file(fails, files):
    (files / "other.xml").write_text('<labels><label name="moon"/></labels>')
    sentence = fails(1, "info", files / "small-meka.arff", "--xml", files / "other.xml")
    assert sentence.startswith(f"colabel: {files / 'other.xml'}: label 'moon' is no attribute")


def test_names_of_files_are_not_taken_for_options(fails, tmp_path):
    bad = tmp_path / "labels=xml=.csv"
    bad.write_text("a,y\n1,0\n1\n")
    assert fails(1, "info", bad, "--labels", "y").startswith(f"colabel: {bad}, line 3")
    assert fails(2, "info", bad).startswith(f"colabel: {bad}: a CSV file does not say")


def test_labels_with_commas_stand_in_quotes(run, files):
    outcome = run("info", files / "small.csv", "--labels", '"sun, sand", sky', "--json")
    found = [label["name"] for label in json.loads(outcome.out)["labels"]]
    assert found == ["sun, sand", "sky"]


def test_a_column_called_by_a_number_wins_over_a_count(run, tmp_path):
    (tmp_path / "years.csv").write_text("a,2,2020\n1,0,1\n2,1,0\n")
    for choice, names in (("2020", ["2020"]), ("2", ["2"]), ("-2", ["2", "2020"])):
        outcome = run("info", "years.csv", "--labels", choice, "--json")
        assert [label["name"] for label in json.loads(outcome.out)["labels"]] == names


def test_a_malformed_file_is_named_with_line_and_reason(fails, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b,y\n1,2,0\n1,1\n")
    assert fails(1, "info", bad, "--labels", "y").startswith(f"colabel: {bad}, line 3")
    bad = tmp_path / "bad.svm"
    bad.write_text("0 1:1\n1 1:x\n")
    assert f"{bad}, line 2, column" in fails(1, "fit", bad, "-m", "br", "-o", "m")
    bad = tmp_path / "bad.arff"
    bad.write_text("@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@data\n0,?x\n")
    assert f"{bad}, line 5" in fails(1, "info", bad)
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"PK\x03\x04 not an archive")
    assert f"{bad}: not a readable .npz file" in fails(1, "info", bad)
    bad = tmp_path / "bad.xyz"
    bad.write_text("?")
    sentence = fails(1, "info", bad)
    assert "the suffix says no known format" in sentence
    assert "format=" not in sentence


def test_damaged_and_hostile_models_are_refused_and_run_nothing(fails, model, tmp_path):
    whole = model.read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    assert str(model) in fails(1, "evaluate", model, "yeast")
    model.write_bytes(pickle.dumps(Malicious()))
    assert str(model) in fails(1, "predict", model, "yeast", "-o", "p.csv")
    model.write_bytes(b"")
    assert str(model) in fails(1, "evaluate", model, "yeast", "--json")
    assert not (tmp_path / "executed").exists()
    assert not (tmp_path / "p.csv").exists()
    assert "cannot be read" in fails(1, "evaluate", tmp_path, "yeast")


def rewritten(path, **changes):
    """The model file with other notes in its header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if b'"label_names"' in content:
                content = json.dumps(json.loads(content) | changes).encode()
            archive.writestr(name, content)


@pytest.mark.parametrize("names", [5, {"sea": 1}, [1, 2, 3], "sea"])
def test_notes_that_are_no_names_are_refused(fails, model, files, names):
    rewritten(model, label_names=names)
    assert "label_names is not a list of names" in fails(1, "evaluate", model, files / "small.npz")


@pytest.mark.parametrize(("key", "note"), [("labels", 3), ("xml", []), ("zero_based", "yes")])
def test_notes_of_the_wrong_kind_are_refused(fails, model, files, key, note):
    rewritten(model, **{key: note})
    assert f"damaged: {key} is no " in fails(1, "evaluate", model, files / "small.npz")


def test_notes_that_do_not_fit_the_model_are_refused(fails, model, files):
    rewritten(model, label_names=["sea", "sky"])
    sentence = fails(1, "predict", model, files / "small.npz", "-o", "p.csv")
    assert "2 names, 3 labels" in sentence


def test_a_model_of_another_kind_is_refused(fails, files):
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    data = small_data()
    colabel.save(StandardScaler().fit(data.X), "scaler")
    assert "holds no model but a StandardScaler" in fails(
        1, "evaluate", "scaler", files / "small.npz"
    )
    colabel.save(LogisticRegression().fit(data.X, data.Y[:, 0]), "single")
    assert "one class for each sample" in fails(
        1, "predict", "single", files / "small.npz", "-o", "p.csv"
    )


def test_probabilities_are_refused_where_there_are_none(run, fails, files):
    assert run("fit", files / "small.npz", "-m", "ovr-svm", "-o", "m").code == 0
    sentence = fails(2, "predict", "m", files / "small.npz", "--proba", "-o", "p.csv")
    assert "ovr-svm has no probabilities" in sentence


def test_wrong_parameter_values_are_one_sentence(fails, files):
    call = ["fit", files / "small.npz", "-m", "br", "-o", "m", "-p"]
    assert "estimator of br is a BatchLogisticRegression, not 'tree'" in fails(
        2, *call, "estimator=tree"
    )
    assert "C must be a positive number, not 'much'" in fails(1, *call, "C=much")
    assert "decoder must be" in fails(2, *call, "decoder=zzz")
    assert "empty must be" in fails(1, *call, "empty=maybe")
    assert "rule must be one of" in fails(
        1, "fit", files / "small.npz", "-m", "br+global", "-o", "m", "-p", "rule=x"
    )


def test_a_run_folder_that_is_a_file_is_refused(fails, tmp_path):
    (tmp_path / "taken").write_text("mine")
    assert "taken is a file; -o takes a folder" in fails(2, "compare", "yeast", "-o", "taken")
    assert "is a file" in fails(2, "compare", "yeast", "-o", "taken/run")
    assert "is a file" in fails(2, "reproduce", "relaxations-2015", "-o", "taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_more_folds_than_samples_fail(fails, tmp_path):
    write(small_data(n_samples=4), tmp_path / "few.npz")
    assert "4 samples" in fails(1, "compare", "few.npz", "--split", "cv:9", "-o", "r")
    assert not (tmp_path / "r").exists()


def test_an_unwritable_file_is_named(run, fails, files, model, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", ".p.csv.draft")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    sentence = fails(1, "predict", model, files / "other.npz", "-o", "p.csv")
    assert sentence == "colabel: p.csv: Permission denied\n"


def in_compiled_code():
    """Return what a compiled function raises when Ctrl-C comes as it returns."""
    error = SystemError("returned a result with an exception set")
    error.__cause__ = KeyboardInterrupt()
    return error


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (MemoryError(), 1, "out of memory"),
        (MemoryError("Unable to allocate 9 TiB"), 1, "out of memory; Unable to allocate 9 TiB"),
        (KeyboardInterrupt(), 130, "stopped"),
        (in_compiled_code(), 130, "stopped"),
        (ValueError("two\n\n  lines"), 1, "two lines"),
        (OSError("odd"), 1, "odd"),
        (ValueError("Input X is bad.\nYou might " + "consider " * 40), 1, "Input X is bad"),
        (ValueError("bell \x07 and \x1b[31mred"), 1, r"bell \x07 and \x1b[31mred"),
        (KeyError("x"), 1, "KeyError: 'x' (a fault of colabel? --debug shows where)"),
        (ValueError(), 1, "ValueError: (a fault of colabel? --debug shows where)"),
    ],
    ids=repr,
)
def test_every_error_is_one_plain_sentence(fails, monkeypatch, error, code, sentence):
    def explode(*args, **kwargs):
        raise error

    monkeypatch.setattr("colabel.datasets.load", explode)
    assert fails(code, "info", "small.csv") == f"colabel: {sentence}\n"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_debug_shows_the_traceback_and_keeps_the_status(run, place):
    call = ["info", "yeats"]
    outcome = run(*call[:place], "--debug", *call[place:])
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback")
    assert outcome.err.splitlines()[-1].startswith("colabel: 'yeats' is neither")


def test_the_environment_asks_for_tracebacks_too(run, monkeypatch):
    monkeypatch.setenv("COLABEL_DEBUG", "1")
    assert "Traceback" in run("info", "yeats").err


def test_a_warning_is_one_line_on_stderr(run, files, monkeypatch):
    from colabel.lab import methods

    class Worried(colabel.BinaryRelevance):
        def fit(self, X, y, **params):
            warnings.warn("not\nconverged [red]", UserWarning, stacklevel=2)
            return super().fit(X, y, **params)

    method = methods.Method(Worried, "none", "warns")
    monkeypatch.setitem(methods.METHODS, "worried", method)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        outcome = run("compare", files / "small.npz", "-m", "worried", "-o", "r")
    assert outcome.code == 0
    assert outcome.err == "colabel: warning: not converged [red]\n"


def test_main_leaves_warnings_as_they_were(run):
    before = warnings.showwarning
    run("--version")
    assert warnings.showwarning is before


def test_params_are_json_python_words_or_text():
    from colabel.cli._common import parse_params

    pairs = [
        "a=1",
        "b=0.5",
        "c=None",
        "d=True",
        "e=l2",
        "f=[1, 2]",
        "g=x=y",
        "h=NaN",
        "i=",
        "j=1e3",
    ]
    assert parse_params(pairs) == {
        "a": 1, "b": 0.5, "c": None, "d": True, "e": "l2", "f": [1, 2], "g": "x=y", "h": "NaN",
        "i": "", "j": 1000.0,
    }  # fmt: skip


def test_numbers_of_numpy_become_json_numbers(capsys):
    from colabel.cli._common import print_json

    print_json({"a": np.float64("nan"), "b": (np.int64(3), np.bool_(True)), 4: [float("inf")]})
    assert capsys.readouterr().out.split() == (
        ["{", '"a":', "null,", '"b":', "[", "3,", "true", "],", '"4":', "[", "null", "]", "}"]
    )


def test_labels_of_a_registered_dataset_cannot_be_chosen(fails):
    assert "--labels and --xml are for files" in fails(2, "info", "yeast", *LABELS)
