"""The laboratory: how much faster two jobs are than one, and what a cell costs besides its work.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/lab.py

A grid of equal cells: each fits one logistic regression a label to the same number of rows. Run it
on a machine with two free cores; the load before and after is printed.
"""

import os
import sys
import tempfile
import time
from functools import cache

import numpy as np
from sklearn.base import BaseEstimator

from colabel import BinaryRelevance
from colabel.datasets import load
from colabel.lab import Variant, compare


@cache
def yeast(name, split=None):
    return load("yeast", split)


class Repeated(BaseEstimator):
    """Fits the same model several times: a cell of a second or so."""

    def __init__(self, n_times=200, number=0):
        self.n_times, self.number = n_times, number

    def fit(self, X, y):
        for _ in range(self.n_times):
            self.model_ = BinaryRelevance().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


class Idle(BaseEstimator):
    """Does nothing."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.n_labels_ = y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((X.shape[0], self.n_labels_), int)


def timed(variants, jobs):
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        rows = compare(
            ["yeast"], variants, split="official", run_dir=folder, load_data=yeast, jobs=jobs
        )
        seconds = time.perf_counter() - began
    assert all(row.result.ok for row in rows)
    return seconds, [row.result.fit_seconds for row in rows]


def main(n_cells=24):
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    work = [Variant(f"cell {i}", lambda seed, i=i: Repeated(number=i), {}) for i in range(n_cells)]
    timed(work[:1], 1)
    one, cells = timed(work, 1)
    two, cells_of_two = timed(work, 2)
    print(f"{n_cells} equal cells of {np.mean(cells):.2f} s: {one:.1f} s with one job,")
    print(f"{two:.1f} s with two (cells of {np.mean(cells_of_two):.2f} s): {one / two:.2f} times")
    idle = [Variant(f"cell {i}", lambda seed, i=i: Idle(i), {}) for i in range(200)]
    for jobs in (1, 2):
        seconds, _ = timed(idle, jobs)
        each = 1000 * seconds / len(idle)
        print(f"{len(idle)} cells of nothing with {jobs} jobs: {each:.1f} ms each")
    print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
