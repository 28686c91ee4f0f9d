"""The results file: columns, texts, and results of others that are never lost."""

import errno
import json
import os

import pytest

from colabel.exceptions import ColabelError
from colabel.lab.run_folder import COLUMNS, RunFolder, read_results
from colabel.lab.store import Store
from colabel.metrics import MEASURE_NAMES


def test_a_row_comes_back_as_it_was_written(tmp_path):
    folder = tmp_path / "deep" / "run"
    value = 0.1 + 0.2
    row = {
        "data": 'a "b", c\nd',
        "fold": 3,
        "parameters": {"z": 1, "a": None},
        "hamming_loss": value,
        "lrap": float("nan"),
        "accuracy_x": 1.0,
        "unknown": 5,
    }
    with Store(folder) as store:
        RunFolder(folder, store, extra=("accuracy_x",)).write([row])
    (row,) = read_results(folder)
    assert list(row) == [*COLUMNS, *MEASURE_NAMES, "accuracy_x"]
    assert row["data"] == 'a "b", c\nd'
    assert row["fold"] == "3"
    assert json.loads(row["parameters"]) == {"a": None, "z": 1}
    assert float(row["hamming_loss"]) == value, "not a digit is lost"
    assert row["lrap"] == row["method"] == ""
    assert row["accuracy_x"] == "1.0"


def test_rows_are_replaced_as_a_whole(tmp_path):
    with Store(tmp_path) as store:
        file = RunFolder(tmp_path, store)
        for n in (2, 1, 0):
            file.write([{"data": "x"}] * n)
            assert len(read_results(tmp_path)) == n
        file.describe({"n": 1})
    assert {path.name for path in tmp_path.iterdir()} == {"cells.sqlite", "results.csv", "run.json"}


def test_results_that_the_store_did_not_make_are_kept_under_the_time_of_the_last(tmp_path):
    for n in range(3):
        (tmp_path / "results.csv").write_text(f"run {n}\n")
        (tmp_path / "run.json").write_text(json.dumps({"n": n}))
        os.utime(tmp_path / "results.csv", (0, 0))  # all end at the same second
        (tmp_path / "cells.sqlite").unlink(missing_ok=True)
        with Store(tmp_path) as store:
            RunFolder(tmp_path, store).write([])
    kept = {path.name: path.read_text() for path in tmp_path.glob("results-*.csv")}
    assert sorted(kept.values()) == ["run 0\n", "run 1\n", "run 2\n"]
    for name, text in kept.items():
        note = tmp_path / name.replace("results", "run").replace("csv", "json")
        assert f"run {json.loads(note.read_text())['n']}\n" == text
    assert read_results(tmp_path) == []


def test_its_own_results_are_replaced_and_those_of_a_folder_below_are_asked_after(tmp_path):
    below = tmp_path / "table1"
    below.mkdir()
    (below / "results.csv").write_text("of an earlier colabel\n")
    for _ in range(3):
        with Store(tmp_path) as store:
            for folder in (tmp_path, below):
                RunFolder(folder, store).write([{"data": "x"}])
    assert not list(tmp_path.glob("results-*.csv"))
    (kept,) = below.glob("results-*.csv")
    assert kept.read_text() == "of an earlier colabel\n"


def test_a_full_disk_is_one_sentence_and_leaves_the_old_results(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with Store(tmp_path) as store:
        file = RunFolder(tmp_path, store)
        file.write([{"data": "x"}])
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(ColabelError, match=r"results.csv: the disk is full; make room and"):
            file.write([])
        monkeypatch.setattr(os, "fsync", lambda descriptor: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            file.write([])
        assert len(read_results(tmp_path)) == 1
        monkeypatch.undo()
        file.write([{"data": "x"}] * 2)
    assert len(read_results(tmp_path)) == 2
