"""Small data for the command line, and the names its contract fixes."""

import numpy as np

from colabel.datasets import Dataset

LABELS = ("--labels", "-3")
MEASURES = [
    "subset_accuracy",
    "hamming_loss",
    "example_f1",
    "micro_f1",
    "macro_f1",
    "example_jaccard",
    "precision_at_1",
    "precision_at_3",
    "precision_at_5",
    "ndcg_at_5",
    "ranking_loss",
    "coverage",
    "one_error",
    "lrap",
]
COLUMNS = [
    "data",
    "split",
    "fold",
    "seed",
    "method",
    "parameters",
    "status",
    "fit_seconds",
    "predict_seconds",
    "peak_memory_mb",
]


def small_data(seed=0, n_samples=40, labels=("sea", "sun, sand", "sky")):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_samples, 3)), 3)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3, X[:, 0] + X[:, 2] > 0])
    return Dataset(X, Y[:, : len(labels)].astype(np.int8), ("a", "b", "c"), labels, "small")
