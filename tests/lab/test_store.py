"""The store of finished cells: nothing is lost, nothing is run twice, and trouble is named."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from colabel.exceptions import ColabelError
from colabel.lab import processes
from colabel.lab import store as module
from colabel.lab.processes import Owner, is_alive, this_process
from colabel.lab.rows import CellResult
from colabel.lab.store import FILE_NAME, Claim, Store

OK = CellResult("ok", {"lrap": 0.1 + 0.2}, 1.5, 0.5, 100.0)
FAILED = CellResult("failed: why", traceback="Traceback")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="processes are told apart by /proc")


def file_of(folder):
    return sqlite3.connect(folder / FILE_NAME, isolation_level=None)


def test_a_result_comes_back_as_it_was_kept(tmp_path):
    with Store(tmp_path / "deep" / "run") as store:
        assert store.claim("a") == Claim(mine=True)
        store.finish("a", {"seed": 1}, OK)
        assert store.results(["a", "b"]) == {"a": OK}
        store.finish("b", {}, FAILED)
        (back,) = [store.claim("b").result]
        assert (back.status, back.traceback, back.measures) == ("failed: why", "Traceback", {})
        assert np.isnan(back.fit_seconds)
    with Store(tmp_path / "deep" / "run") as store:
        assert store.results(["a", "b"]) == {"a": OK}
        assert store.claim("a").result == OK


def test_a_wish_to_run_anew_is_stronger_than_a_result_that_another_process_has_made(tmp_path):
    with Store(tmp_path) as store, Store(tmp_path) as other:
        for key, result in (("a", OK), ("b", FAILED)):
            assert other.claim(key).mine
            other.finish(key, {}, result)
        assert store.claim("a").result == OK
        assert store.claim("a", again=True) == Claim(mine=True)
        assert store.claim("b", again=True).result.status == FAILED.status, "which was tried"
        store.finish("a", {}, OK)
        assert store.claim("a", again=True) == Claim(mine=True), "its files have gone since"


def test_what_failed_is_tried_again_by_the_next_once(tmp_path):
    with Store(tmp_path) as first:
        assert first.claim("a").mine
        first.finish("a", {}, FAILED)
        assert first.claim("a").result.status == FAILED.status, "not by the same"
        with Store(tmp_path) as second:
            assert second.n_failed(["a", "b"]) == 1
            assert second.claim("a") == Claim(mine=True)
            second.finish("a", {}, FAILED)
            assert second.claim("a").result.status == FAILED.status
            assert first.claim("a").result.status == FAILED.status, "which is open still"
        with Store(tmp_path) as third:
            assert third.claim("a").mine
            third.finish("a", {}, OK)
    with Store(tmp_path) as fourth:
        assert fourth.claim("a").result == OK


def test_a_claim_keeps_others_away_until_it_is_finished_or_given_up(tmp_path):
    with Store(tmp_path) as one, Store(tmp_path) as other:
        assert one.claim("a").mine
        assert one.claim("b").mine
        assert other.claim("a") == one.claim("a") == Claim()
        one.finish("a", {}, OK)
        assert other.claim("a").result == OK
        assert other.claim("b") == Claim()
        one.close()
        assert other.claim("b").mine
        one.__init__(tmp_path)  # so that it can be closed again


@linux_only
def test_a_claim_of_a_process_that_was_killed_is_taken_over(tmp_path):
    script = (
        "import sys, time; from colabel.lab.store import Store\n"
        "Store(sys.argv[1]).claim('a'); print('claimed', flush=True); time.sleep(60)"
    )
    call = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(call, stdout=subprocess.PIPE) as process, Store(tmp_path) as store:
        assert process.stdout.readline() == b"claimed\n"
        assert store.claim("a") == Claim()
        process.kill()
        until = time.monotonic() + 10
        while not (claim := store.claim("a")).mine and time.monotonic() < until:
            time.sleep(0.01)
        assert claim.mine, "though the process is a zombie still"


def test_a_process_that_cannot_be_looked_up_is_alive_while_it_gives_signs(tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module, "is_alive", lambda owner: None)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with Store(tmp_path) as one, Store(tmp_path) as other:
        assert one.claim("a").mine
        file = file_of(tmp_path)
        for _ in range(5):
            now[0] += 0.9 * module.STALE
            file.execute("UPDATE sessions SET beat = beat + 1")
            assert other.claim("a") == Claim()
        file.close()
        now[0] += 0.9 * module.STALE
        assert other.claim("a") == Claim()
        now[0] += 0.2 * module.STALE
        assert other.claim("a").mine


def test_a_store_gives_signs_of_life(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HEARTBEAT", 0.01)
    with Store(tmp_path):
        file = file_of(tmp_path)
        until = time.monotonic() + 10
        while time.monotonic() < until:
            (beat,) = file.execute("SELECT beat FROM sessions").fetchone()
            if beat >= 3:
                break
        file.close()
    assert beat >= 3


@linux_only
def test_processes_are_told_apart(monkeypatch, tmp_path):
    me = this_process()
    assert is_alive(me) is True
    assert is_alive(me._replace(born="1")) is False, "the number went to another process"
    assert is_alive(me._replace(pid=2**22 + 1)) is False
    assert is_alive(me._replace(place="elsewhere")) is None
    child = subprocess.Popen([sys.executable, "-c", ""])
    until = time.monotonic() + 30
    while processes._born(child.pid) is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert processes._born(child.pid) is None, "a zombie"
    child.wait()
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert this_process() == Owner("", os.getpid(), "")
    assert is_alive(me) is is_alive(this_process()) is None


def test_a_folder_takes_many_writers_at_once(tmp_path):
    def work(seed):
        mine = []
        with Store(tmp_path) as store:
            for key in map(str, np.random.default_rng(seed).permutation(40)):
                if store.claim(key).mine:
                    mine.append(key)
                    store.finish(key, {}, CellResult("ok", {"by": seed}))
        return mine

    with ThreadPoolExecutor(6) as pool:
        parts = [*pool.map(work, range(6))]
    assert sorted(int(key) for part in parts for key in part) == [*range(40)]
    with Store(tmp_path) as store:
        found = store.results(map(str, range(40)))
    for seed, part in enumerate(parts):
        assert all(found[key].measures == {"by": seed} for key in part)


def test_views_are_known_once_the_block_is_left(tmp_path):
    with Store(tmp_path) as store:
        with pytest.raises(KeyError), store.register_view("a"):
            raise KeyError
        for expected in (True, False):
            with store.register_view("a") as new:
                assert new is expected


def test_an_empty_file_is_a_new_store(tmp_path):
    (tmp_path / FILE_NAME).touch()
    with Store(tmp_path) as store:
        assert store.claim("a").mine


@pytest.mark.parametrize("damage", ["text", "head", "middle", "cut"])
def test_a_damaged_store_is_named_and_left_as_it_is(tmp_path, damage):
    with Store(tmp_path) as store:
        for key in range(30):
            store.finish(f"{key:032}", {"much": "x" * 5000}, OK)
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    harmed = {
        "text": b"data,split\n" * 500,
        "head": b"\0" * 100 + whole[100:],
        "middle": whole[:4096] + b"\xff" * (len(whole) - 8192) + whole[-4096:],
        "cut": whole[: len(whole) // 2 + 100],
    }[damage]
    path.write_bytes(harmed)
    with pytest.raises(ColabelError, match="is damaged: move it away and repeat the command"):
        Store(tmp_path)
    assert path.read_bytes() == harmed
    path.rename(tmp_path / "away")
    with Store(tmp_path) as store:
        assert store.claim("a").mine


def test_a_store_of_a_newer_format_is_left_alone(tmp_path):
    Store(tmp_path).close()
    file = file_of(tmp_path)
    file.execute("PRAGMA user_version = 7")
    file.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(ColabelError, match=r"written by a newer colabel \(format 7, .* knows 1\)"):
        Store(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_a_database_of_something_else_is_left_alone(tmp_path):
    file = file_of(tmp_path)
    file.execute("CREATE TABLE mine (x)")
    file.close()
    with pytest.raises(ColabelError, match="was not made by colabel: choose another folder"):
        Store(tmp_path)


def test_a_full_disk_loses_nothing_that_is_done(tmp_path):
    with Store(tmp_path) as store:
        store.finish("a", {}, OK)
        (pages,) = store._file.execute("PRAGMA page_count").fetchone()
        store._file.execute(f"PRAGMA max_page_count = {pages + 2}")
        store.claim("b")
        with pytest.raises(ColabelError, match="the disk is full; make room and repeat the comm"):
            store.finish("b", {"much": "x" * 100_000}, OK)
        assert store.claim("a").result == OK
    with Store(tmp_path) as store:
        assert store.results(["a", "b"]) == {"a": OK}
        assert store.claim("b").mine


def test_a_store_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / FILE_NAME).mkdir()
    with pytest.raises(ColabelError, match="cannot be opened or made; allow it and repeat"):
        Store(tmp_path)


def test_a_writer_that_never_ends_is_named(tmp_path, monkeypatch):
    Store(tmp_path).close()
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    file = file_of(tmp_path)
    file.execute("BEGIN IMMEDIATE")
    with pytest.raises(ColabelError, match="another process does not let go of it"):
        Store(tmp_path)
    file.close()


def test_what_a_cell_was_is_kept_beside_it(tmp_path):
    with Store(tmp_path) as store:
        store.finish("a", {"seed": 1, "estimator": ["x"]}, OK)
    file = file_of(tmp_path)
    (about,) = file.execute("SELECT about FROM cells").fetchone()
    (mode,) = file.execute("PRAGMA journal_mode").fetchone()
    file.close()
    assert json.loads(about) == {"seed": 1, "estimator": ["x"]}
    assert mode == "wal"
