"""One thread for BLAS: as long as anybody asks for it, and not longer."""

import pytest
from threadpoolctl import threadpool_limits

from colabel.numerics.blas import _controller, one_blas_thread


@pytest.fixture
def before():
    """Return the threads of each library where two are allowed; some are built for one."""
    with threadpool_limits(2, user_api="blas"):
        allowed = n_threads()
        assert max(allowed) == 2
        yield allowed


def n_threads():
    return [pool["num_threads"] for pool in _controller().info() if pool["user_api"] == "blas"]


def test_contexts_may_overlap_in_any_order(before):
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(n_threads()) == {1}
    second.__exit__(None, None, None)
    assert n_threads() == before


def test_an_error_ends_it(before):
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert n_threads() == before
