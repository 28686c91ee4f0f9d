"""Predictions and models of cells, kept as files: whole, named by the cell, made once."""

import csv
import errno
import json
import os

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import colabel
from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab import Variant, compare
from colabel.lab.files import write_whole
from colabel.lab.kept import Kept


class Silly(BaseEstimator):
    """Has no scores, and holds what no file can."""

    def fit(self, X, y):
        self.held_ = lambda: None
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.ones((len(X), self.n_labels_), int)


def load_made(name, split=None):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    return Dataset(X, (X[:, :3] > 0.3).astype(np.int8), tuple("abcd"), ("x", "ü", "<z>"), name)


def run(folder, keep, methods=("br",), **options):
    started = []
    rows = compare(
        ["made"],
        methods,
        split="cv:2",
        run_dir=folder,
        keep=keep,
        load_data=load_made,
        on_start=lambda *what: started.append(what),
        **options,
    )
    assert all(row.result.ok for row in rows)
    return len(started)


def index(folder):
    with (folder / "kept.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_are_what_the_cell_predicted(jobs, tmp_path):
    assert run(tmp_path, ("predictions", "models"), jobs=jobs) == 2
    rows = index(tmp_path)
    assert len(rows) == 2
    whole = load_made("made")
    seen = []
    for row in rows:
        assert row["predictions"] == f"predictions/{row['key']}.npz"
        with np.load(tmp_path / row["predictions"]) as file:
            kept = dict(file)
        assert json.loads(str(kept["label_names"])) == ["x", "ü", "<z>"]
        model = colabel.load(tmp_path / row["models"])
        rows_of = [np.flatnonzero((y == whole.Y).all(axis=1)) for y in kept["truth"]]
        assert all(len(some) for some in rows_of)
        assert kept["labels"].shape == kept["truth"].shape == kept["scores"].shape
        np.testing.assert_array_equal(kept["labels"], kept["scores"] > 0)
        assert model.predict(whole.X).shape == whole.Y.shape
        seen.append(len(kept["truth"]))
    assert sum(seen) == 40
    assert not list(tmp_path.rglob("*.part"))


def test_files_that_are_wanted_and_missing_are_made(tmp_path):
    assert run(tmp_path, ()) == 2
    assert not (tmp_path / "kept.csv").exists()
    assert run(tmp_path, ("predictions",)) == 2, "there were none"
    assert run(tmp_path, ("predictions",)) == 0
    assert run(tmp_path, ()) == 0
    (tmp_path / index(tmp_path)[0]["predictions"]).unlink()
    assert run(tmp_path, ("predictions",)) == 1
    assert run(tmp_path, ("predictions", "models")) == 2
    assert run(tmp_path, ("models",)) == 0
    assert all(row["predictions"] and row["models"] for row in index(tmp_path))


def test_files_are_made_where_another_process_makes_results_without_them(tmp_path):
    """Both work on one folder at once; the later one finds new results, and no files."""
    started = []

    def meanwhile(data, method):
        if not started:
            assert run(tmp_path, (), ["rml"]) == 2
        started.append(method)

    whole = {"split": "cv:2", "run_dir": tmp_path, "load_data": load_made}
    rows = compare(["made"], ["br", "rml"], keep=("predictions",), on_start=meanwhile, **whole)
    assert sorted(started) == ["br", "br", "rml", "rml"]
    assert all(row.result.ok for row in rows)
    kept = index(tmp_path)
    assert len(kept) == 4
    assert all((tmp_path / row["predictions"]).is_file() for row in kept)


def test_a_model_that_cannot_be_saved_says_why(tmp_path):
    silly = Variant("silly", lambda seed: Silly(), {})
    assert run(tmp_path, ("predictions", "models"), [silly]) == 2
    for row in index(tmp_path):
        assert row["models"].endswith(".txt")
        assert (tmp_path / row["models"]).read_text().strip()
        with np.load(tmp_path / row["predictions"]) as file:
            assert "scores" not in file
    assert run(tmp_path, ("predictions", "models"), [silly]) == 0


def test_kinds_are_known():
    with pytest.raises(UnknownNameError, match="'luck' cannot be kept: there is predictions, mod"):
        Kept("nowhere", ["luck"])


def test_a_full_disk_leaves_the_old_file_and_the_cell_undone(tmp_path, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    write_whole(tmp_path / "a", b"old")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(ColabelError, match="a: the disk is full; make room and repeat"):
            write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]

    true = write_whole

    def full_for_models(path, content):
        if path.parent.name == "models":
            full(0)
        true(path, content)

    monkeypatch.setattr("colabel.lab.kept.write_whole", full_for_models)
    with pytest.raises(OSError, match="No space"):
        run(tmp_path / "run", ("models",))
    monkeypatch.undo()
    assert run(tmp_path / "run", ("models",)) == 2


def test_interrupted_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    def stop(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a", b"new")
    assert not list(tmp_path.iterdir())


def test_files_of_another_process_are_seen(tmp_path):
    ours, theirs = (Kept(tmp_path, ["predictions"]) for _ in range(2))
    assert not ours.has("abc")
    (tmp_path / "predictions" / "abc.npz.part").touch()
    assert not ours.has("abc")
    theirs.write("abc", {"predictions.npz": b"x"})
    assert ours.has("abc")
    assert ours.paths("abc", tmp_path) == {"predictions": "predictions/abc.npz"}
