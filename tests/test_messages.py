"""Warnings point at the user's line however deep their reason; close names are suggested."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from colabel import BinaryRelevance, PairwiseCRF
from colabel._sklearn import blames_missing_values
from colabel.exceptions import MissingValuesError, UnknownNameError
from colabel.messages import did_you_mean, printable, unknown_name
from colabel.reduction import BatchLogisticRegression

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 3)), (RNG.random((40, 3)) < 0.5).astype(int)


@pytest.mark.parametrize(
    "estimator",
    [PairwiseCRF(max_iter=1), BinaryRelevance(BatchLogisticRegression(max_iter=1, C=1e6))],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_warning_is_at_the_line_of_the_user(estimator):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, Y)
    assert {(one.category, one.filename) for one in caught} == {(ConvergenceWarning, __file__)}


def test_what_is_close_is_suggested_and_else_what_there_is():
    error = unknown_name("no method is called", "BRR", ["br", "powset"])
    assert isinstance(error, UnknownNameError)
    assert str(error) == "no method is called 'BRR'; did you mean br?"
    assert did_you_mean("zzz", ["a", "b"]) == "; there is a, b"
    assert did_you_mean("zzz", ["a", "b"], "see there") == "; see there"
    assert did_you_mean("zzz", ["a", "b"], otherwise="") == ""


def test_control_characters_are_spelled_out():
    assert printable("a\x1b[1m\nb\u00a0c") == "a\\x1b[1m\\nb\u00a0c"


def test_missing_values_are_an_error_of_their_own():
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(MissingValuesError, match="which PairwiseCRF does not take") as caught:
        PairwiseCRF().fit(holes, Y)
    assert caught.value.method == "PairwiseCRF"
    with pytest.raises(ValueError, match="infinity"):
        PairwiseCRF().fit(np.where(np.isnan(holes), np.inf, X), Y)


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), BinaryRelevance(), GridSearchCV(BinaryRelevance(), {}, cv=2)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_missing_values_are_recognised_whoever_refuses_them(estimator):
    holes, y = np.where(X > 1.0, np.nan, X), np.arange(40) % 2
    with pytest.raises(ValueError, match=r".") as caught:
        estimator.fit(holes, y)
    assert blames_missing_values(caught.value)
    with pytest.raises(ValueError, match="NaN") as caught:
        BinaryRelevance().fit(X, np.where(Y, np.nan, 0.0))
    assert not blames_missing_values(caught.value)
