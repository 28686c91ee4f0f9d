"""SubmodularSVC: how fast both learners reach a proved gap, what decoding takes, how it scales.

``python sml.py [learners] [constraints] [scaling] [--data NAME ...] [--cap ITERATIONS]``; all three
parts and yeast, enron, medical, bibtex by default. Use one thread (``OMP_NUM_THREADS=1
NUMBA_NUM_THREADS=1``): seconds are CPU seconds of this process, kernels compiled beforehand.

*learners*: to a relative duality gap of 1e-2 and 1e-3, verified by the strongest oracle, at penalty
and scale chosen by folds (``sml_accuracy.py``); each in a process of its own, for its peak memory,
which is what the fit adds to data and libraries. BMRM is capped (``--cap``), and a capped run is
marked with the gap that it had. *decoding* is the share of time in batches of decodings; the dual
learner also sorts inside its passes, which is not counted. *constraints*: one batch for all of
enron against a Python loop with one OR-tools cut a sample (goal: 20 times, cut for cut), and
against Algorithm 2 in such a loop. *scaling*: passes over generated rows; linear in their number.
"""

import argparse
import json
import multiprocessing
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from decoders_cut import ortools_rows
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from colabel.datasets import load
from colabel.decoders import GraphCut
from colabel.learners import BlockDual, CuttingPlane, MarginProblem
from colabel.learners.ascent import Ascent
from colabel.models import IndependentLabels, SubmodularPairs
from colabel.numerics.distinct_rows import distinct_rows
from colabel.scores import Pairwise
from colabel.structured import Parts, SubmodularSVC

RESULTS = Path(__file__).parent / "results" / "sml.json"
# Chosen by folds: penalty and scale.
CHOSEN = {
    "yeast": (1e-2, 1.0),
    "enron": (1e-2, 0.3),
    "medical": (10**-3.5, 1.0),
    "bibtex": (1e-4, 1.0),
}
PAIRS = {"yeast": 0.5}
TOLERANCES = (1e-2, 1e-3)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Clock:
    """CPU seconds spent in ``MarginProblem.violations``."""

    def __init__(self):
        self.seconds, plain = 0.0, MarginProblem.violations

        def timed(problem, *args):
            start = time.process_time()
            found = plain(problem, *args)
            self.seconds += time.process_time() - start
            return found

        MarginProblem.violations = timed


def learn(name, method, solver, cap, queue):
    warnings.simplefilter("ignore", ConvergenceWarning)
    train, clock, rows = load(f"{name}:train"), Clock(), []
    X, (alpha, scale) = normalize(train.X), CHOSEN[name]
    model = SubmodularSVC(
        alpha,
        couplings=None if method == "rml" else "cooccurrence",
        coupling_scale=scale,
        pairs=PAIRS.get(name, 0.05),
        learner=CuttingPlane(line_search=True) if solver == "bmrm" else BlockDual(),
        random_state=0,
    )
    model.set_params(learner__max_iter=2).fit(X[:40], train.Y[:40])
    model.set_params(learner__max_iter=cap if solver == "bmrm" else 1000)
    before = peak()
    for tol in TOLERANCES:
        clock.seconds, start = 0.0, time.process_time()
        model.set_params(learner__tol=tol).fit(X, train.Y)
        seconds = time.process_time() - start
        gap = model.gap_ / model.objective_
        rows.append(
            {
                "data": name,
                "method": method,
                "solver": solver,
                "tol": tol,
                "seconds": seconds,
                "passes": model.n_iter_,
                "gap": gap,
                "reached": bool(gap <= tol),
                "decoding": clock.seconds / seconds,
                "memory_mb": peak() - before,
            }
        )
        if gap > tol:
            break
    queue.put(rows)


def learners(names, cap, known):
    """Run all cases; yield the rows so far after each, as they take long."""
    context = multiprocessing.get_context("spawn")
    rows = [row for row in known if row["data"] not in names]
    print(f"{'data':8} {'':4}{'solver':7}{'gap':>7}{'seconds':>9}{'passes':>8}{'reached':>9}"
          f"{'decoding':>10}{'MB':>7}")  # fmt: skip
    for name in names:
        for method in ("rml", "sml"):
            for solver in ("dual", "bmrm"):
                queue = context.Queue()
                work = context.Process(target=learn, args=(name, method, solver, cap, queue))
                work.start()
                found = queue.get()
                work.join()
                rows += found
                for r in found:
                    missed = "" if r["reached"] else f"no, {r['gap']:.0e}"
                    print(f"{name:8} {method:4}{solver:7}{r['tol']:7.0e}{r['seconds']:9.2f}"
                          f"{r['passes']:8d}{missed:>9}"
                          f"{r['decoding']:10.0%}{r['memory_mb']:7.0f}", flush=True)  # fmt: skip
                yield rows


