"""Blocks of samples on threads: every sample once, one workspace a thread."""

from threading import get_ident

import numba
import numpy as np
import pytest

from colabel.numerics.threads import in_threads, per_thread


@pytest.fixture(params=[1, 2])
def n_threads(request):
    before = numba.get_num_threads()
    if request.param > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("one core")
    numba.set_num_threads(request.param)
    yield request.param
    numba.set_num_threads(before)


@pytest.mark.parametrize("n_samples", [0, 1, 31, 500])
def test_every_sample_is_worked_on_once(n_threads, n_samples):
    times = np.zeros(n_samples, int)

    def work(rows):
        times[rows] += 1

    in_threads(work, n_samples)
    assert np.all(times == 1)


def test_a_thread_makes_its_workspace_once(n_threads):
    made, used = [], []
    own = per_thread(lambda: made.append(get_ident()) or [get_ident()])

    def work(rows):
        used.append((get_ident(), own()))

    in_threads(work, 1000)
    assert len(made) == len(set(made)) <= n_threads
    assert len(used) >= n_threads
    assert all(space == [thread] for thread, space in used)
