"""Speed and memory of reading ARFF beside liac-arff, both to the same arrays in the same process.

Run: ``python benchmarks/read_arff.py [--quick]``. Data is looked for in ``$COLABEL_DATA`` and in
``../shared/data`` beside the repository; files that are not there are named. liac-arff reads a
sparse file into coordinates (its fastest way), a dense one into rows, and NumPy and SciPy turn
those into X and Y; ours is also checked to give equal arrays. Times are the best of several runs,
unpacking included. Memory is the peak that tracemalloc sees, NumPy's arrays included, beside the
size of the arrays that stay. The program stops with an error where bibtex or delicious is read less
than 20 times as fast, or a sparse file takes 4 times its arrays or more.
"""

import gc
import gzip
import json
import os
import platform
import sys
import time
import tracemalloc
from pathlib import Path

import arff as liac
import numpy as np
from scipy import sparse

from colabel.datasets.formats import read

ROOT = Path(__file__).resolve().parents[1]
# file, whether liac-arff reads it too, whether the goal of 20 times holds for it
FILES = [
    ("bibtex/bibtex.arff.gz", True, True),
    ("delicious/delicious.arff.gz", True, True),
    ("tmc2007-500/tmc2007-500.arff.gz", True, False),
    ("reuters-k500/reuters-k500.arff.gz", True, False),
    ("yeast/yeast.arff.gz", True, False),
    ("scene/scene-train.arff.gz", True, False),
    ("imdb/Imdb-meka.arff.gz", False, False),
    ("eurlex-dc-partial/eurlex-dc-leaves-fold1-train-discretized.arff.gz", False, False),
]
GOAL_SPEED, GOAL_MEMORY = 20, 4


def find(name):
    listed = os.environ.get("COLABEL_DATA", "").split(os.pathsep)
    for folder in [*filter(None, listed), ROOT.parent / "shared" / "data"]:
        if (Path(folder) / name).is_file():
            return Path(folder) / name
    return None


def read_with_liac(path, is_sparse, label_names):
    """Return X and Y as a user of liac-arff would get them."""
    kind = liac.COO if is_sparse else liac.DENSE
    with gzip.open(path, "rt", encoding="utf-8") as file:
        document = liac.load(file, encode_nominal=True, return_type=kind)
    names = [name for name, _ in document["attributes"]]
    # liac-arff undoes backslashes in names, so they are compared without.
    wanted = {name.replace("\\", "") for name in label_names}
    is_label = np.array([name.replace("\\", "") in wanted for name in names])
    if not is_sparse:
        cells = np.array(document["data"], np.float64)
        return cells[:, ~is_label], cells[:, is_label].astype(np.int8)
    values, rows, cols = document["data"]
    shape = (max(rows) + 1, len(names))
    cells = sparse.coo_array((values, (rows, cols)), shape=shape, dtype=np.float64).tocsr()
    return cells[:, ~is_label], cells[:, is_label].toarray().astype(np.int8)


def best_seconds(task, repeats):
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        task()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def memory(task):
    """Return the size of a dataset's arrays and the peak while it was read, in bytes."""
    gc.collect()
    tracemalloc.start()
    data = task()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return sum(map(n_bytes, (data.X, data.Y))), peak


def n_bytes(A):
    if sparse.issparse(A):
        return A.data.nbytes + A.indices.nbytes + A.indptr.nbytes
    return A.nbytes


def check_equal(data, other):
    def dense(A):
        return A.toarray() if sparse.issparse(A) else A

    for ours, theirs in zip((data.X, data.Y), other, strict=True):
        if not np.array_equal(dense(ours), dense(theirs)):
            sys.exit(f"{data.name}: the two readers disagree")


def measure(name, path, with_liac, quick):
    def task():
        return read(path, one_hot=False)

    data = task()
    large = path.stat().st_size > 2_000_000
    row = {"file": name, "samples": data.n_samples, "sparse": data.is_sparse}
    row["seconds"] = best_seconds(task, 2 if large else 5 if quick else 15)
    if with_liac:

        def other():
            return read_with_liac(path, data.is_sparse, data.label_names)

        check_equal(data, other())
        row["liac_seconds"] = best_seconds(other, 1 if quick else 3)
        row["times_faster"] = row["liac_seconds"] / row["seconds"]
    row["array_mb"], row["peak_mb"] = (size / 2**20 for size in memory(task))
    row["peak_over_arrays"] = row["peak_mb"] / row["array_mb"]
    return row


def show(row):
    liac_seconds = f"{row['liac_seconds']:9.3f}" if "liac_seconds" in row else f"{'-':>9}"
    faster = f"{row['times_faster']:8.1f}" if "times_faster" in row else f"{'-':>8}"
    name = Path(row["file"]).name.removesuffix(".arff.gz")
    print(
        f"{name:<42}{row['samples']:>8}{row['seconds']:>9.3f}{liac_seconds}{faster}"
        f"{row['array_mb']:>9.1f}{row['peak_mb']:>9.1f}{row['peak_over_arrays']:>8.2f}"
    )


def main():
    quick = "--quick" in sys.argv[1:]
    print(
        f"{'file':<42}{'samples':>8}{'colabel':>9}{'liac':>9}{'faster':>8}"
        f"{'arrays':>9}{'peak':>9}{'ratio':>8}\n{'':<50}{'s':>9}{'s':>9}{'times':>8}"
        f"{'MiB':>9}{'MiB':>9}"
    )
    rows, short = [], []
    for name, with_liac, has_goal in FILES:
        path = find(name)
        if path is None:
            print(f"{name}: not found, left out")
            continue
        row = measure(name, path, with_liac, quick)
        rows.append(row)
        show(row)
        if has_goal and row["times_faster"] < GOAL_SPEED:
            short.append(f"{name} is read {row['times_faster']:.1f} times as fast")
        if row["sparse"] and row["peak_over_arrays"] >= GOAL_MEMORY:
            short.append(f"{name} takes {row['peak_over_arrays']:.1f} times its arrays")
    out = ROOT / "benchmarks" / "results" / "read_arff.json"
    out.parent.mkdir(exist_ok=True)
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    versions["liac-arff"] = liac.__version__
    out.write_text(json.dumps({"versions": versions, "rows": rows}, indent=1) + "\n")
    if short:
        sys.exit("; ".join(short))


if __name__ == "__main__":
    main()
