"""Decoders of mixtures: mode, top-5, expected F and Jaccard, beside the paper's Algorithm 2.

Run: ``python benchmarks/decoders_mixture.py [--quick]``. All inputs are synthetic. Times are CPU
time of one core per sample in microseconds, the least of several repeats. Algorithm 2 of
Li et al. (2016) is compiled with the same Numba; it is given a few samples and a cap on the
labelings it dequeues, and ``>=`` marks figures where some sample met the cap. *Limit* is one
exponential per cell of the logits at 0.98 ns, the least any method that reads them all can take.
Two threads are compared with one by wall time, which says little on a busy machine: the load is
printed. Where samples differ much in what they need, the ratio is that of total times.
"""

import json
import os
import platform
import sys
import time
from pathlib import Path

import numba
import numpy as np

from colabel.decoders.expected_f import ExpectedF
from colabel.decoders.expected_jaccard import ExpectedJaccard
from colabel.decoders.marginal import Marginal
from colabel.decoders.mixture_mode import MixtureMode, most_probable
from colabel.decoders.top_m import top_m
from colabel.scores import Mixture, Support

ROOT = Path(__file__).resolve().parents[1]
# Standard deviation of the log-weights; mean and standard deviation of the logits.
REGIMES = {"trained": (3.0, -5.0, 1.5), "medium": (1.5, -3.0, 1.5), "diffuse": (0.5, -1.5, 1.0)}
EXPONENTIAL = 0.98e-3  # microseconds


def table(regime, n_samples, n_components, n_labels, seed=0):
    """Return a mixture in which some four labels of each component are likely."""
    rng = np.random.default_rng(seed)
    spread, mean, scale = REGIMES[regime]
    shape = (n_samples, n_components, n_labels)
    logits = mean + scale * rng.normal(size=shape) + 6.0 * (rng.random(shape) < 4.0 / n_labels)
    return Mixture(spread * rng.normal(size=shape[:2]), logits)


def hard(n_samples, n_labels, scale=0.5):
    rng = np.random.default_rng(1)
    return Mixture(np.zeros((n_samples, 50)), scale * rng.normal(size=(n_samples, 50, n_labels)))


def cpu(work, scores, repeats):
    """Return the least CPU time of one call, in microseconds per sample."""
    work(scores.take(slice(0, 2)))
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work(scores)
        best = min(best, time.process_time() - start)
    return best / scores.n_samples * 1e6


def mode_row(regime, n_labels, quick):
    """Time the search and the ranked lists on the same samples."""
    n_search, n_lists, cap = (64, 3, 1000) if quick else (128, 8, 5000)
    if regime == "trained" and not quick:
        n_lists = n_search  # quick enough there
    scores = table(regime, n_search, 50, n_labels)
    few = scores.take(slice(0, n_lists))
    search, lists = MixtureMode(), MixtureMode("paper", max_nodes=cap)
    t_search, t_few = cpu(search.decode, scores, 5), cpu(search.decode, few, 5)
    t_lists = cpu(lists.decode, few, 1)
    capped = int((~lists.decode(few).certified).sum())
    return {
        "regime": regime,
        "n_labels": n_labels,
        "search_us": t_search,
        "search_same_samples_us": t_few,
        "certified": float(search.decode(scores).certified.mean()),
        "algorithm_2_us": t_lists,
        "algorithm_2_capped": capped,
        "algorithm_2_samples": n_lists,
        "ratio": t_lists / t_few,
        "top5_us": cpu(lambda s: top_m(s, 5), scores, 3),
        "limit_us": 50 * n_labels * EXPONENTIAL,
    }


def targets_row(regime, n_labels, quick):
    scores = table(regime, 32 if quick else 64, 50, n_labels)
    decoders = {"marginal": Marginal(), "expected_f": ExpectedF()}
    row = {f"{name}_us": cpu(d.decode, scores, 3) for name, d in decoders.items()}
    jaccard = ExpectedJaccard()
    found = jaccard.decode(scores)
    row["expected_jaccard_us"] = cpu(jaccard.decode, scores, 1)
    row["jaccard_relative_gap"] = float(np.mean(found.gap / found.upper_bound))
    labels = float(scores.marginals().sum(axis=1).mean())
    return {"regime": regime, "n_labels": n_labels, "mean_labels": labels, **row}


def support_row(n_labels, n_labelings):
    rng = np.random.default_rng(0)
    labelings = np.unique((rng.random((n_labelings, n_labels)) < 4 / n_labels), axis=0)
    scores = Support(labelings, 2.0 * rng.normal(size=(200, len(labelings))))
    return {
        "n_labels": n_labels,
        "n_labelings": len(labelings),
        "expected_f_us": cpu(ExpectedF().decode, scores, 3),
        "expected_jaccard_us": cpu(ExpectedJaccard().decode, scores, 1),
        "top5_us": cpu(lambda s: top_m(s, 5), scores, 3),
    }


def hard_row(n_labels, scale, max_nodes):
    scores = hard(10, n_labels, scale)
    found = MixtureMode(max_nodes=max_nodes).decode(scores)
    return {
        "n_labels": n_labels,
        "logit_scale": scale,
        "max_nodes": max_nodes,
        "us": cpu(MixtureMode(max_nodes=max_nodes).decode, scores, 1),
        "certified": float(found.certified.mean()),
        "mean_gap": float(found.gap.mean()),
    }


def threads_row(quick):
    """Compare one thread with all by wall time, in turn, keeping the least of each."""
    scores = table("diffuse", 500 if quick else 2000, 50, 53)
    n_threads = numba.get_num_threads()
    wall = {1: np.inf, n_threads: np.inf}
    for _ in range(5):
        for n in wall:
            numba.set_num_threads(n)
            start = time.perf_counter()
            most_probable(scores, 1, False, 100_000)
            wall[n] = min(wall[n], time.perf_counter() - start)
    numba.set_num_threads(n_threads)
    gain = wall[1] / wall[n_threads]
    return {"threads": n_threads, "gain": gain, "load": os.getloadavg()[0]}


def show(title, rows):
    print(f"\n{title}")
    names = list(rows[0])
    text = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows]
    width = [max(len(n), *(len(line[j]) for line in text)) for j, n in enumerate(names)]
    for line in [names, *text]:
        print("  ".join(value.rjust(w) for value, w in zip(line, width, strict=True)))


def main():
    quick = "--quick" in sys.argv
    numba.set_num_threads(1)
    sizes = [(regime, n_labels) for n_labels in (53, 159) for regime in REGIMES]
    results = {
        "mode, K = 50": [mode_row(*size, quick) for size in sizes],
        "other targets, K = 50": [targets_row(*size, quick) for size in sizes],
        "support": [support_row(53, 500), support_row(159, 2000)],
        "hard: 50 equal components": [
            hard_row(22, 0.5, 20_000),
            hard_row(53, 0.5, 20_000),
            hard_row(53, 1.0, 20_000),
        ],
    }
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    results["threads"] = [threads_row(quick)]
    for title, rows in results.items():
        show(title, rows)
    about = {"python": platform.python_version(), "numba": numba.__version__}
    path = ROOT / "benchmarks" / "results" / "decoders_mixture.json"
    path.write_text(json.dumps({**about, **results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
