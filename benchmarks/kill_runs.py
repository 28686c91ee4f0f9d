"""Kill real runs with SIGKILL at random moments: the end must be that of a run left alone.

    python benchmarks/kill_runs.py --kills 100

Each run is a process of its own, forked from this one, which has imported everything: so most of
its time is the run itself, and not Python's start. Three ways: one process on a folder, two at a
time on one folder, and one with two workers. After every kill the store must be sound, hold what it
held before, and no cell twice; at the end the rows, and the predictions that were kept, must be
those of a run that nobody disturbed. Every second kill comes at a random moment of the whole run,
every other after a cell of it was stored: workers take longer to start than all of their cells.
"""

import argparse
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np

from colabel.datasets import load
from colabel.lab import compare
from colabel.lab.run_folder import read_results

METHODS, N_FOLDS = ("br", "br+top_1"), 6
N_CELLS = len(METHODS) * N_FOLDS
TIMES = ("fit_seconds", "predict_seconds", "peak_memory_mb")
MOST = 8  # kills of one run folder; then it may end
# Of twenty kills, how many fall on which way: the number of processes, and of workers of each.
WAYS = {"alone": (10, 1, 1), "pair": (9, 2, 1), "workers": (1, 1, 2)}


@cache
def small(name, split=None):
    return load(name).take(slice(0, 150))


def run(folder, jobs=1):
    options = {"split": f"cv:{N_FOLDS}", "load_data": small, "keep": ("predictions",)}
    if folder is None:
        del options["keep"]
    return compare(["yeast"], METHODS, run_dir=folder, jobs=jobs, **options)


def start(folder, jobs):
    """Run in a forked process; return its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        run(folder, jobs)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def wait(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def n_done(folder):
    """Count the finished cells of a sound store, each of which was finished once."""
    path = folder / "cells.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path, timeout=60)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'cells'").fetchone():
            return 0
        n_cells, last = file.execute("SELECT count(*), max(number) FROM cells").fetchone()
    assert last in (n_cells, None), "a cell was computed twice"
    return n_cells


def without_times(folder):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in read_results(folder)]


def predictions(folder):
    found = {}
    for path in (folder / "predictions").glob("*.npz"):
        with np.load(path) as file:
            found[path.name] = file["labels"].tobytes()
    return found


def check_part(folder, expected, before):
    now = n_done(folder)
    assert now >= before, "what was done is done"
    if (folder / "results.csv").exists():
        rows = without_times(folder)
        assert [row for row in expected if row in rows] == rows, "whole rows, in order"
    return now


def wait_a_while(folder, done, seconds, rng):
    """Sleep until some moment of a run."""
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0.02, 1.05) * seconds)
        return
    until = time.monotonic() + 5 * seconds
    while n_done(folder) == done and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(rng.uniform(0.0, 0.1) * seconds)


def disturb(folder, n_processes, jobs, seconds, rng, n_most, expected):
    """Kill runs on one folder until one ends by itself; return how many were killed."""
    n_kills, done = 0, 0
    while n_kills < n_most:
        pids = [start(folder, jobs) for _ in range(n_processes)]
        wait_a_while(folder, done, seconds, rng)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)  # one that has ended is still there, as we did not wait
        codes = [wait(pid) for pid in pids]
        assert set(codes) <= {0, -signal.SIGKILL}, codes
        n_kills += codes.count(-signal.SIGKILL)
        done = check_part(folder, expected, done)
        if 0 in codes:
            break
    return n_kills


def check_way(way, n_kills, seed, place):
    _, n_processes, jobs = WAYS[way]
    rng = random.Random(f"{seed} {way}")
    alone = place / f"{way} alone"
    began = time.monotonic()
    assert wait(start(alone, jobs)) == 0
    seconds = time.monotonic() - began
    expected, kept = without_times(alone), predictions(alone)
    assert len(expected) == len(kept) == N_CELLS
    killed = n_runs = n_before = 0
    while killed < n_kills:
        folder = place / f"{way} {n_runs}"
        most = min(MOST, n_kills - killed)
        killed += disturb(folder, n_processes, jobs, seconds, rng, most, expected)
        n_before += n_done(folder)
        codes = [wait(pid) for pid in [start(folder, jobs) for _ in range(n_processes)]]
        assert codes == [0] * n_processes, codes
        assert without_times(folder) == expected
        assert predictions(folder) == kept
        assert n_done(folder) == N_CELLS
        left = [p.name for p in folder.rglob("*") if p.name.endswith(("-wal", ".part"))]
        assert not [name for name in left if name.endswith("-wal")], "the file is closed"
        assert not list(folder.glob("results-*")), "its own results need not be set aside"
        n_runs += 1
    print(
        f"{way:8} {killed:4d} kills of {n_runs:3d} runs of {N_CELLS} cells and {seconds:.1f} s; "
        f"{n_before / n_runs:.1f} cells done when last killed; all ends equal",
        flush=True,
    )
    return killed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[*WAYS], help="all kills on one way")
    given = parser.parse_args()
    began, killed = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as place:
        run(None)  # compiled, and read from the cache
        for way, (share, *_) in WAYS.items():
            if given.only in (None, way):
                share = share if given.only is None else 20
                killed += check_way(way, -(-given.kills * share // 20), given.seed, Path(place))
    print(f"{killed} kills in {time.monotonic() - began:.0f} s")
    assert killed >= given.kills


if __name__ == "__main__":
    if not hasattr(os, "fork"):
        sys.exit("this system cannot fork")
    main()
