"""Cells in processes of their own, which can be stopped and may die without harm to the run.

A small supervisor and not joblib's executors: those cannot say which cell a dead process was
running, and give up all others with it. Workers live on from cell to cell, and are sent the data of
a fold once. They share the cores: each may use its part of them for threads.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from joblib import cpu_count, wrap_non_picklable_objects

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError
from colabel.lab.cell import Cell, run_cell
from colabel.lab.processes import resident_mb
from colabel.lab.rows import CellResult
from colabel.lab.running import Limits
from colabel.lab.splits import Fold
from colabel.messages import warn_user

__all__ = ["Workers", "pack_build", "run_task"]

# What the libraries below estimators read when they start.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
TICK = 0.1  # seconds between two looks at the clock and at memory
GRACE = 2.0  # seconds for a worker to leave by itself
READY = b"ready"


class Workers:
    """Processes that run cells.

    Parameters
    ----------
    limits : Limits
    keep : sequence of str
        What cells keep; see ``run_cell``.
    """

    def __init__(self, limits: Limits, keep: Sequence[str] = ()) -> None:
        self.limits, self.keep = limits, tuple(keep)
        self._workers: list[_Worker] = []

    @property
    def running(self) -> bool:
        """Whether a cell is being run."""
        return any(worker.number is not None for worker in self._workers)

    @property
    def room(self) -> bool:
        """Whether a worker is free; one is started where there may be more."""
        free = any(worker.ready and worker.number is None for worker in self._workers)
        if not free and len(self._workers) < self.limits.jobs:
            # Beside those that are still starting: they need a second or two.
            self._workers.append(_Worker(max(1, cpu_count() // self.limits.jobs)))
        return free

    def submit(self, number: int, cell: Cell) -> None:
        """Begin a cell, which is called by a number; there must be room."""
        worker = next(w for w in self._workers if w.ready and w.number is None)
        worker.begin(number, cell, self.keep)

    def collect(self) -> list[tuple[int, CellResult]]:
        """Wait a moment, and return the cells that have ended."""
        wait([end for worker in self._workers for end in worker.ends], timeout=TICK)
        found = []
        for worker in [*self._workers]:
            result = worker.look(self.limits)
            if result is not None and worker.number is not None:
                found.append((worker.number, result))
                worker.number = None
            if worker.gone:
                worker.stop()
                self._workers.remove(worker)
        return found

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()


class _Worker:
    """A process, the cell that it runs, and the fold whose data it has."""

    def __init__(self, n_threads: int) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), name="colabel cells")
        with _environment(n_threads):
            self._process.start()
        theirs.close()
        self.ready = self.gone = False
        self.number: int | None = None
        self._fold: Fold | None = None
        self._began = 0.0

    @property
    def ends(self) -> list[Connection | int]:
        """What becomes ready when the worker has sent something, or has ended."""
        return [self._pipe, self._process.sentinel]

    def begin(self, number: int, cell: Cell, keep: tuple[str, ...]) -> None:
        self.number = number
        data = None if self._fold is cell.fold else (cell.fold.train(), cell.fold.test())
        with suppress(OSError):  # a worker that has ended meanwhile will be noticed
            self._pipe.send((pack_build(cell.build), data, keep))
            self._fold = cell.fold
        self._began = time.monotonic()

    def look(self, limits: Limits) -> CellResult | None:
        """Return the result of the cell, or why it has none; None where it goes on."""
        with suppress(EOFError, OSError):
            if self._pipe.poll():
                return self._read_message(self._pipe.recv_bytes(), limits)
        if not self._process.is_alive():
            return self._explain_end()
        if self.number is None:
            return None
        if limits.timeout is not None and time.monotonic() - self._began > limits.timeout:
            return self._end(f"stopped after {limits.timeout:g} s, the limit of a cell")
        if limits.memory is not None:
            held = resident_mb(self._process.pid or 0) or 0.0
            return self._end(_above_limit(held, limits.memory)) if held > limits.memory else None
        return None

    def stop(self) -> None:
        """End the process and those that it has started."""
        self._pipe.close()
        if not self.gone:
            self._process.join(GRACE if self.number is None and self.ready else 0)
        with suppress(ProcessLookupError, PermissionError, AttributeError):  # Windows has none
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self._process.close()

    def _read_message(self, message: bytes, limits: Limits) -> CellResult | None:
        if message == READY:
            self.ready = True
            return None
        result: CellResult
        result, warned = pickle.loads(message)
        try:
            for text, category in warned:
                warn_user(text, category)
        except Warning as error:  # where warnings are errors, as in a cell of this process
            return CellResult(f"failed: {type(error).__name__}: {error}")
        peak = result.peak_memory_mb
        if limits.memory is not None and peak > limits.memory:  # too quick for us to see it
            return CellResult(f"failed: {_above_limit(peak, limits.memory)}")
        return result

    def _end(self, reason: str) -> CellResult:
        self.gone = True
        return CellResult(f"failed: {reason}")

    def _explain_end(self) -> CellResult | None:
        if not self.ready:
            raise ColabelError(
                "a process for cells did not start; a script that runs cells in several processes "
                'must do so under `if __name__ == "__main__":`'
            )
        self._process.join()
        return self._end(f"its process {_describe_exit(self._process.exitcode or 0)}")


def _work(pipe: Connection) -> None:
    """Run cells until there are no more, or the run has gone."""
    if hasattr(os, "setsid"):
        os.setsid()  # so that those we start end with us
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # the run has gone, and we with it
        pipe.send_bytes(READY)
        data: tuple[Dataset, ...] = ()
        while True:
            task, sent, keep = pipe.recv()
            train, test = data = sent or data
            with warnings.catch_warnings(record=True) as caught:
                result = run_task(task, train, test, keep)
            warned = [(str(one.message), one.category) for one in caught]
            pipe.send_bytes(_pack((result, warned)))


def pack_build(build: Callable[[], Any]) -> bytes:
    """Pickle what makes an estimator; one that cannot be raises where it is unpacked."""
    try:
        return _pack(build)
    except Exception as error:  # whatever an estimator holds that no other process can
        return _pack(partial(_raise_unsendable, f"{type(error).__name__}: {error}"))


def _raise_unsendable(reason: str) -> None:
    raise TypeError(f"the method cannot be sent to another process ({reason})")


def run_task(task: bytes, train: Dataset, test: Dataset, keep: Sequence[str]) -> CellResult:
    """Run the cell of a packed estimator."""
    return run_cell(lambda: pickle.loads(task)(), train, test, keep)


def _pack(value: Any) -> bytes:
    """Pickle a value; functions and classes made on the way go in whole."""
    return pickle.dumps(wrap_non_picklable_objects(value, keep_wrapper=False))


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)  # those that cells have started too
        os._exit(1)


@contextmanager
def _environment(n_threads: int) -> Iterator[None]:
    """Let processes that start now use some threads, and leave Ctrl-C to this one."""
    before = {name: os.environ.get(name) for name in THREADS}
    for name, value in before.items():
        allowed = int(value) if value is not None and value.isdigit() else n_threads
        os.environ[name] = str(min(allowed, n_threads))
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _above_limit(held: float, limit: float) -> str:
    return f"stopped at {held:.0f} MiB of memory, above the limit of {limit:g} for a cell"


def _describe_exit(status: int) -> str:
    """Describe how a process ended."""
    if status >= 0:
        return f"ended with status {status}"
    name = signal.Signals(-status).name
    why = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"was killed by {name}{why}"
