"""Threads that share jobs: every job once, results in order, errors told, threads that end."""

import gc
import threading
import time
from functools import partial

import pytest

from colabel.numerics.jobs import runner


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_jobs(n_threads):
    run = runner(n_threads)
    for n in (0, 1, 2, 50):
        assert run([partial(pow, 2, i) for i in range(n)]) == [2**i for i in range(n)]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_jobs_may_bring_jobs_along(n_threads):
    run = runner(n_threads)

    def total(depth):
        return 1 if depth == 0 else 1 + sum(run([partial(total, depth - 1)] * 3))

    for _ in range(20):
        assert run([partial(total, 3)] * 4) == [40] * 4


def test_jobs_are_done_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    assert sorted(runner(2)([both.wait, both.wait])) == [0, 1]


def test_who_waits_for_jobs_helps_with_the_jobs_of_others():
    """The second job's parts need two threads, one of which can only be the one that waits."""
    run, parts = runner(2), threading.Barrier(2, timeout=10)
    found = run([partial(time.sleep, 0.01), partial(run, [parts.wait, parts.wait])])
    assert sorted(found[1]) == [0, 1]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_reaches_the_one_who_asked(n_threads):
    run = runner(n_threads)
    for place in (0, 7):
        jobs = [partial(int, "x" if i == place else "1") for i in range(8)]
        with pytest.raises(ValueError, match="invalid literal"):
            run(jobs)
    assert run([partial(int, "3")] * 3) == [3, 3, 3]


@pytest.mark.parametrize("n_threads", [2, 3])
def test_jobs_that_nobody_has_begun_are_dropped_after_an_error(n_threads):
    done = []

    def stop():
        raise KeyboardInterrupt("first")

    def late():
        time.sleep(0.01)
        done.append(1)

    run = runner(n_threads)
    with pytest.raises(KeyboardInterrupt, match="first"):
        run([stop] + [late] * 200)
    assert len(done) < 100
    assert run([partial(int, "3")] * 3) == [3, 3, 3]


def test_an_interrupt_ends_the_jobs_of_jobs_too():
    """The second job is interrupted; those that the first has brought along are not begun."""
    run, done, started, begun = runner(2), [], threading.Event(), threading.Event()

    def interrupted():
        raise KeyboardInterrupt("first")

    def late():
        begun.set()
        time.sleep(0.01)
        done.append(1)

    def first():
        assert started.wait(10)
        return run([late] * 200)

    def second():
        started.set()
        assert begun.wait(10)
        return run([interrupted] + [late] * 200)

    with pytest.raises(KeyboardInterrupt, match="first"):
        run([first, second])
    assert len(done) < 100
    assert run([partial(int, "3")] * 3) == [3, 3, 3]


@pytest.mark.parametrize("fails", [False, True])
def test_threads_end_with_the_function(fails):
    before = set(threading.enumerate())
    run = runner(4)
    crew = set(threading.enumerate()) - before
    assert len(crew) == 3
    jobs = [partial(sum, [1], int(fails) * [run] or 0)] * 9 + [partial(id, run)] * 9
    if fails:
        with pytest.raises(TypeError):
            run(jobs)
    else:
        run(jobs)
    del run, jobs
    gc.collect()
    for thread in crew:
        thread.join(timeout=10)
        assert not thread.is_alive()
