"""Estimators of facets are scikit-learn citizens: a vector is one facet."""

from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import BinaryRelevance
from colabel.facets import (
    CooccurrenceDecomposition,
    CoupledSets,
    DualSetBoosting,
    IndependentDecomposition,
    LabelStacking,
    OnePerSetClassifier,
)


@parametrize_with_checks(
    [
        IndependentDecomposition(),
        CooccurrenceDecomposition(DecisionTreeClassifier(random_state=0)),
        LabelStacking(),
        LabelStacking(search="exact"),
        DualSetBoosting(n_rounds=3, random_state=0),
        DualSetBoosting(n_rounds=3, weighting="weight", reuse=False, random_state=0),
        CoupledSets(n_folds=2, random_state=0),
        OnePerSetClassifier(BinaryRelevance()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
