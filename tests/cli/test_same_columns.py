"""A model meets data: its own training file, files without labels, words, other bases."""

import gzip
import json
import os
import warnings

import numpy as np
import pytest

import colabel
from cli.samples import LABELS, MEASURES, small_data
from colabel.datasets import load, read, write
from colabel.persistence import read_metadata

PEOPLE = """age,town,sex,y
30,Rome,female,1
41,Oslo,male,0
25,Rome,male,1
19,Bern,female,0
52,Oslo,female,1
33,Bern,male,0
"""


@pytest.fixture
def people(run, tmp_path):
    """A file with a column of words and a label of words, and a model of it."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    call = ["fit", "people.csv", "--labels", "sex,y", "-m", "br", "-o", "m"]
    assert run(*call).code == 0
    return tmp_path / "people.csv"


def predicted(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


@pytest.mark.parametrize("choice", ["sex,y", "-2", '"sex", y'])
def test_the_models_own_training_file_is_evaluated_without_naming_labels(run, tmp_path, choice):
    (tmp_path / "people.csv").write_text(PEOPLE)
    assert run("fit", "people.csv", "--labels", choice, "-m", "br", "-o", "m").code == 0
    assert read_metadata("m")["label_names"] == ["sex=male", "y"]
    outcome = run("evaluate", "m", "people.csv", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    named = run("evaluate", "m", "people.csv", "--labels", "sex,y", "--json")
    assert json.loads(outcome.out)["measures"] == json.loads(named.out)["measures"]
    assert run("predict", "m", "people.csv", "-o", "p.csv").code == 0


@pytest.mark.parametrize("option", ["labels", "xml"])
def test_an_arff_file_that_names_no_labels_keeps_the_choice_of_fit(run, fails, tmp_path, option):
    rows = "1,a,0\n2,b,1\n3,a,1\n4,b,0\n"
    (tmp_path / "x.arff").write_text(
        f"@relation x\n@attribute f numeric\n@attribute w {{a,b}}\n@attribute y {{0,1}}\n"
        f"@data\n{rows}"
    )
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "l.xml").write_text('<labels><label name="w"/><label name="y"/></labels>')
    chosen = {"labels": "w,y", "xml": "away/l.xml"}[option]
    assert "--labels" in fails(2, "fit", "x.arff", "-m", "br", "-o", "m")
    assert run("fit", "x.arff", f"--{option}", chosen, "-m", "br", "-o", "m").code == 0
    outcome = run("evaluate", "m", "x.arff", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert list(json.loads(outcome.out)["measures"]) == MEASURES


def test_data_without_labels_are_predicted_in_every_format(run, files, tmp_path):
    assert run("fit", files / "small-meka.arff", "-m", "br", "-o", "m").code == 0
    data = small_data(1)
    expected = colabel.load("m").predict(data.X)
    rows = "\n".join(",".join(map(str, row)) for row in data.X.tolist())
    header = "".join(f"@attribute {name} numeric\n" for name in "abc")
    (tmp_path / "new.arff").write_text(f"@relation new\n{header}@data\n{rows}\n")
    np.savez(tmp_path / "new.npz", X=data.X, feature_names=np.array(["a", "b", "c"]))
    (tmp_path / "new.csv").write_text(f"a,b,c\n{rows}\n")
    for name in ("new.arff", "new.npz", "new.csv"):
        outcome = run("predict", "m", name, "-o", "p.csv")
        assert (outcome.code, outcome.err) == (0, ""), name
        np.testing.assert_array_equal(predicted(tmp_path / "p.csv"), expected)


def test_one_new_row_has_zeros_for_the_words_it_lacks(run, people, tmp_path):
    known = read_metadata("m")["feature_names"]
    assert known == ["age", "town=Bern", "town=Oslo", "town=Rome"]
    (tmp_path / "new.csv").write_text("town,age\nOslo,44\n")
    outcome = run("predict", "m", "new.csv", "--proba", "-o", "p.csv")
    assert (outcome.code, outcome.err) == (0, "")
    expected = colabel.load("m").predict_proba([[44.0, 0, 1, 0]])
    np.testing.assert_array_equal(predicted(tmp_path / "p.csv"), expected)


def test_new_words_are_named_in_one_warning(run, people, tmp_path):
    (tmp_path / "new.csv").write_text("age,town,pet\n44,Kyiv,cat\n20,Rome,dog\n31,Lima,cat\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        outcome = run("predict", "m", "new.csv", "--proba", "-o", "p.csv")
    assert outcome.code == 0
    assert outcome.err == (
        "colabel: warning: m does not know the word 'town=Kyiv' and 1 more of new.csv; ignored\n"
    )
    expected = colabel.load("m").predict_proba([[44.0, 0, 0, 0], [20, 0, 0, 1], [31, 0, 0, 0]])
    np.testing.assert_array_equal(predicted(tmp_path / "p.csv"), expected)


def test_a_missing_word_stays_missing(fails, people, tmp_path):
    (tmp_path / "new.csv").write_text("age,town\n44,?\n20,Rome\n")
    sentence = fails(1, "predict", "m", "new.csv", "-o", "p.csv")
    assert "new.csv: column 'town=Bern' has 1 missing value (3 in all), which br" in sentence


def test_words_of_a_sparse_file_are_filled_in_too(run, tmp_path):
    attributes = "@attribute f numeric\n@attribute w {%s}\n@attribute y {0,1}\n@data\n"
    rows = "{0 1,1 b,2 1}\n{0 2}\n{1 c}\n{2 1}\n"
    (tmp_path / "x.arff").write_text("@relation 'x: -C -1'\n" + attributes % "a,b,c" + rows)
    (tmp_path / "new.arff").write_text("@relation 'x: -C -1'\n" + attributes % "a,b" + "{1 b}\n")
    assert run("fit", "x.arff", "-m", "br", "-o", "m").code == 0
    outcome = run("predict", "m", "new.arff", "--proba", "-o", "p.csv")
    assert (outcome.code, outcome.err) == (0, "")
    names = read_metadata("m")["feature_names"]
    row = [[float(name == "w=b") for name in names]]
    np.testing.assert_array_equal(
        predicted(tmp_path / "p.csv"), colabel.load("m").predict_proba(row)
    )


def test_a_column_that_is_no_word_is_not_filled_in(run, fails, tmp_path):
    (tmp_path / "x.csv").write_text("size=cm,size=mm,y\n1,2,0\n3,1,1\n2,2,1\n")
    assert run("fit", "x.csv", "--labels", "y", "-m", "br", "-o", "m").code == 0
    (tmp_path / "new.csv").write_text("size=mm\n1\n")
    assert "the feature 'size=cm'" in fails(1, "predict", "m", "new.csv", "-o", "p.csv")


def renamed(model, names):
    """The model saved again, its features under other names."""
    notes = read_metadata(model) | {"feature_names": names}
    kept = ("label_names", "feature_names", "method")
    colabel.save(colabel.load(model), model, metadata={key: notes[key] for key in kept})


def test_a_model_with_two_features_of_one_name_does_not_guess(run, fails, files, model):
    renamed(model, ["a", "a", "c"])
    sentence = fails(1, "predict", model, files / "small.npz", "-o", "p.csv")
    assert f"{model} has two features called 'a'" in sentence


def test_data_with_two_features_of_one_name_is_refused(fails, files, model, tmp_path):
    data = small_data()
    names = np.array(["a", "b", "a"])
    np.savez(tmp_path / "twins.npz", X=data.X, Y=data.Y, feature_names=names)
    sentence = fails(1, "predict", model, "twins.npz", "-o", "p.csv")
    assert "twins.npz" in sentence
    assert "'a'" in sentence


@pytest.mark.parametrize("first", [0, 1])
def test_features_count_from_where_those_of_the_training_file_did(run, tmp_path, first):
    train = "".join(f"{i % 2} {first}:{i} {first + 1}:{i * i} {first + 2}:1\n" for i in range(6))
    with gzip.open(tmp_path / "train.svm.gz", "wt") as file:
        file.write(train)
    assert run("fit", "train.svm.gz", "-m", "br", "-o", "m").code == 0
    assert read_metadata("m")["zero_based"] is (first == 0)
    (tmp_path / "new.svm").write_text(f"0 {first + 1}:4 {first + 2}:1\n")  # no feature 0 here
    assert run("predict", "m", "new.svm", "--proba", "-o", "p.csv").code == 0
    expected = colabel.load("m").predict_proba([[0.0, 4, 1]])
    np.testing.assert_array_equal(predicted(tmp_path / "p.csv"), expected)


def test_a_file_that_counts_from_0_does_not_fit_a_model_that_counts_from_1(run, fails, files):
    assert run("fit", files / "small.svm", "-m", "br", "-o", "m").code == 0
    (files / "zero.svm").write_text("0 0:1 1:2\n")
    sentence = fails(1, "predict", "m", files / "zero.svm", "-o", "p.csv")
    assert "counts features from 0, the data m was fitted on from 1" in sentence


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_as_model_is_refused_at_once(fails, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert "pipe cannot be read: it is no regular file" in fails(1, "evaluate", "pipe", "yeast")


def test_the_output_may_not_be_the_input(run, fails, files, model, tmp_path):
    before = {path: path.read_bytes() for path in (files / "small.csv", files / "small.npz", model)}
    data = files / "small.csv"
    assert "would overwrite" in fails(2, "fit", data, *LABELS, "-m", "br", "-o", data)
    other_way = files / ".." / "data" / "small.npz"
    assert "choose another name" in fails(2, "predict", model, files / "small.npz", "-o", other_way)
    os.link(model, tmp_path / "m.csv")
    assert "would overwrite" in fails(2, "predict", "m.csv", data, "-o", "m.csv")
    assert "would overwrite" in fails(2, "predict", model, data, "-o", "m.csv")
    assert {path: path.read_bytes() for path in before} == before
    (tmp_path / "yeast").write_text("no data")  # DATA is the registered one
    assert run("fit", "yeast", "-m", "ovr-svm", "-o", "yeast").code == 0


@pytest.mark.parametrize("name", ["p.csv", "p.npz"])
def test_a_prediction_that_cannot_be_written_leaves_the_old_file(
    fails, files, model, tmp_path, monkeypatch, name
):
    (tmp_path / name).write_text("mine")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez_compressed", full)
    monkeypatch.setattr("csv.writer", full)
    sentence = fails(1, "predict", model, files / "other.npz", "-o", name)
    assert sentence == f"colabel: {name}: No space left on device\n"
    assert (tmp_path / name).read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {name, "data", "model"}


def genes_with_a_hole():
    data = load("yeast:test").take(slice(0, 20))
    data.X[0, 7] = np.nan
    return data


def test_missing_values_are_one_sentence_with_file_column_and_count(fails, run, tmp_path):
    data = small_data()
    X = data.X.copy()
    X[[3, 5], 1], X[4, 2] = np.nan, np.nan
    write(type(data)(X, data.Y, data.feature_names, data.label_names), tmp_path / "holes.csv")
    sentence = fails(1, "fit", "holes.csv", *LABELS, "-m", "br", "-o", "m")
    assert sentence == (
        "colabel: holes.csv: column 'b' has 2 missing values (3 in all), which br does not take; "
        "fill them in or leave such columns out\n"
    )
    assert run("fit", "yeast:train", "-m", "ovr-svm", "-o", "m").code == 0
    write(genes_with_a_hole(), tmp_path / "genes.npz")
    for call in (["evaluate", "m", "genes.npz"], ["predict", "m", "genes.npz", "-o", "p.csv"]):
        assert "has 1 missing value (1 in all), which ovr-svm" in fails(1, *call)


def test_prediction_needs_no_second_look_at_labels_that_are_there(run, files, tmp_path):
    assert run("fit", files / "mulan" / "small.arff", "-m", "br", "-o", "m").code == 0
    assert run("predict", "m", files / "mulan" / "small.arff", "-o", "p.csv").code == 0
    expected = colabel.load("m").predict(read(files / "mulan" / "small.arff").X)
    np.testing.assert_array_equal(predicted(tmp_path / "p.csv"), expected)


def test_a_wide_libsvm_file_is_read_where_its_width_is_given(run, fails, tmp_path):
    far = 3_000_000
    rows = "".join(f"{i % 2} 1:{i}\n" for i in range(6))
    (tmp_path / "far.svm").write_text(f"{rows}1 {far}:1\n")
    sentence = fails(2, "fit", "far.svm", "-m", "ovr-svm", "-o", "m")
    assert "if meant, give --n-features (svmlight)" in sentence
    width = ("--n-features", far)
    outcome = run("info", "far.svm", *width, "--json")
    assert json.loads(outcome.out)["n_features"] == far
    assert "does not fit into 9 features" in fails(2, "info", "far.svm", "--n-features", 9)
    (tmp_path / "x.csv").write_text("a\n1\n")
    assert "--n-features has no meaning for csv files" in fails(2, "info", "x.csv", *width)
    assert "--n-features is for files" in fails(2, "info", "yeast", *width)


def test_the_width_of_a_libsvm_file_may_be_given_to_every_command(run, files, tmp_path):
    width, small = ("--n-features", 5), files / "small.svm"
    assert run("fit", small, *width, "-m", "br", "-o", "m").code == 0
    assert len(read_metadata("m")["feature_names"]) == 5
    assert read_metadata("m")["zero_based"] is False
    assert run("evaluate", "m", small, *width).code == 0
    assert run("predict", "m", small, *width, "-o", "p.csv").code == 0
    assert run("compare", small, *width, "-m", "br", "--split", "cv:2", "-o", "r").code == 0


def test_a_header_says_that_features_count_from_0(run, tmp_path):
    rows = "".join(f"{i % 2} 1:{i} 2:1\n" for i in range(6))
    (tmp_path / "x.txt").write_text(f"6 3 2\n{rows}")
    assert run("fit", "x.txt", "-m", "br", "-o", "m").code == 0
    assert read_metadata("m")["zero_based"] is True
    assert run("evaluate", "m", "x.txt").code == 0


def test_advice_that_the_command_cannot_take_is_left_out(fails, tmp_path):
    (tmp_path / "far.svm").write_text("3000000 1:1\n1 1:2\n")
    sentence = fails(1, "info", "far.svm")
    assert sentence.endswith("labels are far more than the file holds\n")


def test_nothing_is_learned_from_data_without_labels(fails, tmp_path):
    np.savez(tmp_path / "bare.npz", X=np.eye(4))
    sentence = "colabel: bare.npz has no labels to learn\n"
    assert fails(1, "fit", "bare.npz", "-m", "br", "-o", "m") == sentence
    assert fails(1, "compare", "bare.npz", "-m", "br", "-o", "r") == sentence
