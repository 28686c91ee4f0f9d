"""Stratified splits and tuned decision rules for multi-label data."""

from colabel.model_selection._stratification import (
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    train_validation_test_split,
)
from colabel.model_selection._tuned_threshold import RULES, TunedThreshold

__all__ = [
    "RULES",
    "IterativeStratifiedKFold",
    "IterativeStratifiedShuffleSplit",
    "TunedThreshold",
    "train_validation_test_split",
]
