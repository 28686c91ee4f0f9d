"""Classifier chains against scikit-learn's, fit and predict in one run; and the searches.

Official splits; both sides are logistic regression with C = 1. Goals: at least as fast as
``ClassifierChain(LogisticRegression(max_iter=1000))`` and as accurate (subset accuracy within one
test row in a hundred). The whole family follows, with seconds and accuracy. Exits with 1 if short.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as SklearnChain

from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError
from colabel.metrics import f1_score, hamming_loss, subset_accuracy
from colabel.reduction._chain import ClassifierChain
from colabel.reduction._chain_ensemble import ChainEnsemble
from colabel.reduction._dependency_network import ConditionalDependencyNetwork, NotErgodicWarning
from colabel.reduction._probabilistic_chain import ProbabilisticClassifierChain

# Data, and how many labels of it: scikit-learn needs minutes for all 159 of bibtex.
DATA = {"yeast": None, "scene": None, "enron": None, "bibtex": 40}
REPEATS = {"yeast": 3, "scene": 3, "enron": 1, "bibtex": 1}
FAMILY = {
    "pcc": ProbabilisticClassifierChain,
    "pcc exact": lambda: ProbabilisticClassifierChain(search="exact"),
    "ecc-label": lambda: ChainEnsemble(random_state=0),
    "ecc-subset": lambda: ChainEnsemble(vote="subset", random_state=0),
    "cdn": lambda: ConditionalDependencyNetwork(random_state=0),
}


def measure(build, train, test, labels, repeats):
    best = None
    for _ in range(repeats):
        started = time.perf_counter()
        model = build().fit(train.X, train.Y[:, labels])
        fitted = time.perf_counter()
        predicted = model.predict(test.X)
        done = time.perf_counter()
        row = {"fit": fitted - started, "predict": done - fitted, "total": done - started}
        if best is None or row["total"] < best["total"]:
            best = row
    Y = test.Y[:, labels]
    best["subset_accuracy"] = subset_accuracy(Y, predicted)
    best["hamming_loss"] = hamming_loss(Y, predicted)
    best["example_f1"] = f1_score(Y, predicted)
    return best


def show(name, row, ratio=""):
    print(
        f"  {name:14}{row['fit']:9.3f} s fit{row['predict']:9.3f} s predict   subset accuracy "
        f"{row['subset_accuracy']:.4f}   Hamming {row['hamming_loss']:.4f}   F1 "
        f"{row['example_f1']:.4f}   {ratio}",
        flush=True,
    )


def compare(data):
    train, test = load(data, "train"), load(data, "test")
    # scikit-learn's chains stop at a label that is never on in training.
    on = np.asarray(train.Y.sum(axis=0)).ravel()
    labels = np.flatnonzero((on > 0) & (on < train.X.shape[0]))[: DATA[data]]
    print(f"{data}: {train.X.shape[0]} x {train.X.shape[1]}, {len(labels)} labels")
    few = train.take(slice(0, 100))
    for build in (ClassifierChain, *FAMILY.values()):  # compile
        build().fit(few.X, few.Y[:, labels]).predict(few.X)
    ours = measure(ClassifierChain, train, test, labels, REPEATS[data])
    theirs = measure(
        lambda: SklearnChain(LogisticRegression(max_iter=1000)), train, test, labels, REPEATS[data]
    )
    ratio = theirs["total"] / ours["total"]
    show("scikit-learn", theirs)
    show("cc", ours, f"{ratio:.1f} x as fast")
    rows = {"scikit-learn": theirs, "cc": ours, "ratio": ratio}
    for name, build in FAMILY.items():
        rows[name] = measure(build, train, test, labels, 1)
        show(name, rows[name])
    return rows


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", NotErgodicWarning)
    results, short = {}, []
    for data in DATA:
        try:
            results[data] = compare(data)
        except DatasetNotFoundError:
            print(f"{data}: not here, set COLABEL_DATA")
            continue
        accuracy = [results[data][side]["subset_accuracy"] for side in ("cc", "scikit-learn")]
        if results[data]["ratio"] < 1.0 or accuracy[0] < accuracy[1] - 0.01:
            short.append(data)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "chains.json").write_text(json.dumps(results, indent=2))
    return f"short of the goal on {', '.join(short)}" if short else 0


if __name__ == "__main__":
    sys.exit(main())
