"""fit, predict and evaluate: what they write and print."""

import csv
import gzip
import json

import numpy as np
import pytest
from scipy import sparse

import colabel
from cli.samples import LABELS, MEASURES, small_data
from colabel.datasets import read, write
from colabel.metrics import evaluate
from colabel.persistence import read_metadata


def read_table(path):
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def test_fit_says_what_it_did_and_notes_it_beside_the_model(run, files):
    outcome = run(
        "fit", files / "small.csv", "--labels", "-3", "-m", "br", "-p", "C=0.5", "--seed", 7,
        "-o", "m",
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    assert "fitted br to 40 samples" in outcome.out
    assert outcome.out.endswith("model in m\n")
    notes = read_metadata("m")
    assert notes["method"] == "br"
    assert notes["parameters"] == {"C": 0.5}
    assert notes["seed"] == 7
    assert notes["label_names"] == ["sea", "sun, sand", "sky"]
    assert notes["feature_names"] == ["a", "b", "c"]
    assert notes["fit_seconds"] > 0
    inner = colabel.load("m").estimator
    assert inner.C == 0.5


@pytest.mark.parametrize(
    "name",
    ["small.csv", "small.csv.gz", "small-meka.arff", "small.svm", "small.npz", "mulan/small.arff"],
)
def test_every_format_gives_the_same_model(run, files, name):
    options = LABELS if "csv" in name else ()
    assert run("fit", files / name, *options, "-m", "br", "-o", "m").code == 0
    data = small_data()
    expected = colabel.BinaryRelevance().fit(data.X, data.Y).predict(data.X)
    np.testing.assert_array_equal(colabel.load("m").predict(data.X), expected)


def test_labels_may_be_names_or_counts_from_either_end(run, files):
    write(small_data(labels=("x", "y")), files / "two.csv")
    names = []
    for choice in ("x,y", "x, y", "-2", "y"):
        assert run("fit", files / "two.csv", "--labels", choice, "-m", "br", "-o", "m").code == 0
        names.append(read_metadata("m")["label_names"])
    assert names == [["x", "y"]] * 3 + [["y"]]


def test_predicted_csv_has_the_label_names_and_equals_the_estimator(run, files, model, tmp_path):
    out = tmp_path / "p.csv"
    outcome = run("predict", model, files / "other.csv", "-o", out)
    assert (outcome.code, outcome.err) == (0, "")
    assert "predicted 40 samples" in outcome.out
    header, rows = read_table(out)
    assert header == ["sea", "sun, sand", "sky"]
    np.testing.assert_array_equal(rows, colabel.load(model).predict(small_data(1).X))


def test_predicted_probabilities_are_exact_to_the_last_digit(run, files, model, tmp_path):
    expected = colabel.load(model).predict_proba(small_data(1).X)
    assert run("predict", model, files / "other.npz", "--proba", "-o", tmp_path / "p.csv").code == 0
    np.testing.assert_array_equal(read_table(tmp_path / "p.csv")[1], expected)
    assert run("predict", model, files / "other.npz", "--proba", "-o", tmp_path / "p.npz").code == 0
    with np.load(tmp_path / "p.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["proba"], expected)
        assert sorted(arrays) == ["label_names", "proba"]


def test_predicted_npz_loads_without_pickle(run, files, model, tmp_path):
    assert run("predict", model, files / "other.csv", "-o", tmp_path / "p.NPZ").code == 0
    with np.load(tmp_path / "p.NPZ", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["Y"], colabel.load(model).predict(small_data(1).X))
        assert arrays["label_names"].tolist() == ["sea", "sun, sand", "sky"]


def test_predicted_svm_is_the_data_with_the_predicted_labels(run, files, model, tmp_path):
    assert run("predict", model, files / "other.csv", "-o", tmp_path / "p.svm").code == 0
    back = read(tmp_path / "p.svm", n_labels=3)
    expected = colabel.load(model).predict(small_data(1).X)
    assert (expected.sum(axis=1) == 0).any(), "rows without labels must survive"
    np.testing.assert_array_equal(back.Y, expected)
    np.testing.assert_array_equal(back.X.toarray(), small_data(1).X)


def test_evaluate_prints_the_fields_and_measures_of_the_contract(run, files, model):
    outcome = run("evaluate", model, files / "other.csv", "--json")
    found = json.loads(outcome.out)
    assert list(found) == ["data", "method", "n_samples", "measures", "seconds"]
    assert list(found["measures"]) == MEASURES
    assert (found["data"], found["method"], found["n_samples"]) == (
        str(files / "other.csv"),
        "br",
        40,
    )
    assert found["seconds"] > 0
    data, estimator = small_data(1), colabel.load(model)
    expected = evaluate(data.Y, estimator.predict(data.X), estimator.decision_function(data.X))
    assert found["measures"] == pytest.approx(expected, rel=1e-12)


def test_evaluate_shows_a_table(run, files, model):
    outcome = run("evaluate", model, files / "other.csv")
    assert outcome.code == 0
    assert "br on " in outcome.out
    for name in MEASURES:
        assert f"{name} " in outcome.out
    assert "hamming_loss ↓" in outcome.out
    assert "example_f1 ↑" in outcome.out


def test_columns_are_matched_by_name_not_by_place(run, files, model):
    data = small_data(1)
    order, shuffled = [2, 0, 1], files / "shuffled.csv"
    with shuffled.open("w", newline="") as file:
        writer = csv.writer(file)
        names = ["extra", *(data.label_names[i] for i in order), "c", "a", "b"]
        writer.writerow(names)
        for x, y in zip(data.X, data.Y, strict=True):
            writer.writerow([9.0, *y[order], x[2], x[0], x[1]])
    plain = json.loads(run("evaluate", model, files / "other.csv", "--json").out)
    moved = json.loads(run("evaluate", model, shuffled, "--json").out)
    assert moved["measures"] == plain["measures"]


def test_an_svmlight_file_may_end_before_the_last_feature_and_label(run, files, tmp_path):
    assert run("fit", files / "small.svm", "-m", "br", "-o", "m").code == 0
    narrow = tmp_path / "narrow.svm"
    narrow.write_text("0 1:1\n 1:-1\n")
    X, Y = np.array([[1.0, 0, 0], [-1.0, 0, 0]]), np.array([[1, 0, 0], [0, 0, 0]])
    found = json.loads(run("evaluate", "m", narrow, "--json").out)
    expected = evaluate(Y, colabel.load("m").predict(X))
    assert {name: found["measures"][name] for name in expected} == pytest.approx(expected)
    assert run("predict", "m", narrow, "-o", "p.csv").code == 0
    np.testing.assert_array_equal(read_table(tmp_path / "p.csv")[1], colabel.load("m").predict(X))


def test_data_with_other_labels_or_features_is_refused(run, fails, files, model, tmp_path):
    write(small_data(labels=("sea", "moon")), tmp_path / "moon.npz")
    assert "the label 'sun, sand' and 1 more" in fails(1, "evaluate", model, tmp_path / "moon.npz")
    write(small_data(labels=("sea", "sun, sand", "sky")), tmp_path / "fine.npz")
    more = small_data()
    names = (*more.label_names, "moon")
    Y = np.column_stack([more.Y, more.Y[:, 0]])
    more = type(more)(more.X, Y, more.feature_names, names)
    write(more, tmp_path / "more.npz")
    assert "does not know the label 'moon'" in fails(1, "evaluate", model, tmp_path / "more.npz")
    assert run("predict", model, tmp_path / "more.npz", "-o", "p.csv").code == 0
    fewer = type(more)(more.X[:, :2], more.Y, ("a", "b"), names)
    write(fewer, tmp_path / "fewer.npz")
    assert "the feature 'c'" in fails(1, "predict", model, tmp_path / "fewer.npz", "-o", "p.csv")
    assert "2 features here, 3 there" in fails(1, "predict", model, "fewer.npz", "-o", "p.csv")


def test_a_csv_file_without_labels_is_predicted_but_not_evaluated(run, fails, model, tmp_path):
    (tmp_path / "new.csv").write_text("c,b,a\n3,2,1\n")
    assert run("predict", model, "new.csv", "-o", "p.csv").code == 0
    expected = colabel.load(model).predict([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(read_table(tmp_path / "p.csv")[1], expected)
    assert "label 'sea' is no attribute" in fails(1, "evaluate", model, "new.csv")
    (tmp_path / "new.csv").write_text('a,b,c,sea,"sun, sand",sky\n1,2,3,0,0\n')
    assert "line 2" in fails(1, "predict", model, "new.csv", "-o", "p.csv")


def test_an_svmlight_file_without_labels_is_predicted(run, files, tmp_path):
    assert run("fit", files / "small.svm", "-m", "br", "-o", "m").code == 0
    (tmp_path / "new.svm").write_text(" 1:1 2:0.5\n 3:-1\n")
    assert run("predict", "m", "new.svm", "-o", "p.csv").code == 0
    expected = colabel.load("m").predict([[1, 0.5, 0], [0, 0, -1]])
    np.testing.assert_array_equal(read_table(tmp_path / "p.csv")[1], expected)


def test_a_model_saved_from_python_without_names_is_used_too(run, files, tmp_path):
    data = small_data()
    colabel.save(colabel.BinaryRelevance().fit(data.X, sparse.csr_array(data.Y)), "m")
    found = json.loads(run("evaluate", "m", files / "small.npz", "--json").out)
    assert found["method"] == "BinaryRelevance"
    assert list(found["measures"]) == MEASURES
    for name in ("p.csv", "p.svm", "p.npz"):
        assert run("predict", "m", files / "small.npz", "-o", name).code == 0
    header, rows = read_table(tmp_path / "p.csv")
    assert header == ["label_0", "label_1", "label_2"]
    np.testing.assert_array_equal(rows, read(tmp_path / "p.svm", n_labels=3).Y)


def test_a_scikit_learn_forest_is_measured_too(run, files):
    from sklearn.ensemble import RandomForestClassifier

    data = small_data()
    Y = data.Y.astype(int)
    Y[:, 1] = 0  # its predict_proba is a list, here with one array of a single column
    forest = RandomForestClassifier(5, random_state=0).fit(data.X, Y)
    colabel.save(forest, "m")
    found = json.loads(run("evaluate", "m", files / "small.npz", "--json").out)
    on = np.column_stack([forest.predict_proba(data.X)[i][:, -1] for i in (0, 2)])
    scores = np.column_stack([on[:, 0], np.zeros(40), on[:, 1]])
    expected = evaluate(data.Y, forest.predict(data.X), scores)
    assert found["measures"] == pytest.approx(expected)


def test_packed_data_is_read(run, files, model):
    with gzip.open(files / "other.csv.gz") as file:
        assert file.read() == (files / "other.csv").read_bytes()
    packed = json.loads(run("evaluate", model, files / "other.csv.gz", "--json").out)
    plain = json.loads(run("evaluate", model, files / "other.csv", "--json").out)
    assert packed["measures"] == plain["measures"]
