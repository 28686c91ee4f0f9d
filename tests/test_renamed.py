"""Old names of parameters: taken with a warning, unseen by scikit-learn."""

import inspect
import warnings

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from colabel import PairwiseCRF, RankSVM
from colabel._renamed import Renamed, RenamedParameters, old_names


class Ridge(RenamedParameters, BaseEstimator):
    _renamed = {
        "lambda_w": "alpha",
        "C": Renamed("alpha", lambda ridge, C: 1.0 / C),
        "penalty": Renamed("alpha", warn=False),
        "fast": Renamed(lambda ridge: None),
        "max_steps": Renamed(lambda ridge: "max_iter"),
    }

    def __init__(self, alpha=1.0, max_iter=10):
        self.alpha = alpha
        self.max_iter = max_iter


class Net(Ridge):
    def __init__(self, alpha=1.0, max_iter=10, l1_ratio=0.5):
        super().__init__(alpha, max_iter)
        self.l1_ratio = l1_ratio


CASES = [
    ({"lambda_w": 3.0}, {"alpha": 3.0}, "set alpha instead"),
    ({"C": 4.0}, {"alpha": 0.25}, "set alpha instead"),
    ({"fast": True}, {}, "it has no effect here"),
    ({"max_steps": 5, "alpha": 2.0}, {"max_iter": 5, "alpha": 2.0}, "set max_iter instead"),
]


@pytest.mark.parametrize("kind", [Ridge, Net])
@pytest.mark.parametrize(("old", "new", "words"), CASES)
def test_old_names_are_taken_with_a_warning(kind, old, new, words):
    expected = kind(**new).get_params()
    with pytest.warns(FutureWarning, match=words) as caught:
        made = kind(**old)
    assert [warning.filename for warning in caught] == [__file__]
    assert made.get_params() == clone(made).get_params() == expected
    with pytest.warns(FutureWarning, match=words) as caught:
        made = kind().set_params(**old)
    assert [warning.filename for warning in caught] == [__file__]
    assert made.get_params() == expected


@pytest.mark.parametrize("kind", [Ridge, Net])
def test_the_signature_has_new_names_alone(kind):
    assert "lambda_w" not in inspect.signature(kind).parameters
    assert "lambda_w" not in kind().get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(2.0, max_iter=3).set_params(alpha=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'gamma'"):
        kind(gamma=1.0)


def test_an_old_and_a_new_name_are_one_too_many():
    with pytest.raises(TypeError, match="lambda_w is an old name of alpha; give one of them"):
        Ridge(lambda_w=1.0, alpha=2.0)


@pytest.mark.parametrize("kind", [Ridge, Net])
def test_aliases_are_taken_without_a_warning(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = kind(penalty=3.0)
        assert made.get_params() == clone(made).get_params() == kind(alpha=3.0).get_params()
        assert kind().set_params(penalty=3.0).alpha == 3.0
    with pytest.raises(TypeError, match="penalty is another name of alpha; give one of them"):
        kind(penalty=1.0, alpha=2.0)


@pytest.mark.parametrize("kind", [PairwiseCRF, RankSVM])
def test_C_is_another_name_of_the_inverse_ridge(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kind(C=4.0).alpha == kind().set_params(C=4.0).alpha == 0.25
    assert kind(C="much").alpha == "much"  # for fit to refuse


def test_old_names_reach_parts():
    pipeline = Pipeline([("ridge", Ridge())])
    with pytest.warns(FutureWarning, match="lambda_w of Ridge"):
        pipeline.set_params(ridge__lambda_w=7.0)
    assert pipeline["ridge"].alpha == 7.0
    known = old_names(pipeline)
    assert known["ridge__lambda_w"] == "ridge__alpha"
    assert known["ridge__max_steps"] == "ridge__max_iter"
    assert known["ridge__penalty"] is known["ridge__C"] is known["ridge__fast"] is None
