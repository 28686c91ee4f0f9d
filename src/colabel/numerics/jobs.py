"""Independent jobs, one after the other or on threads that share them, with the jobs they bring."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

__all__ = ["Run", "in_turn", "runner"]

Result = TypeVar("Result")
Job = Callable[[], Any]


class Run(Protocol):
    """Does jobs and returns their results, in order."""

    def __call__(self, jobs: Sequence[Callable[[], Result]], /) -> list[Result]: ...


def in_turn(jobs: Sequence[Callable[[], Result]]) -> list[Result]:
    """Do jobs one after the other."""
    return [job() for job in jobs]


def runner(n_threads: int) -> Run:
    """Make the function that does independent jobs, on threads if there are several.

    Who has jobs done, jobs included, works until they are, be it on the jobs of others: no thread
    waits while there is work. The threads stay for the next jobs, and end with the function.
    """
    if n_threads == 1:
        return in_turn
    crew = _Crew()
    for _ in range(n_threads - 1):
        threading.Thread(target=crew.work, args=[crew.is_closed], daemon=True).start()

    def run(jobs: Sequence[Callable[[], Result]]) -> list[Result]:
        return crew.run(jobs)

    weakref.finalize(run, crew.close)
    return run


class _Batch:
    """Jobs that somebody waits for."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs, self.results = jobs, [None] * len(jobs)
        self.n_left = len(jobs)
        self.error: BaseException | None = None

    def is_done(self) -> bool:
        return self.n_left == 0


class _Crew:
    """What threads share: the jobs that nobody has begun, the newest last."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.open: list[tuple[_Batch, int]] = []
        self.closed = False

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """Have jobs done, and return their results."""
        batch = _Batch(jobs)
        with self.changed:
            self.open += [(batch, place) for place in reversed(range(len(jobs)))]
            self.changed.notify_all()
        try:
            self.work(batch.is_done)
        except BaseException as error:
            self._give_up(batch, error)
            raise
        if batch.error is not None:
            first, batch.error = batch.error, None  # its traceback would keep the batch
            raise first
        return batch.results

    def work(self, is_done: Callable[[], bool]) -> None:
        """Do jobs, the newest batch first, for an older one waits for it."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.open or is_done())
                if is_done():
                    return
                batch, place = self.open.pop()
            self._do(batch, place)
            del batch  # and all that its jobs hold, while this thread waits

    def _do(self, batch: _Batch, place: int) -> None:
        try:
            batch.results[place] = batch.jobs[place]()
        except BaseException as error:
            self._give_up(batch, error)
        finally:
            with self.changed:
                batch.n_left -= 1
                self.changed.notify_all()

    def _give_up(self, batch: _Batch, error: BaseException) -> None:
        """Leave alone the jobs of a batch that nobody has begun; those of all, if interrupted."""
        with self.changed:
            waiting = {other for other, _ in self.open}
            for other in {batch} if isinstance(error, Exception) else {batch, *waiting}:
                if other.error is None:
                    other.error = error
            for other, _ in self.open:
                other.n_left -= other.error is not None
            self.open = [job for job in self.open if job[0].error is None]
            self.changed.notify_all()

    def is_closed(self) -> bool:
        """Return whether no more jobs will come."""
        return self.closed

    def close(self) -> None:
        """Let the threads go."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
