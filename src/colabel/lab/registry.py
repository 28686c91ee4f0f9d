"""The registry of methods: name, estimator, paper, and the parameters worth a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """A registered method.

    Parameters
    ----------
    name : str
        Its name on the command line.
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
    label_sets : bool
        Whether it needs data with exclusive label sets.
    """

    name: str
    build: Callable[[], Any]
    paper: str
    summary: str
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    demo: bool = True
    label_sets: bool = False


# The grids of supplement A.2 of Li et al. (2016).
VARIANCES = (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
COMPONENTS = tuple(range(5, 61, 5))
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


def _new(
    path: str, over: str | None = None, role: str = "estimator", **params: Any
) -> Callable[[], Any]:
    """Return what makes an estimator, over another one or not; classes are imported by then.

    So listing the names imports nothing, and an extra that is missing stops only those who ask
    for it.
    """

    def build() -> Any:
        inner = {} if over is None else {role: _class(over)()}
        return _class(path)(**inner, **params)

    return build


def _class(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(f"colabel.{module}"), name)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "br",
            _new("reduction.BinaryRelevance"),
            "cbm-2016",
            "one logistic regression a label",
            {"estimator__C": VARIANCES},
        ),
        Method(
            "br-gb",
            _new("reduction.BinaryRelevance", over="reduction.BoostedClassifier"),
            "cbm-2016",
            "boosted trees for each label",
            {"estimator__n_trees": (100, 200, 400)},
            demo=False,
        ),
        Method(
            "ovr-svm",
            _new("reduction.BinaryRelevance", over="reduction.ScaledLinearSVC"),
            "relaxations-2015",
            "one linear support vector machine a label",
            {"estimator__C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)},
        ),
        Method(
            "powset",
            _new("reduction.LabelPowerset"),
            "cbm-2016",
            "one class for each label set in training",
            {"estimator__C": VARIANCES},
        ),
        Method(
            "powset-gb",
            _new("reduction.LabelPowerset", over="reduction.BoostedClassifier"),
            "cbm-2016",
            "boosted trees for each label set",
            {"estimator__n_trees": (100, 200, 400)},
            demo=False,
        ),
        Method(
            "cc",
            _new("reduction.ClassifierChain"),
            "cbm-2016",
            "each label given those before it, greedily",
            {"estimator__C": VARIANCES},
            demo=False,
        ),
        Method(
            "pcc",
            _new("reduction.ProbabilisticClassifierChain"),
            "cbm-2016",
            "the most probable labeling of a chain",
            {"estimator__C": VARIANCES},
            demo=False,
        ),
        Method(
            "ecc-label",
            _new("reduction.ChainEnsemble", vote="label"),
            "cbm-2016",
            "chains of random orders vote on each label",
            {"estimator__C": VARIANCES},
            demo=False,
        ),
        Method(
            "ecc-subset",
            _new("reduction.ChainEnsemble", vote="subset"),
            "cbm-2016",
            "chains of random orders vote on label sets",
            {"estimator__C": VARIANCES},
            demo=False,
        ),
        Method(
            "cdn",
            _new("reduction.ConditionalDependencyNetwork"),
            "cbm-2016",
            "each label given all others; Gibbs sampling",
            {"estimator__C": VARIANCES},
            demo=False,
        ),
        Method(
            "rakel",
            _new("reduction.RAkEL"),
            "sml-2011",
            "label powersets of a few labels each vote",
            {"labelset_size": (2, 3, 5), "estimator__C": VARIANCES},
            demo=False,
        ),
        Method(
            "pair-crf",
            _new("structured.PairwiseCRF"),
            "cbm-2016",
            "a score for each label and pair of labels",
            {"C": VARIANCES},
            demo=False,
        ),
        Method(
            "sml",
            _new("structured.SubmodularSVC"),
            "sml-2011",
            "linear, attracting pairs, trained for F",
            {"alpha": PENALTIES, "coupling_scale": (0.3, 1.0, 3.0)},
        ),
        Method(
            "rml",
            _new("structured.SubmodularSVC", couplings=None),
            "sml-2011",
            "linear, without pairs, trained for F",
            {"alpha": PENALTIES},
        ),
        Method(
            "quad-exact",
            _new("structured.QuadraticPriorSVC"),
            "relaxations-2015",
            "linear, with a learned prior; exact",
            QUADRATIC,
            demo=False,
        ),
        Method(
            "quad-mincut",
            _new("structured.QuadraticPriorSVC", sign="attractive", oracle="mincut"),
            "relaxations-2015",
            "linear, with a learned attraction; min-cut",
            QUADRATIC,
            demo=False,
        ),
        Method(
            "quad-sdp",
            _new("structured.QuadraticPriorSVC", oracle="sdp"),
            "relaxations-2015",
            "linear, with a learned prior; semidefinite",
            QUADRATIC,
            demo=False,
        ),
        Method(
            "quad-spectral",
            _new("structured.QuadraticPriorSVC", oracle="spectral"),
            "relaxations-2015",
            "linear, with a learned prior; spectral",
            QUADRATIC,
            demo=False,
        ),
        Method(
            "lmknn",
            _new("neighbors.LargeMarginKNN"),
            "lmknn-2015",
            "nearest rows under a learned metric vote",
            {"threshold": TUNED, "n_neighbors": SIZES, "weights": WEIGHTS, "C": (1.0, 10.0, 100.0)},
            demo=False,
        ),
        Method(
            "knn",
            _new("neighbors.KNNClassifier"),
            "lmknn-2015",
            "the nearest training rows vote",
            {"threshold": TUNED, "n_neighbors": SIZES, "weights": WEIGHTS},
            demo=False,
        ),
        Method(
            "mlknn",
            _new("neighbors.MLkNN"),
            "lmknn-2015",
            "Bayes' rule on what the nearest rows have",
            {"threshold": TUNED, "n_neighbors": SIZES, "smoothing": (0.1, 1.0)},
            demo=False,
        ),
        Method(
            "cbm-lr",
            _new("mixture.ConditionalBernoulliMixture"),
            "cbm-2016",
            "mixture of logistic regressions, gated",
            {
                "gate_variance": VARIANCES,
                "expert_variance": VARIANCES,
                "n_components": COMPONENTS,
                "n_steps": (5, 10, 20),
            },
        ),
        Method(
            "cbm-gb",
            _new(
                "mixture.ConditionalBernoulliMixture",
                "mixture.BoostedTrees",
                "experts",
                n_components=20,
                n_steps=20,
                n_init=10,
                n_models=3,
            ),
            "cbm-2016",
            "mixture of boosted trees, gated",
            {
                "n_components": COMPONENTS,
                "experts__reg_lambda": (1.0, 3.0, 10.0),
                "experts__learning_rate": (0.1, 0.2),
                "experts__n_leaves": (8, 32),
                "n_steps": (10, 20, 30),
            },
            demo=False,
        ),
        Method(
            "plst",
            _new("embedding.PLST"),
            "lmknn-2015",
            "ridge regression of label components",
            {"alpha": RIDGES, "n_components": CODES},
            demo=False,
        ),
        Method(
            "cplst",
            _new("embedding.CPLST"),
            "lmknn-2015",
            "the same, of components easy to predict",
            {"alpha": RIDGES, "n_components": CODES},
            demo=False,
        ),
        Method(
            "cca",
            _new("embedding.CCAOutputCode"),
            "lmknn-2015",
            "labels and canonical variates; mean field",
            {"code_weight": CODE_WEIGHTS, "alpha": RIDGES},
            demo=False,
        ),
        Method(
            "mmoc",
            _new("embedding.MaxMarginOutputCode"),
            "lmknn-2015",
            "labels and max-margin codes; mean field",
            {"code_weight": CODE_WEIGHTS, "C": (1.0, 10.0, 100.0), "alpha": RIDGES},
            demo=False,
        ),
        Method(
            "indep",
            _new("facets.IndependentDecomposition"),
            "dsml-2018",
            "label sets: one classifier a set",
            SET_BASE,
            demo=False,
            label_sets=True,
        ),
        Method(
            "cooc",
            _new("facets.CooccurrenceDecomposition"),
            "dsml-2018",
            "label sets: one class for each combination",
            SET_BASE,
            demo=False,
            label_sets=True,
        ),
        Method(
            "stacking",
            _new("facets.LabelStacking"),
            "dsml-2018",
            "label sets: each set given those before it",
            {**SET_BASE, "search": ("greedy", "exact")},
            demo=False,
            label_sets=True,
        ),
        Method(
            "dsml",
            _new("facets.DualSetBoosting"),
            "dsml-2018",
            "label sets: boosted, each fed by the last",
            {**SET_BASE, "n_rounds": (10, 30), "B": (1.0, 1.05, 1.1), "reuse": (True, False)},
            demo=False,
            label_sets=True,
        ),
        Method(
            "coupled",
            _new("facets.CoupledSets"),
            "dsml-2018",
            "label sets: separate classifiers, coupled",
            {**SET_BASE, "penalty": (0.1, 1.0, 10.0)},
            demo=False,
            label_sets=True,
        ),
        Method(
            "mlrbf",
            _new("neural.MLRBF"),
            "dsml-2018",
            "radial bumps around each label's clusters",
            {"ratio": (0.01, 0.05, 0.15), "width": (0.3, 0.5, 1.0), "ridge": (1e-5, 1e-4, 1e-3)},
            demo=False,
        ),
        Method(
            "bpmll",
            _new("neural.BPMLL"),
            "dsml-2018",
            "networks trained on the order of labels",
            {"learning_rate": (1e-3, 3e-3, 1e-2), "hidden": (32, 64, 128)},
            demo=False,
        ),
        Method(
            "ranksvm",
            _new("structured.RankSVM"),
            "dsml-2018",
            "support vector ranking of labels, and cut",
            {"C": (0.3, 1.0, 3.0, 10.0), "gamma": (0.3, 1.0, 2.0), "kernel": ("rbf", "linear")},
            demo=False,
        ),
    )
}
