"""Balance and speed of the stratified folds beside the iterative-stratification package.

Run: ``python benchmarks/stratification.py [--quick]``. Real data is looked for in ``$COLABEL_DATA``
and in ``../shared/data`` beside the repository; sets that are not there are named. Both see the
same labels in the same process; balance is LD and ED of Sechidis et al. 2011 (mean over seeds, the
smaller the better), with the share of labels of at least k positives that some fold lacks. Two
rows more show what the steps of ours give: the greedy pass alone, and with exact fold sizes. The
program stops with an error where ours is less balanced or less than five times as fast.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from scipy import sparse

from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError
from colabel.model_selection import IterativeStratifiedKFold, _deal

ROOT = Path(__file__).resolve().parents[1]
REAL = ("yeast", "emotions", "scene", "birds", "enron", "medical", "CAL500", "bibtex", "corel5k")
LARGE = ("delicious", "tmc2007-500")


def synthetic(n_samples, n_labels, seed=0):
    """Return labels with frequencies falling as a power of their rank, 3.8 a row at 200 labels."""
    p = 0.5 / np.arange(1, n_labels + 1) ** 0.9
    return (np.random.default_rng(seed).random((n_samples, n_labels)) < p).astype(np.int8)


def real_labels(name):
    try:
        Y = load(name).Y
    except DatasetNotFoundError:
        return None
    return Y.toarray() if sparse.issparse(Y) else Y


def folds_of(splitter, Y):
    fold = np.empty(len(Y), dtype=int)
    for j, (_, test) in enumerate(splitter.split(Y, Y)):
        fold[test] = j
    return fold


def greedy(Y, k, seed, exact_sizes):
    """Return ours without the swaps, and without exact sizes if so asked."""
    rounds, _deal.MAX_ROUNDS = _deal.MAX_ROUNDS, 0
    sizes = np.full(k, len(Y) // k) + (np.arange(k) < len(Y) % k) if exact_sizes else [len(Y)] * k
    rng = np.random.RandomState(seed)
    fold = _deal.deal(Y, None, np.array(sizes), rng, shares=np.ones(k, np.int64))
    _deal.MAX_ROUNDS = rounds
    return fold


def methods(Y, k, seed):
    return {
        "iterative-stratification": lambda: folds_of(
            MultilabelStratifiedKFold(k, shuffle=True, random_state=seed), Y
        ),
        "greedy pass": lambda: greedy(Y, k, seed, exact_sizes=False),
        "+ exact sizes": lambda: greedy(Y, k, seed, exact_sizes=True),
        "colabel (+ swaps)": lambda: folds_of(IterativeStratifiedKFold(k, random_state=seed), Y),
    }


def balance(Y, fold, k):
    """Return LD, ED and the share of labels with k or more positives that some fold lacks."""
    total, n = Y.sum(axis=0, dtype=float), len(Y)
    Y, total = Y[:, (total > 0) & (total < n)], total[(total > 0) & (total < n)]
    held = np.array([Y[fold == j].sum(axis=0, dtype=float) for j in range(k)])
    sizes = np.bincount(fold, minlength=k)[:, None]
    # A fold all of whose rows carry a label has infinite odds; one row short of it stands in.
    odds = held / np.maximum(sizes - held, 1)
    missed = (held == 0).any(axis=0)[total >= k]
    deviation = np.abs(odds - total / (n - total)).mean()
    return deviation, np.abs(sizes - n / k).mean(), missed.mean() if missed.size else 0.0


def compare_balance(name, Y, k, seeds):
    rows = []
    for method in methods(Y, k, 0):
        start = time.perf_counter()
        results = [balance(Y, methods(Y, k, seed)[method](), k) for seed in seeds]
        seconds = (time.perf_counter() - start) / len(seeds)
        ld, ed, missed = np.mean(results, axis=0)
        row = {"data": name, "k": k, "method": method, "seconds": seconds}
        rows.append({**row, "LD": ld, "ED": ed, "missed": missed})
        print(f"{name:<14}{k:>3}  {method:<26}{ld:10.6f}{ed:9.3f}{missed:9.4f}{seconds:9.3f}")
    first, last = rows[0], rows[-1]
    for measure in ("LD", "ED"):
        if last[measure] > first[measure] * (1 + 1e-9):
            sys.exit(f"{name}, {k} folds: {measure} is worse than that of the package")
    return rows


def first_call_seconds(fresh_cache):
    """Return how long a split of ten rows takes in a new process."""
    code = (
        "import time, numpy as np\n"
        "from colabel.model_selection import IterativeStratifiedKFold as Folds\n"
        "Y = np.eye(10, 2, dtype=int)\n"
        "start = time.perf_counter()\n"
        "list(Folds(2, random_state=0).split(Y, Y))\n"
        "print(time.perf_counter() - start)"
    )
    with tempfile.TemporaryDirectory() as folder:
        place = {"NUMBA_CACHE_DIR": folder} if fresh_cache else {}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **place},
            check=True,
            capture_output=True,
            text=True,
        )
    return float(done.stdout)


def compare_speed(n_samples, n_labels, k=5, repeats=3):
    Y = synthetic(n_samples, n_labels)
    first_call = {"compiling": first_call_seconds(fresh_cache=True)}
    first_call["from the cache"] = first_call_seconds(fresh_cache=False)
    folds_of(IterativeStratifiedKFold(2, random_state=0), Y[:100])
    seconds = {}
    for name in ("colabel (+ swaps)", "iterative-stratification"):
        times = []
        for seed in range(repeats):
            start = time.perf_counter()
            methods(Y, k, seed)[name]()
            times.append(time.perf_counter() - start)
        seconds[name] = min(times)
    factor = seconds["iterative-stratification"] / seconds["colabel (+ swaps)"]
    print(f"\n{n_samples} x {n_labels} labels, {k} folds, best of {repeats}:")
    for name, value in seconds.items():
        print(f"  {name:<26}{value:8.3f} s")
    print(f"  factor {factor:.1f}")
    for how, value in first_call.items():
        print(f"  our first call in a process, {how}: {value:.2f} s")
    if factor < 5:
        sys.exit("less than five times as fast as the package")
    size = {"n_samples": n_samples, "n_labels": n_labels, "k": k}
    return {**size, "seconds": seconds, "factor": factor, "first_call": first_call}


def main(quick=False):
    beside = ROOT.parent / "shared" / "data"
    if "COLABEL_DATA" not in os.environ and beside.is_dir():
        os.environ["COLABEL_DATA"] = str(beside)
    speed = compare_speed(20_000 if quick else 100_000, 200)
    print(f"\n{'data':<14}{'k':>3}  {'method':<26}{'LD':>10}{'ED':>9}{'missed':>9}{'s':>9}")
    rows = []
    for name in REAL[:4] if quick else REAL + LARGE:
        Y = real_labels(name)
        if Y is None:
            print(f"{name:<14} is not on this machine")
            continue
        for k in (5, 10):
            rows += compare_balance(name, Y, k, range(2 if name in LARGE else 5))
    for n_samples, n_labels in ((500, 20), (5000, 200)):
        name, Y = f"synth {n_samples}", synthetic(n_samples, n_labels)
        rows += [row for k in (5, 10) for row in compare_balance(name, Y, k, range(5))]
    target = ROOT / "benchmarks" / "results" / "stratification.json"
    target.parent.mkdir(exist_ok=True)
    machine = {"python": platform.python_version(), "cpus": os.cpu_count()}
    target.write_text(json.dumps({"speed": speed, "balance": rows, "machine": machine}, indent=1))
    print(f"\nwritten to {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv[1:])
