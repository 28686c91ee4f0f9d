"""The libraries that our users would pick instead, beside colabel: accuracy and time in one run.

Official splits, dense features as they are loaded, defaults everywhere; one entry of ours searches
the variance of its gate and the prior of its experts by folds of the training rows, and its time
counts that. Each entry runs in a process of its own, on one thread, after a first fit to a few
rows, which loads libraries and compiled code; one that takes longer than ``--limit`` seconds is
stopped. Our models are fitted once and decoded for each measure; those of others have one answer,
their ``predict``. Times are CPU seconds of ``fit`` and of one ``predict``.

``--boomer`` and ``--ng`` name the Pythons of environments of their own, made by

    pip install mlrl-boomer==0.12.3
    pip install scikit-multilearn-ng==0.0.8 "scikit-learn<1.7"

and without them those libraries are left out. BOOMER minimises losses that are sums over labels, or
(``logistic-non-decomposable``) one of whole label sets. ``--only NAME`` runs entries whose name
has it. The tables are printed in Markdown.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from colabel.datasets import load
from colabel.metrics import evaluate

RESULTS = Path(__file__).parent / "results" / "peers.json"
DATA = ("emotions", "scene", "yeast", "birds", "medical", "enron", "reuters-k500", "tmc2007-500")
# The decoder of ours that aims at a measure, and whether more of it is better.
MEASURES = {
    "subset_accuracy": ("subset", True),
    "example_f1": ("f1", True),
    "example_jaccard": ("jaccard", True),
    "hamming_loss": ("hamming", False),
}

# What builds the model of an entry, in the Python that has its library.
OURS = "from colabel.lab.methods import make; model = make({!r}, seed=0)"
# By the likelihood of three folds; the time of the search is part of the fit's.
SEARCH = (
    "; from sklearn.model_selection import GridSearchCV; from colabel.metrics import log_likelihood"
    "; from colabel.model_selection import IterativeStratifiedKFold as Folds; model = GridSearchCV("
    "model, {'gate__variance': [1, 3, 10, 30, 100, 300, 1000], "
    "'experts__prior': ['zero', 'shared']}, scoring=log_likelihood, cv=Folds(3, random_state=0))"
)
LINEAR = "from sklearn.linear_model import LogisticRegression; "
LOGISTIC = LINEAR + "one = LogisticRegression(max_iter=1000); "
REST = "from sklearn.multiclass import OneVsRestClassifier; model = OneVsRestClassifier(one)"
BOOMER = "from mlrl.boosting import BoomerClassifier; model = BoomerClassifier(random_state=1{})"
ENTRIES = {
    "colabel cbm-lr": OURS.format("cbm-lr"),
    "colabel cbm-lr, searched": OURS.format("cbm-lr") + SEARCH,
    "colabel cbm-gb": OURS.format("cbm-gb"),
    "colabel br": OURS.format("br"),
    "scikit-learn logistic, one a label": LOGISTIC + REST,
    "scikit-learn logistic, chain": LOGISTIC
    + "from sklearn.multioutput import ClassifierChain; "
    + "model = ClassifierChain(one, order='random', random_state=0)",
    "scikit-learn boosted trees": "from sklearn.ensemble import HistGradientBoostingClassifier; "
    + "one = HistGradientBoostingClassifier(random_state=0); "
    + REST,
    "scikit-learn random forest": "from sklearn.ensemble import RandomForestClassifier; "
    "model = RandomForestClassifier(random_state=0)",
    "scikit-learn neighbours": "from sklearn.neighbors import KNeighborsClassifier; "
    "model = KNeighborsClassifier()",
    "scikit-learn perceptron": "from sklearn.neural_network import MLPClassifier; "
    "model = MLPClassifier(max_iter=500, random_state=0)",
    "scikit-multilearn-ng label powerset": LOGISTIC
    + "from skmultilearn.problem_transform import LabelPowerset; "
    + "model = LabelPowerset(one, require_dense=[True, True])",
    "scikit-multilearn-ng RAkEL": LOGISTIC
    + "from skmultilearn.ensemble import RakelO; model = RakelO(base_classifier=one, "
    + "labelset_size=3, model_count=2 * Y.shape[1], base_classifier_require_dense=[True, True])",
    "scikit-multilearn-ng ML-kNN": "from skmultilearn.adapt import MLkNN; model = MLkNN()",
    "BOOMER": BOOMER.format(""),
    "BOOMER, whole sets": BOOMER.format(", loss='logistic-non-decomposable'"),
}
SCRIPT = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
X, Y, T = data["X"], data["Y"], data["T"]
exec(sys.argv[3])
try:
    model.fit(X[:200], Y[:200]).predict(T[:50])
except Exception:
    pass  # some refuse labels that are constant
started = time.process_time()
model.fit(X, Y)
fitted = time.process_time()
model = getattr(model, "best_estimator_", model)
found = {"predict": model.predict(T)}
seconds = [fitted - started, time.process_time() - fitted]
if hasattr(model, "decode"):
    found = {name: model.decode(T, name).labels for name in ("subset", "f1", "jaccard", "hamming")}
found = {name: Z.toarray() if hasattr(Z, "toarray") else np.asarray(Z) for name, Z in found.items()}
np.savez(sys.argv[2], seconds=seconds, **found)
"""


