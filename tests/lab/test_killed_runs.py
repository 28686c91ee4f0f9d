"""Real runs, killed at random moments again and again: the end is that of a run left alone.

A few kills by default; COLABEL_KILLS=100 asks for more.
"""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from colabel.lab.results_file import read_results

N_KILLS = int(os.environ.get("COLABEL_KILLS", "6"))
CALL = ["compare", "yeast", "-m", "br,br+top_1", "--split", "cv:8"]
N_CELLS = 16
TIMES = ("fit_seconds", "predict_seconds", "peak_memory_mb")
# How the run is started: cells in the process, in workers, and in two processes at a time.
WAYS = {"alone": [[]], "workers": [["--jobs", "2"]], "pair": [[], ["--jobs", "2"]]}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")


def start(folder, *options):
    call = [sys.executable, "-m", "colabel", *CALL, "-o", str(folder), *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(call, start_new_session=True, **quiet)


def finish(process):
    err = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 0, err
    return err


def without_times(folder):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in read_results(folder)]


def n_done(folder):
    """Count the finished cells, each of which was finished once."""
    if not (folder / "cells.sqlite").exists():
        return 0
    with closing(sqlite3.connect(folder / "cells.sqlite", timeout=60)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'cells'").fetchone():
            return 0
        n_cells, last = file.execute("SELECT count(*), max(number) FROM cells").fetchone()
    assert last in (n_cells, None), "a cell was computed twice"
    return n_cells


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory):
    """The rows of a run that nobody disturbs, and how long it takes."""
    folder = tmp_path_factory.mktemp("alone")
    began = time.monotonic()
    finish(start(folder))
    return without_times(folder), time.monotonic() - began


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_was_killed_goes_on_and_ends_as_if_it_was_not(way, left_alone, tmp_path):
    expected, seconds = left_alone
    assert len(expected) == N_CELLS
    rng = random.Random(way)
    n_kills, n_runs = 0, 0
    while n_kills < max(1, N_KILLS // len(WAYS)):
        folder, before = tmp_path / f"run{n_runs}", 0
        n_runs += 1
        while True:
            processes = [start(folder, *options) for options in WAYS[way]]
            time.sleep(rng.uniform(0.4, 1.0) * seconds)
            alive = [process for process in processes if process.poll() is None]
            for process in alive:
                process.send_signal(signal.SIGKILL)
                n_kills += 1
            for process in processes:
                process.communicate()
            now = n_done(folder)
            assert now >= before, "what was done is done"
            before = now
            if (folder / "results.csv").exists():
                rows = without_times(folder)
                assert [row for row in expected if row in rows] == rows, "whole rows, in order"
            if not alive or n_kills >= max(1, N_KILLS // len(WAYS)):
                break
        for process in [start(folder, *options) for options in WAYS[way]]:
            finish(process)
        assert without_times(folder) == expected
        assert n_done(folder) == N_CELLS
        assert not list(folder.glob("*-wal")), "the file is closed"
        assert not list(folder.glob("results-*")), "its own results need not be set aside"


def test_a_worker_leaves_with_the_run_that_started_it(tmp_path):
    process = start(tmp_path / "r", "--jobs", "2")
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    if not os.path.exists(children):
        process.kill()
        process.communicate()
        pytest.skip("this system does not tell the children of a process")
    until = time.monotonic() + 60
    workers = []
    while len(workers) < 3 and time.monotonic() < until:  # two, and Python's resource tracker
        with open(children) as file:
            workers = file.read().split()
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert len(workers) >= 3
    while any(os.path.exists(f"/proc/{pid}") for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in workers if os.path.exists(f"/proc/{pid}")]
