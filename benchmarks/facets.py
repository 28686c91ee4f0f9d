"""Facets: what each method gains over separate classifiers, and what is chance.

``python facets.py partitions [--runs DIR] [--seeds N]``: on Frequency-Gender, five folds of N
partitions (10), the same for all, with the base learner of Liu et al. (2018). Differences are
tested with the t-test for repeated cross-validation (Nadeau and Bengio 2003), which knows that
folds share rows, and with a plain one over the means of partitions, which does not. ``python
facets.py bases``: the same folds with boosted trees as base learner, whose settings are those
of an earlier trial on one partition (goal: .975 in both). ``python facets.py
dependence``: generated data, by the strength of the dependence between two sets; draws the picture
of the guide. Without a name all are run. What is done is kept in DIR and not run again.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier

from colabel import (
    CooccurrenceDecomposition,
    CoupledSets,
    DualSetBoosting,
    IndependentDecomposition,
    LabelStacking,
)
from colabel.datasets import make_facets
from colabel.lab import compare
from colabel.lab.papers.dsml_2018 import APART, DATA, MEASURES, TABLE_2, SetEntry
from colabel.lab.statistics import corrected_t_test, holm

RESULTS = Path(__file__).parent / "results" / "facets.json"
PICTURE = Path(__file__).parents[1] / "docs" / "guide" / "facets-gain.svg"

# What Table 3 and Figure 3 of the paper say helps, and what the method adds to boosting.
CLAIMS = {
    "B = 1.05 for B = 1": ("DSML, B = 1", "DSML"),
    "reuse for none, both B = 1": ("boosted apart", "DSML, B = 1"),
    "DSML for boosted apart": ("boosted apart", "DSML"),
    "boosted apart for Ind. Dec.": ("Ind. Dec.", "boosted apart"),
    "DSML for Ind. Dec.": ("Ind. Dec.", "DSML"),
    "Label Stacking for Ind. Dec.": ("Ind. Dec.", "Label Stacking"),
}
KEPT = ("DSML", "boosted apart", "Ind. Dec.", "Co-Occ. Dec.", "Label Stacking", "ML-KNN", "ML-RBF")


def small_trees():
    """Return few small boosted trees; without a penalty they diverge on the class of 21 rows."""
    return HistGradientBoostingClassifier(l2_regularization=1.0, max_iter=40, max_leaf_nodes=15)


TREES = (
    SetEntry("independent", "indep", {}, base=small_trees),
    SetEntry("DSML", "dsml", {}, base=small_trees),
    SetEntry("boosted apart", "dsml", {}, APART, base=small_trees),
)


def accuracies(entries, runs, seeds):
    """Run entries on five folds of each partition; print and return accuracies of the folds."""
    variants = [entry.variant(DATA) for entry in entries]
    rows = compare([DATA], variants, split="cv:5", seeds=range(seeds), run_dir=runs)
    table = {}
    for row in rows:
        values = [row.result.measures[measure] for measure in MEASURES.values()]
        table.setdefault(row.method, []).append(values)
    for name, values in table.items():
        means = np.mean(np.reshape(values, (seeds, 5, 3)), axis=1)
        shown = " / ".join(f"{value:.4f}" for value in means.mean(axis=0))
        print(f"{name:20} {shown}  (sd of a partition, all: {means[:, 2].std(ddof=1):.4f})")
    return table


def bases(runs, seeds):
    print(f"\nFrequency-Gender over boosted trees, five folds of {seeds} partitions")
    table = accuracies(TREES, runs, seeds)
    return {name: np.mean(values, axis=0).tolist() for name, values in table.items()}


def partitions(runs, seeds):
    entries = [entry for entry in TABLE_2[-1].entries if entry.name in KEPT]
    entries.append(SetEntry("DSML, B = 1", "dsml", {}, {"B": 1.0}))
    print(f"\nFrequency-Gender, five folds of {seeds} partitions")
    table = accuracies(entries, runs, seeds)
    print(f"\n{'':30} difference  corrected p   plain p  partitions won")
    found = {name: np.mean(values, axis=0).tolist() for name, values in table.items()}
    for claim, (first, second) in CLAIMS.items():
        pair = [np.array(table[name])[:, 2] for name in (first, second)]
        test = corrected_t_test(*pair, 0.2)
        gain = np.subtract(*(values.reshape(seeds, 5).mean(axis=1) for values in pair[::-1]))
        plain = stats.ttest_1samp(gain, 0.0).pvalue
        low, high = test.interval()
        print(
            f"{claim:30} {test.difference:+.4f}    {test.p_value:.3f}         {plain:.4f}   "
            f"{int((gain > 0).sum())} of {seeds}; interval {low:+.4f} to {high:+.4f}"
        )
        found[claim] = [test.difference, test.p_value, plain]
    return found


STRENGTHS = (0.0, 0.25, 0.5, 0.75, 0.95)
METHODS = {
    "co-occurrence": CooccurrenceDecomposition(),
    "stacking": LabelStacking(),
    "stacking, exact": LabelStacking(search="exact"),
    "DSML": DualSetBoosting(random_state=0),
    "boosted apart": DualSetBoosting(B=1.0, reuse=False, random_state=0),
    "coupled": CoupledSets(random_state=0),
}


def softmax(strength, seed):
    """Return sets whose classes are linear in the features, and go together beyond them."""
    data = make_facets(3500, 6, (4, 4), dependence=strength, random_state=seed)
    return data.X, data.classes + 10


def parity(strength, seed):
    """Return ordered classes, and their parity: no line tells it, but the other class does."""
    rng = np.random.default_rng(seed)
    second = rng.integers(0, 4, size=3500)
    kept = rng.random(3500) < strength
    first = np.where(kept, second % 2, rng.integers(0, 2, size=3500))
    X = np.column_stack([second + 0.4 * rng.normal(size=3500), rng.normal(size=3500)])
    return X, np.column_stack([first, second]) + 10


def dependence(seeds, n_train=500):
    gains = {}
    for kind in (softmax, parity):
        for strength in STRENGTHS:
            for seed in range(seeds):
                X, Y = kind(strength, seed)
                train, test = slice(0, n_train), slice(n_train, None)
                models = {"independent": IndependentDecomposition(), **METHODS}
                scores = {
                    name: model.fit(X[train], Y[train]).score(X[test], Y[test])
                    for name, model in models.items()
                }
                for name in METHODS:
                    gain = scores[name] - scores["independent"]
                    gains.setdefault((kind.__name__, name, strength), []).append(gain)
    draw(gains)
    tests = {key: stats.ttest_1samp(values, 0.0).pvalue for key, values in gains.items()}
    adjusted = dict(zip(tests, holm([*tests.values()]), strict=True))
    print(f"\ngain over independent in both, {seeds} draws; * p < .05, ** after Holm's correction")
    for kind in (softmax, parity):
        for name in METHODS:
            cells = [(kind.__name__, name, strength) for strength in STRENGTHS]
            stars = ["*" * (int(tests[c] < 0.05) + int(adjusted[c] < 0.05)) for c in cells]
            means = [f"{np.mean(gains[c]):+.4f}" for c in cells]
            shown = [mean + star for mean, star in zip(means, stars, strict=True)]
            print(f"{kind.__name__:8} {name:16} " + "".join(f"{text:>11}" for text in shown))
    return {" ".join(map(str, key)): values for key, values in gains.items()}


def draw(gains):
    from colabel.plot import accuracy_curves, pyplot

    titles = {"softmax": "classes linear in the features", "parity": "parity of ordered classes"}
    figure = pyplot().figure(figsize=(10.0, 4.0), layout="constrained")
    for part, (kind, title) in zip(figure.subfigures(1, 2), titles.items(), strict=True):
        curves = {}
        for (found, name, strength), values in gains.items():
            if found == kind:
                error = np.std(values, ddof=1) / np.sqrt(len(values))
                curves.setdefault(name, {})[strength] = np.mean(values), error
        accuracy_curves(
            curves,
            levels={"independent": 0.0},
            x_label=f"dependence between the sets ({title})",
            y_label="gain in accuracy of both",
            figure=part,
        )
    figure.savefig(PICTURE, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("partitions", "bases", "dependence"))
    parser.add_argument("--runs", default=RESULTS.parent / "facets")
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if given.what in (None, "dependence"):
        known["dependence"] = dependence(given.seeds)
    if given.what in (None, "partitions"):
        known["partitions"] = partitions(given.runs, given.seeds)
    if given.what in (None, "bases"):
        known["bases"] = bases(given.runs, given.seeds)
    RESULTS.write_text(json.dumps(known, indent=1))


if __name__ == "__main__":
    main()
