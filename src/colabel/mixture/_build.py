"""From the words of a user to a gate and experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from colabel.linear.logistic import LinearFit, fit_logistic
from colabel.mixture._boosted_trees import BoostedTrees
from colabel.mixture._boosting import BoostedExperts, BoostedGate
from colabel.mixture._classifiers import ClassifierExperts, ClassifierGate, check_classifier
from colabel.mixture._em import Experts, Gate, GatedMixture
from colabel.mixture._experts import LogisticExperts
from colabel.mixture._features import Features
from colabel.mixture._gate import SoftmaxGate
from colabel.mixture._growers import Source, make_source

__all__ = ["is_logistic", "make_builder", "takes_nan"]

LOGISTIC = "logistic"


def make_builder(
    clf: Any,
    X: Any,
    Y: NDArray[np.int8],
    weight: NDArray[np.float64],
    scale: bool | str = True,
) -> Callable[[int], GatedMixture]:
    """Return what makes the untrained model of a seed; what seeds share is computed once.

    Parameters
    ----------
    clf : ConditionalBernoulliMixture
        Whose ``experts``, ``gate`` and priors are read.
    X, Y, weight
        Training data.
    scale : "columns" or bool
        How features are scaled for logistic experts and gate.
    """
    experts = _kind("experts", clf.experts)
    gate = experts if clf.gate is None else _kind("gate", clf.gate)
    kinds = [experts, gate]
    features = None
    if any(isinstance(kind, str) for kind in kinds):
        features = Features(scale, rotate=clf.l1_ratio == 0.0).fit(X, weight)
    sources = {
        id(kind): make_source(kind, X, weight) for kind in kinds if isinstance(kind, BoostedTrees)
    }
    center = None
    if isinstance(experts, str) and clf.expert_prior == "shared" and features is not None:
        penalty = 1.0 / clf.expert_variance
        center = fit_logistic(features.products(X), Y, penalty=penalty, weight=weight)

    def build(seed: int) -> GatedMixture:
        return GatedMixture(
            _make_gate(clf, gate, features, sources.get(id(gate)), seed),
            _make_experts(clf, experts, features, sources.get(id(experts)), center, seed),
        )

    return build


def is_logistic(kind: Any) -> bool:
    """Whether experts or a gate are logistic regressions."""
    return isinstance(kind, str) and kind == LOGISTIC


def takes_nan(kind: Any) -> bool:
    """Whether experts or a gate say of themselves that they take missing values."""
    if isinstance(kind, type) or not hasattr(kind, "__sklearn_tags__"):
        return False
    return bool(get_tags(kind).input_tags.allow_nan)


def _kind(name: str, kind: Any) -> Any:
    """Resolve what a user may write, and refuse what cannot serve."""
    if isinstance(kind, str) and kind in (LOGISTIC, "boosting"):
        return kind if kind == LOGISTIC else BoostedTrees()
    if isinstance(kind, BoostedTrees):
        kind.check()
        return kind
    if isinstance(kind, str) or not hasattr(kind, "fit"):
        raise ValueError(
            f"{name} must be 'logistic', 'boosting', BoostedTrees() or a classifier with "
            f"predict_proba, not {kind!r}"
        )
    check_classifier(name, kind)
    return kind


def _make_gate(
    clf: Any, kind: Any, features: Features | None, source: Source | None, seed: int
) -> Gate:
    if features is not None and isinstance(kind, str):
        return SoftmaxGate(features, 1.0 / clf.gate_variance, clf.m_steps, clf.l1_ratio)
    if source is not None:
        return BoostedGate(source, seed)
    return ClassifierGate(kind, seed)


def _make_experts(
    clf: Any,
    kind: Any,
    features: Features | None,
    source: Source | None,
    center: LinearFit | None,
    seed: int,
) -> Experts:
    if features is not None and isinstance(kind, str):
        penalty = 1.0 / clf.expert_variance
        return LogisticExperts(features, penalty, clf.m_steps, clf.l1_ratio, center)
    if source is not None:
        return BoostedExperts(source, seed)
    return ClassifierExperts(kind, seed)
