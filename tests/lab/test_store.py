"""The results file: columns, texts, and older runs that are never lost."""

import json
import os

from colabel.lab.store import COLUMNS, MEASURE_COLUMNS, ResultFile, read_results


def test_a_row_comes_back_as_it_was_written(tmp_path):
    store = ResultFile(tmp_path / "deep" / "run", ("accuracy_x",))
    value = 0.1 + 0.2
    store.append(
        {
            "data": 'a "b", c\nd',
            "fold": 3,
            "parameters": {"z": 1, "a": None},
            "hamming_loss": value,
            "lrap": float("nan"),
            "accuracy_x": 1.0,
            "unknown": 5,
        }
    )
    (row,) = read_results(tmp_path / "deep" / "run")
    assert list(row) == [*COLUMNS, *MEASURE_COLUMNS, "accuracy_x"]
    assert row["data"] == 'a "b", c\nd'
    assert row["fold"] == "3"
    assert json.loads(row["parameters"]) == {"a": None, "z": 1}
    assert float(row["hamming_loss"]) == value, "not a digit is lost"
    assert row["lrap"] == row["method"] == ""
    assert row["accuracy_x"] == "1.0"


def test_rows_are_on_disk_as_soon_as_they_are_appended(tmp_path):
    store = ResultFile(tmp_path)
    assert read_results(tmp_path) == []
    for n in (1, 2):
        store.append({"data": "x"})
        assert len(read_results(tmp_path)) == n


def test_older_runs_are_kept_under_the_time_of_their_last_result(tmp_path):
    assert ResultFile(tmp_path).kept is None
    for n in range(3):
        store = ResultFile(tmp_path)
        store.describe({"n": n})
        store.append({"data": f"run {n}"})
        os.utime(store.path, (0, 0))  # all end at the same second
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len([name for name in names if name.startswith("results")]) == 4
    assert read_results(tmp_path)[0]["data"] == "run 2"
    notes = {path.name: json.loads(path.read_text()) for path in tmp_path.glob("run*.json")}
    assert notes.pop("run.json") == {"n": 2}
    assert sorted(note["n"] for note in notes.values()) == [0, 1]
    for name, note in notes.items():
        kept = tmp_path / name.replace("run", "results").replace("json", "csv")
        assert f"run {note['n']}" in kept.read_text()
