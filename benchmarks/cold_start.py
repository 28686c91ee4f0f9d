"""What compiling adds to the first fit and the first prediction on a new machine, method by method.

    python benchmarks/cold_start.py
    python benchmarks/cold_start.py --methods br,sml --runs 1    # every day

A process fits a method with its registered defaults to yeast, as before_after.py has it, and
predicts. Its CPU seconds, user and system, with an empty folder of compiled kernels, less those of
the same process with the folder that it has filled, are what compiling costs; of ``--runs`` the
median. Before is the earlier commit of before_after.py. Exits with 1 if a method misses its goal.
"""

import argparse
import json
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import before_after

RESULTS = Path(__file__).parent / "results" / "cold_start.json"
GOALS, GOAL = {"br": 2.5, "cbm-lr": 6.0}, 8.0


def child(method, file):
    """Fit and predict once."""
    warnings.simplefilter("ignore")
    X, Y, test = before_after.problem(pickle.loads(Path(file).read_bytes()), method)
    before_after.estimator_of(method).fit(X, Y).predict(test)


def cpu_seconds(method, file, surroundings):
    """Return what a process took, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, "--child", method, str(file)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{method}: {done.stderr.strip().splitlines()[-1]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cost(method, file, surroundings, n_runs):
    """Return the median of what an empty folder of kernels adds."""
    found = []
    for _ in range(n_runs):
        with tempfile.TemporaryDirectory() as kernels:
            own = surroundings | {"NUMBA_CACHE_DIR": kernels}
            found.append(cpu_seconds(method, file, own) - cpu_seconds(method, file, own))
    return statistics.median(found)


def main(given):
    sources = {"after": before_after.ROOT / "src"}
    if not given.after_only:
        sources = {"before": before_after.check_out(before_after.COMMIT)} | sources
    sides = {side: before_after.environment(side, source) for side, source in sources.items()}
    for source in sources.values():  # compiled by Python itself, which is not what is measured
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(source)], check=True)
    rows, missed = {}, []
    with tempfile.TemporaryDirectory() as folder:
        before_after.save_data(["yeast"], Path(folder))
        print(f"{'method':12} {' '.join(f'{side:>8}' for side in sides)} {'goal':>8}", flush=True)
        for method in given.methods or before_after.known_methods():
            file = Path(folder) / "yeast.pickle"
            row = {side: cost(method, file, sides[side], given.runs) for side in sides}
            goal = GOALS.get(method, GOAL)
            missed += [method] if row["after"] > goal else []
            numbers = " ".join(f"{row[side]:8.1f}" for side in sides)
            print(f"{method:12} {numbers} {goal:8.1f}{' missed' * (method in missed)}", flush=True)
            rows[method] = row
    RESULTS.write_text(json.dumps(rows, indent=1))
    return f"over the goal: {', '.join(missed)}" if missed else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    names = {"type": lambda text: text.split(","), "metavar": "NAMES"}
    parser.add_argument("--methods", **names, help="default: all that are registered")
    parser.add_argument("--runs", type=int, default=3, metavar="N")
    parser.add_argument("--after-only", action="store_true", help="leave the earlier commit out")
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        sys.exit(main(arguments()))
