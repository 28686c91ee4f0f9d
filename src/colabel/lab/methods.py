"""Methods by name, as the command line fits and compares them; ``registry`` lists them.

A name may carry a suffix, ``br+global``: the method with a tuned decision rule on top; or, for data
with facets (exclusive label sets), ``br+argmax``: the rule that chooses the label of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from colabel._renamed import old_names
from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab.registry import METHODS, Method
from colabel.messages import unknown_name, warn_user
from colabel.metrics import facet_columns
from colabel.model_selection import RULES, TunedThreshold

__all__ = [
    "FACET_RULES",
    "METHODS",
    "RULES",
    "Method",
    "capabilities",
    "full_name",
    "get_method",
    "list_methods",
    "make",
    "with_facets",
]

# How the label of each facet is chosen; see ``OnePerSetClassifier``.
FACET_RULES = ("joint", "argmax")


def list_methods() -> list[str]:
    """Return every registered name, those with a tuned decision rule included."""
    ordinary = [name for name, method in METHODS.items() if not method.facets]
    return [*METHODS, *(f"{name}+{rule}" for name in ordinary for rule in RULES)]


def get_method(name: str) -> tuple[Method, str | None]:
    """Return the method of this name, and the decision rule that its suffix asks for."""
    base, plus, rule = name.partition("+")
    known = base in METHODS
    if not known or (plus and (rule not in (*RULES, *FACET_RULES) or METHODS[base].facets)):
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
    if rule in FACET_RULES:
        from colabel.facets import OnePerSetClassifier

        estimator = OnePerSetClassifier(estimator, rule=rule)
    elif rule is not None:
        estimator = TunedThreshold(estimator, rule=rule)
    for key, value in (params or {}).items():
        full = full_name(estimator, key, name)
        _check_kind(estimator.get_params().get(full), value, full, name)
        estimator.set_params(**{full: value})
    if seed is not None:
        known = estimator.get_params()
        seeds = [key for key in known if key.rpartition("__")[2] == "random_state"]
        estimator.set_params(**{key: seed for key in seeds if known[key] is None})
    return estimator


def with_facets(estimator: Any, data: Dataset) -> Any:
    """Prepare an estimator for the facets of the data that it will be fitted to.

    Parameters
    ----------
    estimator : estimator, not fitted
        One that has the parameter ``facets``, itself or inside, gets the columns of each facet,
        unless it has them already.
    data : Dataset

    Returns
    -------
    estimator
        Any other is held to one label of each facet, by ``OnePerSetClassifier``. Where the data has
        no facets it is as it was.

    Raises
    ------
    ColabelError
        If the estimator needs facets and the data has none.
    """
    known = estimator.get_params() if hasattr(estimator, "get_params") else {}
    keys = [key for key in known if key.rpartition("__")[2] == "facets"]
    outermost = min(keys, key=lambda key: key.count("__"), default=None)
    if outermost is not None and known[outermost] is not None:
        return estimator
    if data.facets is None:
        if outermost is None:
            return estimator
        raise ColabelError(
            f"{type(estimator).__name__} needs facets, sets of labels of each of which one is "
            f"on, and {data.name} has none"
        )
    from colabel.facets import OnePerSetClassifier

    columns = facet_columns(data.facets, data.n_labels, data.label_names)
    if outermost is None:
        return OnePerSetClassifier(estimator, facets=columns)
    return estimator.set_params(**{outermost: columns})


def capabilities(name: str) -> dict[str, Any]:
    """Return what a method can do, as its estimator shows."""
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
        "needs_label_sets": METHODS[name.partition("+")[0]].facets,
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
    """Return the parameter of ``estimator`` that ``key`` means: the outermost of that name.

    Old names are known, too. Where another value goes with the new name, the old one is returned.
    """
    known = sorted(estimator.get_params(), key=_depth)
    for full in known:
        if full == key or full.endswith(f"__{key}"):
            return str(full)
    old = old_names(estimator)
    for full in sorted(old, key=_depth):
        if full == key or full.endswith(f"__{key}"):
            new = old[full]
            if new is not None:
                warn_user(
                    f"{key} of {method} is an old name, which the next version will not take; "
                    f"set {new} instead",
                    FutureWarning,
                )
            return new or full
    short = list(dict.fromkeys(full.rpartition("__")[2] for full in known))
    names = dict.fromkeys([*short, *known])  # a name without a prefix is in both
    raise unknown_name(f"{method} has no parameter", key, names, f"it has {', '.join(short)}")


def _depth(full: str) -> tuple[int, str]:
    return full.count("__"), full
