"""Methods by name: how parameters and seeds reach them, and what they say they can do."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from colabel import BinaryRelevance, TunedThreshold
from colabel.exceptions import UnknownNameError
from colabel.lab import METHODS, list_methods, make
from colabel.lab.methods import RULES, Method, capabilities, get_method
from colabel.reduction import BatchLogisticRegression

# Smaller than the defaults, to save time.
SMALL = {
    "br-gb": {"n_trees": 5},
    "powset-gb": {"n_trees": 5},
    "cdn": {"n_draws": 10},
    "rakel": {"n_models": 4},
    "sml": {"tol": 0.1},
    "bpmll": {"patience": 1, "n_models": 2},
    "cbm-lr": {"n_components": 3, "max_iter": 2},
    "cbm-gb": {"n_components": 3, "max_iter": 2},
    **{f"quad-{kind}": {"max_iter": 2} for kind in ("exact", "mincut", "sdp", "spectral")},
}


def test_every_name_is_listed_once_with_and_without_suffix():
    names = list_methods()
    n_ordinary = sum(not method.facets for method in METHODS.values())
    assert len(set(names)) == len(names) == len(METHODS) + n_ordinary * len(RULES)


@pytest.mark.parametrize("name", list_methods())
def test_every_name_builds_a_fresh_estimator_that_fits_and_does_what_it_says(name, toy):
    X, Y = toy
    base, rule, _ = name.partition("+")
    small = SMALL.get(base, {}) | ({"cv": 2} if rule else {})
    estimator = make(name, small, seed=0)
    assert estimator is not make(name, small, seed=0)
    assert estimator.fit(X, Y).predict(X).shape == Y.shape
    able = capabilities(name)
    assert able["predict_proba"] == hasattr(estimator, "predict_proba")
    assert able["decision_function"] == hasattr(estimator, "decision_function")
    for method in ("predict_proba", "decision_function"):
        if able[method]:
            assert getattr(estimator, method)(X).shape == Y.shape
    if able["predict_joint"]:
        estimator.predict_joint(X)
    if able["sample_weight"]:
        make(name, small, seed=0).fit(X, Y, sample_weight=np.ones(len(X)))
    if able["sparse_features"] and able["sparse_labels"]:
        again = make(name, small, seed=0).fit(sparse.csr_array(X), sparse.csr_array(Y))
        assert sparse.issparse(again.predict(sparse.csr_array(X)))


@pytest.mark.parametrize("name", list(METHODS))
def test_the_search_space_of_a_method_names_its_parameters(name):
    for key, values in METHODS[name].space.items():
        for value in values:
            assert make(name, {key: value}).get_params()[key] == value


def test_a_parameter_goes_by_its_full_name_or_by_the_end_of_it():
    assert make("br", {"estimator__C": 0.5}).estimator.C == 0.5
    assert make("br", {"C": 0.5}).estimator.C == 0.5
    assert make("br+global", {"C": 0.5}).estimator.estimator.C == 0.5
    assert make("br+global", {"estimator__estimator__C": 3}).estimator.estimator.C == 3
    assert make("br+global", {"estimator__C": 2}).estimator.estimator.C == 2


@pytest.mark.parametrize("name", ["pair-crf", "ranksvm"])
def test_the_inverse_of_the_ridge_goes_by_its_usual_name(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make(name, {"C": 4}).alpha == 0.25
        assert make(f"{name}+global", {"C": 4}).estimator.alpha == 0.25


def test_the_outermost_parameter_of_a_name_is_meant():
    made = make("br+global", {"n_jobs": 2})
    assert (made.n_jobs, made.estimator.n_jobs) == (2, None)


def test_without_parameters_the_defaults_stay():
    for name in ("br", "powset", "cc", "pcc", "ecc-label", "ecc-subset", "cdn"):
        assert isinstance(make(name).estimator, BatchLogisticRegression)
        assert make(name).estimator.C == 1.0
    assert isinstance(make("br+top_1"), TunedThreshold)
    assert make("br+top_1").rule == "top_1"


def test_a_component_may_be_replaced_by_another_but_not_by_text():
    forest = RandomForestClassifier(3)
    assert make("br", {"estimator": forest}).estimator is forest
    with pytest.raises(UnknownNameError, match=r"br is a BatchLogistic.*, not 'x'"):
        make("br", {"estimator": "x"})


def test_a_seed_fills_every_random_state_that_is_open():
    made = make("ovr-svm+global", {"estimator__estimator__random_state": 5}, seed=3)
    params = made.get_params()
    states = {k: v for k, v in params.items() if k.endswith("random_state")}
    assert states.pop("estimator__estimator__random_state") == 5
    assert states
    assert set(states.values()) == {3}
    assert make("ovr-svm").estimator.random_state is None
    assert make("br-gb", seed=3).estimator.random_state == 3
    assert make("cbm-lr", seed=3).random_state == 3


def test_the_methods_of_the_mixtures_paper_are_what_their_names_say():
    made = {name: make(name) for name, method in METHODS.items() if method.paper == "cbm-2016"}
    assert {name: type(model).__name__ for name, model in made.items()} == {
        "br": "BinaryRelevance",
        "br-gb": "BinaryRelevance",
        "powset": "LabelPowerset",
        "powset-gb": "LabelPowerset",
        "cc": "ClassifierChain",
        "pcc": "ProbabilisticClassifierChain",
        "ecc-label": "ChainEnsemble",
        "ecc-subset": "ChainEnsemble",
        "cdn": "ConditionalDependencyNetwork",
        "pair-crf": "PairwiseCRF",
        "cbm-lr": "ConditionalBernoulliMixture",
        "cbm-gb": "ConditionalBernoulliMixture",
    }
    assert made["cbm-lr"].experts == "logistic"
    assert type(made["cbm-gb"].experts).__name__ == "BoostedTrees"
    assert (made["ecc-label"].vote, made["ecc-subset"].vote) == ("label", "subset")
    for name in ("br-gb", "powset-gb"):
        assert type(made[name].estimator).__name__ == "BoostedClassifier"


def test_listing_the_names_imports_no_estimator():
    code = (
        "import sys, colabel.lab.methods as m; m.list_methods(); "
        "sys.exit(any(f'colabel.{p}' in sys.modules for p in ('mixture', 'structured')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_unknown_names_and_parameters_are_refused_with_a_hint():
    with pytest.raises(UnknownNameError, match="did you mean n_components or n_models"):
        make("cbm-lr", {"n_componets": 3})
    with pytest.raises(UnknownNameError, match="did you mean powset"):
        make("powerset")
    with pytest.raises(UnknownNameError, match="no method is called 'br\\+'"):
        make("br+")
    with pytest.raises(
        UnknownNameError, match="br has no parameter 'max_itr'; did you mean max_iter"
    ):
        make("br", {"max_itr": 1})
    with pytest.raises(UnknownNameError, match="it has decoder, empty, estimator, n_jobs, C, "):
        make("br", {"qqqqq": 1})


def test_a_name_is_taken_apart():
    assert get_method("br") == (METHODS["br"], None)
    assert get_method("br+top_1") == (METHODS["br"], "top_1")


def test_a_registered_method_is_built_at_once(monkeypatch):
    monkeypatch.setitem(METHODS, "mine", Method(BinaryRelevance, "none", "test"))
    assert "mine+global" in list_methods()
    assert isinstance(make("mine"), BinaryRelevance)
