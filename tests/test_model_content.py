"""Models whose numbers would lead compiled code out of bounds are refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from colabel.exceptions import ModelFileError
from colabel.persistence import load
from model_files import X, Y, edit_array, edit_json, node, rewrite, saved, saved_in_doubt, walk

MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(4, random_state=0),
    "boosting": MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=5)),
}


@pytest.fixture
def path(tmp_path):
    """Return where a model is written, in a folder in which nothing else may appear."""
    yield tmp_path / "model"
    assert {p.name for p in tmp_path.iterdir()} <= {"model", "link", "folder"}


def is_nodes(array):
    return array.dtype.names is not None


def set_at(field, row, value):
    def change(nodes):
        nodes[field][row] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_at("left_child", 0, 10**9),
        set_at("right_child", 0, -7),
        set_at("left_child", 1, 0),
        set_at("right_child", 0, 0),
        set_at("feature", 0, 6),
        set_at("feature", 0, -1),
    ],
)
@pytest.mark.parametrize("model", ["tree", "forest"])
def test_trees_whose_indices_leave_them_are_refused(model, change, path):
    rewrite(saved(path, MODELS[model].fit(X, Y)), edit_array(is_nodes, change))
    with pytest.raises(ModelFileError, match="a Tree whose content is out of bounds"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        set_at("left", 0, 10**9),
        set_at("right", 0, 0),
        set_at("feature_idx", 0, 6),
        set_at("is_categorical", 0, 1),
    ],
)
def test_boosted_trees_whose_indices_leave_them_are_refused(change, path):
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, Y[:, 0])
    rewrite(saved(path, model), edit_array(is_nodes, change))
    with pytest.raises(ModelFileError, match="HistGradientBoostingClassifier whose content"):
        load(path)


def test_a_tree_with_a_forged_number_of_nodes_is_refused(path):
    def change(schema):
        tree = schema["content"]["content"]["tree_"]["content"]["content"]
        tree["node_count"]["content"] = "-5"
        tree["node_count"].pop("__id__")

    rewrite(saved(path, MODELS["tree"].fit(X, Y)), edit_json("schema.json", change))
    with pytest.raises(ModelFileError, match="out of bounds"):
        load(path)


@pytest.mark.parametrize("model", ["tree", "forest", "boosting"])
def test_models_that_would_read_past_the_columns_of_x_are_refused(model, path):
    def change(schema):
        for found in walk(schema):
            if "n_features_in_" in found:
                found["n_features_in_"] = node("builtins", "str", "JsonNode", content="1")
                if model == "forest":
                    return

    rewrite(saved(path, MODELS[model].fit(X, Y)), edit_json("schema.json", change))
    with pytest.raises(ModelFileError, match="out of bounds"):
        load(path)


def test_missing_attributes_are_refused_where_they_guard(path):
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, Y[:, 0])
    n_features = model.__dict__.pop("n_features_in_")
    with pytest.raises(ModelFileError, match="out of bounds"):
        load(saved_in_doubt(path, model))
    model.n_features_in_ = n_features
    model._predictors[0][0].nodes = model._predictors[0][0].nodes[None]
    with pytest.raises(ModelFileError, match="out of bounds"):
        load(saved_in_doubt(path, model))


def test_sparse_arrays_whose_indices_leave_them_are_refused(path):
    model = LogisticRegression().fit(X, Y[:, 0]).sparsify()
    model.coef_.indices[0] = 1000
    with pytest.raises(ModelFileError, match="csr_matrix whose content is out of bounds"):
        load(saved_in_doubt(path, model))
    model.coef_ = sparse.bsr_array(np.ones((1, 6)))
    rename = {"__class__": "csr_array", "__module__": "scipy.sparse._csr"}
    change = lambda schema: schema["content"]["content"]["coef_"].update(rename)  # noqa: E731
    rewrite(saved_in_doubt(path, model), edit_json("schema.json", change))
    with pytest.raises(ModelFileError, match="bsr_array whose content is out of bounds"):
        load(path)


def test_models_that_cannot_be_checked_load_only_if_the_caller_trusts_them(path):
    boosted = GradientBoostingClassifier(n_estimators=2).fit(X, Y[:, 0])
    with pytest.raises(ModelFileError, match="GradientBoostingClassifier, whose content cannot"):
        load(saved_in_doubt(path, boosted))
    again = load(path, trusted=[GradientBoostingClassifier])
    assert np.array_equal(again.predict(X), boosted.predict(X))
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"] * 50), "b": np.arange(100)})
    categories = HistGradientBoostingClassifier(max_iter=2).fit(frame, np.arange(100) % 2)
    helpers = ["sklearn.utils.validation.check_array"]
    with pytest.raises(ModelFileError, match=r"not trusted: \['sklearn.*check_array'\]"):
        load(saved_in_doubt(path, categories))
    with pytest.raises(ModelFileError, match="out of bounds; name its type in trusted"):
        load(path, trusted=helpers)
    again = load(path, trusted=[HistGradientBoostingClassifier, *helpers])
    assert np.array_equal(again.predict(frame), categories.predict(frame))
