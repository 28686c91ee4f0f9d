"""What is done about the seconds that compiling takes: say so, do not add to them, and count them.

Numba tells listeners when it begins and ends to compile a function. What it loads from its cache it
does not tell of; that it holds the lock of its compiler meanwhile, it does.
"""

import gc
import logging
import multiprocessing
import sys
import threading
import time
from typing import Any

import numba
from numba.core import event

__all__ = ["NOTICE", "listen", "seconds_compiling", "without_notice"]

LOGGER = logging.getLogger("colabel")
# Seconds that a process compiles before that is announced, once.
PATIENCE = 1.0
NOTICE = (
    "compiling, once on this machine: some seconds more (`colabel warmup` does it ahead of time)"
)


class _Listener(event.Listener):
    """Say once that compiling takes a while, while it does; report each kernel to the logger.

    Garbage collection rests meanwhile: looking through all that the compiler holds, again and
    again, would take a tenth of the time. Numba calls under its compiler lock, so that there is
    one outermost function at a time; those that it calls are compiled within.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.started: float | None = None
        self.patience = PATIENCE
        self.timer: threading.Timer | None = None
        self.collected = False

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.depth > 1 or _place(event)[0] != "colabel._kernels":
            return
        if self.patience > 0.0:
            self.timer = threading.Timer(self.patience, _notify)
            self.timer.daemon = True
            self.timer.start()
        self.started = time.perf_counter()
        self.collected = gc.isenabled()
        gc.disable()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth > 0 or self.started is None:
            return
        if self.collected:
            gc.enable()
        if self.timer is not None:
            self.timer.cancel()
        seconds = time.perf_counter() - self.started
        self.patience -= seconds
        self.started = self.timer = None
        LOGGER.debug("compiled %s in %.1f s", _place(event)[1], seconds)


class _Clock(event.Listener):
    """Adds up the time in which a thread holds the compiler, or waits for it."""

    def __init__(self) -> None:
        self.seconds = self.started = 0.0
        self.depth = 0
        self.lock = threading.Lock()

    def on_start(self, event: Any) -> None:
        with self.lock:
            self.depth += 1
            if self.depth == 1:
                self.started = time.perf_counter()

    def on_end(self, event: Any) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self.seconds += time.perf_counter() - self.started

    def read(self) -> float:
        """Return the seconds up to now, those of what is being compiled included."""
        with self.lock:
            return self.seconds + (time.perf_counter() - self.started if self.depth else 0.0)


_CLOCK = _Clock()
_LISTENER = _Listener()


def seconds_compiling() -> float:
    """Return how long this process has compiled functions, or loaded compiled ones, up to now."""
    return _CLOCK.read()


def _place(event: Any) -> tuple[str, str]:
    """Return the package and the module of the function; a user's own may have none."""
    folder, _, name = str(event.data["dispatcher"].py_func.__module__).rpartition(".")
    return folder, name


def _notify() -> None:
    """Tell the logger if anyone listens there, or else the user if there is one to read it."""
    if LOGGER.isEnabledFor(logging.INFO) and LOGGER.hasHandlers():
        LOGGER.info(NOTICE)
    elif _is_watched(sys.stderr):
        print(f"colabel: {NOTICE}", file=sys.stderr, flush=True)  # noqa: T201


def _is_watched(stream: Any) -> bool:
    """Say whether this is the terminal or the notebook of a process that no other one started."""
    if stream is None or multiprocessing.current_process().name != "MainProcess":
        return False
    return type(stream).__module__.startswith("ipykernel.") or bool(stream.isatty())


def without_notice() -> None:
    """Leave out the notice in this process, which says by itself that it compiles."""
    _LISTENER.patience = 0.0


def listen() -> None:
    """Listen to the compiler from now on.

    Numba looks into the cache of a kernel before it learns its own operators, and then tries them
    in an order that makes all kernels of the process take a third longer to compile. A function
    that is not cached, compiled first, prevents that.
    """
    numba.njit("none()")(lambda: None)
    event.register("numba:compile", _LISTENER)
    event.register("numba:compiler_lock", _CLOCK)
