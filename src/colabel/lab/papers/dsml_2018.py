"""Tables and the figure of Liu, Zhao, Huang, Jiang and Zhou (2018), Dual set multi-label learning.

Base learner is the paper's network of radial basis functions, on features as they come. The paper
states neither the number of centres nor their width: these were chosen so that Independent
Decomposition, Co-Occurrence Decomposition and Label Stacking come near its numbers. That they do is
no evidence, then; what the others reach is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from colabel.datasets import load
from colabel.lab.methods import METHODS, make, with_facets
from colabel.lab.paper_tables import Entry, PaperTable, Reproduced, register
from colabel.lab.splits import list_folds
from colabel.metrics import facet_accuracy
from colabel.neural import RBFNetwork

__all__ = ["BASES", "FIGURE_3", "TABLE_2", "TABLE_3"]

DATA = "frequency-gender"
MEASURES = {"a": "accuracy_frequency", "b": "accuracy_gender", "all": "accuracy_all"}
UNAVAILABLE = {
    "Calligrapher-Font": "the authors' own collection, which was not published",
    "Brand-Type": "the authors' own collection, which was not published",
}
NOTE = (
    "The data are rebuilt from what the paper states, and not confirmed by its authors. The "
    "network has a centre for 7 per cent of the rows of a class and a width of 0.3 mean "
    "distances, chosen so that the three decompositions come near the paper."
)


@dataclass(frozen=True)
class SetEntry(Entry):
    """A method for label sets, over the network of the paper or another base learner."""

    base: Any = None

    def parameters(self, data: str | None = None) -> dict[str, Any]:
        """Return the parameters, with a base learner of their own: it is given the seed."""
        return {"estimator": (self.base or network)(), **super().parameters(data)}


def network() -> RBFNetwork:
    """Return the base learner of the paper."""
    return RBFNetwork(ratio=0.07, width=0.3, scale=False, alpha=0.0)


def _numbers(*values: float | None) -> dict[str, dict[str, float]]:
    """Put accuracies a, b and all of the paper under their names; None is N/A there."""
    named = zip(MEASURES, values, strict=True)
    return {part: {} if value is None else {DATA: value} for part, value in named}


# Rivals as their papers advise, which is what Liu et al. say they did.
RANK = {"hidden": 0.2, "solver": "sgd", "learning_rate": 0.05, "batch_size": 1, "n_models": 1}
PLAIN = {"alpha": 0.0, "validation_fraction": None, "scale": False}
APART: dict[str, Any] = {"B": 1.0, "reuse": False}
# Heading, method, parameters, and what was published: Accy.-a, -b and -all.
COLUMNS_2: tuple[tuple[str, str, dict[str, Any], tuple[float | None, ...]], ...] = (
    ("DSML", "dsml", {}, (0.8521, 0.9547, 0.8220)),
    ("Ind. Dec.", "indep", {}, (0.8321, 0.9579, 0.8039)),
    ("Co-Occ. Dec.", "cooc", {}, (None, None, 0.8068)),
    ("Label Stacking", "stacking", {}, (0.8375, 0.9550, 0.8096)),
    ("ML-KNN", "mlknn+argmax", {}, (0.5879, 0.6953, 0.4587)),
    (
        "ML-RBF",
        "mlrbf+argmax",
        {"ratio": 0.01, "width": 1.0, "scale": False, "alpha": 0.0},
        (0.7570, 0.9661, 0.7387),
    ),
    ("BP-MLL", "bpmll+argmax", {**RANK, **PLAIN}, (0.4004, 0.5014, 0.1704)),
    (
        "RankSVM",
        "ranksvm+argmax",
        {"kernel": "linear", "scale": False, "threshold_inputs": "scores"},
        (0.0326, 0.5382, 0.0127),
    ),
    ("RankSVM, our defaults", "ranksvm+argmax", {}, (None, None, None)),
    ("boosted apart", "dsml", APART, (None, None, None)),
    ("DSML, true labels fed", "dsml", {"inputs": "true"}, (None, None, None)),
    ("Stacking, exact", "stacking", {"search": "exact"}, (None, None, None)),
    ("coupled", "coupled", {}, (None, None, None)),
)


def _entry(name: str, method: str, params: dict[str, Any], published: Mapping[str, float]) -> Entry:
    """Return a column; methods for label sets are given the network."""
    kind = SetEntry if METHODS[method.partition("+")[0]].facets else Entry
    return kind(name, method, published, params)


def _columns(part: str) -> tuple[Entry, ...]:
    return tuple(
        _entry(name, method, params, _numbers(*published)[part])
        for name, method, params, published in COLUMNS_2
    )


def _quick(entries: tuple[Entry, ...]) -> dict[str, Any]:
    """Return what ``--quick`` changes: one part held out, few rounds, the quick rivals."""
    few = {"dsml": {"n_rounds": 3}, "coupled": {"n_folds": 2}}
    slow = ("bpmll+argmax", "ranksvm+argmax")
    small = tuple(
        replace(entry, params={**entry.params, **few.get(entry.method, {})})
        for entry in entries
        if entry.method not in slow
    )
    return {"split": "holdout:0.2", "entries": small}


def _parts(
    table: str, title: str, entries: Mapping[str, tuple[Entry, ...]]
) -> tuple[PaperTable, ...]:
    """Register a table's three accuracies as tables, which share their cells."""
    return tuple(
        register(
            PaperTable(
                name=f"dsml-2018.{table}.{part}",
                title=title,
                data=(DATA,),
                entries=entries[part],
                measure=measure,
                split="cv:5",
                unavailable=UNAVAILABLE,
                show_seconds=True,
                quick=_quick(entries[part]),
                note=NOTE,
            )
        )
        for part, measure in MEASURES.items()
    )


