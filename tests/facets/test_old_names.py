"""Names of 0.1 for facets work for one version, with a warning."""

import numpy as np
import pandas as pd
import pytest

from colabel.datasets import Dataset
from colabel.decoders import OnePerSet
from colabel.facets import (
    CooccurrenceDecomposition,
    CoupledSets,
    DualSetBoosting,
    IndependentDecomposition,
    LabelStacking,
    OnePerSetClassifier,
)
from colabel.metrics import evaluate
from colabel.reduction import BinaryRelevance

SETS = [[0, 1], [2, 3]]
Y = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0]])


@pytest.mark.parametrize(
    "kind",
    [
        CooccurrenceDecomposition,
        CoupledSets,
        DualSetBoosting,
        IndependentDecomposition,
        LabelStacking,
        lambda **given: OnePerSetClassifier(BinaryRelevance(), **given),
        OnePerSet,
    ],
)
def test_parameters_of_estimators(kind):
    with pytest.warns(FutureWarning, match="label_sets .*is an old name.*facets"):
        made = kind(label_sets=SETS)
    assert made.facets == SETS
    with pytest.warns(FutureWarning, match="label_sets .*is an old name.*facets"):
        made.set_params(label_sets=None)
    assert made.facets is None
    assert "label_sets" not in made.get_params()


def test_arguments_of_functions():
    with pytest.warns(FutureWarning, match="label_sets is an old name.*facets"):
        found = evaluate(Y, Y[::-1], label_sets=SETS)
    assert found == evaluate(Y, Y[::-1], facets=SETS)
    with pytest.raises(TypeError, match="label_sets is an old name of facets; give one of them"):
        evaluate(Y, Y, label_sets=SETS, facets=SETS)


def test_attributes():
    named = {"a": ("p", "q"), "b": ("r", "s")}
    with pytest.warns(FutureWarning, match="label_sets is an old name.*facets"):
        data = Dataset(np.zeros((3, 1)), Y, ("x",), ("p", "q", "r", "s"), label_sets=named)
    with pytest.warns(FutureWarning, match="label_sets is an old name.*facets"):
        assert data.label_sets is data.facets
    labels = pd.DataFrame(Y, columns=["p", "q", "r", "s"])
    model = IndependentDecomposition(facets=named).fit(np.eye(3), labels)
    with pytest.warns(FutureWarning, match="set_names_ is an old name.*facet_names_"):
        assert model.set_names_ == model.facet_names_ == ["a", "b"]
