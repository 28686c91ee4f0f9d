"""The methods by name: what the command line fits and compares.

A name may carry a suffix, ``br+global``: the method with a tuned decision rule on top; or, for data
with exclusive label sets, ``br+argmax``: the rule that chooses a label of each set.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from colabel.exceptions import UnknownNameError
from colabel.model_selection import TunedThreshold
from colabel.model_selection._tuned_threshold import RULES

__all__ = [
    "METHODS",
    "RULES",
    "SET_RULES",
    "Method",
    "capabilities",
    "full_name",
    "get_method",
    "list_methods",
    "make",
]


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


# How a label of each exclusive set is chosen; see ``OnePerSetClassifier``.
SET_RULES = ("joint", "argmax")
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
QUADRATIC = {"lambda_w": PENALTIES, "lambda_a": (1.0, 0.1, 0.01)}


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
            _new("structured.QuadraticPriorSVC", sign="attractive", inference="mincut"),
            "relaxations-2015",
            "linear, with a learned attraction; min-cut",
            QUADRATIC,
            demo=False,
        ),
        Method(
            "quad-sdp",
            _new("structured.QuadraticPriorSVC", inference="sdp"),
            "relaxations-2015",
            "linear, with a learned prior; semidefinite",
            QUADRATIC,
            demo=False,
        ),
        Method(
            "quad-spectral",
            _new("structured.QuadraticPriorSVC", inference="spectral"),
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
            _new("labelsets.IndependentDecomposition"),
            "dsml-2018",
            "label sets: one classifier a set",
            SET_BASE,
            demo=False,
            label_sets=True,
        ),
        Method(
            "cooc",
            _new("labelsets.CooccurrenceDecomposition"),
            "dsml-2018",
            "label sets: one class for each combination",
            SET_BASE,
            demo=False,
            label_sets=True,
        ),
        Method(
            "stacking",
            _new("labelsets.LabelStacking"),
            "dsml-2018",
            "label sets: each set given those before it",
            {**SET_BASE, "search": ("greedy", "exact")},
            demo=False,
            label_sets=True,
        ),
        Method(
            "dsml",
            _new("labelsets.DualSetBoosting"),
            "dsml-2018",
            "label sets: boosted, each fed by the last",
            {**SET_BASE, "n_rounds": (10, 30), "B": (1.0, 1.05, 1.1), "reuse": (True, False)},
            demo=False,
            label_sets=True,
        ),
        Method(
            "coupled",
            _new("labelsets.CoupledSets"),
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


def list_methods() -> list[str]:
    """Return every registered name, those with a tuned decision rule included."""
    ordinary = [name for name, method in METHODS.items() if not method.label_sets]
    return [*METHODS, *(f"{name}+{rule}" for name in ordinary for rule in RULES)]


def get_method(name: str) -> tuple[Method, str | None]:
    """Return the method of this name, and the decision rule that its suffix asks for."""
    base, plus, rule = name.partition("+")
    known = base in METHODS
    if not known or (plus and (rule not in (*RULES, *SET_RULES) or METHODS[base].label_sets)):
        close = difflib.get_close_matches(name, list_methods(), n=3)
        hint = f"; did you mean {' or '.join(close)}?" if close else "; see: colabel methods"
        raise UnknownNameError(f"no method is called {name!r}{hint}")
    return METHODS[base], rule if plus else None


def make(name: str, params: Mapping[str, Any] | None = None, seed: int | None = None) -> Any:
    """Make the estimator of a registered method.

    Parameters
    ----------
    name : str
        A registered name, with or without a suffix.
    params : mapping or None
        Parameters by full name (``estimator__C``) or by the end of it (``C``), outermost first.
    seed : int or None
        Value for every ``random_state``.

    Examples
    --------
    >>> make("br", {"C": 0.5}).estimator
    BatchLogisticRegression(C=0.5)
    """
    method, rule = get_method(name)
    estimator = method.build()
    if "estimator" in estimator.get_params(deep=False) and estimator.estimator is None:
        estimator.set_params(estimator=estimator._inner())
    if rule in SET_RULES:
        estimator = _class("labelsets.OnePerSetClassifier")(estimator, rule=rule)
    elif rule is not None:
        estimator = TunedThreshold(estimator, rule=rule)
    for key, value in (params or {}).items():
        full = full_name(estimator, key, name)
        _check_kind(estimator.get_params()[full], value, full, name)
        estimator.set_params(**{full: value})
    if seed is not None:
        known = estimator.get_params()
        seeds = [key for key in known if key.rpartition("__")[2] == "random_state"]
        estimator.set_params(**{key: seed for key in seeds if known[key] is None})
    return estimator


def capabilities(name: str) -> dict[str, Any]:
    """Say what a method can do, read off its estimator."""
    estimator = make(name)
    tags = get_tags(estimator)
    return {
        "predict_proba": hasattr(estimator, "predict_proba"),
        "decision_function": hasattr(estimator, "decision_function"),
        "predict_joint": hasattr(estimator, "predict_joint"),
        "sparse_features": bool(tags.input_tags.sparse),
        "sparse_labels": True,
        "named_labels": True,
        "sample_weight": has_fit_parameter(_weighted(estimator), "sample_weight"),
        "needs_label_sets": METHODS[name.partition("+")[0]].label_sets,
    }


def _weighted(estimator: Any) -> Any:
    """Return what weights of samples end up in: a tuned rule passes them on."""
    return estimator.estimator if isinstance(estimator, TunedThreshold) else estimator


def _check_kind(present: Any, value: Any, key: str, method: str) -> None:
    if hasattr(present, "fit") and not hasattr(value, "fit"):
        raise UnknownNameError(
            f"{key} of {method} is a {type(present).__name__}, not {value!r}; set its parameters "
            f"instead: {key}__NAME"
        )


def full_name(estimator: Any, key: str, method: str) -> str:
    """Return the parameter of ``estimator`` that ``key`` means: the outermost of that name."""
    known = sorted(estimator.get_params(), key=lambda full: (full.count("__"), full))
    for full in known:
        if full == key or full.endswith(f"__{key}"):
            return str(full)
    short = list(dict.fromkeys(full.rpartition("__")[2] for full in known))
    names = dict.fromkeys([*short, *known])  # a name without a prefix is in both
    close = difflib.get_close_matches(key, names, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(short)}"
    raise UnknownNameError(f"{method} has no parameter {key!r}{hint}")