def cpu(run, repeats=3):
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def problem_of(name, oracle="certified"):
    train, (alpha, scale) = load(f"{name}:train"), CHOSEN[name]
    Y = np.asarray(train.Y.toarray() if sparse.issparse(train.Y) else train.Y, dtype=np.int8)
    spec = SubmodularPairs(pairs=PAIRS.get(name, 0.05), coupling_scale=scale)
    return join(spec, distinct_rows(normalize(train.X), Y, None), alpha, oracle)


def join(spec, rows, alpha, oracle="certified"):
    return Parts.of(spec, "f1", oracle, "dual").join(*rows, alpha, 0)[0]


def one_cut_loop(table):
    """Cut every sample once, capacities prepared."""
    ortools_rows(table, True)[0]()


def algorithm_2_loop(table, Y):
    """Solve every sample by Algorithm 2: a cut for each number of labels, one by one."""
    for unary, y in zip(table.unary, Y, strict=True):
        sizes = np.arange(1, table.n_labels + 1)[:, None]
        tilted = unary - 2.0 * y / (y.sum() + sizes)
        one_cut_loop(Pairwise(tilted, table.edges, table.couplings))


def constraints():
    problem = problem_of("enron")
    theta = BlockDual(tol=1e-2).solve(problem).coef
    n, order = problem.n_samples, np.arange(problem.n_samples)
    run = Ascent(problem, None, 60, 0)
    table = problem.model.scores(problem.X, theta)
    loop = cpu(lambda: one_cut_loop(table.take(slice(0, 200)))) / 200
    of_2 = cpu(lambda: algorithm_2_loop(table.take(slice(0, 50)), problem.Y[:50])) / 50
    published = problem_of("enron", "algorithm2")
    ours = {
        "one cut": cpu(lambda: GraphCut().decode(table)) / n,
        "pass of the learner, steps included": cpu(lambda: run._sweep(order)) / n,
        "nested and polished": cpu(lambda: problem.violations(theta, problem.oracles.quick)) / n,
        "certified": cpu(lambda: problem.violations(theta, problem.oracles.learning)) / n,
        "Algorithm 2": cpu(lambda: published.violations(theta, published.oracles.quick)) / n,
    }
    print(f"\nenron, us a sample: OR-tools, one cut {1e6 * loop:.0f}, Algorithm 2 {1e6 * of_2:.0f}")
    for name, seconds in ours.items():
        print(f"{name:38}{1e6 * seconds:8.1f}{loop / seconds:8.1f} x one cut"
              f"{of_2 / seconds:8.0f} x Algorithm 2", flush=True)  # fmt: skip
    return {"one_cut": loop, "algorithm_2_loop": of_2, **ours}


def scaling(sizes=(10_000, 100_000, 1_000_000), n_features=100, n_labels=20, n_entries=10):
    rows = []
    print(f"\n{'rows':>9}{'':>5}{'s a pass':>10}{'us a row':>10}{'MB':>7}")
    for n in sizes:
        rng = np.random.default_rng(0)
        columns = rng.integers(0, n_features, n * n_entries)
        starts = np.arange(0, n * n_entries + 1, n_entries)
        shape = (n, n_features)
        X = sparse.csr_array((rng.random(n * n_entries), columns, starts), shape=shape)
        scores = X @ rng.normal(size=(n_features, n_labels)) + rng.normal(size=n_labels)
        Y = (scores > 2.0).astype(np.int8)
        for method in ("rml", "sml"):
            spec = SubmodularPairs() if method == "sml" else IndependentLabels()
            run = Ascent(join(spec, distinct_rows(X, Y, None), 1e-2), None, 60, 0)
            run.passes(0.0, 0.0, 2)
            start = time.process_time()
            run.passes(0.0, 0.0, 3)
            seconds = (time.process_time() - start) / 3
            rows.append({"rows": n, "method": method, "seconds": seconds, "memory_mb": peak()})
            print(f"{n:9d}{method:>5}{seconds:10.3f}{1e6 * seconds / n:10.2f}{peak():7.0f}",
                  flush=True)  # fmt: skip
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["learners", "constraints", "scaling"])
    parser.add_argument("--data", nargs="*", default=list(CHOSEN))
    parser.add_argument("--cap", type=int, default=600)
    options = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found = {
        "learners": lambda: learners(options.data, options.cap, known.get("learners", [])),
        "constraints": lambda: [constraints()],
        "scaling": lambda: [scaling()],
    }
    for part in options.parts:
        for rows in found[part]():
            known[part] = rows
            RESULTS.write_text(json.dumps(known, indent=1))


if __name__ == "__main__":
    main()
