"""Measures of multi-label predictions, one by one, all at once, and as scorers."""

from colabel._measure_names import MEASURE_NAMES
from colabel.metrics._evaluate import evaluate, evaluate_labels
from colabel.metrics._facets import facet_accuracy, facet_columns
from colabel.metrics._propensity import (
    propensities,
    propensity_scored_ndcg_at_k,
    propensity_scored_precision_at_k,
)
from colabel.metrics._ranking import coverage, lrap, one_error, ranking_loss
from colabel.metrics._registry import MEASURES, Measure, get_measure, measure_name
from colabel.metrics._scorers import MeasureScorer, log_likelihood, make_scorer
from colabel.metrics._sets import (
    f1_score,
    fbeta_score,
    hamming_loss,
    jaccard_score,
    precision_score,
    recall_score,
    subset_accuracy,
)
from colabel.metrics._top_k import ndcg_at_k, precision_at_k

__all__ = [
    "MEASURES",
    "MEASURE_NAMES",
    "Measure",
    "MeasureScorer",
    "coverage",
    "evaluate",
    "evaluate_labels",
    "f1_score",
    "facet_accuracy",
    "facet_columns",
    "fbeta_score",
    "get_measure",
    "hamming_loss",
    "jaccard_score",
    "log_likelihood",
    "lrap",
    "make_scorer",
    "measure_name",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "precision_score",
    "propensities",
    "propensity_scored_ndcg_at_k",
    "propensity_scored_precision_at_k",
    "ranking_loss",
    "recall_score",
    "subset_accuracy",
]
