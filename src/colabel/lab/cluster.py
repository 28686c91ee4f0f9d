"""Cells on the workers of a Dask scheduler, on this machine or on many.

Data goes to each worker once, and stays there for all folds and methods. A worker that dies takes
nothing with it: Dask runs its cells elsewhere. A scheduler that goes away is waited for, and given
again what it was running. Results come back here, where the store is.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import colabel
from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, MissingExtraError
from colabel.lab.cell import Cell
from colabel.lab.rows import CellResult, first_sentence
from colabel.lab.splits import Rows, divide
from colabel.lab.workers import pack_build, run_task

__all__ = ["Cluster"]

TICK = 0.1  # seconds between two looks
PATIENCE = 10.0  # seconds for the scheduler to answer
AWAY = 60.0  # seconds that a scheduler may be gone
LOOK = 2.0  # seconds between two counts of the workers
TIMES = 3  # that a cell is begun again whose data was lost with all workers
LOST = "its data was lost with the workers that had it, again and again"
# What a lost connection says by itself, with tracebacks; we say it in a sentence.
NOISY = ("distributed", "distributed.client")

_log = logging.getLogger("colabel.lab")


class Cluster:
    """Runs cells through a Dask scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler: ``tcp://HOST:8786``.
    keep : sequence of str
        What cells keep; see ``run_cell``.
    """

    def __init__(self, address: str, keep: Sequence[str] = ()) -> None:
        self.address, self.keep = address, tuple(keep)
        self._client = _connect(address, PATIENCE)
        self._levels = {name: logging.getLogger(name).level for name in NOISY}
        self._hush(dict.fromkeys(NOISY, logging.CRITICAL))
        self._running: dict[int, tuple[Cell, Any, int]] = {}
        self._lost: deque[tuple[int, Cell, int]] = deque()  # to be begun again
        self._parts: tuple[Dataset, ...] | None = None
        self._data: Any = None
        self._slots, self._next_look = 0, 0.0

    @property
    def running(self) -> bool:
        """Whether a cell is being run, or waits to be run again."""
        return bool(self._running or self._lost)

    @property
    def room(self) -> bool:
        """Whether a thread of a worker is free."""
        return not self._lost and self._is_free()

    def submit(self, number: int, cell: Cell) -> None:
        """Begin a cell, which is called by a number."""
        self._begin(number, cell, 0)

    def collect(self) -> list[tuple[int, CellResult]]:
        """Wait a moment, and return the cells that have ended.

        Raises
        ------
        ColabelError
            Where the scheduler has gone and does not come back.
        """
        self._stay()
        while self._lost and self._is_free():
            self._begin(*self._lost.popleft())
        self._wait()
        found = []
        for number, (cell, future, n_times) in [*self._running.items()]:
            if future.status == "pending":
                continue
            del self._running[number]
            result = _result(future)
            if result is None and n_times < TIMES:
                self._parts = None  # the data has gone with the last worker that had it
                self._lost.append((number, cell, n_times + 1))
            else:
                found.append((number, result or CellResult(f"failed: {LOST}")))
        return found

    def close(self) -> None:
        """Give up what is running, and leave."""
        with suppress(OSError):  # of a scheduler that has gone
            if self._client.status == "running":
                for _, future, _ in self._running.values():
                    future.cancel()
            self._client.close()
        self._running.clear()
        self._lost.clear()
        self._data = None
        self._hush(self._levels)

    def _is_free(self) -> bool:
        if time.monotonic() >= self._next_look:
            before, self._slots = self._slots, self._count()
            self._next_look = time.monotonic() + LOOK
            if not self._slots and (before or not self._running):
                _log.info("the Dask scheduler at %s has no workers; waiting", self.address)
                self._next_look += LOOK
        return len(self._running) < self._slots

    def _count(self) -> int:
        """Count the threads of all workers; none where the scheduler does not answer."""
        self._stay()
        try:
            return sum(self._client.nthreads().values())
        except OSError:
            return 0

    def _wait(self) -> None:
        """Wait for a future, but not for long."""
        from distributed import wait

        futures = [future for _, future, _ in self._running.values()]
        if not futures:
            time.sleep(TICK)
            return
        with suppress(TimeoutError, CancelledError), self._client.as_current():
            wait(futures, timeout=TICK, return_when="FIRST_COMPLETED")

    def _begin(self, number: int, cell: Cell, n_times: int) -> None:
        fold = cell.fold
        try:
            if self._parts is not fold.parts:
                # To all workers at once; those that come later fetch it from them.
                (self._data,) = self._client.scatter([fold.parts], broadcast=True, hash=False)
                self._parts = fold.parts
            task = pack_build(cell.build)
            future = self._client.submit(
                _run, self._data, fold.rows, task, self.keep, colabel.__version__, pure=False
            )
        except (OSError, CancelledError):  # all workers, or the scheduler, have gone meanwhile
            self._parts, self._slots = None, 0
            self._lost.append((number, cell, n_times))
        else:
            self._running[number] = cell, future, n_times

    def _stay(self) -> None:
        """Wait for a scheduler that has gone; what it was running is begun again."""
        if self._client.status == "running":
            return
        _log.info("the Dask scheduler at %s has gone; waiting for it", self.address)
        until = time.monotonic() + AWAY
        while self._client.status == "connecting" and time.monotonic() < until:
            time.sleep(TICK)  # the client looks for it by itself, for a while
        if self._client.status != "running":
            try:
                self._client = _connect(self.address, max(TICK, until - time.monotonic()))
            except ColabelError as error:
                raise ColabelError(
                    f"the Dask scheduler at {self.address} has gone and was not back within "
                    f"{AWAY:g} s: start it and its workers, and repeat the command: finished cells "
                    "are kept"
                ) from error
        _log.info("the Dask scheduler at %s is back", self.address)
        for number, (cell, _, n_times) in self._running.items():
            self._lost.append((number, cell, n_times))
        self._running.clear()
        self._parts, self._slots, self._next_look = None, 0, 0.0

    def _hush(self, levels: Mapping[str, int]) -> None:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _connect(address: str, patience: float) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("--dask", "dask") from error
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError) as error:  # no answer, or no address
        raise ColabelError(
            f"no Dask scheduler answers at {address}: start one with `dask scheduler`, and workers "
            "with `dask worker ADDRESS`"
        ) from error


def _run(
    parts: tuple[Dataset, ...],
    rows: Rows | None,
    task: bytes,
    keep: tuple[str, ...],
    version: str,
) -> CellResult:  # pragma: no cover - in other processes
    """Run a cell on a worker; its threads share the cores."""
    from distributed import get_worker
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    if colabel.__version__ != version:
        raise ColabelError(f"the worker has colabel {colabel.__version__}, the run {version}")
    with threadpool_limits(max(1, cpu_count() // get_worker().state.nthreads)):
        return run_task(task, *divide(parts, rows), keep)


def _result(future: Any) -> CellResult | None:
    """Return what became of a cell; None where that was lost with the workers that had it."""
    if future.status == "error":
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            return CellResult("failed: it was the end of every Dask worker that it was run on")
        return CellResult(f"failed: {type(error).__name__}: {first_sentence(str(error))}")
    try:
        return future.result() if future.status == "finished" else None
    except (OSError, CancelledError):  # it was on its way
        return None
