"""Relaxations and branch and bound: time per sample, beside the published recipe and SCS.

Run: ``python benchmarks/decoders_relaxations.py [--quick]``. One core: BLAS and Numba are held to
one thread. Figures are CPU time, minimum over repeats, for ours and for what they are compared to.
``limit`` is the time of the floating-point operations that cannot be avoided, at the rate of a
large matrix product measured in the same run. SCS (the package ``scs``) is compared if installed,
and named as missing otherwise. Results go to ``benchmarks/results/decoders_relaxations.json``.
"""

# ruff: noqa: E402  (threads are limited before NumPy is imported)
import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import json
import platform
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from colabel.decoders.branch_and_bound import BranchAndBound
from colabel.decoders.mixing import Mixing, rank_for
from colabel.decoders.spectral import Spectral
from colabel.decoders.spins import Spins
from colabel.losses import FBeta
from colabel.scores import Pairwise

ROOT = Path(__file__).resolve().parents[1]
GOALS = {"spectral 53": 300, "spectral 159": 3000, "semidefinite 60": 50}


def cpu(function, repeats=7):
    """Return the least CPU time of ``repeats`` calls, and the last result."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def matrix_rate():
    """Floating-point operations per second of a large matrix product."""
    A = np.random.default_rng(0).normal(size=(1000, 1000))
    return 2e9 / cpu(lambda: A @ A)[0]


def table(regime, seed, n_samples, n_labels):
    rng = np.random.default_rng([seed, n_labels])
    C = np.triu(rng.normal(size=(n_labels, n_labels)), 1)
    unary = rng.normal(size=(n_samples, n_labels)) * np.sqrt(n_labels)
    if regime in ("repulsive", "attractive"):
        C = np.abs(C) * (1 if regime == "attractive" else -1)
        unary -= C.sum() / n_labels
    if regime == "sparse":
        C *= rng.random(C.shape) < 0.1
        unary /= 3.0
    if regime == "integers":
        C, unary = np.round(C), np.round(0.3 * unary)
    C = C + C.T
    if regime == "balanced":
        # Nothing but couplings: each labeling is worth as much as its opposite, the hardest case.
        unary = np.tile(-0.5 * C.sum(axis=1), (n_samples, 1))
    return Pairwise.from_dense(unary, C)


def published_recipe(b, A):
    """Sphere maximiser of one row: an eigenproblem twice its size (Eqs. 20-21, Lajugie et al.)."""
    V = len(b)
    S = np.block([[A, -np.eye(V)], [-np.outer(b, b) / (4 * V), A]])
    lam = np.linalg.eigvals(S).real.min()
    return 0.5 * np.linalg.solve(A - lam * np.eye(V), b)


def spectral(quick, rate):
    rows = []
    print(f"\n{'spectral':<14}{'us/row':>10}{'limit':>8}{'recipe us':>12}{'ratio':>9}", end="")
    print(f"{'decode us':>11}{'all sizes, F1 us':>18}")
    for V, n in ((14, 8000), (53, 4000), (159, 2000), (374, 2000)):
        scores = table("mixed", 0, n // 4 if quick else n, V)
        n = scores.n_samples
        ours, relaxed = cpu(lambda scores=scores: Spectral().relax(scores), 9)
        spins = Spins.of(scores)
        count = 1 if V > 200 else 5
        recipe, found = cpu(
            lambda spins=spins, count=count: [
                published_recipe(b, -spins.matrix / 8) for b in spins.linear[:count]
            ],
            1 if quick or V > 200 else 3,
        )
        agree = np.abs(np.array(found) - relaxed.u[:count]).max()
        decode = cpu(lambda scores=scores: Spectral().decode(scores), 5)[0]
        few = scores.take(slice(0, n // 5))
        Y = (np.random.default_rng(1).random(few.unary.shape) < 0.1).astype(np.int8)
        sizes = cpu(lambda few=few, Y=Y: Spectral().relax_counts(few, Y, FBeta().counts_table), 3)[
            0
        ]
        row = {
            "V": V,
            "us": 1e6 * ours / n,
            "limit_us": 1e6 * 4 * V * V / rate,
            "recipe_us": 1e6 * recipe / count,
            "ratio": recipe / count / (ours / n),
            "decode_us": 1e6 * decode / n,
            "sizes_us": 1e6 * sizes / few.n_samples,
            "largest_difference": agree,
        }
        rows.append(row)
        print(
            f"V = {V:<10}{row['us']:>10.2f}{row['limit_us']:>8.2f}{row['recipe_us']:>12.0f}", end=""
        )
        print(f"{row['ratio']:>9.0f}{row['decode_us']:>11.1f}{row['sizes_us']:>18.1f}")
        if agree > 1e-5:
            sys.exit(f"V = {V}: the two solutions differ by {agree}")
    return rows


def scs_problem(linear, matrix):
    m = len(linear) + 1
    M = np.zeros((m, m))
    M[0, 1:] = M[1:, 0] = 0.5 * linear
    M[1:, 1:] = 0.125 * matrix
    column, row = np.triu_indices(m)
    diagonal = np.flatnonzero(row == column)
    equal = sparse.csc_matrix((np.ones(m), (np.arange(m), diagonal)), (m, len(row)))
    data = {
        "A": sparse.vstack([equal, -sparse.eye(len(row))]).tocsc(),
        "b": np.concatenate([np.ones(m), np.zeros(len(row))]),
        "c": -M[row, column] * np.where(row == column, 1.0, np.sqrt(2.0)),
    }
    return data, {"z": m, "s": [m]}


def solve_scs(problem, eps):
    import scs

    solver = scs.SCS(*problem, eps_abs=eps, eps_rel=eps, max_iters=50_000, verbose=False)
    return -solver.solve()["info"]["pobj"]


def semidefinite(quick, rate):
    try:
        import scs

        print(f"\nscs {scs.__version__}, to 1e-4")
        have_scs = True
    except ImportError:
        print("\nscs is not installed: no comparison")
        have_scs = False
    print(
        f"{'semidefinite':<14}{'ms/row':>9}{'sweep limit':>12}{'mean gap':>10}{'largest':>10}",
        end="",
    )
    print(f"{'SCS ms':>9}{'ratio':>8}{'differs':>9}{'decode ms':>11}")
    rows = []
    for V, n in ((14, 200), (30, 100), (60, 60), (159, 10)):
        n = max(4, n // 4) if quick else n
        scores, solver = table("mixed", 1, n, V), Mixing()
        ours, relaxed = cpu(lambda s=scores, m=solver: m.relax(s), 5)
        decode = cpu(lambda s=scores, m=solver: m.decode(s), 3)[0]
        spins = Spins.of(scores)
        size = relaxed.value - spins.constant
        gap = (relaxed.upper_bound - relaxed.value) / size
        row = {
            "V": V,
            "ms": 1e3 * ours / n,
            "limit_ms_per_sweep": 2e3 * rank_for(V) * V * V / rate,
            "mean_gap": gap.mean(),
            "max_gap": gap.max(),
            "decode_ms": 1e3 * decode / n,
        }
        if have_scs:
            count = 2 if V > 100 else 5
            problems = [scs_problem(b, spins.matrix) for b in spins.linear[:count]]
            taken, value = cpu(lambda p=problems: [solve_scs(q, 1e-4) for q in p], 2)
            tight = [solve_scs(q, 1e-6) for q in problems] if V < 100 else value
            row["scs_ms"] = 1e3 * taken / count
            row["ratio"] = row["scs_ms"] / row["ms"]
            row["difference"] = float(np.max(np.abs(size[:count] - tight) / np.abs(tight)))
        rows.append(row)
        print(f"V = {V:<10}{row['ms']:>9.3f}{row['limit_ms_per_sweep']:>12.4f}", end="")
        print(
            f"{row['mean_gap']:>10.1e}{row['max_gap']:>10.1e}{row.get('scs_ms', np.nan):>9.1f}",
            end="",
        )
        print(f"{row.get('ratio', np.nan):>8.0f}{row.get('difference', np.nan):>9.1e}", end="")
        print(f"{row['decode_ms']:>11.3f}")
    return rows


def large_semidefinite(quick, rate):
    V, n = 500, 10 if quick else 100
    scores = table("mixed", 2, n, V)
    Mixing(max_iter=1).relax(scores.take([0]))
    seconds, relaxed = cpu(lambda: Mixing(tol=1e-6).decode(scores), 1)
    gap = relaxed.gap / np.abs(relaxed.value)
    per_sweep = 2 * rank_for(V) * V * V / rate
    print(
        f"\nV = {V}, {n} rows, decoded with a bound (tol 1e-6): {seconds:.1f} s CPU; a sweep's",
        end="",
    )
    print(f" limit {1e3 * per_sweep:.2f} ms; gap of the labeling {gap.mean():.1%}")
    return {"V": V, "rows": n, "seconds": seconds, "gap": gap.mean()}


def certified(quick):
    print(f"\n{'branch and bound':<28}{'certified':>10}{'mean ms':>10}{'max ms':>10}")
    rows = []
    regimes = ("mixed", "repulsive", "attractive", "sparse", "integers", "balanced")
    for V in (20, 30, 40, 60):
        for regime in regimes:
            tables = [table(regime, seed, 1, V) for seed in range(4 if quick or V > 40 else 20)]
            taken, proved = [], []
            for scores in tables:
                start = time.process_time()
                proved.append(BranchAndBound().decode(scores).certified[0])
                taken.append(time.process_time() - start)
            row = {"V": V, "regime": regime, "certified": float(np.mean(proved))}
            row |= {"mean_ms": 1e3 * np.mean(taken), "max_ms": 1e3 * np.max(taken)}
            rows.append(row)
            print(f"V = {V:<4}{regime:<20}{row['certified']:>10.0%}", end="")
            print(f"{row['mean_ms']:>10.2f}{row['max_ms']:>10.2f}")
    return rows


def main():
    quick = "--quick" in sys.argv
    rate = matrix_rate()
    print(f"{platform.processor() or platform.machine()}, one core, {rate / 1e9:.0f} GF/s")
    results = {"gflops": rate / 1e9, "numpy": np.__version__, "quick": quick}
    results["spectral"] = spectral(quick, rate)
    results["semidefinite"] = semidefinite(quick, rate)
    results["large_semidefinite"] = large_semidefinite(quick, rate)
    results["branch_and_bound"] = certified(quick)
    for kind in ("spectral", "semidefinite"):
        for row in results[kind]:
            goal = GOALS.get(f"{kind} {row['V']}")
            if goal and "ratio" in row:
                word = "reached" if row["ratio"] >= goal else "MISSED"
                print(f"{kind}, V = {row['V']}: {row['ratio']:.0f}x, goal {goal}x {word}")
    path = ROOT / "benchmarks" / "results" / "decoders_relaxations.json"
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
