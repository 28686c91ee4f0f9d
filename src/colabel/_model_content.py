"""What a loaded model may contain, where compiled code would follow it without looking.

Type names alone do not make a model harmless. scikit-learn walks its trees, and scipy its sparse
arrays, by the indices they hold, with no check of bounds: a forged index makes ``predict`` read
memory that is not its own. So the indices of everything loaded are checked here, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["find_harm"]

# They hand their own X to the trees below them, so the trees must fit them, not just themselves.
BYPASS_TREE_CHECKS = ("BaseForest", "IsolationForest")
# Writes through raw pointers, sized by parts of the model that nothing ties together.
UNCHECKABLE = ("BaseGradientBoosting",)


def find_harm(model: Any, trusted: frozenset[str]) -> str | None:
    """Return what is wrong inside a loaded model, or None.

    Parameters
    ----------
    model : object
        As constructed by skops, nothing of it called yet.
    trusted : frozenset of str
        Full names of types that the caller vouches for; their content is not checked.
    """
    for part in _parts(model):
        bases = {base.__name__ for base in type(part).__mro__}
        if _full_name(part) in trusted:
            continue
        if bases.intersection(UNCHECKABLE):
            return f"a {type(part).__name__}, whose content cannot be checked"
        try:
            sound = _is_sound(part, bases)
        except (AttributeError, KeyError, TypeError, ValueError):
            sound = False  # attributes missing or of another kind than scikit-learn's own
        if not sound:
            return f"a {type(part).__name__} whose content is out of bounds"
    return None


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
        if isinstance(part, (str, bytes, int, float, type)) or part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting.extend(part.keys())
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple, set, frozenset)):
            waiting.extend(part)
        elif isinstance(part, np.ndarray) and part.dtype == object:
            waiting.extend(part.ravel().tolist())
        waiting.extend(getattr(part, "__dict__", {}).values())
        for base in type(part).__mro__:
            slots = base.__dict__.get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else slots
            waiting.extend(getattr(part, name, None) for name in names)
