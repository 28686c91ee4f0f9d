"""Why a mixture predicts the label set it does, for one sample (Figure 2 of Li et al. 2016).

A label that is unlikely alone can belong to the most probable set, because the components that
speak for the other labels speak for it too. The components, the correlations and the probability
of the set with and without the label show it; ``colabel.plot.components`` draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from colabel._sklearn import last_step, n_rows
from colabel.decoders import MixtureMode
from colabel.exceptions import IncompatibleError
from colabel.numerics.products import Rows
from colabel.scores import Mixture, ScoreTable

__all__ = ["NEAR_ZERO", "Explanation", "explain"]

Floats = NDArray[np.float64]

# Labels and components below this probability are left out of texts and pictures.
NEAR_ZERO = 0.05
# Correlations below this are no reason.
WEAK = 0.1


@runtime_checkable
class HasJoint(Protocol):
    """A fitted estimator that has a joint distribution."""

    def predict_joint(self, X: Rows) -> ScoreTable: ...


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a mixture says about one sample, in numbers and in sentences.

    Parameters
    ----------
    names : tuple of str
        Label names.
    weights : ndarray of shape (n_components,)
        ``pi_k(x)``, falling.
    probabilities : ndarray of shape (n_components, n_labels)
        Probability of each label in each component.
    marginals : ndarray of shape (n_labels,)
        Probability of each label by itself.
    correlations : ndarray of shape (n_labels, n_labels)
        Pearson correlations of the labels, given this sample's features.
    mode : ndarray of shape (n_labels,), int8
        The most probable labeling.
    mode_probability : float
    shares : ndarray of shape (n_components,)
        How much of the mode's probability comes from each component.
    flipped : ndarray of shape (n_labels,)
        Log-probability of the mode with one label flipped.
    reasons : tuple of str
        A sentence for each label whose place in the mode its own probability does not explain,
        most surprising first.
    """

    names: tuple[str, ...]
    weights: Floats
    probabilities: Floats
    marginals: Floats
    correlations: Floats
    mode: NDArray[np.int8]
    mode_probability: float
    shares: Floats
    flipped: Floats
    reasons: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels in the mode."""
        return tuple(name for name, on in zip(self.names, self.mode, strict=True) if on)

    @property
    def surprising(self) -> NDArray[np.int64]:
        """Labels on the wrong side of one half for their place in the mode, the furthest first."""
        lean = np.where(self.mode > 0, 0.5 - self.marginals, self.marginals - 0.5)
        order = np.argsort(-lean, kind="stable")
        return order[lean[order] > 0]

    def influential(self, at_most: int | None = None) -> NDArray[np.int64]:
        """Return components that weigh for the sample or answer for its most probable set.

        Of many components none may weigh much, and those that answer for the set need not be the
        heaviest. A twentieth of either counts, or half of the largest where that is less.

        Parameters
        ----------
        at_most : int or None
            Keep so many, those of the largest weight or share.

        Returns
        -------
        ndarray
            At least one, by weight.
        """
        influence = np.maximum(self.weights, self.shares)
        order = np.argsort(-influence, kind="stable")[:at_most]
        kept = order[influence[order] >= min(NEAR_ZERO, 0.5 * influence.max())]
        return np.sort(kept)

    def __str__(self) -> str:
        lines = [
            f"most probable set: {{{', '.join(self.labels)}}}, p = {self.mode_probability:.3g}",
            f"labels alone: {self._listed(self.marginals)}",
            "components, by weight:",
        ]
        for k in self.influential():
            share = f"{self.weights[k]:.2f}, {self.shares[k]:.0%} of the set"
            lines.append(f"  {k + 1} ({share}): {self._listed(self.probabilities[k])}")
        return "\n".join([*lines, *self.reasons])

    def _listed(self, probabilities: Floats) -> str:
        order = np.argsort(-probabilities, kind="stable")
        kept = [label for label in order if probabilities[label] >= NEAR_ZERO]
        return ", ".join(f"{self.names[m]} {probabilities[m]:.2f}" for m in kept) or "none"


def explain(
    clf: object, x: ArrayLike | Rows, *, labels: Sequence[str] | None = None
) -> Explanation:
    """Explain the most probable label set of one sample.

    Parameters
    ----------
    clf : fitted estimator
        One whose ``predict_joint`` gives a ``Mixture``, or a pipeline or a search that ends in one.
    x : array-like of shape (n_features,) or (1, n_features)
        One sample: an array, a sparse row, a row of a DataFrame.
    labels : sequence of str or None
        Label names; None takes those that ``clf`` was fitted with.

    Returns
    -------
    Explanation
        ``print`` it, read its attributes, or draw it with ``colabel.plot.components``.

    Notes
    -----
    The mode is the exact one, whatever the estimator's own decoder aims at; the empty set is left
    out where the estimator leaves it out.

    Examples
    --------
    >>> from scipy.special import logit
    >>> from colabel.scores import Mixture
    >>> class Model:
    ...     def predict_joint(self, X):
    ...         return Mixture(np.log([[0.45, 0.55]]), [logit([[0.95, 0.95], [0.5, 0.02]])])
    >>> print(explain(Model(), [0.0], labels=["water", "reflection"]))
    most probable set: {water, reflection}, p = 0.412
    labels alone: water 0.70, reflection 0.44
    components, by weight:
      1 (0.55, 1% of the set): water 0.50
      2 (0.45, 99% of the set): water 0.95, reflection 0.95
    reflection is unlikely alone (0.44) but belongs to the set: log p = -0.89 with it,
    -1.23 without. It goes with water (+0.46).
    """
    clf, row = last_step(clf, _one_row(x))
    if getattr(getattr(clf, "_target", None), "one_dimensional", False):
        raise IncompatibleError("explanations are of label sets; this target has one class a row")
    table = _mixture_of(clf, row)
    nonempty = bool(getattr(clf, "_nonempty", False))
    found = MixtureMode().decode(table, nonempty=nonempty)
    mode, names = found.labels[0], _names(clf, labels, table.n_labels)
    order = np.argsort(-table.log_weights[0], kind="stable")
    flips = mode ^ np.eye(len(mode), dtype=np.int8)
    story = Explanation(
        names=names,
        weights=np.exp(table.log_weights[0, order]),
        probabilities=expit(table.logits[0, order]),
        marginals=table.marginals()[0],
        correlations=table.correlations()[0],
        mode=mode,
        mode_probability=float(np.exp(found.value[0])),
        shares=table.posterior(found.labels)[1][0, order],
        flipped=table.value_all(flips)[0],
        reasons=(),
    )
    reasons = tuple(_reasons(story, float(found.value[0]), nonempty))
    if not found.certified[0]:
        reasons += ("The search was cut short: a more probable set may exist.",)
    return replace(story, reasons=reasons)


def _one_row(x: ArrayLike | Rows) -> Rows:
    """Return one sample as a matrix of one row, names kept."""
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        return x.to_frame().T  # a row of a pandas frame
    rows = cast(Rows, x) if hasattr(x, "shape") else np.asarray(x)
    rows = rows.reshape((1, -1)) if len(rows.shape) == 1 else rows
    if n_rows(rows) != 1:
        raise ValueError(f"an explanation is of one sample; x has {n_rows(rows)} rows")
    return rows


def _mixture_of(clf: object, x: Rows) -> Mixture:
    if not isinstance(clf, HasJoint):
        raise IncompatibleError(f"{type(clf).__name__} has no predict_joint to explain")
    table = clf.predict_joint(x)
    if not isinstance(table, Mixture):
        raise IncompatibleError(
            f"explanations are of Mixture tables; that of {type(clf).__name__} is a "
            f"{type(table).__name__}"
        )
    return table


def _names(clf: object, labels: Sequence[str] | None, n_labels: int) -> tuple[str, ...]:
    if labels is None:
        labels = getattr(clf, "label_names_in_", [f"label {m}" for m in range(n_labels)])
    if len(labels) != n_labels:
        raise ValueError(f"{len(labels)} names for {n_labels} labels")
    return tuple(str(name) for name in labels)


def _reasons(story: Explanation, log_p: float, nonempty: bool) -> Iterator[str]:
    """Say of each surprising label why it is in the mode, or not."""
    for m in story.surprising:
        name, alone = story.names[m], f"({story.marginals[m]:.2f})"
        ours, other = f"{log_p:.2f}", f"{story.flipped[m]:.2f}"
        if story.mode[m]:
            ruled_out = nonempty and story.mode.sum() == 1
            note = " (the empty set, which is ruled out)" if ruled_out else ""
            fact = f"{name} is unlikely alone {alone} but belongs to the set: "
            fact += f"log p = {ours} with it, {other} without{note}."
        else:
            fact = f"{name} is likely alone {alone} but stays out of the set: "
            fact += f"log p = {ours} without it, {other} with."
        yield fact + _support(story, int(m))


def _support(story: Explanation, m: int) -> str:
    """Name the correlations that speak for the side on which label ``m`` is."""
    side = 2.0 * story.mode - 1.0
    speaks = side[m] * side * story.correlations[m]
    speaks[m] = 0.0
    best = [j for j in np.argsort(-speaks, kind="stable")[:3] if speaks[j] >= WEAK]
    named = [(story.correlations[m, j], story.names[j]) for j in best]
    parts = [
        f"{verb} {', '.join(f'{name} ({rho:+.2f})' for rho, name in named if sign * rho > 0)}"
        for verb, sign in (("goes with", 1), ("avoids", -1))
        if any(sign * rho > 0 for rho, _ in named)
    ]
    return f" It {' and '.join(parts)}." if parts else ""
