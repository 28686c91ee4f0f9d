"""Cells on a real Dask cluster of several processes, one of which is killed at work."""

import os
import signal

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from colabel import ChainEnsemble, RAkEL
from colabel.datasets import Dataset
from colabel.exceptions import ColabelError
from colabel.lab import compare
from colabel.lab.results_file import read_results
from colabel.lab.workers import Limits

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
        before = client.run_on_scheduler(n_transitions)
        with joblib.parallel_config(backend="dask"):
            there = estimator.set_params(n_jobs=2).fit(X, Y).predict(X)
        assert client.run_on_scheduler(n_transitions) > before, "the work was done there"
    np.testing.assert_array_equal(here, there)


def n_transitions(dask_scheduler):
    return dask_scheduler.transition_counter


def test_what_is_wrong_is_told(monkeypatch):
    monkeypatch.setattr("colabel.lab.cluster.PATIENCE", 0.5)
    with pytest.raises(ColabelError, match="no Dask scheduler answers at luck"):
        compare(["made"], ["br"], load_data=load_made, split="cv:2", dask="luck:1")
    with pytest.raises(ValueError, match="leave out jobs, timeout and memory, or dask"):
        Limits(jobs=2, dask="tcp://127.0.0.1:1")
