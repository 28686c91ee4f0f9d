"""Real runs, killed at random moments again and again: the end is that of a run left alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kill_runs.py"
# The script itself kills a hundred by default.
N_KILLS = int(os.environ.get("COLABEL_KILLS", "20"))

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def start(folder, *options):
    call = [sys.executable, "-m", "colabel", "compare", "yeast", "-m", "br", "--split", "cv:8"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen([*call, "-o", str(folder), *options], start_new_session=True, **quiet)


@pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not here")
def test_runs_that_were_killed_go_on_and_end_as_if_they_were_not():
    call = [sys.executable, str(SCRIPT), "--kills", str(N_KILLS)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    *ways, last = done.stdout.splitlines()
    assert [line.split()[0] for line in ways] == ["alone", "pair", "workers"]
    assert all(line.endswith("all ends equal") for line in ways)
    assert int(last.split()[0]) >= N_KILLS


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
