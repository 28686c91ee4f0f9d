"""One thread for BLAS: as long as anybody asks for it, and not longer."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from colabel.learners.blas import one_blas_thread


@pytest.fixture
def two_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        yield


def n_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_contexts_may_overlap_in_any_order(two_threads):
    first, second = one_blas_thread(), one_blas_thread()
    assert n_threads() == {2}
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_threads() == {1}
    second.__exit__(None, None, None)
    assert n_threads() == {2}


def test_an_error_ends_it(two_threads):
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert n_threads() == {2}
