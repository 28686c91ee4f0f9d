"""What is done about the seconds that compiling takes: say so, do not add to them, and count them.

Numba tells listeners when it begins and ends to compile a function. What it loads from its cache it
does not tell of; that it holds the lock of its compiler meanwhile, it does.
"""

import gc
import logging
import threading
import time
from typing import Any

import numba
from numba.core import event

__all__ = ["listen", "seconds_compiling"]

LOGGER = logging.getLogger("colabel")
# Seconds of compiling before the user is told.
PATIENCE = 1.0


class _Listener(event.Listener):
    """Report a kernel that takes long to compile, on a logger, while it compiles.

    Garbage collection rests meanwhile: looking through all that the compiler holds, again and
    again, would take a tenth of the time. Numba calls under its compiler lock, so that there is
    one outermost function at a time; those that it calls are compiled within.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.started = 0.0
        self.told: threading.Timer | None = None
        self.collected = False

    def on_start(self, event: Any) -> None:
        self.depth += 1
        folder, name = _place(event)
        if self.depth > 1 or folder != "colabel._kernels":
            return
        self.started = time.perf_counter()
        self.told = threading.Timer(PATIENCE, _tell, [name])
        self.told.daemon = True
        self.told.start()
        self.collected = gc.isenabled()
        gc.disable()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth > 0 or self.told is None:
            return
        if self.collected:
            gc.enable()
        self.told.cancel()
        self.told = None
        seconds = time.perf_counter() - self.started
        if seconds > PATIENCE:
            LOGGER.info("compiled %s in %.1f s", _place(event)[1], seconds)


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


def seconds_compiling() -> float:
    """Return how long this process has compiled functions, or loaded compiled ones, up to now."""
    return _CLOCK.read()


def _place(event: Any) -> tuple[str, str]:
    """Return the package and the module of the function; a user's own may have none."""
    folder, _, name = str(event.data["dispatcher"].py_func.__module__).rpartition(".")
    return folder, name


def _tell(name: str) -> None:
    LOGGER.info("compiling %s for the first time: a few seconds, once, then kept on disk ...", name)


def listen() -> None:
    """Listen to the compiler from now on.

    Numba looks into the cache of a kernel before it learns its own operators, and then tries them
    in an order that makes all kernels of the process take a third longer to compile. A function
    that is not cached, compiled first, prevents that.
    """
    numba.njit("none()")(lambda: None)
    event.register("numba:compile", _Listener())
    event.register("numba:compiler_lock", _CLOCK)
