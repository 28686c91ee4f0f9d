"""How long the whole table of measures takes, beside scikit-learn's functions one by one.

Run: ``python benchmarks/measures.py [n_samples] [n_labels]``. Both see the same arrays in the same
process, and the program stops with an error where a value differs.
"""

import sys
import time
import tracemalloc

import numpy as np
from sklearn import metrics as sk

from colabel.metrics import evaluate


def problem(n_samples, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random((n_samples, n_labels))
    Y = (truth < 0.05).astype(np.int8)
    scores = 0.5 * rng.random((n_samples, n_labels)) - truth
    return Y, (scores > 0.1).astype(np.int8), scores


def one_by_one(Y, Z, scores):
    return {
        "subset_accuracy": lambda: sk.accuracy_score(Y, Z),
        "hamming_loss": lambda: sk.hamming_loss(Y, Z),
        "example_f1": lambda: sk.f1_score(Y, Z, average="samples", zero_division=1.0),
        "micro_f1": lambda: sk.f1_score(Y, Z, average="micro"),
        "macro_f1": lambda: sk.f1_score(Y, Z, average="macro", zero_division=0.0),
        "example_jaccard": lambda: sk.jaccard_score(Y, Z, average="samples", zero_division=1.0),
        "ndcg_at_5": lambda: sk.ndcg_score(Y, scores, k=5),
        "ranking_loss": lambda: sk.label_ranking_loss(Y, scores),
        "coverage": lambda: sk.coverage_error(Y, scores),
        "lrap": lambda: sk.label_ranking_average_precision_score(Y, scores),
    }


def timed(call):
    start = time.perf_counter()
    value = call()
    return value, time.perf_counter() - start


def peak_mebibytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main(n_samples=100_000, n_labels=100):
    Y, Z, scores = problem(n_samples, n_labels)
    timed(lambda: evaluate(Y[:100], Z[:100], scores[:100]))
    table, ours = timed(lambda: evaluate(Y, Z, scores))
    memory = peak_mebibytes(lambda: evaluate(Y, Z, scores))
    sets, ours_sets = timed(lambda: evaluate(Y, Z))
    theirs = {name: timed(call) for name, call in one_by_one(Y, Z, scores).items()}
    for name, (value, seconds) in theirs.items():
        np.testing.assert_allclose(table[name], value, rtol=1e-9, err_msg=name)
        print(f"  scikit-learn {name:<16} {seconds:8.3f} s")
    total = sum(seconds for _, seconds in theirs.values())
    total_sets = sum(theirs[name][1] for name in sets)
    print(f"{n_samples} samples, {n_labels} labels; all shared values equal")
    print(f"all measures: evaluate {ours:.3f} s ({len(table)} values)")
    print(f"              scikit-learn {total:.3f} s ({len(theirs)} values)")
    print(f"              {total / ours:.1f} times faster")
    print(f"              evaluate allocates at most {memory:.0f} MiB at a time")
    print(f"set measures: evaluate {ours_sets:.3f} s, scikit-learn {total_sets:.3f} s")
    print(f"              {total_sets / ours_sets:.1f} times faster")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:3]))
