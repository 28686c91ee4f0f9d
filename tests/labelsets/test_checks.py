"""Estimators of exclusive label sets are scikit-learn citizens: a vector is one set."""

from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import BinaryRelevance
from colabel.labelsets import (
    CooccurrenceDecomposition,
    CoupledSets,
    DualSetBoosting,
    IndependentDecomposition,
    LabelStacking,
    OnePerSetClassifier,
)

DRAWN = "rows are drawn from the distribution: a weight of two is not the row twice"
FOLDED = "a row is in one fold, whatever it weighs"


def expected_failures(estimator):
    reason = DRAWN if isinstance(estimator, DualSetBoosting) else FOLDED
    drawn = isinstance(estimator, DualSetBoosting) and estimator.weighting == "sample"
    if not drawn and not isinstance(estimator, CoupledSets):
        return {}
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


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
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
