"""Which models load without ``trusted=``, and that a forged one of the same types does not."""

import re
import warnings
from collections import defaultdict
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import Bunch

from colabel import metrics
from colabel._model_content import REVIEWED, find_harm
from colabel.exceptions import ModelFileError
from colabel.metrics import MEASURES
from colabel.model_selection import (
    IterativeStratifiedKFold,
    IterativeStratifiedShuffleSplit,
    TunedThreshold,
)
from colabel.persistence import load, save
from colabel.reduction import BinaryRelevance
from model_files import X, Y, argument, edit_json, node, rewrite, saved, saved_in_doubt, walk

BR = BinaryRelevance(LogisticRegression())
GRID = {"estimator__C": [0.1, 1.0]}
PAIR = [("lr", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))]
MODELS = {
    "grid": GridSearchCV(BR, GRID, cv=2),
    "grid, scoring by name": GridSearchCV(BR, GRID, cv=KFold(2), scoring="f1_macro"),
    "grid, two scores": GridSearchCV(
        BR, GRID, cv=2, scoring=["f1_micro", "accuracy"], refit="accuracy"
    ),
    "grid, a made scorer": GridSearchCV(
        BR, GRID, cv=2, scoring=make_scorer(f1_score, average="macro")
    ),
    "grid, our scorer": GridSearchCV(BR, GRID, cv=2, scoring=metrics.make_scorer("example_f1")),
    "grid over estimators": GridSearchCV(
        BR, {"estimator": [LogisticRegression(), GaussianNB()]}, cv=IterativeStratifiedKFold(2)
    ),
    "grid over unlike parameters": GridSearchCV(
        make_pipeline(StandardScaler(), BR), [{}, {"standardscaler__with_mean": [False]}], cv=2
    ),
    "random search": RandomizedSearchCV(
        BR, GRID, n_iter=2, cv=ShuffleSplit(2, random_state=0), random_state=0
    ),
    "voting": MultiOutputClassifier(VotingClassifier(PAIR, voting="soft")),
    "stacking": BinaryRelevance(StackingClassifier(PAIR, cv=StratifiedKFold(2))),
    "threshold, our folds": TunedThreshold(BR, cv=IterativeStratifiedKFold(3, random_state=0)),
    "threshold, plain folds": TunedThreshold(BR, cv=KFold(3)),
}
SPLITTERS = [
    GroupKFold(3),
    GroupShuffleSplit(2, random_state=0),
    IterativeStratifiedKFold(3, random_state=np.random.RandomState(3)),
    IterativeStratifiedShuffleSplit(2, random_state=1),
    KFold(3, shuffle=True, random_state=np.random.RandomState(3)),
    LeaveOneGroupOut(),
    LeaveOneOut(),
    LeavePGroupsOut(1),
    LeavePOut(1),
    PredefinedSplit(np.arange(150) % 4),
    RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
    RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
    ShuffleSplit(2, random_state=0),
    StratifiedGroupKFold(2),
    StratifiedKFold(3),
    StratifiedShuffleSplit(2, random_state=0),
    TimeSeriesSplit(3),
]


@pytest.fixture
def path(tmp_path):
    """Return where a model is written."""
    return tmp_path / "model"


@pytest.mark.parametrize("name", list(MODELS))
def test_composed_models_load_unasked_and_predict_bit_for_bit(name, path):
    model = MODELS[name].fit(X, Y)
    again = load(saved(path, model))
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    for method in ("predict_proba", "decision_function"):
        assert hasattr(model, method) == hasattr(again, method)
        if hasattr(model, method):
            before, after = getattr(model, method)(X), getattr(again, method)(X)
            np.testing.assert_array_equal(np.asarray(before), np.asarray(after))
    assert again.score(X, Y) == model.score(X, Y)
    assert repr(again) == repr(model)


def test_the_results_of_a_search_survive(path):
    model = MODELS["grid over unlike parameters"].fit(X, Y)
    again = load(saved(path, model))
    assert again.cv_results_.keys() == model.cv_results_.keys()
    column = "param_standardscaler__with_mean"
    before, after = model.cv_results_[column], again.cv_results_[column]
    assert isinstance(after, np.ma.MaskedArray)
    assert after.tolist() == before.tolist() == [None, False]
    for name, values in model.cv_results_.items():
        np.testing.assert_array_equal(again.cv_results_[name], values)


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda s: type(s).__name__)
def test_splitters_load_unasked_and_split_as_before(splitter, path):
    groups = np.arange(150) % 5
    again = load(saved(path, splitter))
    y = Y if "Iterative" in type(splitter).__name__ else Y[:, 0]
    with warnings.catch_warnings():
        # Some warn that they do not use the groups.
        warnings.simplefilter("ignore", UserWarning)
        pairs = zip(splitter.split(X, y, groups), again.split(X, y, groups), strict=True)
        for before, after in pairs:
            np.testing.assert_array_equal(before[0], after[0])
            np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("measure", [*MEASURES, "ndcg_at_2"])
