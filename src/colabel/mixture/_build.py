"""From the words of a user to a gate and experts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.learners.logistic import fit_logistic
from colabel.mixture._em import Experts, Gate, GatedMixture
from colabel.mixture._experts import LogisticExperts
from colabel.mixture._features import Features
from colabel.mixture._gate import SoftmaxGate

__all__ = ["make_builder"]


def make_builder(
    clf: Any, X: Any, Y: NDArray[np.int8], weight: NDArray[np.float64]
) -> Callable[[int], GatedMixture]:
    """Return what makes the untrained model of a seed; what seeds share is computed once.

    Parameters
    ----------
    clf : ConditionalBernoulliMixture
        Whose ``experts``, ``gate`` and priors are read.
    X, Y, weight
        Training data.
    """
    kinds = clf.experts, clf.experts if clf.gate is None else clf.gate
    features, center = None, None
    if "logistic" in [kind for kind in kinds if isinstance(kind, str)]:
        features = Features(clf.scale).fit(X, weight)
    if kinds[0] == "logistic" and clf.expert_prior == "shared":
        assert features is not None
        center = fit_logistic(
            features.products(X), Y, penalty=1.0 / clf.expert_variance, weight=weight
        )

    def build(seed: int) -> GatedMixture:
        experts = _experts(clf, kinds[0], features, center, seed)
        return GatedMixture(_gate(clf, kinds[1], features, seed), experts)

    return build


def _gate(clf: Any, kind: Any, features: Features | None, seed: int) -> Gate:
    if isinstance(kind, str) and kind == "logistic":
        assert features is not None
        return SoftmaxGate(features, 1.0 / clf.gate_variance, clf.m_steps)
    raise _unknown("gate", kind)


def _experts(clf: Any, kind: Any, features: Features | None, center: Any, seed: int) -> Experts:
    if isinstance(kind, str) and kind == "logistic":
        assert features is not None
        return LogisticExperts(features, 1.0 / clf.expert_variance, clf.m_steps, center)
    raise _unknown("experts", kind)


def _unknown(name: str, kind: Any) -> ValueError:
    return ValueError(
        f"{name} must be 'logistic', 'boosting', BoostedTrees() or a classifier with "
        f"predict_proba, not {kind!r}"
    )
