"""What a model file may hold: which types without being asked, and what must be true of them.

A type is on the list if it was read and does no harm, however a file fills it. Names alone do not
make a model harmless, though. Compiled code walks trees, sparse arrays and the state of
random generators by the numbers they hold, with no check of bounds: a forged one makes ``predict``
read memory that is not its own. So those of everything loaded are checked here, once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["find_harm", "trusted_names"]

_SPLIT = "sklearn.model_selection._split."
# Types that skops does not trust by itself, each under the one loader that `save` writes for it,
# for the loader decides what is done with it. Each was read: filling an object of it, or calling
# it with any arguments a file can give, runs nothing but its own arithmetic and what it was given,
# which is itself of this list. Splitters, scorers and searches store what they are given and use
# it in `fit` and `score`; the functions measure arrays.
REVIEWED = {
    "ObjectNode": {
        "colabel.metrics._scorers.MeasureScorer",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        *(
            _SPLIT + name
            for name in (
                "GroupKFold",
                "GroupShuffleSplit",
                "KFold",
                "LeaveOneGroupOut",
                "LeaveOneOut",
                "LeavePGroupsOut",
                "LeavePOut",
                "PredefinedSplit",
                "RepeatedKFold",
                "RepeatedStratifiedKFold",
                "ShuffleSplit",
                "StratifiedGroupKFold",
                "StratifiedKFold",
                "StratifiedShuffleSplit",
                "TimeSeriesSplit",
            )
        ),
    },
    "FunctionNode": {
        *(
            f"colabel.metrics.{name}"
            for name in (
                "_ranking.coverage",
                "_ranking.lrap",
                "_ranking.one_error",
                "_ranking.ranking_loss",
                "_sets.f1_score",
                "_sets.hamming_loss",
                "_sets.jaccard_score",
                "_sets.precision_score",
                "_sets.recall_score",
                "_sets.subset_accuracy",
                "_top_k.ndcg_at_k",
                "_top_k.precision_at_k",
            )
        ),
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        *(
            f"sklearn.metrics.{name}"
            for name in (
                "_classification.accuracy_score",
                "_classification.balanced_accuracy_score",
                "_classification.f1_score",
                "_classification.fbeta_score",
                "_classification.hamming_loss",
                "_classification.jaccard_score",
                "_classification.log_loss",
                "_classification.precision_score",
                "_classification.recall_score",
                "_classification.zero_one_loss",
                "_ranking.average_precision_score",
                "_ranking.coverage_error",
                "_ranking.label_ranking_average_precision_score",
                "_ranking.label_ranking_loss",
                "_ranking.ndcg_score",
                "_ranking.roc_auc_score",
            )
        ),
    },
    # The repeated splitters keep the class of the splitter that they repeat.
    "TypeNode": {_SPLIT + "KFold", _SPLIT + "StratifiedKFold"},
    "DictNode": {"sklearn.utils._bunch.Bunch"},
    "DTypeNode": {"numpy.dtype"},
    "PartialNode": {"functools.partial"},
    "SparseMatrixNode": {
        "scipy.sparse._csc.csc_array",
        "scipy.sparse._csc.csc_matrix",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
    },
    "TreeNode": {"sklearn.tree._tree.Tree"},
}
# Parts of colabel that read files, open connections or start processes: no model holds any.
NOT_IN_MODELS = ("__main__", "_kernels", "cli", "dataset", "datasets", "lab", "persistence", "plot")
# They hand their own X to the trees below them, so the trees must fit them, not just themselves.
BYPASS_TREE_CHECKS = ("BaseForest", "IsolationForest")
# Writes through raw pointers, sized by parts of the model that nothing ties together.
UNCHECKABLE = ("BaseGradientBoosting",)
RESPONSES = {"decision_function", "predict", "predict_log_proba", "predict_proba"}
# Words in the state of a Mersenne Twister; the place of the next one is at most their number.
TWISTER_WORDS = 624


def trusted_names(types: Iterable[tuple[str, str, str]]) -> set[str]:
    """Return the full names of those types that may be loaded without being asked for.

    Parameters
    ----------
    types : iterable of (module, name, loader)
        What a file names. A name that occurs with a loader it was not reviewed for is left out.
    """
    known: dict[str, bool] = {}
    for module, name, loader in types:
        full_name = f"{module}.{name}"
        reviewed = full_name in REVIEWED.get(loader, ())
        own = loader == "ObjectNode" and _is_own_class(module, name)
        known[full_name] = known.get(full_name, True) and (reviewed or own)
    return {name for name, trusted in known.items() if trusted}


def find_harm(model: Any, trusted: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the full type name of each harmful part of a model, and what is wrong with it.

    Parameters
    ----------
    model : object
        As it is before saving, or as constructed by skops; nothing of it is called.
    trusted : frozenset of str
        Full names of types that the caller vouches for; their content is not checked.
    """
    for part in _parts(model):
        bases = {base.__name__ for base in type(part).__mro__}
        name = type(part).__name__
        if _full_name(part) in trusted:
            continue
        if bases.intersection(UNCHECKABLE):
            yield _full_name(part), f"a {name}, whose content cannot be checked"
            continue
        try:
            sound = _is_sound(part, bases)
        except (AttributeError, KeyError, TypeError, ValueError):
            sound = False  # attributes missing or of another kind than scikit-learn's own
        if not sound:
            yield _full_name(part), f"a {name} whose content is out of bounds"