def test_scorers_of_every_measure_load_unasked(measure, path):
    scorer, model = metrics.make_scorer(measure), clone(BR).fit(X, Y)
    assert load(saved(path, scorer))(model, X, Y) == scorer(model, X, Y)


# What only some of the releases have that colabel runs on.
COME_AND_GO = {
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "sklearn.compose._column_transformer._RemainderColsList",
}


@pytest.mark.parametrize("name", sorted(set().union(*REVIEWED.values()) - COME_AND_GO))
def test_every_reviewed_name_exists(name):
    module, _, last = name.rpartition(".")
    assert hasattr(import_module(module), last)


IN_DOUBT = {
    "boosting": (
        BinaryRelevance(GradientBoostingClassifier(n_estimators=2)),
        ["sklearn.ensemble._gb.GradientBoostingClassifier"],
    ),
    "neighbours": (
        KNeighborsClassifier(),
        [
            "sklearn.metrics._dist_metrics.EuclideanDistance64",
            "sklearn.neighbors._kd_tree.KDTree",
        ],
    ),
    "search over a distribution": (
        RandomizedSearchCV(BR, {"estimator__C": stats.uniform(0.1, 1)}, n_iter=1, cv=2),
        [
            "scipy.stats._continuous_distns.uniform_gen",
            "scipy.stats._distn_infrastructure.rv_continuous_frozen",
        ],
    ),
}


