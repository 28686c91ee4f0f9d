"""Cells in processes of their own: whatever they do, the run goes on and says what came of it."""

import os
import signal
import sys
import time
import warnings

import numpy as np
import pytest

from colabel.datasets import Dataset
from colabel.lab import Variant, compare
from colabel.lab.running import Limits
from colabel.lab.workers import _describe_exit
from lab.odd import Locked, Odd

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is watched on Linux only")


def load_small(name, split=None):
    X = np.random.default_rng(0).normal(size=(30, 3))
    return Dataset(X, (X > 0).astype(np.int8), tuple("abc"), tuple("xyz"), name)


def variant(how):
    return Variant(how, lambda seed: Odd(how), {})


def run(*variants, **options):
    return compare(["x"], variants, split="holdout:0.5", load_data=load_small, **options)


@linux_only
def test_a_run_goes_on_whatever_its_cells_do(monkeypatch):
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    lock = Locked()
    hows = ("eat", "die", "leave", "fail", "warn", "threads", "nothing")
    told = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = run(
            *map(variant, hows),
            Variant("locked", lambda seed: lock, {}),
            jobs=2,
            cell_memory=800,
            on_row=told.append,
        )
    found = {row.method: row.result for row in rows}
    assert list(found) == [*hows, "locked"], "in the order of the plan"
    assert len(told) == len(rows)
    assert "MiB of memory, above the limit of 800 for a cell" in found["eat"].status
    assert found["die"].status == (
        "failed: its process was killed by SIGKILL, perhaps for want of memory"
    )
    assert found["leave"].status == "failed: its process ended with status 3"
    assert found["fail"].status == "failed: RuntimeError: not today"
    assert 'raise RuntimeError("not today")' in found["fail"].traceback
    assert "cannot be sent to another process" in found["locked"].status
    n_threads = max(1, (os.cpu_count() or 1) // 2)
    assert int(found["threads"].status[-1]) <= n_threads
    here = run(variant("nothing"))[0].result.measures
    assert [str(one.message) for one in said] == ["mind the step"]
    assert found["nothing"].measures == found["warn"].measures == here


@linux_only
def test_where_warnings_are_errors_a_cell_that_warns_has_failed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = run(variant("warn"), variant("nothing"), jobs=2)
    assert rows[0].result.status == "failed: UserWarning: mind the step"
    assert rows[1].result.ok


def test_a_cell_that_takes_too_long_is_stopped():
    began = time.monotonic()
    (row,) = run(variant("sleep"), cell_timeout=0.5)
    assert row.result.status == "failed: stopped after 0.5 s, the limit of a cell"
    assert time.monotonic() - began < 300


def test_limits_must_be_above_zero():
    for name in ("jobs", "timeout", "memory"):
        with pytest.raises(ValueError, match=f"{name} of cells must be above zero, not 0"):
            Limits(**{name: 0})
    assert not Limits().isolated


def test_the_end_of_a_process_is_told():
    assert _describe_exit(0) == "ended with status 0"
    assert _describe_exit(-signal.SIGSEGV) == "was killed by SIGSEGV"
