"""Defaults of the output codes, chosen anew on inner folds of training rows alone.

``python embedding_defaults.py [DATA ...] [--only METHOD]``: of each dataset the official training
part, or the training rows of the first fold of ``cv:10`` where there is none, is split into three
inner folds. One parameter is moved at a time, the others stay at their defaults. Prints micro-F1
and example-F1 of the defaults, and what each change is worth: the mean over the data, and on how
many of them it gains. No test row is looked at.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError
from colabel.lab import make
from colabel.lab.splits import list_folds
from colabel.metrics import evaluate

RESULTS = Path(__file__).parent / "results" / "embedding_defaults.json"
DATA = ("emotions", "scene", "yeast", "birds", "medical", "enron", "cal500")
INNER = 3
PAIRED = {
    "alpha": (0.0, 10.0, 100.0, None),
    "code_weight": (0.25, 0.5, 2.0),
    "variance": ("training",),
    "label_C": (0.1, 10.0),
    "n_components": (0.5,),
    "temperature": (1.0, 8.0, 16.0, 32.0, 64.0, 1024.0),
}
CHANGES = {
    "plst": {"alpha": (0.0, 0.1, 10.0, 100.0, None), "n_components": (0.5,)},
    "cplst": {"n_components": (0.5, 0.25)},
    "cca": {**PAIRED, "shrinkage": (0.1,)},
    "mmoc": {**PAIRED, "variance": ("training", "unit"), "C": (1.0, 100.0)},
}
# A metric over as many labels takes minutes a fold.
MOST_LABELS = {"mmoc": 20}


def training_rows(name):
    try:
        return load(f"{name}:train")
    except (DatasetNotFoundError, ValueError):
        return list_folds(name, "cv:10")[0].train()


def build(method, params):
    params = dict(params)
    heat = params.pop("temperature", None)
    if heat is not None:
        from colabel.decoders import MeanField

        params["decoder"] = MeanField(heat)
    return make(method, params, seed=0)


def inner_scores(data, method, params):
    found = []
    for train, held in KFold(INNER, shuffle=True, random_state=0).split(np.arange(data.X.shape[0])):
        model = build(method, params).fit(data.X[train], data.Y[train])
        scores = evaluate(data.Y[held], model.predict(data.X[held]))
        found.append((scores["micro_f1"], scores["example_f1"]))
    return np.mean(found, axis=0)


def settings(method):
    yield "defaults", {}
    for name, values in CHANGES[method].items():
        yield from ((f"{name}={value}", {name: value}) for value in values)


def summarise(method, table):
    names = list(table)
    print(f"\n{method}, inner folds of {', '.join(names)}")
    for label, _ in settings(method):
        both = np.array([table[name][label] for name in names])
        if label == "defaults":
            base = both
            print("  defaults  " + "  ".join(f"{a:.4f}/{b:.4f}" for a, b in both))
            continue
        gain = both - base
        print(
            f"  {label:18} micro-F1 {gain[:, 0].mean():+.4f} (better on {(gain[:, 0] > 0).sum()} "
            f"of {len(names)}), example-F1 {gain[:, 1].mean():+.4f} ({(gain[:, 1] > 0).sum()});  "
            + "  ".join(f"{a:+.3f}" for a in gain[:, 0]),
            flush=True,
        )


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message=".*has not settled")
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    names = [arg for arg in sys.argv[1:] if arg in DATA] or DATA
    RESULTS.parent.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for method in CHANGES if only is None else (only,):
        table = known.setdefault(method, {})
        for name in names:
            data = training_rows(name)
            if data.Y.shape[1] > MOST_LABELS.get(method, data.Y.shape[1]):
                continue
            row = table.setdefault(name, {})
            for label, params in settings(method):
                if label not in row:
                    row[label] = inner_scores(data, method, params).tolist()
            RESULTS.write_text(json.dumps(known, indent=1))
            print(f"{method} {name}: {len(row)} settings", file=sys.stderr, flush=True)
        summarise(method, table)


if __name__ == "__main__":
    main()
