"""Blocks of samples spread over threads, for kernels that release the GIL."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["in_threads"]

# Blocks per thread: enough that one slow block does not leave the other threads idle.
BLOCKS = 8
# Starting a thread takes as long as decoding a few samples.
SAMPLES = 16


def in_threads(work: Callable[[slice], None], n_samples: int) -> None:
    """Call ``work`` on consecutive slices of the samples, on ``numba.get_num_threads()`` threads.

    ``work`` writes to its own samples only, so that the result does not depend on how they are
    cut. A kernel started this way compiles in a third of the time of one with a parallel loop.
    """
    import numba

    n_threads = min(numba.get_num_threads(), n_samples // SAMPLES)
    if n_threads <= 1:
        if n_samples:
            work(slice(0, n_samples))
        return
    # The first call compiles; by itself, so that threads do not wait for one another's compiler.
    work(slice(0, 1))
    step = max(1, -(-(n_samples - 1) // (n_threads * BLOCKS)))
    slices = [slice(i, min(i + step, n_samples)) for i in range(1, n_samples, step)]
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(work, slices):
            pass
