"""Cells on the workers of a Dask scheduler, on this machine or on many.

Data goes to each worker once, and stays there for all folds and methods. A worker that dies takes
nothing with it: Dask runs its cells elsewhere. Results come back here, where the store is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

import colabel
from colabel.exceptions import ColabelError, MissingExtraError
from colabel.lab.cell import CellResult, first_sentence
from colabel.lab.rows import Cell
from colabel.lab.splits import divide
from colabel.lab.workers import pack_build, run_task

__all__ = ["Cluster"]

TICK = 0.1  # seconds between two looks
PATIENCE = 10.0  # seconds for the scheduler to answer
LOOK = 2.0  # seconds between two counts of the workers
TIMES = 3  # that a cell is begun again whose data was lost with all workers

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
        self._client = _connect(address)
        self._running: dict[int, tuple[Cell, Any, int]] = {}
        self._parts: Any = None
        self._data: Any = None
        self._slots, self._next_look = 0, 0.0

    @property
    def running(self) -> bool:
        """Whether a cell is being run."""
        return bool(self._running)

    @property
    def room(self) -> bool:
        """Whether a thread of a worker is free."""
        if time.monotonic() >= self._next_look:
            before, self._slots = self._slots, sum(self._client.nthreads().values())
            self._next_look = time.monotonic() + LOOK
            if not self._slots and (before or not self._running):
                _log.info("the Dask scheduler at %s has no workers; waiting", self.address)
                self._next_look += LOOK
        return len(self._running) < self._slots

    def submit(self, number: int, cell: Cell) -> None:
        """Begin a cell, which is called by a number."""
        self._begin(number, cell, 0)

    def collect(self) -> list[tuple[int, CellResult]]:
        """Wait a moment, and return the cells that have ended."""
        from distributed import wait

        futures = [future for _, future, _ in self._running.values()]
        try:
            if futures:
                with suppress(CancelledError), self._client.as_current():  # told below
                    wait(futures, timeout=TICK, return_when="FIRST_COMPLETED")
            else:
                time.sleep(TICK)
        except TimeoutError:
            return []
        found = []
        for number, (cell, future, n_times) in [*self._running.items()]:
            if future.status == "pending":
                continue
            del self._running[number]
            if future.status in ("cancelled", "lost") and n_times < TIMES:
                self._parts = None  # the data has gone with the last worker that had it
                self._begin(number, cell, n_times + 1)
            else:
                found.append((number, _result(future)))
        return found

    def close(self) -> None:
        """Give up what is running, and leave."""
        for _, future, _ in self._running.values():
            future.cancel()
        self._running.clear()
        self._data = None
        self._client.close()

    def _begin(self, number: int, cell: Cell, n_times: int) -> None:
        fold = cell.fold
        if self._parts is not fold.parts:
            # To all workers at once; those that come later fetch it from them.
            (self._data,) = self._client.scatter([fold.parts], broadcast=True, hash=False)
            self._parts = fold.parts
        task = pack_build(cell.build)
        future = self._client.submit(
            _run, self._data, fold.rows, task, self.keep, colabel.__version__, pure=False
        )
        self._running[number] = cell, future, n_times


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("--dask", "dask") from error
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:  # no answer, or no address
        raise ColabelError(
            f"no Dask scheduler answers at {address}: start one with `dask scheduler`, and workers "
            "with `dask worker ADDRESS`"
        ) from error


def _run(
    parts: Any, rows: Any, task: bytes, keep: tuple[str, ...], version: str
) -> CellResult:  # pragma: no cover - in other processes
    """Run a cell on a worker; its threads share the cores."""
    from distributed import get_worker
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    if colabel.__version__ != version:
        raise ColabelError(f"the worker has colabel {colabel.__version__}, the run {version}")
    with threadpool_limits(max(1, cpu_count() // get_worker().state.nthreads)):
        return run_task(task, *divide(parts, rows), keep)


def _result(future: Any) -> CellResult:
    if future.status == "finished":
        result: CellResult = future.result()
        return result
    if future.status != "error":
        return CellResult("failed: its data was lost with the workers that had it, again and again")
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return CellResult("failed: it was the end of every Dask worker that it was run on")
    return CellResult(f"failed: {type(error).__name__}: {first_sentence(str(error))}")
