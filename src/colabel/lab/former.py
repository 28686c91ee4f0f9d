"""Estimators as 0.1 would have described them: finished cells are known by its keys.

A class is here if its parameters cannot be given their former names one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["FORMER_PATHS", "former_parameters"]

# Paths of classes that have moved since.
FORMER_PATHS = {
    "colabel.mixture._boosting.BoostedTrees": "colabel.mixture._boosted_trees.BoostedTrees"
}
# What a mixture of 0.1 was given besides, and where ``Logistic`` has it now.
EXPERTS = {
    "expert_variance": ("variance", 10.0),
    "expert_prior": ("prior", "zero"),
    "l1_ratio": ("l1_ratio", 0.0),
    "m_steps": ("max_iter", 10),
    "scale": ("scale", "auto"),
}
GATE_VARIANCE = 3.0


def former_parameters(path: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that an estimator of 0.1 would have had, where there was one."""
    known = FORMER.get(path)
    return dict(params) if known is None else known(dict(params))


def _of_mixture(params: dict[str, Any]) -> dict[str, Any]:
    """Give a mixture the parameters that its logistic components have now."""
    experts, gate = (_logistic(params[role]) for role in ("experts", "gate"))
    if gate is not None and any(
        gate[name] is not None for name in ("l1_ratio", "max_iter", "scale")
    ):
        return params  # a gate with settings of its own, which 0.1 had not
    given = experts or gate or {}
    former = {old: _or(given.get(new), usual) for old, (new, usual) in EXPERTS.items()}
    if experts is None:
        former["expert_variance"] = EXPERTS["expert_variance"][1]
    former["gate_variance"] = _or((gate or {}).get("variance"), GATE_VARIANCE)
    share = params["validation_fraction"]
    former |= {"early_stopping": share is not None, "validation_fraction": _or(share, 0.2)}
    if experts is not None:
        former["experts"] = "logistic"
    if gate is not None:
        former["gate"] = None if experts is not None else "logistic"
    return {**params, **former}


def _logistic(part: Any) -> dict[str, Any] | None:
    """Return the settings of logistic regressions; None of anything else."""
    from colabel.mixture import Logistic

    part = Logistic() if isinstance(part, str) and part == "logistic" else part
    return part.get_params() if isinstance(part, Logistic) else None


def _or(value: Any, usual: Any) -> Any:
    return usual if value is None else value


FORMER: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "colabel.mixture._conditional.ConditionalBernoulliMixture": _of_mixture
}
