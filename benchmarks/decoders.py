"""All decoder benchmarks in one run, and the picture of time against the number of labels.

Sections: ``decoders_cut``, ``decoders_relaxations``, ``decoders_mixture`` and
``decoders_first_call`` (each also runs alone); their results are gathered in
``results/decoders.json``. ``--picture`` only draws ``docs/guide/decoders-time.svg``.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from colabel.decoders import make_decoder
from colabel.scores import Mixture, Modular, Pairwise

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "guide" / "decoders-time.svg"
SECTIONS = ("decoders_cut", "decoders_relaxations", "decoders_mixture", "decoders_first_call")
SIZES = (6, 10, 14, 20, 30, 53, 100, 159, 300, 550, 1000)
# Slower than this for one row, and larger sizes are left out.
LIMIT = 0.2


def tables(n_labels, n_rows):
    rng = np.random.default_rng(n_labels)
    unary = rng.normal(size=(n_rows, n_labels))
    couplings = rng.normal(size=(n_labels, n_labels)) / np.sqrt(n_labels)
    couplings = np.triu(couplings, 1) + np.triu(couplings, 1).T
    logits = 2 * rng.normal(size=(n_rows, 20, n_labels))
    mixture = Mixture(np.log(rng.dirichlet(np.ones(20), size=n_rows)), logits)
    return {
        "threshold": Modular(unary),
        "graph_cut": Pairwise.from_dense(unary, np.abs(couplings)),
        "spectral": Pairwise.from_dense(unary, couplings),
        "mixing": Pairwise.from_dense(unary, couplings),
        "branch_and_bound": Pairwise.from_dense(unary, couplings),
        "exhaustive": Pairwise.from_dense(unary, couplings),
        "mixture_mode": mixture,
        "expected_f": mixture,
    }


def seconds_per_row(decoder, table):
    decoder.decode(table.take(slice(0, 2)))
    best = np.inf
    for _ in range(3):
        started = time.perf_counter()
        decoder.decode(table)
        best = min(best, time.perf_counter() - started)
    return best / table.n_samples


def measure():
    found = {}
    for n_labels in SIZES:
        n_rows = 20 if n_labels > 60 else 100
        for name, table in tables(n_labels, n_rows).items():
            slow = name in found and found[name][-1][1] > LIMIT
            if slow or (name == "exhaustive" and n_labels > 14):
                continue
            rows = slice(0, 5 if name in ("branch_and_bound", "exhaustive") else None)
            value = seconds_per_row(make_decoder(name), table.take(rows))
            found.setdefault(name, []).append((n_labels, value))
            print(f"{name:18} V = {n_labels:4}: {1e6 * value:12.1f} us a row", flush=True)
            if value > LIMIT:
                found[name].append((n_labels, value))
    return found


def draw(found):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "colabel"
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, points in found.items():
        axes.loglog(*zip(*points, strict=True), marker="o", markersize=3, label=name)
    axes.set(xlabel="number of labels", ylabel="seconds per sample")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


def main():
    results, missed = {}, []
    for section in () if "--picture" in sys.argv else SECTIONS:
        done = subprocess.run([sys.executable, str(HERE / f"{section}.py")], check=False)
        missed += [section] if done.returncode else []
        results[section] = json.loads((HERE / "results" / f"{section}.json").read_text())
    found = measure()
    draw(found)
    print(f"picture in {PICTURE.relative_to(HERE.parent)}")
    if results:
        path = HERE / "results" / "decoders.json"
        path.write_text(json.dumps({**results, "seconds_per_sample": found}, indent=1) + "\n")
        print(f"results in {path.relative_to(HERE.parent)}")
    return "missed a goal: " + ", ".join(missed) if missed else 0


if __name__ == "__main__":
    sys.exit(main())
