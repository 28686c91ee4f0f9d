"""Blocks of samples spread over threads, for kernels that release the GIL."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any

__all__ = ["in_threads", "per_thread"]

# Starting a thread takes as long as decoding a few samples.
SAMPLES = 16


def in_threads(work: Callable[[slice], None], n_samples: int, least: int = SAMPLES) -> None:
    """Call ``work`` on consecutive slices of the samples, on ``numba.get_num_threads()`` threads.

    ``work`` writes to its own samples only, so that the result does not depend on how they are
    cut. Fewer threads are used where one would have fewer than ``least`` samples. A kernel started
    this way compiles in a third of the time of one with a parallel loop, and survives a fork.
    """
    import numba

    n_threads = min(numba.get_num_threads(), n_samples // least)
    if n_threads <= 1:
        if n_samples:
            work(slice(0, n_samples))
        return
    # The first call compiles; by itself, so that threads do not wait for one another's compiler.
    work(slice(0, 1))
    blocks = deque(_blocks(1, n_samples, n_threads))

    def drain() -> None:
        while True:
            try:
                rows = blocks.popleft()
            except IndexError:
                return
            work(rows)

    with ThreadPoolExecutor(n_threads - 1) as pool:
        others = [pool.submit(drain) for _ in range(n_threads - 1)]
        drain()
        for other in others:
            other.result()


def per_thread(make: Callable[[], Any]) -> Callable[[], Any]:
    """Return a function that gives every thread its own ``make()``, made when first asked for."""
    kept = local()

    def own() -> Any:
        if not hasattr(kept, "value"):
            kept.value = make()
        return kept.value

    return own


def _blocks(start: int, stop: int, n_threads: int) -> list[slice]:
    """Cut a range into ever smaller blocks, so that no thread waits long for the last ones."""
    blocks = []
    while start < stop:
        size = max(1, (stop - start) // (3 * n_threads))
        blocks.append(slice(start, start + size))
        start += size
    return blocks
