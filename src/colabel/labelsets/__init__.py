"""Exclusive label sets: each sample has exactly one label of each of two or more sets."""

from colabel.labelsets._adapter import OnePerSetClassifier
from colabel.labelsets._boosting import DualSetBoosting
from colabel.labelsets._coupled import CoupledSets
from colabel.labelsets._decompositions import CooccurrenceDecomposition, IndependentDecomposition
from colabel.labelsets._stacking import LabelStacking

__all__ = [
    "CooccurrenceDecomposition",
    "CoupledSets",
    "DualSetBoosting",
    "IndependentDecomposition",
    "LabelStacking",
    "OnePerSetClassifier",
]
