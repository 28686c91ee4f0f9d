"""The registry of methods: name, estimator, paper, and the parameters worth a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """A registered method; its name is its place in ``METHODS``.

    Parameters
    ----------
    build : callable
        Makes a fresh estimator with good defaults.
    paper : str
        The paper whose tables it belongs to; see ``colabel reproduce``.
    summary : str
        One line.
    space : mapping
        Parameters worth searching, those that matter most first, and their values.
    demo : bool
        Whether ``colabel compare`` runs it when no methods are named.
    facets : bool
        Whether it needs data with facets (exclusive label sets).
    """

    build: Callable[[], Any]
    paper: str
    summary: str
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    demo: bool = False
    facets: bool = False


CBM, DSML, LMKNN = "cbm-2016", "dsml-2018", "lmknn-2015"
RELAXATIONS, SML = "relaxations-2015", "sml-2011"
# The grids of supplement A.2 of Li et al. (2016).
VARIANCES = (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
COMPONENTS = tuple(range(5, 61, 5))
BY_C = {"estimator__C": VARIANCES}
BY_TREES = {"estimator__n_trees": (100, 200, 400)}
# Relative to the mean squared norm of the rows.
PENALTIES = tuple(10.0 ** (-0.5 * k) for k in range(2, 11))
# Ridge penalties (None: by generalised cross-validation), and codes as a share of the labels.
RIDGES = (1.0, 0.0, 10.0, None)
CODES = (0.1, 0.3, 1.0)
CODE_WEIGHTS = (0.1, 0.3, 1.0)
SET_BASE = {"estimator__C": (0.1, 1.0, 10.0, 100.0)}
# Neighbour methods tune what is called "tune" on their training rows by themselves.
TUNED = (0.5, "tune")
SIZES = (5, 10, 20, 50, "tune")
WEIGHTS = ("mild", "distance")
QUADRATIC = {"alpha": PENALTIES, "coupling_alpha": (1.0, 0.1, 0.01)}


def _new(*path: str, **params: Any) -> Callable[[], Any]:
    """Return what makes an estimator; see ``_make``."""
    return partial(_make, *path, **params)


def _make(path: str, over: str | None = None, role: str = "estimator", **params: Any) -> Any:
    """Make an estimator, over another one or not; classes are imported by now.

    So listing the names imports nothing, and an extra that is missing stops only those who ask
    for it.
    """
    module, _, name = path.rpartition(".")
    inner = {} if over is None else {role: _make(over)}
    return getattr(import_module(f"colabel.{module}"), name)(**inner, **params)


METHODS: dict[str, Method] = {
    "br": Method(
        _new("reduction.BinaryRelevance"), CBM, "one logistic regression a label", BY_C, demo=True
    ),
    "br-gb": Method(
        _new("reduction.BinaryRelevance", over="reduction.BoostedClassifier"),
        CBM,
        "boosted trees for each label",
        BY_TREES,
    ),
    "ovr-svm": Method(
        _new("reduction.BinaryRelevance", over="reduction.ScaledLinearSVC"),
        RELAXATIONS,
        "one linear support vector machine a label",
        {"estimator__C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)},
        demo=True,
    ),
    "powset": Method(
        _new("reduction.LabelPowerset"),
        CBM,
        "one class for each label set in training",
        BY_C,
        demo=True,
    ),
    "powset-gb": Method(
        _new("reduction.LabelPowerset", over="reduction.BoostedClassifier"),
        CBM,
        "boosted trees for each label set",
        BY_TREES,
    ),
    "cc": Method(
        _new("reduction.ClassifierChain"), CBM, "each label given those before it, greedily", BY_C
    ),
    "pcc": Method(
        _new("reduction.ProbabilisticClassifierChain"),
        CBM,
        "the most probable labeling of a chain",
        BY_C,
    ),
    "ecc-label": Method(
        _new("reduction.ChainEnsemble", vote="label"),
        CBM,
        "chains of random orders vote on each label",
        BY_C,
    ),
    "ecc-subset": Method(
        _new("reduction.ChainEnsemble", vote="subset"),
        CBM,
        "chains of random orders vote on label sets",
        BY_C,
    ),
    "cdn": Method(
        _new("reduction.ConditionalDependencyNetwork"),
        CBM,
        "each label given all others; Gibbs sampling",
        BY_C,
    ),
    "rakel": Method(
        _new("reduction.RAkEL"),
        SML,
        "label powersets of a few labels each vote",
        {"labelset_size": (2, 3, 5), "estimator__C": VARIANCES},
    ),
    "pair-crf": Method(
        _new("structured.PairwiseCRF"),
        CBM,
        "a score for each label and pair of labels",
        {"alpha": tuple(1.0 / variance for variance in VARIANCES)},
    ),
    "sml": Method(
        _new("structured.SubmodularSVC"),
        SML,
        "linear, attracting pairs, trained for F",
        {"alpha": PENALTIES, "coupling_scale": (0.3, 1.0, 3.0)},
        demo=True,
    ),
    "rml": Method(
        _new("structured.SubmodularSVC", couplings=None),
        SML,
        "linear, without pairs, trained for F",
        {"alpha": PENALTIES},
        demo=True,
    ),
    "quad-exact": Method(
        _new("structured.QuadraticPriorSVC"),
        RELAXATIONS,
        "linear, with a learned prior; exact",
        QUADRATIC,
    ),
    "quad-mincut": Method(
        _new("structured.QuadraticPriorSVC", sign="attractive", oracle="mincut"),
        RELAXATIONS,
        "linear, with a learned attraction; min-cut",
        QUADRATIC,
    ),
    "quad-sdp": Method(
        _new("structured.QuadraticPriorSVC", oracle="sdp"),
        RELAXATIONS,
        "linear, with a learned prior; semidefinite",
        QUADRATIC,
    ),
    "quad-spectral": Method(
        _new("structured.QuadraticPriorSVC", oracle="spectral"),
        RELAXATIONS,
        "linear, with a learned prior; spectral",
        QUADRATIC,
    ),
    "lmknn": Method(
        _new("neighbors.LargeMarginKNN"),
        LMKNN,
        "nearest rows under a learned metric vote",
        {"threshold": TUNED, "n_neighbors": SIZES, "weights": WEIGHTS, "C": (1.0, 10.0, 100.0)},
    ),
    "knn": Method(
        _new("neighbors.KNNClassifier"),
        LMKNN,
        "the nearest training rows vote",
        {"threshold": TUNED, "n_neighbors": SIZES, "weights": WEIGHTS},
    ),
    "mlknn": Method(
        _new("neighbors.MLkNN"),
        LMKNN,
        "Bayes' rule on what the nearest rows have",
        {"threshold": TUNED, "n_neighbors": SIZES, "smoothing": (0.1, 1.0)},
    ),
    "cbm-lr": Method(
        _new("mixture.ConditionalBernoulliMixture"),
        CBM,
        "mixture of logistic regressions, gated",
        {
            "gate__variance": VARIANCES,
            "experts__variance": VARIANCES,
            "n_components": COMPONENTS,
            "max_iter": (5, 10, 20),
        },
        demo=True,
    ),
    "cbm-gb": Method(
        _new(
            "mixture.ConditionalBernoulliMixture",
            "mixture.BoostedTrees",
            "experts",
            n_components=20,
            max_iter=20,
            n_init=10,
            n_models=3,
        ),
        CBM,
        "mixture of boosted trees, gated",
        {
            "n_components": COMPONENTS,
            "experts__reg_lambda": (1.0, 3.0, 10.0),
            "experts__learning_rate": (0.1, 0.2),
            "experts__n_leaves": (8, 32),
            "max_iter": (10, 20, 30),
        },
    ),
    "plst": Method(
        _new("embedding.PLST"),
        LMKNN,
        "ridge regression of label components",
        {"alpha": RIDGES, "n_components": CODES},
    ),
    "cplst": Method(
        _new("embedding.CPLST"),
        LMKNN,
        "the same, of components easy to predict",
        {"alpha": RIDGES, "n_components": CODES},
    ),
    "cca": Method(
        _new("embedding.CCAOutputCode"),
        LMKNN,
        "labels and canonical variates; mean field",
        {"code_weight": CODE_WEIGHTS, "alpha": RIDGES},
    ),
    "mmoc": Method(
        _new("embedding.MaxMarginOutputCode"),
        LMKNN,
        "labels and max-margin codes; mean field",
        {"code_weight": CODE_WEIGHTS, "C": (1.0, 10.0, 100.0), "alpha": RIDGES},
    ),
    "indep": Method(
        _new("facets.IndependentDecomposition"),
        DSML,
        "facets: one classifier for each",
        SET_BASE,
        facets=True,
    ),
    "cooc": Method(
        _new("facets.CooccurrenceDecomposition"),
        DSML,
        "facets: one class for each combination",
        SET_BASE,
        facets=True,
    ),
    "stacking": Method(
        _new("facets.LabelStacking"),
        DSML,
        "facets: each given those before it",
        {**SET_BASE, "search": ("greedy", "exact")},
        facets=True,
    ),
    "dsml": Method(
        _new("facets.DualSetBoosting"),
        DSML,
        "facets: boosted, each fed by the last",
        {**SET_BASE, "n_rounds": (10, 30), "B": (1.0, 1.05, 1.1), "reuse": (True, False)},
        facets=True,
    ),
    "coupled": Method(
        _new("facets.CoupledSets"),
        DSML,
        "facets: separate classifiers, coupled",
        {**SET_BASE, "penalty": (0.1, 1.0, 10.0)},
        facets=True,
    ),
    "mlrbf": Method(
        _new("neural.MLRBF"),
        DSML,
        "radial bumps around each label's clusters",
        {"ratio": (0.01, 0.05, 0.15), "width": (0.3, 0.5, 1.0), "alpha": (1e-5, 1e-4, 1e-3)},
    ),
    "bpmll": Method(
        _new("neural.BPMLL"),
        DSML,
        "networks trained on the order of labels",
        {"learning_rate": (1e-3, 3e-3, 1e-2), "hidden": (32, 64, 128)},
    ),
    "ranksvm": Method(
        _new("structured.RankSVM"),
        DSML,
        "support vector ranking of labels, and cut",
        {
            "alpha": (1 / 0.3, 1.0, 1 / 3.0, 0.1),
            "gamma": (0.3, 1.0, 2.0),
            "kernel": ("rbf", "linear"),
        },
    ),
}
