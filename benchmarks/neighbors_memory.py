"""Peak memory of training ``LargeMarginKNN`` on many labels; goal: below 8 GiB.

``delicious`` (983 labels), or generated data of EUR-Lex's size, 19 348 rows of 5 000 sparse
features and 3 993 labels. Name which as the argument, and as another the most iterations, 2 if none
is given: memory does not grow from the second on; 500 is to convergence. Exits with 1 if short.
"""

import sys
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from colabel.datasets import load
from colabel.lab.processes import peak_memory_mb
from colabel.neighbors import LargeMarginKNN

GOAL_MB = 8 * 1024
SHAPE = 19_348, 5_000, 3_993


def generated(seed=0, n_words=100, n_on=5):
    """Draw a topic for each row; words and labels come mostly from the topic's."""
    n, d, q = SHAPE
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 400, n)
    words = rng.integers(0, d, (400, 300))
    labels = rng.integers(0, q, (400, 20))

    def draw(lists, size, count):
        chosen = lists[topic[:, None], rng.integers(0, lists.shape[1], (n, count))]
        stray = rng.random((n, count)) < 0.3
        chosen = np.where(stray, rng.integers(0, size, (n, count)), chosen)
        rows = np.repeat(np.arange(n), count)
        made = sparse.csr_array((np.ones(n * count), (rows, chosen.ravel())), shape=(n, size))
        made.data[:] = 1.0
        return made

    X, Y = draw(words, d, n_words), draw(labels, q, n_on)
    return X, sparse.csr_array(Y > 0, dtype=np.int8)


def main(which="generated", max_iter="2"):
    if which == "generated":
        X, Y = generated()
        # As published, neighbours in the space of the features: sparse, and quicker to find.
        model = LargeMarginKNN(neighborhood="features", tol=1e-2, max_iter=int(max_iter))
    else:
        data = load(which)
        X, Y = data.X, data.Y
        model = LargeMarginKNN(max_iter=int(max_iter))
    started, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X, Y)
    end = "" if told else " (converged)"
    peak = peak_memory_mb()
    print(
        f"{which}: {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels, {model.n_iter_} iterations"
        f"{end}, rank {model.components_.shape[1]}: {time.perf_counter() - started:.0f} s "
        f"({time.process_time() - cpu:.0f} s CPU), peak {peak:.0f} MiB"
    )
    return f"over {GOAL_MB} MiB" if peak > GOAL_MB else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
