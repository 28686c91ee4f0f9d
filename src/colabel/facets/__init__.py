"""Facets, or exclusive sets of labels: each sample has exactly one label of each."""

from colabel.facets._adapter import OnePerSetClassifier
from colabel.facets._boosting import DualSetBoosting
from colabel.facets._coupled import CoupledSets
from colabel.facets._decompositions import CooccurrenceDecomposition, IndependentDecomposition
from colabel.facets._stacking import LabelStacking

__all__ = [
    "CooccurrenceDecomposition",
    "CoupledSets",
    "DualSetBoosting",
    "IndependentDecomposition",
    "LabelStacking",
    "OnePerSetClassifier",
]
