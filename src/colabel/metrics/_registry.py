"""The measures by name, for the command line and for scorers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

from colabel._measure_names import MEASURE_ALIASES, MEASURE_NAMES
from colabel.messages import unknown_name
from colabel.metrics._ranking import coverage, lrap, one_error, ranking_loss
from colabel.metrics._sets import (
    f1_score,
    hamming_loss,
    jaccard_score,
    precision_score,
    recall_score,
    subset_accuracy,
)
from colabel.metrics._top_k import ndcg_at_k, precision_at_k

__all__ = ["MEASURES", "Measure", "get_measure", "measure_name"]

_AT_K = re.compile(r"(precision|ndcg)_at_([1-9][0-9]*)")


@dataclass(frozen=True)
class Measure:
    """A named measure.

    Parameters
    ----------
    name : str
        Its name in tables and on the command line.
    function : callable
        ``function(Y, output, *, sample_weight=None) -> float``; picklable.
    needs : {"labels", "scores"}
        What the output is: predicted label sets, or scores that rank the labels.
    greater_is_better : bool
        Which way is up.
    range : tuple of float
        The least and the greatest value; ``coverage`` ends at the number of labels.
    description : str
        One line.
    """

    name: str
    function: Callable[..., float]
    needs: Literal["labels", "scores"]
    greater_is_better: bool
    range: tuple[float, float]
    description: str


def get_measure(name: str) -> Measure:
    """Return the measure of this name.

    Parameters
    ----------
    name : str
        One of :data:`MEASURES`, ``precision_at_<k>`` or ``ndcg_at_<k>`` with any k, or a short
        name; see :func:`measure_name`.

    Returns
    -------
    Measure
        What it computes, from what, and which way is up.

    Raises
    ------
    UnknownNameError
        Where there is none; its message names the closest ones.

    Examples
    --------
    >>> from colabel.metrics import get_measure
    >>> get_measure("hamming_loss").greater_is_better
    False
    """
    full = measure_name(name)
    at_k = _AT_K.fullmatch(full)
    return MEASURES[full] if full in MEASURES or not at_k else _top(at_k[1], int(at_k[2]))


def measure_name(name: str) -> str:
    """Return the full name of a measure.

    Parameters
    ----------
    name : str
        Full, as in the table of :func:`evaluate`, or short: ``subset``, ``hamming``, ``f1``,
        ``jaccard``, ``precision`` and ``recall``, the last four averaged over samples.

    Raises
    ------
    UnknownNameError
        Where there is none; its message names the closest ones.

    Examples
    --------
    >>> from colabel.metrics import measure_name
    >>> measure_name("f1"), measure_name("macro_f1")
    ('example_f1', 'macro_f1')
    """
    full = MEASURE_ALIASES.get(str(name), str(name))
    if full not in MEASURES and not _AT_K.fullmatch(full):
        raise unknown_name("unknown measure", name, MEASURES)
    return full


def _labels(
    name: str, function: Callable[..., float], description: str, *, loss: bool = False
) -> Measure:
    return Measure(name, function, "labels", not loss, (0.0, 1.0), description)


def _scores(
    name: str, function: Callable[..., float], description: str, *, loss: bool = False
) -> Measure:
    most = float("inf") if name == "coverage" else 1.0
    return Measure(name, function, "scores", not loss, (0.0, most), description)


def _top(kind: str, k: int) -> Measure:
    if kind == "precision":
        what = f"share of true labels among the top {k}"
        return _scores(f"precision_at_{k}", partial(precision_at_k, k=k), what)
    what = f"discounted gain of the top {k} over the best possible"
    return _scores(f"ndcg_at_{k}", partial(ndcg_at_k, k=k), what)


def _averaged(average: str) -> list[Measure]:
    """Return the four ratios under one average."""
    over = {"example": "mean over samples", "micro": "over all cells", "macro": "mean over labels"}
    ratios: dict[str, tuple[Callable[..., float], str]] = {
        "f1": (f1_score, "harmonic mean of precision and recall"),
        "jaccard": (jaccard_score, "intersection over union"),
        "precision": (precision_score, "share of predicted labels that are true"),
        "recall": (recall_score, "share of true labels that are predicted"),
    }
    return [
        _labels(f"{average}_{kind}", partial(function, average=average), f"{what}, {over[average]}")
        for kind, (function, what) in ratios.items()
    ]


def _build() -> Mapping[str, Measure]:
    measures = [
        _labels("subset_accuracy", subset_accuracy, "share of samples wholly right"),
        _labels("hamming_loss", hamming_loss, "share of wrong cells", loss=True),
        *(_top("precision", k) for k in (1, 3, 5)),
        _top("ndcg", 5),
        _scores("ranking_loss", ranking_loss, "share of misordered pairs of labels", loss=True),
        _scores("coverage", coverage, "places down to the last true label", loss=True),
        _scores("one_error", one_error, "share of samples whose top label is wrong", loss=True),
        _scores("lrap", lrap, "label ranking average precision"),
        *(measure for average in ("example", "micro", "macro") for measure in _averaged(average)),
    ]
    by_name = {measure.name: measure for measure in measures}
    return MappingProxyType({name: by_name[name] for name in MEASURE_NAMES} | by_name)


MEASURES: Mapping[str, Measure] = _build()
"""The measures by name; the first 14 are the table of :func:`evaluate`, in its order."""
