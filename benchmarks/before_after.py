"""Every registered method beside an earlier commit: predictions, and CPU time of fit and predict.

    python benchmarks/before_after.py
    python benchmarks/before_after.py --methods br,sml --data emotions --runs 1    # every day

The earlier source is taken out of the repository into benchmarks/results/before_after, where each
side has a folder of compiled kernels of its own, so that the next call starts warm. A method runs
on both sides in turn, in processes of their own: once to compile and to compare predictions, then
``--runs`` times. In a process, a fit to 60 rows loads what is compiled; then the method, with its
registered defaults and seed 0, is fitted to the official training rows (of the slow methods in
``ROWS`` to the first so many) and predicts the test rows, several times if that is short. Methods
for exclusive label sets get two sets of four classes, made of the four most frequent labels.

A method's time is the sum over the data of the median of its runs. Exits with 1 if a prediction
differs, if a method takes more than 1.10 of the time before, or all of them more than 1.03.
"""

import argparse
import io
import json
import os
import pickle
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
HOME = Path(__file__).parent / "results" / "before_after"
COMMIT = "4df4823"
DATA = ("yeast", "emotions", "medical")
GOAL_METHOD, GOAL_TOTAL = 1.10, 1.03
# Training rows of methods that would take longer than a few seconds.
ROWS = {"quad-sdp": 150}
# Fits that are shorter than this are repeated within a run.
LEAST_SECONDS = 0.3
WARM_ROWS = 60
# Why the predictions of a method are not what they were.
EXPLAINED: dict[str, str] = {}
FACETS = [[0, 1, 2, 3], [4, 5, 6, 7]]


def estimator_of(method):
    """Make the estimator of a method, on either side: all that is asked of colabel by name."""
    from colabel.lab import METHODS, make

    return make(method, {facets(): FACETS} if getattr(METHODS[method], facets()) else None, seed=0)


def facets():
    """Return what facets are called on either side: a parameter, and a field of the registry."""
    from colabel.lab import METHODS

    return "facets" if hasattr(METHODS["indep"], "facets") else "label_sets"


def problem(data, method):
    """Return the training rows and the test features of a method's problem."""
    from colabel.lab import METHODS

    X, Y, test = data
    rows = slice(ROWS.get(method))
    if getattr(METHODS[method], facets()):
        columns = np.argsort(-Y.sum(axis=0), kind="stable")[:4]
        a, b, c, d = Y[:, columns].T
        Y = np.hstack([np.eye(4, dtype=int)[2 * a + b], np.eye(4, dtype=int)[2 * c + d]])
    return X[rows], Y[rows], test


def child(method, folder, answers):
    """Fit and predict on each file of the folder; leave the predictions, print the seconds."""
    warnings.simplefilter("ignore")
    times = {}
    for file in sorted(Path(folder).glob("*.pickle")):
        X, Y, test = problem(pickle.loads(file.read_bytes()), method)
        estimator_of(method).fit(X[:WARM_ROWS], Y[:WARM_ROWS]).predict(test[:WARM_ROWS])
        spent = []
        while sum(spent) < LEAST_SECONDS:
            started = time.process_time()
            found = estimator_of(method).fit(X, Y).predict(test)
            spent.append(time.process_time() - started)
        times[file.stem] = statistics.median(spent[1:] or spent)
        np.save(Path(answers) / f"{file.stem}.npy", found)
    print(json.dumps(times))


def check_out(commit):
    """Return the source folder of a commit, taken out of the repository once."""
    folder = HOME / commit
    if not folder.exists():
        packed = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
    return folder / "src"


def environment(side, source):
    """Return what a process of a side runs in: its source, its compiled kernels, one thread."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    kernels = {"NUMBA_CACHE_DIR": str(HOME / f"kernels-{side}")}
    return os.environ | one | kernels | {"PYTHONPATH": str(source)}


def run(method, folder, answers, surroundings):
    """Return the seconds on each dataset, or why there are none."""
    answers.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, __file__, "--child", method, str(folder), str(answers)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


def save_data(names, folder):
    """Load data by registered name, as both sides get them, and say how large they are."""
    from colabel.datasets import load

    beside = ROOT.parent / "shared" / "data"
    if "COLABEL_DATA" not in os.environ and beside.is_dir():
        os.environ["COLABEL_DATA"] = str(beside)
    for name in names:
        train, test = load(f"{name}:train"), load(f"{name}:test")
        Y = train.Y if isinstance(train.Y, np.ndarray) else train.Y.toarray()
        (folder / f"{name}.pickle").write_bytes(pickle.dumps((train.X, Y, test.X)))
        print(f"{name}: {train.X.shape} to train on, {test.n_samples} to predict", flush=True)


def compare(method, folder, sides, n_runs):
    """Run a method on both sides in turn; return their seconds, and how many labels differ."""
    answers = {side: folder / side / method for side in sides}
    for side in sides:
        run(method, folder, answers[side], sides[side])  # compiles
    differ = sum(
        int((np.load(file) != np.load(answers["after"] / file.name)).sum())
        for file in sorted(answers["before"].glob("*.npy"))
    )
    times = {side: [] for side in sides}
    for _ in range(n_runs):
        for side in sides:
            times[side].append(run(method, folder, answers[side], sides[side]))
    seconds = {
        side: sum(statistics.median(each[name] for each in found) for name in found[0])
        for side, found in times.items()
    }
    return {**seconds, "differ": differ}


def show(name, row):
    """Print a line of the table and return what is wrong with it."""
    before, after, differ = row["before"], row["after"], row["differ"]
    equal = f"{differ} differ" if differ else "equal"
    print(f"{name:12} {equal:>12} {before:9.3f} {after:9.3f} {after / before:7.2f}", flush=True)
    wrong = [f"{differ} labels differ"] if differ and name not in EXPLAINED else []
    slow = after > GOAL_METHOD * before
    return wrong + ([f"{after / before:.2f} of the time before"] if slow else [])


def main(given):
    source = check_out(given.commit)
    sides = {"before": environment("before", source), "after": environment("after", ROOT / "src")}
    rows, missed = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        save_data(given.data, Path(folder))
        print(f"{'method':12} {'predictions':>12} {'before s':>9} {'after s':>9} {'ratio':>7}")
        for method in given.methods or known_methods():
            try:
                rows[method] = compare(method, Path(folder), sides, given.runs)
                missed[method] = show(method, rows[method])
            except RuntimeError as error:
                missed[method] = [str(error)]
                print(f"{method:12} {error}", flush=True)
    (HOME / "table.json").write_text(json.dumps(rows, indent=1))
    if rows:
        total = {key: sum(row[key] for row in rows.values()) for key in next(iter(rows.values()))}
        if show("all", total) or total["after"] > GOAL_TOTAL * total["before"]:
            missed["all"] = [f"goal {GOAL_TOTAL}"]
    for method in EXPLAINED.keys() & rows.keys():
        print(f"{method} differs: {EXPLAINED[method]}")
    missed = {method: reasons for method, reasons in missed.items() if reasons}
    for method, reasons in missed.items():
        print(f"missed by {method}: {', '.join(reasons)}")
    return bool(missed)


def known_methods():
    from colabel.lab import METHODS

    return list(METHODS)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    names = {"type": lambda text: text.split(","), "metavar": "NAMES"}
    parser.add_argument("--methods", **names, help="default: all that are registered")
    parser.add_argument("--data", **names, default=DATA, help=f"default: {','.join(DATA)}")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--commit", default=COMMIT)
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        sys.exit(main(arguments()))
