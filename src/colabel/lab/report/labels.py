"""Results label by label, where predictions were kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colabel.lab.report.reading import Run

__all__ = ["LabelTable", "label_tables"]


@dataclass(frozen=True)
class LabelTable:
    """F1 of every label by every method on one dataset.

    Parameters
    ----------
    data : str
    label_names : sequence of str
    n_true : sequence of int
        Test samples that have the label, over all folds.
    methods : sequence of str
    f1 : dict of (int, str) to float
        By number of the label and method; NaN where it is neither true nor predicted.
    """

    data: str
    label_names: Sequence[str]
    n_true: Sequence[int]
    methods: Sequence[str]
    f1: dict[tuple[int, str], float]


def label_tables(run: Run) -> list[LabelTable]:
    """Return a table for each dataset of which predictions were kept."""
    return []
