"""Cells on a real Dask cluster of several processes, one of which is killed at work."""

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import CancelledError
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from colabel import ChainEnsemble, RAkEL
from colabel.datasets import Dataset
from colabel.exceptions import ColabelError
from colabel.lab import compare
from colabel.lab.cluster import Cluster
from colabel.lab.compare import list_cells
from colabel.lab.rows import CellResult
from colabel.lab.run_folder import read_results
from colabel.lab.running import Limits

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
joblib = pytest.importorskip("joblib")

# What Dask leaves behind at its end is none of ours.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
]


def load_made(name, split=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 30))
    Y = (X[:, :10] + rng.normal(size=(800, 10)) > 0.5).astype(np.int8)
    return Dataset(X, Y, tuple(map(str, range(30))), tuple(map(str, range(10))), name)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        host="127.0.0.1",
        silence_logs=50,
    ) as made:
        yield made


def run(folder, **options):
    return compare(
        ["made"],
        ["br", "br+top_1"],
        split="cv:3",
        run_dir=folder,
        load_data=load_made,
        keep=("predictions",),
        **options,
    )


def without_times(folder):
    times = ("fit_seconds", "predict_seconds", "peak_memory_mb")
    return [{k: v for k, v in row.items() if k not in times} for row in read_results(folder)]


def test_a_worker_that_is_killed_takes_nothing_with_it(cluster, tmp_path, monkeypatch):
    shipped = []
    scatter = distributed.Client.scatter

    def counting(client, data, **options):
        shipped.append(options)
        return scatter(client, data, **options)

    monkeypatch.setattr(distributed.Client, "scatter", counting)
    killed = []

    def kill_one(row):
        if not killed:
            pid = next(iter(cluster.workers.values())).pid
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    far = run(tmp_path / "far", dask=cluster.scheduler_address, on_row=kill_one)
    assert killed
    assert len(far) == 6
    assert all(row.result.ok for row in far)
    assert len(shipped) == 1, "all folds and methods of the data that went out once"
    assert shipped[0]["broadcast"]
    run(tmp_path / "near")
    assert without_times(tmp_path / "far") == without_times(tmp_path / "near")
    for path in (tmp_path / "near" / "predictions").iterdir():
        with np.load(path) as near, np.load(tmp_path / "far" / "predictions" / path.name) as away:
            np.testing.assert_array_equal(near["labels"], away["labels"])
    again = run(tmp_path / "far", dask=cluster.scheduler_address)
    assert [row.result for row in again] == [row.result for row in far], "read, not run again"


def start(*words):
    """Start a process of Dask, which says nothing."""
    call = [sys.executable, "-m", f"distributed.cli.{words[0]}", *words[1:], "--no-dashboard"]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Machines:
    """A scheduler and a worker, in processes that can be killed and started anew."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = str(free.getsockname()[1])
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.started = []

    def start(self):
        scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", self.port)
        worker = ("dask_worker", self.address, "--nthreads", "1", "--no-nanny")
        self.started += [start(*scheduler), start(*worker)]

    def kill(self):
        for process in self.started:
            process.kill()
            process.wait()
        self.started.clear()


@pytest.fixture
def machines():
    made = Machines()
    made.start()
    yield made
    made.kill()


def test_a_scheduler_that_goes_away_is_waited_for(machines, tmp_path, monkeypatch, caplog):
    """Killed twice: once it comes back, and once it does not."""
    caplog.set_level("INFO", "colabel.lab")
    monkeypatch.setattr("colabel.lab.cluster.PATIENCE", 60.0)
    folder, n_rows = tmp_path / "far", []

    def kill(row):
        n_rows.append(row)
        if len(n_rows) == 2:
            machines.kill()
            machines.start()
        if len(n_rows) == 4:
            machines.kill()
            monkeypatch.setattr("colabel.lab.cluster.AWAY", 1.0)

    with pytest.raises(ColabelError) as caught:
        run(folder, dask=machines.address, on_row=kill)
    assert str(caught.value) == (
        f"the Dask scheduler at {machines.address} has gone and was not back within 1 s: start it "
        "and its workers, and repeat the command: finished cells are kept"
    )
    assert f"the Dask scheduler at {machines.address} is back" in caplog.text
    assert len(n_rows) == len(read_results(folder)) == 4
    started = []
    rows = run(folder, on_start=lambda *cell: started.append(cell))
    assert len(rows) == 6
    assert len(started) == 2, "what was done is read"
    run(tmp_path / "near")
    assert without_times(folder) == without_times(tmp_path / "near")


def test_what_was_lost_waits_for_workers(monkeypatch):
    """The data cannot be sent while nobody is there to take it, nor a result be fetched."""
    client = Client(Future("finished", OSError("gone")), Future("finished"))
    client.threads = {"one": 1}
    scatter, answers = client.scatter, [OSError("gone"), CancelledError(), None, None]

    def scatter_later(parts, **options):
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        return scatter(parts, **options)

    client.scatter = scatter_later
    monkeypatch.setattr("colabel.lab.cluster._connect", lambda *address: client)
    monkeypatch.setattr("colabel.lab.cluster.LOOK", 0.0)
    monkeypatch.setattr(distributed, "wait", cancelled)
    cluster = Cluster("tcp://far:1")
    assert cluster.room
    cluster.submit(0, list_cells(["made"], ["br"], "cv:2", [0], load_made)[0])
    assert cluster.running
    assert not cluster.room, "what was lost goes first"
    found = []
    while not found:
        found = cluster.collect()
    assert [(number, result.status) for number, result in found] == [(0, "ok")]
    assert answers == []
    assert not cluster.running
    cluster.close()


@pytest.mark.parametrize(
    "estimator",
    [ChainEnsemble(LogisticRegression(), n_chains=4, random_state=0), RAkEL(random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_with_jobs_run_on_dask(cluster, estimator):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :4] + rng.normal(size=(60, 4)) > 0).astype(int)
    here = estimator.set_params(n_jobs=None).fit(X, Y).predict(X)
    with distributed.Client(cluster.scheduler_address) as client:
        client.wait_for_workers(2, timeout=300)  # the one that was killed comes back
        before = client.run_on_scheduler(n_transitions)
        with joblib.parallel_config(backend="dask"):
            there = estimator.set_params(n_jobs=2).fit(X, Y).predict(X)
        assert client.run_on_scheduler(n_transitions) > before, "the work was done there"
    np.testing.assert_array_equal(here, there)


def n_transitions(dask_scheduler):
    return dask_scheduler.transition_counter


class Future:
    def __init__(self, status, error=None):
        self.status, self.error = status, error

    def result(self):
        if self.error is not None:
            raise self.error
        return CellResult("ok")

    def exception(self):
        return self.error

    def cancel(self):
        self.status = "cancelled"


class KilledWorker(Exception):
    """Stands for Dask's, which needs a state to be made of."""


