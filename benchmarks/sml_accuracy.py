"""What SubmodularSVC reaches on official splits; penalty and scale by 5 folds of the training rows.

Loss is 1 - F, the mean over test rows. Rows are scaled to norm 1. ``python sml_accuracy.py
[DATA ...] [--only rml|sml] [--shift]``; data are looked for as everywhere (``COLABEL_DATA``). The
goals are those set before the work began; with ``--shift`` those for a tuned score shift.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

from colabel.datasets import load
from colabel.metrics import evaluate
from colabel.structured._submodular_cv import SubmodularSVCCV

RESULTS = Path(__file__).parent / "results" / "sml_accuracy.json"
# As in the paper: half of all pairs on yeast, a twentieth elsewhere.
PAIRS = {"yeast": 0.5}
GOALS = {"yeast": 0.356, "enron": 0.416, "medical": 0.222, "bibtex": 0.575}
SHIFTED = {"yeast": 0.356, "enron": 0.40, "medical": 0.21, "bibtex": 0.545}
# The search is that of the class but on bibtex, where it would take hours: the wide grid has been
# seen to end between these penalties.
SEARCH = {
    ("bibtex", "rml"): {"alphas": [1e-3, 10**-3.5, 1e-4, 10**-4.5]},
    ("bibtex", "sml"): {"alphas": [1e-4, 10**-4.5], "coupling_scales": [0.3], "cv": 2},
}


def run(name, method, shift):
    train, test = load(f"{name}:train"), load(f"{name}:test")
    search = SubmodularSVCCV(
        couplings=None if method == "rml" else "cooccurrence",
        pairs=PAIRS.get(name, 0.05),
        tune_shift=shift,
        n_jobs=1,
        random_state=0,
        **SEARCH.get((name, method), {}),
    )
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(normalize(train.X), train.Y)
    seconds = time.perf_counter() - started
    loss = 1.0 - evaluate(test.Y, search.predict(normalize(test.X)))["example_f1"]
    goal = (SHIFTED if shift else GOALS)[name]
    print(
        f"{name:8} {method}{'+shift' if shift else ''}: loss {loss:.4f} (goal {goal:.3f} "
        f"{'met' if loss <= goal else 'MISSED'}), folds {search.cv_loss_:.4f}, "
        f"alpha {search.alpha_:.1e}, scale {search.coupling_scale_:g}, shift {search.shift_:.4f}, "
        f"gap {search.gap_ / search.objective_:.1e}, certified {search.certified_[-1]:.4f}, "
        f"couplings {int(np.count_nonzero(search.couplings_) // 2)}, {seconds:.1f} s",
        flush=True,
    )
    return {"loss": loss, "cv_loss": search.cv_loss_, "alpha": search.alpha_, "seconds": seconds}


def main():
    shift = "--shift" in sys.argv
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    names = [name for name in sys.argv[1:] if name in GOALS] or list(GOALS)
    methods = [only] if only else ["rml", "sml"]
    RESULTS.parent.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names:
        for method in methods:
            known[f"{name}-{method}{'-shift' if shift else ''}"] = run(name, method, shift)
            RESULTS.write_text(json.dumps(known, indent=1))


if __name__ == "__main__":
    main()
