"""Neighbour methods: speed against other implementations, and cost against size.

1. ``MLkNN`` against scikit-multilearn-ng, where the path of a Python that has it is given as the
   argument: fit and predict on yeast and on rows of delicious, and whether predictions are equal.
   Goal: 10 times. Its ``ignore_first_neighbours`` is 1 in training, so that no row is its own
   neighbour, and 0 in prediction, where it would leave out the nearest row.
2. Learning a metric against the literal algorithm, which forms a difference and an outer product
   for each pair of a row and a neighbour: 174 labels (cal500) and 374 (corel5k). Goal: 20 times.
   A pass of the literal one is timed on some rows, as it is linear in them, and multiplied by the
   passes that Algorithm 1 makes with its own steps to the same tolerance.
3. An iteration against the number of labels and of rows, with fitted exponents, and the rate of the
   margins' matrix product beside that of a large one.

CPU seconds of one thread: run with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1. Exits with 1 if short.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from logistic import peak
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError
from colabel.metric_learning.proximal import shrink
from colabel.neighbors import LargeMarginKNN, MLkNN
from colabel.neighbors import _margin_problem as margin_problem
from colabel.neighbors._codeword_maps import Codewords

RESULTS = Path(__file__).parent / "results"
# Data, training rows and test rows: the other implementation visits every row and label in Python.
PEER_DATA = {"yeast": (1500, 917), "delicious": (1000, 200)}
# Data, and the rows that a pass of the literal algorithm is timed on.
LITERAL_DATA = {"cal500": 100, "corel5k": 40}
PEER = """
import sys, time
import numpy as np
from scipy import sparse
from skmultilearn.adapt import MLkNN
X, Y, T = (sparse.load_npz(f"{sys.argv[1]}/{name}.npz") for name in "XYT")
if X.nnz == X.shape[0] * X.shape[1]:
    X, T = X.toarray(), T.toarray()
