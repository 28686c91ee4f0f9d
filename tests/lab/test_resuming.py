"""Runs that go on where others ended: what is done is read, what failed is tried again."""

import json
import logging
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab import Entry, PaperTable, compare, reproduce, running
from colabel.lab.cell import Variant
from colabel.lab.run_folder import read_results
from colabel.lab.store import Store

# What changes while cells run; of an object of Python's own, the class alone is part of a key.
STATE = SimpleNamespace(fitted=[], mended=set(), asked=[])


class Counted(BaseEstimator):
    """Predicts nothing, and counts how often it was fitted."""

    def __init__(self, name="a", fails=False):
        self.name = name
        self.fails = fails

    def fit(self, X, y):
        STATE.fitted.append(self.name)
        if self.fails and self.name not in STATE.mended:
            raise RuntimeError("not today")
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((len(X), self.n_labels_), int)


@pytest.fixture(autouse=True)
def fresh():
    STATE.fitted.clear()
    STATE.mended.clear()


def load_small(name, split=None):
    rng = np.random.default_rng(len(name))
    X = rng.normal(size=(30, 3))
    return Dataset(X, (X > 0).astype(np.int8), tuple("abc"), tuple("xyz"), name)


def variant(name, fails=False):
    return Variant(name, lambda seed: Counted(name, fails), {})


def run(folder, *variants, **options):
    options = {"split": "cv:2", "load_data": load_small, **options}
    return compare(["x"], variants, run_dir=folder, **options)


def said(caplog):
    return [record.message for record in caplog.records if record.name == "colabel.lab"]


def test_what_is_done_is_read(tmp_path, caplog):
    caplog.set_level(logging.INFO, "colabel.lab")
    first = run(tmp_path, variant("a"), variant("b"))
    assert STATE.fitted == ["a", "b", "a", "b"]
    assert said(caplog) == []
    started = []
    again = run(tmp_path, variant("a"), variant("b"), on_start=lambda *what: started.append(what))
    assert again == first, "times and all"
    assert (len(STATE.fitted), started) == (4, [])
    assert said(caplog) == ["4 of 4 cells are done already"]
    more = run(tmp_path, variant("c"), variant("b"), split="cv:2")
    assert STATE.fitted[4:] == ["c", "c"]
    assert [row.method for row in more] == ["c", "b", "c", "b"]
    assert [row["method"] for row in read_results(tmp_path)] == ["c", "b", "c", "b"]
    about = json.loads((tmp_path / "run.json").read_text())
    assert (about["methods"], about["n_cells"]) == (["c", "b"], 4)


def test_another_comparison_in_the_folder_is_told_of(tmp_path, caplog):
    caplog.set_level(logging.INFO, "colabel.lab")
    first = run(tmp_path, variant("a"), variant("b"))
    run(tmp_path, variant("a"), variant("b"), variant("c"))
    run(tmp_path, variant("a"), variant("b"), variant("c"), seeds=(0, 1))
    assert not [line for line in said(caplog) if "another comparison" in line], "it only grew"
    caplog.clear()
    run(tmp_path, variant("d"))
    assert said(caplog) == [
        f"{tmp_path} holds another comparison, of which 12 cells are not in this one: results.csv "
        "and reports show the last one alone; the earlier command shows the earlier one again, "
        "from the cells that are kept"
    ]
    STATE.fitted.clear()
    assert run(tmp_path, variant("a"), variant("b")) == first
    assert len(read_results(tmp_path)) == 4
    assert STATE.fitted == []
    (tmp_path / "results.csv").write_text("by,hand\n1,2\n")
    assert run(tmp_path, variant("a"), variant("b")) == first, "what is there is none of ours"


def test_names_of_methods_differ(tmp_path):
    with pytest.raises(UnknownNameError, match="two methods are called 'a': give one of them ano"):
        run(tmp_path, variant("a"), variant("a"))


def test_a_change_of_the_data_is_noticed(tmp_path):
    run(tmp_path, variant("a"))
    run(tmp_path, variant("a"), load_data=lambda name: load_small("other data"))
    assert len(STATE.fitted) == 4


def test_what_failed_is_tried_again(tmp_path, caplog):
    caplog.set_level(logging.INFO, "colabel.lab")
    first = run(tmp_path, variant("bad", fails=True), variant("good"))
    assert [row.result.ok for row in first] == [False, True] * 2
    assert "RuntimeError: not today" in first[0].result.traceback
    assert run(tmp_path, variant("bad", fails=True), variant("good"))[0].result == first[0].result
    assert STATE.fitted == ["bad", "good", "bad", "good", "bad", "bad"]
    assert said(caplog) == ["2 of 4 cells are done already; 2 that failed are tried again"]
    STATE.mended.add("bad")
    assert all(row.result.ok for row in run(tmp_path, variant("bad", fails=True), variant("good")))
    assert {row["status"] for row in read_results(tmp_path)} == {"ok"}
    assert len(STATE.fitted) == 8


def test_an_interruption_keeps_what_is_done(tmp_path):
    def stop(data, method):
        if len(STATE.fitted) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, variant("a"), variant("b"), on_start=stop)
    assert len(read_results(tmp_path)) == 3
    rows = run(tmp_path, variant("a"), variant("b"))
    assert STATE.fitted == ["a", "b", "a", "b"]
    assert [(row.fold, row.method) for row in rows] == [(0, "a"), (0, "b"), (1, "a"), (1, "b")]


