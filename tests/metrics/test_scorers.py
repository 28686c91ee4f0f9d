import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colabel.exceptions import UnknownNameError
from colabel.metrics import MEASURES, get_measure, lrap, make_scorer

X, Y = make_multilabel_classification(n_samples=120, n_features=8, n_classes=4, random_state=0)
FOREST = RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0)


@pytest.fixture(scope="module")
def model():
    return OneVsRestClassifier(LogisticRegression()).fit(X, Y)


@pytest.mark.parametrize("name", [*MEASURES, "precision_at_2"])
def test_a_scorer_gives_the_measure_and_the_loss_negated(name, model):
    measure = get_measure(name)
    output = model.predict(X) if measure.needs == "labels" else model.decision_function(X)
    value = measure.function(Y, output)
    assert make_scorer(name)(model, X, Y) == (value if measure.greater_is_better else -value)


def test_grid_search_picks_the_best_by_each_measure():
    names = ["example_f1", "hamming_loss", "ranking_loss", "lrap"]
    costs, fold = [1e-4, 1.0], np.arange(len(X)) % 2 == 0
    grid = GridSearchCV(
        OneVsRestClassifier(LogisticRegression()),
        {"estimator__C": costs},
        scoring={name: make_scorer(name) for name in names},
        refit="ranking_loss",
        cv=[(np.flatnonzero(fold), np.flatnonzero(~fold))],
    ).fit(X, Y)
    models = [OneVsRestClassifier(LogisticRegression(C=C)).fit(X[fold], Y[fold]) for C in costs]
    for name in names:
        shrunk, fitted = (make_scorer(name)(model, X[~fold], Y[~fold]) for model in models)
        assert grid.cv_results_[f"mean_test_{name}"] == pytest.approx([shrunk, fitted])
        assert shrunk < fitted  # the better model scores higher, whichever way the measure goes
    assert grid.best_params_ == {"estimator__C": 1.0}


def test_one_scorer_alone_serves_a_grid_search():
    scorer = make_scorer("hamming_loss")
    grid = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, scoring=scorer, cv=2)
    grid.fit(X, Y)
    assert grid.best_score_ == grid.cv_results_["mean_test_score"].max() < 0
    assert grid.score(X, Y) == scorer(grid.best_estimator_, X, Y)


@pytest.mark.parametrize(
    "estimator",
    [FOREST, MultiOutputClassifier(LogisticRegression()), KNeighborsClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_lists_of_probability_arrays_are_read(estimator):
    fitted = clone(estimator).fit(X, Y)
    columns = np.column_stack([values[:, 1] for values in fitted.predict_proba(X)])
    assert make_scorer("lrap")(fitted, X, Y) == lrap(Y, columns)


def test_a_label_never_on_in_training_ranks_last_and_one_always_on_first():
    train = Y.copy()
    train[:, 0], train[:, 1] = 0, 1
    fitted = clone(FOREST).fit(X, train)
    probabilities = fitted.predict_proba(X)
    columns = [np.zeros(len(X)), np.ones(len(X)), *(values[:, 1] for values in probabilities[2:])]
    assert make_scorer("lrap")(fitted, X, Y) == lrap(Y, np.column_stack(columns))


def test_pipelines_data_frames_and_one_label_are_scored():
    frame, target = pd.DataFrame(X), pd.DataFrame(Y, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), RidgeClassifier()).fit(frame, target)
    assert 0 < make_scorer("lrap")(pipeline, frame, target) <= 1
    single = LogisticRegression().fit(X, Y[:, 0])
    assert make_scorer("one_error")(single, X, Y[:, :1]) == Y[:, 0].mean() - 1


def test_sample_weights_reach_the_measure(model):
    weights = np.arange(len(Y), dtype=float)
    scorer = make_scorer("example_f1")
    value = get_measure("example_f1").function(Y, model.predict(X), sample_weight=weights)
    assert scorer(model, X, Y, sample_weight=weights) == value != scorer(model, X, Y)


def test_sample_weights_are_routed_to_the_scorer_on_request():
    weights = np.arange(len(Y), dtype=float)
    fold = np.arange(len(X)) % 2 == 0
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer("hamming_loss").set_score_request(sample_weight=True)
        scores = cross_val_score(
            KNeighborsClassifier(),
            X,
            Y,
            scoring=scorer,
            cv=[(np.flatnonzero(fold), np.flatnonzero(~fold))],
            params={"sample_weight": weights},
        )
    model = KNeighborsClassifier().fit(X[fold], Y[fold])
    assert scores == [scorer(model, X[~fold], Y[~fold], sample_weight=weights[~fold])]
    assert scores != [scorer(model, X[~fold], Y[~fold])]


def test_a_scorer_survives_pickling_and_cloning(model):
    scorer = make_scorer("coverage")
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False)):
        assert copy(model, X, Y) == scorer(model, X, Y)
        assert repr(copy) == "make_scorer('coverage')"


def test_a_ranking_measure_needs_scores():
    class OnlyLabels(BaseEstimator):
        def predict(self, X):
            return Y

    assert make_scorer("subset_accuracy")(OnlyLabels(), X, Y) == 1.0
    with pytest.raises(ValueError, match="OnlyLabels has neither decision_function nor"):
        make_scorer("lrap")(OnlyLabels(), X, Y)


def test_an_unknown_measure_is_refused_at_once():
    with pytest.raises(UnknownNameError, match="did you mean"):
        make_scorer("example_f2")
