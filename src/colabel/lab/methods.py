"""Methods by name, as the command line fits and compares them; ``registry`` lists them.

A name may carry a suffix, ``br+global``: the method with a tuned decision rule on top; or, for data
with exclusive label sets, ``br+argmax``: the rule that chooses a label of each set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from colabel.exceptions import UnknownNameError
from colabel.lab.registry import METHODS, Method
from colabel.messages import unknown_name
from colabel.model_selection import RULES, TunedThreshold

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

# How a label of each exclusive set is chosen; see ``OnePerSetClassifier``.
SET_RULES = ("joint", "argmax")


def list_methods() -> list[str]:
    """Return every registered name, those with a tuned decision rule included."""
    ordinary = [name for name, method in METHODS.items() if not method.label_sets]
    return [*METHODS, *(f"{name}+{rule}" for name in ordinary for rule in RULES)]


def get_method(name: str) -> tuple[Method, str | None]:
    """Return the method of this name, and the decision rule that its suffix asks for."""
    base, plus, rule = name.partition("+")
    known = base in METHODS
    if not known or (plus and (rule not in (*RULES, *SET_RULES) or METHODS[base].label_sets)):
        raise unknown_name("no method is called", name, list_methods(), "see: colabel methods")
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
        from colabel.facets import OnePerSetClassifier

        estimator = OnePerSetClassifier(estimator, rule=rule)
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
    raise unknown_name(f"{method} has no parameter", key, names, f"it has {', '.join(short)}")