started = time.process_time()
model = MLkNN(k=10, s=1.0, ignore_first_neighbours=1).fit(X, Y)
fitted = time.process_time()
model.ignore_first_neighbours = 0
predicted = sparse.csr_matrix(model.predict(T))
print(fitted - started, time.process_time() - fitted)
sparse.save_npz(f"{sys.argv[1]}/P.npz", predicted)
"""


def cpu(work):
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def against_peer(python, name, n_train, n_test):
    data = load(name)
    T, X = data.X[n_train : n_train + n_test], data.X[:n_train]
    Y = sparse.csr_matrix(data.Y[:n_train])
    MLkNN().fit(X[:50], Y[:50]).predict(X[:5])  # compiles
    model, fit = cpu(lambda: MLkNN().fit(X, Y))
    ours, predict = cpu(lambda: model.predict(T))
    with tempfile.TemporaryDirectory() as folder:
        for key, value in zip("XYT", (X, Y, T), strict=True):
            sparse.save_npz(f"{folder}/{key}.npz", sparse.csr_matrix(value))
        done = subprocess.run(
            [python, "-W", "ignore", "-c", PEER, folder], capture_output=True, text=True, check=True
        )
        theirs = sparse.load_npz(f"{folder}/P.npz")
    peer_fit, peer_predict = map(float, done.stdout.split())
    different = int((theirs.toarray() != ours.toarray()).any(axis=1).sum())
    ratio = (peer_fit + peer_predict) / (fit + predict)
    print(
        f"mlknn, {name} ({n_train} + {n_test} rows): {fit:.3f} + {predict:.3f} s, "
        f"scikit-multilearn-ng {peer_fit:.2f} + {peer_predict:.2f} s: {ratio:.0f} times; "
        f"{different} rows differ"
    )
    return {"ratio": ratio, "seconds": fit + predict, "different_rows": different}


class Passes:
    """Counts margins and gradients, and the time that they take, while it is open."""

    def __enter__(self):
        self.count, self.seconds = {"margins": 0, "gradient": 0}, {"margins": 0.0, "gradient": 0.0}
        self.plain = {name: getattr(margin_problem.MarginProblem, name) for name in self.count}
        for name in self.count:
            setattr(margin_problem.MarginProblem, name, self._counted(name))
        return self

    def _counted(self, name):
        def counted(problem, *given):
            self.problem = problem
            found, seconds = cpu(lambda: self.plain[name](problem, *given))
            self.count[name] += 1
            self.seconds[name] += seconds
            return found

        return counted

    def __exit__(self, *_):
        for name, function in self.plain.items():
            setattr(margin_problem.MarginProblem, name, function)


def literal_pass(Z, Y, near, Q, rows):
    """Slacks and gradient as printed: a difference for each pair, an outer product for each row."""
    gradient, total = np.zeros_like(Q), 0.0
    for i in rows:
        own = Z[i] - Y[i]
        own_square, worst = own @ Q @ own, None
        for j in near[i]:
            other = Z[i] - Y[j]
            slack = np.abs(Y[i] - Y[j]).sum() + own_square - other @ Q @ other
            if worst is None or slack > worst[0]:
                worst = slack, other
        if worst[0] > 0:
            total += worst[0] ** 2
            gradient += worst[0] * (np.outer(own, own) - np.outer(worst[1], worst[1]))
    return total, gradient


def literal_steps(problem, C, eta=0.4, tol=1e-3, max_iter=500):
    """Run Algorithm 1 with its own steps: ``tau`` falls every iteration, and rises until one fits.

    Returns the number of passes over all pairs, of which the extrapolated point takes one and each
    step that is tried another, and of eigendecompositions. Values are computed the quick way.
    """
    n, q = problem.Y.shape

    def value(Q):
        return problem.loss(problem.margins(Q)) + 0.5 * np.trace(Q)

    before = now = np.eye(q)
    t_before = t = 1.0
    tau, n_passes, n_eigen, F = 0.01 * n * C, 0, 0, value(now)
    for _ in range(max_iter):
        Z = now + (t_before - 1.0) / t * (now - before)
        margins = problem.margins(Z)
        loss, gradient = problem.loss(margins), problem.gradient(margins)
        tau, n_passes = eta * tau, n_passes + 1
        while True:
            Q, _ = shrink(Z - gradient / tau, 0.5 / tau, q)
            n_passes, n_eigen, move = n_passes + 1, n_eigen + 1, Q - Z
            model = loss + np.vdot(gradient, move) + 0.5 * tau * np.vdot(move, move)
            F_new = value(Q)
            if F_new - 0.5 * np.trace(Q) <= model or tau > 1e6 * n * C:
                break
            tau /= eta
        before, now, t_before, t = now, Q, t, 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        if abs(F - F_new) <= tol * F:
            break
        F = F_new
    return n_passes, n_eigen


def against_literal(name, n_rows):
    data = load(name)
    LargeMarginKNN(tol=0.5).fit(data.X[:60], data.Y[:60])  # compiles
    with Passes() as passes:
        model, seconds = cpu(lambda: LargeMarginKNN().fit(data.X, data.Y))
    problem, Q = passes.problem, model.components_ @ model.components_.T
    n, q = problem.Y.shape
    Z, Y = problem.words.times(np.eye(q), problem.Y), problem.Y.toarray()
    rows = np.random.default_rng(0).choice(n, n_rows, replace=False)
    one_pass = cpu(lambda: literal_pass(Z, Y, problem.near, Q, rows))[1] * n / n_rows
    eigen = min(cpu(lambda: shrink(Q - 1e-3, 1e-3, q))[1] for _ in range(3))
    n_passes, n_eigen = literal_steps(problem, model.C)
    literal = n_passes * one_pass + n_eigen * eigen
    ours = sum(passes.seconds.values()) / (passes.count["margins"] + passes.count["gradient"])
    print(
        f"lmknn, {name} (n = {n}, q = {q}): {seconds:.2f} s, {model.n_iter_} iterations, "
        f"{passes.count['margins']} steps; literal {literal:.0f} s, {n_passes} passes: "
        f"{literal / seconds:.0f} times ({one_pass / ours:.0f} times a pass)"
    )
    return {"ratio": literal / seconds, "seconds": seconds, "literal": literal}


def made_problem(n, q, d=300, k=10):
    rng = np.random.default_rng(0)
    Y = sparse.csr_array((rng.random((n, q)) < 5 / q).astype(float))
    words = Codewords(
        rng.normal(size=(n, d)), rng.normal(size=(d, q)) / d, np.zeros(q), np.ones(n), np.zeros(n)
    )
    return margin_problem.MarginProblem(words, Y, rng.integers(0, n, (n, k)), 10.0)


def cost_of(n, q):
    """Return CPU seconds of margins, gradient and proximal step, and the product's GFLOP/s."""
    problem, Q = made_problem(n, q), np.eye(q)
    margins = problem.margins(Q)
    gradient = problem.gradient(margins)
    step = [cpu(lambda: problem.margins(Q))[1] for _ in range(3)]
    back = [cpu(lambda: problem.gradient(margins))[1] for _ in range(3)]
    prox = [cpu(lambda: shrink(Q - gradient / 100.0, 0.005, q))[1] for _ in range(2)]
    d = problem.words.P.shape[0]
    flops = 2.0 * d * q * q + 2.0 * n * d * q
    return min(step), min(back), min(prox), flops / min(step) * 1e-9


