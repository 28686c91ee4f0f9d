"""Binary relevance on the batched solver beside scikit-learn's one regression a label.

Run: ``python benchmarks/logistic.py [DATA ...]``. Real data is looked for in ``$COLABEL_DATA`` and
in ``../shared/data`` beside the repository; sets that are not there are named. Both fit the same
training rows (the official split where there is one) and predict the test rows in the same
process, on one thread. Beside the CPU seconds of the fits and the wall seconds of the predictions
(least of several runs; ratios are of CPU seconds) stand how far both objectives are above the
optimum (largest over labels, relative), and the rate of the matrix products beside that of a large
one measured in the same run. The last rows time the solver on what a mixture's M-step asks of it.
The program stops with an error where ours is slower or less exact.
"""

import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from colabel import BinaryRelevance
from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError
from colabel.linear.logistic import fit_logistic, fit_softmax
from colabel.linear.logistic_problem import Problem
from colabel.numerics.products import make_products

ROOT = Path(__file__).resolve().parents[1]
DATA = (
    "yeast",
    "scene",
    "enron",
    "medical",
    "bibtex",
    "mediamill-small",
    "tmc2007-500",
    "cal500",
)


def least(work, seconds=4.0, most=7):
    """Return what the work gives and the least wall and CPU seconds of several runs."""
    runs, begun = [], time.perf_counter()
    while not runs or (len(runs) < most and time.perf_counter() - begun < seconds):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    return result, *np.min(runs, axis=0).tolist()


def splits(name):
    """Return training features and labels, and test features.

    Labels are int64: scikit-learn 1.9 takes columns of int8 labels beyond the 127th for others.
    """
    try:
        train, test = load(f"{name}:train"), load(f"{name}:test")
    except ValueError:
        train = test = load(name)
    Y = train.Y.toarray() if sparse.issparse(train.Y) else np.asarray(train.Y)
    return train.X, Y.astype(np.int64), test.X


def objectives(models, X, Y):
    """Return the objective of each label's regression."""
    coef = np.concatenate([model.coef_ for model in models])
    scores = np.asarray(X @ coef.T) + np.concatenate([model.intercept_ for model in models])
    loss = np.logaddexp(0.0, scores) - Y * scores
    return loss.sum(axis=0) + 0.5 * np.sum(coef**2, axis=1)


class Counter:
    """Counts the columns evaluated, and the entries each has met, while it is open."""

    def __enter__(self):
        self.columns, self.flops = 0, 0.0
        self.plain = {name: getattr(Problem, name) for name in ("solve_binary", "solve_softmax")}
        for name, solve in self.plain.items():
            setattr(Problem, name, self._counted(solve))
        return self

    def _counted(self, solve):
        def counted(problem, *given):
            found = solve(problem, *given)
            products = getattr(problem.design, "products", None)
            rows = problem.design.rows if products is None else products.X
            entries = rows.nnz if sparse.issparse(rows) else rows.size
            columns = found.evaluations * len(problem.targets) // len(found.value)
            self.columns += columns
            self.flops += 4.0 * entries * columns
            return found

        return counted

    def __exit__(self, *_):
        for name, solve in self.plain.items():
            setattr(Problem, name, solve)


def peak(dtype):
    """Return GFLOP/s of a large matrix product."""
    A = np.random.default_rng(0).random((1500, 1500)).astype(dtype)
    return 2e-9 * 1500**3 / least(lambda: A @ A, 2.0, 10)[2]


