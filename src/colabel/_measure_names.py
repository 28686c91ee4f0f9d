"""The names of measures: those of ``evaluate``, in its order, and the short ones that mean them."""

from __future__ import annotations

__all__ = ["LABEL_MEASURES", "MEASURE_ALIASES", "MEASURE_NAMES", "RANKING_MEASURES"]

# What predicted labels are measured by, and what scores that rank the labels are.
LABEL_MEASURES = (
    "subset_accuracy",
    "hamming_loss",
    "example_f1",
    "micro_f1",
    "macro_f1",
    "example_jaccard",
)
RANKING_MEASURES = (
    "precision_at_1",
    "precision_at_3",
    "precision_at_5",
    "ndcg_at_5",
    "ranking_loss",
    "coverage",
    "one_error",
    "lrap",
)
MEASURE_NAMES = LABEL_MEASURES + RANKING_MEASURES
MEASURE_ALIASES = {
    "subset": "subset_accuracy",
    "hamming": "hamming_loss",
    "f1": "example_f1",
    "jaccard": "example_jaccard",
    "precision": "example_precision",
    "recall": "example_recall",
}