def dense(matrix):
    return np.ascontiguousarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def python_of(name, given):
    """The Python that has an entry's library, or None."""
    if name.startswith("BOOMER"):
        return given.boomer
    return given.ng if name.startswith("scikit-multilearn") else sys.executable


def run(name, python, folder, limit):
    """What an entry found, or why it found nothing."""
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"
    )
    out = folder / "found.npz"
    out.unlink(missing_ok=True)
    command = [python, "-c", SCRIPT, folder / "data.npz", out, ENTRIES[name]]
    try:
        done = subprocess.run(
            command, env=os.environ | threads, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return f"stopped after {limit} s"
    if done.returncode or not out.exists():
        return (done.stderr.strip().splitlines() or ["no result"])[-1][:70]
    return dict(np.load(out))


def row_of(found, truth):
    """Measures and seconds of an entry."""
    row = {
        name: evaluate(truth, found.get(decoder, found.get("predict")))[name]
        for name, (decoder, _) in MEASURES.items()
    }
    fit, predict = found["seconds"]
    return row | {"fit": fit, "predict_us": 1e6 * predict / len(truth)}


def table(data, rows):
    """Markdown, the best of each measure in bold."""
    best = {
        name: (max if up else min)(
            (round(row[name], 3) for row in rows.values() if name in row), default=None
        )
        for name, (_, up) in MEASURES.items()
    }
    lines = [
        f"**{data}**",
        "",
        "| | subset accuracy | example-F1 | Jaccard | Hamming loss | fit, s | predict, us a row |",
        "|---|---|---|---|---|---|---|",
    ]
    for entry, row in rows.items():
        if "why" in row:
            lines.append(f"| {entry} | {row['why']} | | | | | |")
            continue
        cells = [
            f"**{row[name]:.3f}**" if round(row[name], 3) == best[name] else f"{row[name]:.3f}"
            for name in MEASURES
        ]
        cells = [cell.replace("0.", ".") for cell in cells]
        lines.append(
            f"| {entry} | {' | '.join(cells)} | {row['fit']:.2f} | {row['predict_us']:.0f} |"
        )
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("data", nargs="*", default=list(DATA))
    parser.add_argument("--boomer", help="a Python with mlrl-boomer")
    parser.add_argument("--ng", help="a Python with scikit-multilearn-ng")
    parser.add_argument("--limit", type=int, default=600, help="seconds an entry may take")
    parser.add_argument("--only", default="", help="run entries whose name has this")
    given = parser.parse_args()
    names = [n for n in ENTRIES if given.only in n and python_of(n, given)]
    results = {}
    for data in given.data:
        train, test = load(f"{data}:train"), load(f"{data}:test")
        truth = dense(test.Y).astype(int)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            Y = dense(train.Y).astype(int)
            np.savez(folder / "data.npz", X=dense(train.X), Y=Y, T=dense(test.X))
            rows = {}
            for name in names:
                found = run(name, python_of(name, given), folder, given.limit)
                rows[name] = {"why": found} if isinstance(found, str) else row_of(found, truth)
                print(f"{data}: {name}: {rows[name]}", file=sys.stderr, flush=True)
        print(table(data, rows), flush=True)
        results[data] = rows
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1, default=float) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