def test_results_are_written_while_cells_run(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "PAUSE", 0.0)
    monkeypatch.setattr(running, "REST", 0.0)
    seen = []

    def look(data, method):
        seen.append(len(read_results(tmp_path)))

    run(tmp_path, variant("a"), variant("b"), on_start=look)
    assert seen[0] == 0
    assert seen[-1] >= 1


def test_equal_cells_of_a_run_are_computed_once(tmp_path):
    same = [Variant(name, lambda seed: Counted("a"), {}) for name in ("one", "two")]
    rows = run(tmp_path, *same)
    assert len(STATE.fitted) == 2
    assert [row.method for row in rows] == ["one", "two"] * 2
    assert rows[0].result == rows[1].result


def test_a_cell_of_another_process_is_waited_for(tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.INFO, "colabel.lab")
    monkeypatch.setattr(running, "WAIT", 0.02)
    (cell, _) = running_cells = list_small(variant("a"))
    with Store(tmp_path) as other:
        assert other.claim(cell.key).mine
        result = running.run_cells(running_cells[:1])[0].result
        STATE.fitted.clear()
        found = []
        thread = threading.Thread(target=lambda: found.extend(run(tmp_path, variant("a"))))
        thread.start()
        until = time.monotonic() + 30
        while len(STATE.fitted) < 1 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
        assert thread.is_alive(), "it waits"
        other.finish(cell.key, cell.about, result)
        thread.join(30)
    assert STATE.fitted == ["a"], "the other fold"
    assert found[0].result == result
    assert said(caplog) == ["waiting for 1 cells that another process is running"]


def list_small(*variants):
    from colabel.lab.compare import list_cells

    return list_cells(["x"], variants, "cv:2", (0,), load_small)


def test_a_cell_that_another_process_gives_up_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "WAIT", 0.02)
    other = Store(tmp_path)
    assert other.claim(list_small(variant("a"))[0].key).mine
    starts = []

    def on_start(data, method):
        starts.append(method)

    timer = threading.Thread(target=lambda: None)
    timer.start()
    other.close()
    rows = run(tmp_path, variant("a"), on_start=on_start)
    assert len(rows) == len(starts) == 2


def test_a_store_that_cannot_take_a_result_stops_the_run(tmp_path, monkeypatch):
    def full(store, key, about, result):
        if len(STATE.fitted) == 2:
            raise ColabelError("the disk is full")
        keep(store, key, about, result)

    keep = Store.finish
    monkeypatch.setattr(Store, "finish", full)
    with pytest.raises(ColabelError, match="the disk is full"):
        run(tmp_path, variant("a"), variant("b"))
    monkeypatch.undo()
    assert len(read_results(tmp_path)) == 1
    run(tmp_path, variant("a"), variant("b"))
    assert STATE.fitted == ["a", "b", "b", "a", "b"]


def generated(name, split="train", *, seed):
    rng = np.random.default_rng([seed, split == "test"])
    X = rng.normal(size=(30, 2))
    return Dataset(X, (X > 0).astype(np.int8), ("a", "b"), ("u", "v"), name, split)


def a_plan(name, *entries, **options):
    return PaperTable(name, "T", ("made",), entries, "hamming_loss", load_data=generated, **options)


def test_tables_share_one_store(tmp_path, monkeypatch):
    fitted = []
    run_cell = running.run_cell

    def counting(build, *data):
        fitted.append(build())
        return run_cell(build, *data)

    monkeypatch.setattr(running, "run_cell", counting)
    br, weak = Entry("BR", "br", {}), Entry("weak", "br", {}, {"C": 0.1})
    first = a_plan("me.1", br, weak, seeds=(0, 1))
    second = a_plan("me.2", Entry("binary", "br", {}), seeds=(1, 0))
    one = reproduce(first, tmp_path / "me.1", store_dir=tmp_path)
    assert len(fitted) == 4
    two = reproduce(second, tmp_path / "me.2", store_dir=tmp_path)
    assert len(fitted) == 4
    assert two.ours["made", "binary"] == one.ours["made", "BR"]
    assert [row["seed"] for row in read_results(tmp_path / "me.2")] == ["1", "0"]
    assert reproduce(first, tmp_path / "me.1", store_dir=tmp_path).ours == one.ours
    assert len(fitted) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cells.sqlite", "me.1", "me.2"]


def count_up(name, seed):
    STATE.asked.append(seed)
    return {"up": np.arange(seed + 1.0)}


def test_a_trace_is_run_once(tmp_path):
    STATE.asked.clear()
    plan = a_plan("me.3", Entry("up", "br", {}), trace=count_up, seeds=(0, 1))
    first = reproduce(plan, tmp_path)
    again = reproduce(plan, tmp_path)
    assert STATE.asked == [0, 1]
    assert first.traces == again.traces == {("made", "up"): [0.0, 1.0]}
    assert first.ours == again.ours
    assert (tmp_path / "traces.csv").read_text().count("\n") == 3
    reproduce(plan)
    assert STATE.asked == [0, 1, 0, 1]
