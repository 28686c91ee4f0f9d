"""Classifier chains against scikit-learn's, fit and predict in one run; and the searches.

Official splits; both sides are logistic regression with C = 1. Goals: at least as fast as
``ClassifierChain(LogisticRegression(max_iter=1000))``, as accurate (subset accuracy within one
test row in a hundred), and objectives within 1e-6 of their optima. Times are CPU seconds. Beside
them stands the rate of the matrix products, and that of a large one in the same run. The whole
family follows, with seconds and accuracy. Exits with 1 if short. One core: run with
OMP_NUM_THREADS=1.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from logistic import Counter, peak
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as SklearnChain

from colabel.datasets import load
from colabel.exceptions import DatasetNotFoundError
from colabel.linear.logistic import fit_logistic
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
        started = time.process_time()
        model = build().fit(train.X, train.Y[:, labels])
        fitted = time.process_time()
        predicted = model.predict(test.X)
        done = time.process_time()
        row = {"fit": fitted - started, "predict": done - fitted, "total": done - started}
        if best is None or row["total"] < best["total"]:
            best = row
    best["model"], Y = model, test.Y[:, labels]
    best["subset_accuracy"] = subset_accuracy(Y, predicted)
    best["hamming_loss"] = hamming_loss(Y, predicted)
    best["example_f1"] = f1_score(Y, predicted)
    return best


def objectives(X, Y, coef, couplings, intercept):
    """Return the objective of each link; couplings (L, L) are those with earlier labels."""
    scores = np.asarray(X @ coef.T) + Y @ couplings.T + intercept
    loss = np.logaddexp(0.0, scores) - Y * scores
    return loss.sum(axis=0) + 0.5 * (np.sum(coef**2, axis=1) + np.sum(couplings**2, axis=1))


def gaps(ours, theirs, X, Y):
    """Return how far both objectives are above their optima: largest over labels, relative."""
    d, n_labels = X.shape[1], Y.shape[1]
    features = sparse.hstack([X, Y]).tocsr() if sparse.issparse(X) else np.hstack([X, Y])
    mask = np.hstack([np.ones((n_labels, d), bool), np.tri(n_labels, k=-1, dtype=bool)])
    best = fit_logistic(features, Y, mask=mask, tol=1e-12, max_iter=50_000).objective
    links = ours["model"].conditionals_
    found = [objectives(X, Y, links.coef, links.couplings, links.intercept)]
    coef, couplings, intercept = np.zeros((n_labels, d)), np.zeros((n_labels, n_labels)), []
    for label, link in enumerate(theirs["model"].estimators_):
        coef[label], couplings[label, :label] = np.split(link.coef_[0], [d])
        intercept.append(link.intercept_[0])
    found.append(objectives(X, Y, coef, couplings, np.array(intercept)))
    return [float(np.max((values - best) / best)) for values in found]


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
    with Counter() as counter:
        ClassifierChain().fit(train.X, train.Y[:, labels])
    Y = train.Y[:, labels]
    ours["gap"], theirs["gap"] = gaps(
        ours, theirs, train.X, np.asarray(Y.toarray() if sparse.issparse(Y) else Y, dtype=float)
    )
    ours["gflop_s"] = 1e-9 * counter.flops / ours["fit"]
    ratio = theirs["total"] / ours["total"]
    show("scikit-learn", theirs)
    show("cc", ours, f"{ratio:.1f} x as fast")
    print(
        f"  objectives above their optima by {ours['gap']:.0e} (scikit-learn {theirs['gap']:.0e}); "
        f"{ours['gflop_s']:.1f} GFLOP/s"
    )
    rows = {"scikit-learn": theirs, "cc": ours, "ratio": ratio}
    for name, build in FAMILY.items():
        rows[name] = measure(build, train, test, labels, 1)
        show(name, rows[name])
    for name in ("scikit-learn", "cc", *FAMILY):
        del rows[name]["model"]
    return rows


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", NotErgodicWarning)
    results, short = {"peak_gflop_s": peak("float64")}, []
    print(f"peak of a matrix product here: {results['peak_gflop_s']:.1f} GFLOP/s")
    for data in sys.argv[1:] or DATA:
        try:
            results[data] = compare(data)
        except DatasetNotFoundError:
            print(f"{data}: not here, set COLABEL_DATA")
            continue
        accuracy = [results[data][side]["subset_accuracy"] for side in ("cc", "scikit-learn")]
        fast, exact = results[data]["ratio"] >= 1.0, results[data]["cc"]["gap"] <= 1e-6
        if not fast or not exact or accuracy[0] < accuracy[1] - 0.01:
            short.append(data)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    if not sys.argv[1:]:
        (folder / "chains.json").write_text(json.dumps(results, indent=2))
    return f"short of the goal on {', '.join(short)}" if short else 0


if __name__ == "__main__":
    sys.exit(main())