def scaling():
    found = {}
    for what, sizes in {
        "q": [(2000, q) for q in (50, 100, 200, 400, 800)],
        "n": [(n, 200) for n in (1000, 2000, 4000, 8000)],
    }.items():
        costs = [cost_of(*size) for size in sizes]
        x = np.log([size[1 if what == "q" else 0] for size in sizes])
        parts = {}
        for part, name in enumerate(("margins", "gradient", "eigenvalues")):
            parts[name] = float(np.polyfit(x, np.log([max(c[part], 1e-5) for c in costs]), 1)[0])
        total = np.log([sum(c[:3]) for c in costs])
        parts["iteration"] = float(np.polyfit(x, total, 1)[0])
        found[what] = {"exponents": parts, "sizes": sizes, "costs": costs}
        print(f"cost against {what}: " + ", ".join(f"{k} {what}^{v:.2f}" for k, v in parts.items()))
        for size, (step, back, prox, rate) in zip(sizes, costs, strict=True):
            print(
                f"  n = {size[0]}, q = {size[1]}: margins {1e3 * step:.1f} ms "
                f"({rate:.1f} GFLOP/s), gradient {1e3 * back:.1f} ms, "
                f"eigenvalues {1e3 * prox:.1f} ms"
            )
    found["peak"] = peak(np.float64)
    print(f"a large matrix product: {found['peak']:.1f} GFLOP/s")
    _draw(found)
    return found


def _draw(found):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    figure, panels = plt.subplots(1, 2, figsize=(9.0, 3.5), layout="constrained")
    for axes, what in zip(panels, "qn", strict=True):
        sizes = [size[what == "q"] for size in found[what]["sizes"]]
        for part, name in enumerate(("margins", "gradient", "eigenvalues")):
            seconds = [cost[part] for cost in found[what]["costs"]]
            slope = found[what]["exponents"][name]
            axes.loglog(sizes, seconds, marker="o", label=f"{name}: {what}^{slope:.2f}")
        axes.set(xlabel={"q": "labels q", "n": "rows n"}[what], ylabel="CPU seconds")
        axes.legend(frameon=False)
    figure.savefig(RESULTS / "neighbors.svg")


def main(python=None):
    warnings.simplefilter("ignore", ConvergenceWarning)
    RESULTS.mkdir(exist_ok=True)
    results, short = {}, []
    jobs = [(f"literal {name}", against_literal, (name, n), 20) for name, n in LITERAL_DATA.items()]
    if python is not None:
        jobs += [
            (f"mlknn {name}", against_peer, (python, name, *sizes), 10)
            for name, sizes in PEER_DATA.items()
        ]
    for title, work, given, goal in jobs:
        try:
            results[title] = work(*given)
        except DatasetNotFoundError:
            print(f"{title}: not here: set COLABEL_DATA")
            continue
        if results[title]["ratio"] < goal:
            short.append(title)
    results["scaling"] = scaling()
    (RESULTS / "neighbors.json").write_text(json.dumps(results, indent=2))
    return f"short of the goal: {', '.join(short)}" if short else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