TABLE_2 = _parts(
    "table2",
    "methods side by side; label of the highest score of each set for the general ones",
    {part: _columns(part) for part in MEASURES},
)

# B, and Accy.-a, -b and -all.
PUBLISHED_3 = {
    1.00: (0.8413, 0.9541, 0.8131),
    1.01: (0.8432, 0.9531, 0.8134),
    1.02: (0.8432, 0.9512, 0.8134),
    1.03: (0.8413, 0.9554, 0.8119),
    1.05: (0.8521, 0.9547, 0.8220),
    1.10: (0.8435, 0.9515, 0.8128),
    1.15: (0.8473, 0.9557, 0.8172),
    1.20: (0.8476, 0.9560, 0.8175),
}

TABLE_3 = _parts(
    "table3",
    "DSML by the distribution adjusting parameter B",
    {
        part: (
            *(
                SetEntry(f"B = {B:.2f}", "dsml", _numbers(*published)[part], {"B": B})
                for B, published in PUBLISHED_3.items()
            ),
            SetEntry("boosted apart", "dsml", {}, APART),
        )
        for part in MEASURES
    },
)


def trees() -> Any:
    """Return boosted trees; without a penalty they diverge on the class of 21 rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(l2_regularization=1.0)


def scaled_network() -> RBFNetwork:
    """Return the network on features of one scale."""
    return RBFNetwork(ratio=0.1, width=1.0)


BETTER = tuple(
    SetEntry(f"{heading}: {name}", method, {}, params, base=base)
    for heading, base in (("network, scaled", scaled_network), ("boosted trees", trees))
    for name, method, params in (
        ("independent", "indep", {}),
        ("co-occurrence", "cooc", {}),
        ("stacking", "stacking", {}),
        ("coupled", "coupled", {}),
        ("DSML", "dsml", {}),
        ("boosted apart", "dsml", APART),
    )
)

BASES = register(
    PaperTable(
        name="dsml-2018.bases",
        title="the same with better base learners (not in the paper)",
        data=(DATA,),
        entries=BETTER,
        measure=MEASURES["all"],
        split="cv:5",
        show_seconds=True,
        quick=_quick(BETTER[:3]),
        note="Features have one scale, or trees make scale irrelevant. What a better base learner "
        "gains is far more than any method over another.",
    )
)


ADJUSTING = (1.00, 1.05, 1.10, 1.15, 1.20)


def _curve(part: str, B: float, reuse: bool) -> str:
    return f"{part}, B = {B:.2f}, {'reuse' if reuse else 'none'}"


def trace_rounds(
    name: str,
    seed: int,
    *,
    n_rounds: int = 10,
    values: tuple[float, ...] = ADJUSTING,
    split: str = "cv:5",
) -> dict[str, list[float]]:
    """Return the accuracies after each round, means over the folds; a break leaves the last."""
    curves: dict[str, list[list[float]]] = {}
    for fold in list_folds(name, split, (seed,), load):
        train, test = fold.train(), fold.test()
        for B, reuse in ((B, reuse) for B in values for reuse in (True, False)):
            params = {"estimator": network(), "n_rounds": n_rounds, "B": B, "reuse": reuse}
            model = with_facets(make("dsml", params, seed), train).fit(train.X, train.Y)
            stages = [
                facet_accuracy(test.Y, found, test.facets, label_names=test.label_names)
                for found in model.staged_predict(test.X)
            ]
            stages += [stages[-1]] * (n_rounds - len(stages))
            for part, measure in MEASURES.items():
                points = [stage[measure] for stage in stages]
                curves.setdefault(_curve(part, B, reuse), []).append(points)
    return {curve: np.mean(points, axis=0).tolist() for curve, points in curves.items()}


def _draw(found: Reproduced) -> Any:
    """Draw a panel for each B: accuracies by round, without reuse dotted, as in the paper."""
    from colabel.plot import pyplot

    ((data, _), *_) = found.traces
    values = [B for B in ADJUSTING if (data, _curve("all", B, True)) in found.traces]
    size = (2.6 * len(values) + 0.6, 3.0)
    figure, panels = pyplot().subplots(
        1, len(values), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for axes, B in zip(panels[0], values, strict=True):
        for (part, measure), colour in zip(MEASURES.items(), ("C2", "C0", "C3"), strict=True):
            for reuse, line in ((True, "-"), (False, ":")):
                points = found.traces[data, _curve(part, B, reuse)]
                label = measure if reuse else None
                axes.plot(range(1, len(points) + 1), points, line, color=colour, label=label)
        axes.set(title=f"B = {B:.2f}", xlabel="rounds")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("accuracy; dotted: no reuse")
    panels[0][-1].legend(frameon=False, fontsize="small")
    return figure


def _traced(values: tuple[float, ...]) -> tuple[Entry, ...]:
    return tuple(
        Entry(_curve(part, B, reuse), "dsml", {})
        for part in MEASURES
        for B in values
        for reuse in (True, False)
    )


FIGURE_3 = register(
    PaperTable(
        name="dsml-2018.figure3",
        title="accuracy by round with and without model reuse, means of folds (and of rounds)",
        data=(DATA,),
        measure="accuracy",
        entries=_traced(ADJUSTING),
        trace=trace_rounds,
        unavailable=UNAVAILABLE,
        quick={
            "entries": _traced((1.05,)),
            "trace": partial(trace_rounds, n_rounds=4, values=(1.05,), split="holdout:0.2"),
        },
        draw=_draw,
        note="The paper prints no numbers; it finds reuse significantly better. One partition, as "
        "there.",
    )
)