def compare(name):
    X, Y, X_test = splits(name)
    learnt = np.flatnonzero((Y.sum(axis=0) > 0) & (Y.sum(axis=0) < len(Y)))
    labels = Y[:, learnt].astype(float)
    BinaryRelevance().fit(X[:100], Y[:100])  # compiled
    ours, fit, fit_cpu = least(lambda: BinaryRelevance().fit(X, Y))
    with Counter() as counter:
        BinaryRelevance().fit(X, Y)
    _, predict, predict_cpu = least(lambda: ours.predict(X_test), 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner = LogisticRegression(max_iter=1000)
        theirs, sk_fit, sk_cpu = least(lambda: OneVsRestClassifier(inner).fit(X, Y), most=5)
    _, sk_predict, sk_predict_cpu = least(lambda: theirs.predict(X_test), 2.0)
    best = fit_logistic(X, labels, tol=1e-12, max_iter=50_000).objective
    gaps = [
        float(np.max((objectives([m[i] for i in learnt], X, labels) - best) / best))
        for m in (ours.estimators_, theirs.estimators_)
    ]
    return {
        "data": name,
        "rows": X.shape[0],
        "features": X.shape[1],
        "labels": Y.shape[1],
        "fit_s": fit,
        "sklearn_fit_s": sk_fit,
        "fit_ratio": sk_cpu / fit_cpu,
        "fit_cpu_s": fit_cpu,
        "sklearn_fit_cpu_s": sk_cpu,
        "predict_s": predict,
        "sklearn_predict_s": sk_predict,
        "predict_ratio": sk_predict_cpu / predict_cpu,
        "gap": gaps[0],
        "sklearn_gap": gaps[1],
        "evaluations_a_label": counter.columns / len(learnt),
        "gflop_s": 1e-9 * counter.flops / fit_cpu,
    }


def m_steps():
    """Time ten steps from a warm start of a gate and of small experts."""
    rng = np.random.default_rng(0)
    X = rng.random((1211, 294))
    T = rng.dirichlet(np.full(50, 0.1), len(X))
    rows = []
    for dtype in (np.float32, np.float64):
        products = make_products(X, dtype)
        start = fit_softmax(products, T, max_iter=3)
        found, wall, _ = least(
            lambda p=products, s=start: fit_softmax(p, T, start=s, max_iter=10, tol=1e-14), 2.0, 50
        )
        name = f"gate, 1211 x 294, 50 classes, {np.dtype(dtype).name}"
        rows.append({"case": name, "steps": found.n_iter, "ms": 1e3 * wall})
        for n_columns in (2, 6):
            few = make_products(X[:290], dtype)
            Y, weight = rng.random((290, n_columns)) < 0.3, rng.random(290)
            begin = fit_logistic(few, Y, max_iter=3)
            found, wall, _ = least(
                lambda p=few, s=begin, Y=Y, w=weight: fit_logistic(
                    p, Y, weight=w, start=s, max_iter=10, tol=1e-14
                ),
                1.0,
                300,
            )
            name = f"experts, 290 x 294, {n_columns} labels, {np.dtype(dtype).name}"
            rows.append({"case": name, "steps": found.n_iter, "ms": 1e3 * wall})
    return rows


def show(row):
    print(
        f"{row['data']:<16}{row['rows']:>6}{row['features']:>6}{row['labels']:>5}"
        f"{row['fit_cpu_s']:>9.3f}{row['sklearn_fit_cpu_s']:>9.3f}{row['fit_ratio']:>7.1f}x"
        f"{row['predict_s']:>9.4f}{row['sklearn_predict_s']:>9.4f}{row['predict_ratio']:>7.1f}x"
        f"{row['gap']:>9.0e}{row['sklearn_gap']:>9.0e}{row['evaluations_a_label']:>7.0f}"
        f"{row['gflop_s']:>8.1f}",
        flush=True,
    )


def main():
    folder = ROOT.parent / "shared" / "data"
    if folder.is_dir():
        os.environ.setdefault("COLABEL_DATA", str(folder))
    peaks = {name: peak(name) for name in ("float64", "float32")}
    print("peak GFLOP/s of a matrix product:", {k: round(v, 1) for k, v in peaks.items()})
    print(
        f"{'data':<16}{'rows':>6}{'feat.':>6}{'lab.':>5}{'fit s':>9}{'sklearn':>9}{'':>8}"
        f"{'predict':>9}{'sklearn':>9}{'':>8}{'gap':>9}{'sklearn':>9}{'evals':>7}{'GF/s':>8}"
    )
    rows = []
    for name in sys.argv[1:] or DATA:
        try:
            rows.append(compare(name))
        except DatasetNotFoundError:
            print(f"{name:<16} is not here")
        else:
            show(rows[-1])
    steps = m_steps()
    for row in steps:
        print(f"{row['case']:<44}{row['steps']:>4} steps {row['ms']:>8.3f} ms")
    versions = {m.__name__: m.__version__ for m in (np, scipy, sklearn)}
    machine = {"python": platform.python_version(), "machine": platform.machine(), **versions}
    result = {"machine": machine, "peak_gflop_s": peaks, "fits": rows, "m_steps": steps}
    if not sys.argv[1:]:
        (ROOT / "benchmarks" / "results" / "logistic.json").write_text(json.dumps(result, indent=1))
    bad = [
        row["data"]
        for row in rows
        if row["fit_ratio"] < 1.0 or row["predict_ratio"] < 1.0 or row["gap"] > 1e-6
    ]
    if bad:
        sys.exit(f"slower than scikit-learn, or not exact: {', '.join(bad)}")


if __name__ == "__main__":
    main()
