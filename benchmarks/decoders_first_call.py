"""What the first ever call of each decoder costs: its kernels compiled into an empty cache.

Each case runs in two fresh processes that share one new cache folder: the first compiles, the
second loads what the first left there. Numba's own import is counted apart.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
GOAL = 8.0
CASES = (
    "threshold",
    "cardinality_threshold",
    "exhaustive",
    "graph_cut",
    "graph_cut sparse",
    "graph_cut nonempty",
    "graph_cut sparse nonempty",
    "graph_cut f1",
    "graph_cut sparse f1",
    "graph_cut f1 nonempty",
    "graph_cut subset",
    "graph_cut f1 alg2",
    "parametric_cut",
    "parametric_cut sparse",
    "spectral",
    "spectral f1",
    "mixing",
    "mixing size",
    "branch_and_bound",
    "branch_and_bound nonempty",
    "mixture_mode",
    "mixture_mode nonempty",
    "mixture_mode paper",
    "top_m",
    "expected_f",
    "expected_f support",
    "expected_jaccard",
    "expected_jaccard climb",
    "marginal",
    "support_mode",
)


def tables(options):
    """Small tables on which every path of a case is taken."""
    import numpy as np

    from colabel import scores

    rng = np.random.default_rng(0)
    unary = rng.normal(size=(3, 9)) - (9.0 if "nonempty" in options else 0.0)
    couplings = np.triu(rng.random((9, 9)), 1)
    if "sparse" in options:
        couplings *= rng.random((9, 9)) < 0.2
    return {
        "Modular": scores.Modular(unary),
        "Pairwise": scores.Pairwise.from_dense(unary, couplings + couplings.T),
        "Mixture": scores.Mixture(np.log(np.full((3, 4), 0.25)), rng.normal(size=(3, 4, 9))),
        "Support": scores.Support(np.eye(9, dtype=np.int8), np.full((3, 9), np.log(1 / 9))),
    }


def call(case):
    """Return the call whose first run is timed."""
    import numpy as np

    from colabel import decoders, losses
    from colabel.oracles import loss_augmented

    name, *options = case.split()
    table = tables(options)
    if name == "parametric_cut":
        return lambda: decoders.parametric_cut(table["Pairwise"])
    if name == "top_m":
        return lambda: decoders.top_m(table["Mixture"], 3)
    decoder = decoders.make_decoder(name)
    kinds = [kind.__name__ for kind in decoder.accepts]
    kind = "Support" if "support" in options or name == "support_mode" else "Mixture"
    scores = table[next(k for k in (kind, "Pairwise", *kinds) if k in kinds)]
    if "size" in options:
        return lambda: decoder.decode_size(scores, 3)
    settings = {"paper": {"algorithm": "paper"}, "alg2": {"augmentation": "alg2"}}
    for option in options:
        decoder.set_params(**settings.get(option, {}))
    if "climb" in options:
        decoder.set_params(max_labels=0)
    loss = next((o for o in options if o in losses.LOSSES), None)
    nonempty = "nonempty" in options
    if loss:
        truth = (np.random.default_rng(1).random((3, 9)) < 0.5).astype(np.int8)
        return lambda: loss_augmented(
            decoder, losses.make_loss(loss), scores, truth, nonempty=nonempty
        )
    return lambda: decoder.decode(scores, nonempty=nonempty)


def child(case):
    started = time.process_time()
    import numba  # noqa: F401

    imported = time.process_time() - started
    run = call(case)
    started = time.process_time()
    run()
    print(json.dumps({"import_s": imported, "call_s": time.process_time() - started}))


def measure(case):
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [sys.executable, __file__, "--case", case]
        runs = []
        for _ in range(2):
            done = subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {"case": case, "first": runs[0]["call_s"], "cached": runs[1]["call_s"]}


def main():
    wanted = sys.argv[1:] or CASES
    rows = [measure(case) for case in wanted if print(f"... {case}", end="\r") is None]
    print(f"{'first call (CPU seconds)':28} {'compiles':>9} {'cached':>9}")
    for row in rows:
        print(f"{row['case']:28} {row['first']:9.2f} {row['cached']:9.2f}")
    slowest = max(row["first"] for row in rows)
    print(f"slowest {slowest:.1f} s, goal {GOAL:.0f} s")
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / "decoders_first_call.json").write_text(json.dumps(rows, indent=1))
    return slowest > GOAL


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        child(sys.argv[2])
    else:
        sys.exit(main())
