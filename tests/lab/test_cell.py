"""One cell: measures, times, memory, and a failure that is kept."""

import sys
import time

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from scipy.special import expit
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from colabel import BinaryRelevance
from colabel.datasets import Dataset
from colabel.lab import processes
from colabel.lab.cell import run_cell, scores_of
from colabel.lab.rows import CellResult
from colabel.metrics import evaluate

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the peak is reset on Linux only")


@pytest.fixture
def parts(toy):
    X, Y = toy
    data = Dataset(X, Y.astype(np.int8), tuple("abcd"), tuple("vwxyz"))
    return data.take(slice(0, 40)), data.take(slice(40, 60))


def test_a_cell_measures_the_prediction_of_unseen_rows(parts):
    train, test = parts
    result = run_cell(BinaryRelevance, train, test)
    assert result.ok
    model = BinaryRelevance().fit(train.X, train.Y)
    expected = evaluate(test.Y, model.predict(test.X), model.decision_function(test.X))
    assert result.measures == expected
    assert result.fit_seconds > 0
    assert result.predict_seconds > 0
    assert result.peak_memory_mb > 10


class Compiles(BinaryRelevance):
    """Takes half a second of the compiler, in a fit and again in a prediction."""

    def fit(self, X, Y):
        compile_for(0.5)
        return super().fit(X, Y)

    def predict(self, X):
        compile_for(0.5)
        return super().predict(X)


def compile_for(seconds):
    with global_compiler_lock, global_compiler_lock:  # one function calls another
        time.sleep(seconds)


def test_times_are_without_those_of_compiling(parts):
    BinaryRelevance().fit(parts[0].X, parts[0].Y)
    began = time.perf_counter()
    result = run_cell(Compiles, *parts)
    seconds = time.perf_counter() - began
    assert result.ok
    assert seconds >= 1.0
    assert 0 < result.fit_seconds < seconds - 1.0
    assert 0 < result.predict_seconds < seconds - 1.0


class NoLabels(BinaryRelevance):
    def predict(self, X):
        return np.zeros((1, 1))


def fails_to_build():
    raise TypeError("no\nluck")


def says_nothing():
    raise KeyError


@pytest.mark.parametrize(
    ("build", "status"),
    [
        (fails_to_build, "failed: TypeError: no luck"),
        (says_nothing, "failed: KeyError: no reason given"),
        (lambda: BinaryRelevance("x"), "failed: "),
        (NoLabels, "failed: ValueError: "),
    ],
)
def test_a_failure_at_any_point_is_a_result(parts, build, status):
    result = run_cell(build, *parts)
    assert not result.ok
    assert result.status.startswith(status)
    assert "\n" not in result.status
    assert result.measures == {}
    assert np.isnan([result.fit_seconds, result.predict_seconds, result.peak_memory_mb]).all()


def interrupted():
    raise KeyboardInterrupt


def interrupted_in_compiled_code():
    try:
        interrupted()
    except KeyboardInterrupt as interrupt:
        raise SystemError("returned a result with an exception set") from interrupt


@pytest.mark.parametrize("build", [interrupted, interrupted_in_compiled_code])
def test_an_interruption_is_no_failure(parts, build):
    with pytest.raises(KeyboardInterrupt):
        run_cell(build, *parts)


def test_scores_come_from_whatever_the_estimator_has(toy):
    X, Y = toy
    br = BinaryRelevance().fit(X, Y)
    np.testing.assert_array_equal(scores_of(br, X, 5), br.decision_function(X))
    knn = KNeighborsClassifier(3).fit(X, Y)
    found = scores_of(knn, X, 5)
    assert found.shape == Y.shape
    np.testing.assert_array_equal(found[:, 0] > 0, knn.predict_proba(X)[0][:, 1] > 0.5)
    assert (found[:, 2] > 30).all(), "a label that is always on"
    assert (found[:, 3] < -30).all(), "a label that is never on"
    network = MLPClassifier((2,), max_iter=5000, random_state=0).fit(X, Y[:, :2])
    np.testing.assert_allclose(expit(scores_of(network, X, 2)), network.predict_proba(X))
    machine = MultiOutputClassifier(LinearSVC()).fit(X, Y[:, :2])
    assert scores_of(machine, X, 2) is None


def test_a_result_without_measures_knows_it():
    assert CellResult("ok").ok
    assert not CellResult("failed: why").ok


def current_mb():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


@linux_only
def test_the_peak_is_never_below_the_current_size():
    assert processes.peak_memory_mb() >= current_mb() - 1


@linux_only
def test_the_peak_remembers_what_was_freed_until_it_is_reset():
    if not processes.reset_peak():
        pytest.skip("this container does not allow clear_refs")
    before = processes.peak_memory_mb()
    block = np.ones(50 << 17)  # 50 MiB
    del block
    assert processes.peak_memory_mb() >= before + 40
    assert processes.reset_peak()
    assert processes.peak_memory_mb() < before + 30


def test_without_proc_the_peak_of_the_process_is_given(monkeypatch, tmp_path):
    pytest.importorskip("resource", reason="Windows keeps no peak that Python tells")
    monkeypatch.setattr(processes, "PROC", tmp_path / "none")
    assert not processes.reset_peak()
    peak = processes.peak_memory_mb()
    assert 10 < peak < 1e6
    monkeypatch.setattr(sys, "platform", "darwin")  # where the unit is a byte
    assert processes.peak_memory_mb() == pytest.approx(peak / 1024, rel=0.2)


def test_where_nothing_tells_the_peak_is_not_a_number(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "PROC", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "resource", None)
    assert np.isnan(processes.peak_memory_mb())