@pytest.mark.parametrize("name", list(IN_DOUBT))
def test_save_names_what_load_will_not_trust(name, path):
    model, types = IN_DOUBT[name]
    model.fit(X, Y)
    with pytest.warns(UserWarning, match=re.escape(f"it will need trusted={types}.")) as caught:
        save(model, path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert str(caught[0].message).count("\n") == 0
    with pytest.raises(ModelFileError, match=r"not trusted|cannot be checked"):
        load(path)
    assert np.array_equal(load(path, trusted=types).predict(X), model.predict(X))


def test_a_failed_save_does_not_warn(path):
    """The warning would speak of a file that is not there."""
    with pytest.raises(ModelFileError, match="is a folder"):
        save(KNeighborsClassifier().fit(X, Y), path.parent)


def forge(path, model, change):
    """Save a model and change its schema."""
    rewrite(saved(path, model), edit_json("schema.json", change))
    return path


def described_by(schema, name):
    """Return the descriptions of all objects of the named type."""
    return [found for found in walk(schema) if found.get("__class__") == name]


@pytest.mark.parametrize(
    ("model", "name", "loader"),
    [
        (KFold(3), "KFold", "ConstructorFromReduceNode"),
        (clone(BR), "BinaryRelevance", "ConstructorFromReduceNode"),
        (FunctionTransformer(f1_score), "f1_score", "ConstructorFromReduceNode"),
        (FunctionTransformer(partial(f1_score)), "partial", "ConstructorFromReduceNode"),
        (FunctionTransformer(kw_args=Bunch()), "Bunch", "ConstructorFromReduceNode"),
        (LogisticRegression(C=sparse.csr_array((1, 1))), "csr_array", "ConstructorFromReduceNode"),
    ],
)
def test_reviewed_types_are_refused_under_another_loader(model, name, loader, path):
    def change(schema):
        for found in described_by(schema, name):
            file = found.pop("file", None)
            found.update(__loader__=loader, content=argument("7"))
            if file:  # keep the member in use
                found["content"] = node(
                    "scipy.sparse",
                    "spmatrix",
                    "SparseMatrixNode",
                    file=file,
                    type="scipy",
                    __id__=5,
                )

    with pytest.raises(ModelFileError, match=rf"not trusted: .*{name}"):
        load(forge(path, model, change))


def test_a_distribution_runs_code_from_the_file_and_is_refused(path, tmp_path):
    """scipy executes a text that the object holds when the object is put together."""
    model = RandomizedSearchCV(BR, {"estimator__C": stats.uniform(0.1, 1)})
    model.param_distributions[
        "estimator__C"
    ].dist._parse_arg_template = f"open({str(tmp_path / 'touched')!r}, 'w')"
    with pytest.raises(ModelFileError, match="not trusted"):
        load(saved_in_doubt(path, model))
    assert not (tmp_path / "touched").exists()


def number(value):
    return node("builtins", "str", "JsonNode", content=value)


def test_trusted_objects_are_not_called_before_they_are_checked(path):
    """Keys of a dict are made by calling what stands for their types."""

    def change(schema):
        keys = schema["content"]["content"]["kw_args"]["key_types"]
        keys["content"] = [described_by(schema, "MeasureScorer")[0]]

    model = FunctionTransformer(kw_args={"1": 2}, inv_kw_args={"a": metrics.make_scorer("lrap")})
    load(saved(path, model))
    with pytest.raises(ModelFileError, match="sound way"):
        load(forge(path, model, change))


def test_a_number_cannot_stand_for_another_object(path):
    """skops takes an object by its number before it looks at anything else."""

    def change(schema):
        scorer = described_by(schema, "MeasureScorer")[0]
        keys = schema["content"]["content"]["kw_args"]["key_types"]["content"]
        keys[0]["__id__"] = scorer["__id__"]

    model = FunctionTransformer(func=metrics.make_scorer("lrap"), kw_args={"1": 2})
    with pytest.raises(ModelFileError, match="sound way"):
        load(forge(path, model, change))


@pytest.mark.parametrize(
    "response", ['"fit"', '"__class__"', '["predict", "get_params"]', "[3]", "7"]
)
def test_scorers_that_call_something_else_are_refused(response, path):
    def change(schema):
        state = described_by(schema, "_Scorer")[0]["content"]["content"]
        state["_response_method"] = number(response)

    with pytest.raises(ModelFileError, match="_Scorer whose content is out of bounds"):
        load(forge(path, make_scorer(f1_score), change))


@pytest.mark.parametrize("func", ["os.system", "builtins.eval", "sklearn.utils.shuffle"])
def test_scorers_and_partials_of_other_functions_are_refused(func, path):
    module, _, name = func.rpartition(".")

    def change(schema):
        for found in described_by(schema, "f1_score"):
            found.update(__module__=module, __class__=name)

    for model in (make_scorer(f1_score), metrics.make_scorer("example_f1")):
        with pytest.raises(ModelFileError, match=rf"not trusted: .*{func}"):
            load(forge(path, model, change))


GENERATORS = {
    "RandomState": (np.random.RandomState(0), "pos"),
    "MT19937": (np.random.Generator(np.random.MT19937(0)), "pos"),
    "Philox": (np.random.Generator(np.random.Philox(0)), "buffer_pos"),
}


@pytest.mark.parametrize("name", list(GENERATORS))
def test_random_states_that_point_outside_themselves_are_refused(name, path):
    generator, key = GENERATORS[name]

    def change(schema):
        for found in walk(schema):
            if isinstance(found.get(key), dict):
                found[key] = number("-100000000")

    model = LogisticRegression(random_state=generator)
    again = load(saved(path, model)).random_state
    assert again.standard_normal() == generator.standard_normal()
    with pytest.raises(ModelFileError, match="whose content is out of bounds"):
        load(forge(path, model, change))


def test_numbers_without_a_place_are_sound():
    assert list(find_harm(np.random.default_rng(0), frozenset())) == []


HIDING_PLACES = {
    "a partial": lambda tree: partial(f1_score, tree),
    "a partial's keywords": lambda tree: partial(f1_score, a=tree),
    "a partial's function": lambda tree: partial(make_scorer(f1_score, a=tree)),
    "a masked cell": lambda tree: np.ma.MaskedArray(np.array([tree], object), [True]),
    "a bunch": lambda tree: Bunch(a=tree),
    "a scorer": lambda tree: make_scorer(f1_score, a=tree),
    "a splitter": lambda tree: KFold(3, shuffle=True, random_state=tree),
    "the default of a dict": lambda tree: defaultdict(partial(f1_score, tree)),
}


@pytest.mark.parametrize("place", list(HIDING_PLACES))
def test_harm_is_found_wherever_it_hides(place):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    hidden = HIDING_PLACES[place](tree)
    assert list(find_harm(hidden, frozenset())) == []
    tree.n_features_in_ = 1
    assert len(list(find_harm(hidden, frozenset()))) == 1


def test_harm_is_not_sought_in_modules():
    model = LogisticRegression()
    model.module = np
    assert list(find_harm(model, frozenset())) == []