class Client:
    """A cluster of one thread whose futures end as they are told."""

    status = "running"

    def __init__(self, *ends):
        self.ends, self.n_scattered, self.threads = list(ends), 0, {}

    def nthreads(self):
        return self.threads

    def scatter(self, parts, **options):
        self.n_scattered += 1
        return parts

    def submit(self, *task, **options):
        return self.ends.pop(0)

    def as_current(self):
        return nullcontext()

    def close(self):
        self.threads = None


def cancelled(futures, **options):
    """Do as Dask does where a future has gone with the last worker that had its data."""
    if any(future.status == "cancelled" for future in futures):
        raise distributed.client.FuturesCancelledError([])


def test_what_becomes_of_cells_is_told(monkeypatch, caplog):
    caplog.set_level("INFO", "colabel.lab")
    lost = [Future("lost") for _ in range(4)]
    ends = [Future("cancelled"), Future("finished"), *lost, Future("error", KilledWorker())]
    client = Client(*ends, Future("error", OSError("no. Disk")), Future("pending"))
    monkeypatch.setattr("colabel.lab.cluster._connect", lambda *address: client)
    monkeypatch.setattr("colabel.lab.cluster.LOOK", 0.0)
    monkeypatch.setattr(distributed, "wait", cancelled)
    cluster = Cluster("tcp://far:1")
    assert not cluster.room
    assert "the Dask scheduler at tcp://far:1 has no workers; waiting" in caplog.text
    client.threads = {"one": 1}
    assert cluster.collect() == []
    cell = list_cells(["made"], ["br"], "cv:2", [0], load_made)[0]
    statuses = []
    for number in range(4):
        assert cluster.room
        cluster.submit(number, cell)
        assert not cluster.room
        found = []
        while not found:
            found = cluster.collect()
        statuses.append(found[0][1].status)
    assert statuses == [
        "ok",
        "failed: its data was lost with the workers that had it, again and again",
        "failed: it was the end of every Dask worker that it was run on",
        "failed: OSError: no. Disk",
    ]
    assert client.n_scattered == 1 + 1 + 3, "again where it was lost"
    cluster.submit(4, cell)
    assert cluster.collect() == []
    cluster.close()
    assert client.threads is None
    assert not cluster.running


def test_what_is_wrong_is_told(monkeypatch):
    monkeypatch.setattr("colabel.lab.cluster.PATIENCE", 0.5)
    with pytest.raises(ColabelError, match="no Dask scheduler answers at luck"):
        compare(["made"], ["br"], load_data=load_made, split="cv:2", dask="luck:1")
    with pytest.raises(ValueError, match="leave out jobs, timeout and memory, or dask"):
        Limits(jobs=2, dask="tcp://127.0.0.1:1")