def _is_own_class(module: str, name: str) -> bool:
    """Tell whether the installed colabel defines such a class, one that a model may hold."""
    parts = module.split(".")
    if parts[0] != "colabel" or not all(part.isidentifier() for part in parts):
        return False
    if any(part in NOT_IN_MODELS for part in parts) or not _is_module_file(parts):
        return False
    found = getattr(import_module(module), name, None)
    if not isinstance(found, type) or (found.__module__, found.__qualname__) != (module, name):
        return False
    bases = {base.__name__ for base in found.__mro__}
    is_splitter = not bases.isdisjoint(("BaseCrossValidator", "BaseShuffleSplit"))
    return hasattr(found, "get_params") or is_dataclass(found) or is_splitter


def _is_module_file(parts: list[str]) -> bool:
    place = Path(__file__).parent.joinpath(*parts[1:])
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def _is_sound(part: Any, bases: set[str]) -> bool:
    if sparse.issparse(part):
        return _sparse_is_sound(part)
    if _full_name(part) == "sklearn.tree._tree.Tree":
        return _tree_is_sound(part)
    if "BaseDecisionTree" in bases:
        return _all_fit([part], part)
    if bases.intersection(BYPASS_TREE_CHECKS):
        return _all_fit(vars(part).get("estimators_", []), part)
    if "BaseHistGradientBoosting" in bases:
        return _boosting_is_sound(part)
    if "_BaseScorer" in bases:
        return _scorer_is_sound(part)
    if isinstance(part, (np.random.RandomState, np.random.Generator)):
        return _generator_is_sound(part)
    return True


def _sparse_is_sound(table: Any) -> bool:
    if table.format not in ("csr", "csc"):
        return False
    try:
        table.check_format(full_check=True)
    except ValueError:
        return False
    return True


def _tree_is_sound(tree: Any) -> bool:
    """Tell whether a descent of the tree goes from node to later node and ends."""
    if not 0 < tree.node_count <= tree.capacity:
        return False
    left, right = tree.children_left, tree.children_right
    inner = left != -1
    return _descends(left[inner], right[inner], np.flatnonzero(inner), tree.node_count) and _within(
        tree.feature[inner], tree.n_features
    )


def _all_fit(estimators: Any, owner: Any) -> bool:
    """Tell whether the trees of ``estimators`` read no feature that the owner's X lacks."""
    n_features = vars(owner).get("n_features_in_")
    trees = [vars(estimator).get("tree_") for estimator in estimators]
    return all(tree is None or tree.n_features == n_features for tree in trees)


def _boosting_is_sound(model: Any) -> bool:
    state = vars(model)
    predictors = [p for row in state.get("_predictors", []) for p in row]
    # With categories, the columns that reach the trees are those of a transformer in the model.
    if predictors and state.get("_preprocessor") is not None:
        return False
    return all(_predictor_is_sound(p, state.get("n_features_in_")) for p in predictors)


def _predictor_is_sound(predictor: Any, n_features: Any) -> bool:
    nodes = vars(predictor).get("nodes")
    if not isinstance(nodes, np.ndarray) or nodes.ndim != 1 or nodes.dtype.names is None:
        return False
    inner = nodes["is_leaf"] == 0
    left, right = nodes["left"][inner], nodes["right"][inner]
    return (
        len(nodes) > 0
        and not nodes["is_categorical"].any()
        and _descends(left, right, np.flatnonzero(inner), len(nodes))
        and _within(nodes["feature_idx"][inner], n_features)
    )


def _scorer_is_sound(scorer: Any) -> bool:
    """Tell whether a scorer asks an estimator for predictions, and calls nothing else of it."""
    responses = vars(scorer)["_response_method"]
    return {responses} <= RESPONSES if isinstance(responses, str) else set(responses) <= RESPONSES


def _generator_is_sound(generator: Any) -> bool:
    if isinstance(generator, np.random.Generator):
        state = generator.bit_generator.state
    else:
        state = generator.get_state(legacy=False)
    place = state.get("buffer_pos", state["state"].get("pos", 0))
    return bool(0 <= place <= TWISTER_WORDS)


def _descends(left: np.ndarray, right: np.ndarray, parent: np.ndarray, n_nodes: int) -> bool:
    """Tell whether all children come after their parents and exist; then no descent is endless."""
    children = np.stack([left, right]).astype(np.int64)
    return bool((children > parent).all() and (children < n_nodes).all())


def _within(features: np.ndarray, n_features: Any) -> bool:
    return bool((features >= 0).all() and (features < n_features).all())


def _full_name(part: Any) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"


def _parts(model: Any) -> Iterator[Any]:
    """Yield every object reachable through attributes and containers, each once."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, (str, bytes, int, float, type, ModuleType)) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.keys())
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set, frozenset)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            # As a plain array: a masked one would keep back what it masks.
            waiting.extend(np.asarray(part).ravel().tolist())
        elif isinstance(part, partial):
            waiting.extend([part.func, part.args, part.keywords])
        if isinstance(part, defaultdict):
            waiting.append(part.default_factory)
        waiting.extend(getattr(part, "__dict__", {}).values())
        for base in type(part).__mro__:
            slots = base.__dict__.get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else slots
            waiting.extend(getattr(part, name, None) for name in names)
