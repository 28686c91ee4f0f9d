"""Model files: the same predictions after loading, and nothing but a refusal from hostile files."""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from colabel.exceptions import ModelFileError
from colabel.model_selection import TunedThreshold
from colabel.persistence import load, read_metadata, save
from colabel.reduction import BinaryRelevance, LabelPowerset
from model_files import (
    RNG,
    X,
    Y,
    argument,
    edit_json,
    named,
    node,
    rewrite,
    saved,
    saved_in_doubt,
)

MODELS = {
    "logistic": OneVsRestClassifier(LogisticRegression()),
    "linear svc": OneVsRestClassifier(LinearSVC()),
    "svc": OneVsRestClassifier(SVC()),
    "pipeline": make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression())),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(4, random_state=0),
    "extra trees": ExtraTreesClassifier(3, random_state=0),
    "boosting": MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=5)),
    "chain": ClassifierChain(LogisticRegression()),
    "chain of trees": ClassifierChain(DecisionTreeClassifier(random_state=0)),
    "calibrated": OneVsRestClassifier(CalibratedClassifierCV(LinearSVC())),
    "columns": make_pipeline(
        make_column_transformer((StandardScaler(), [0, 1]), remainder="passthrough"),
        OneVsRestClassifier(LogisticRegression()),
    ),
    "selection": OneVsRestClassifier(make_pipeline(SelectKBest(f_classif, k=2), GaussianNB())),
    "binary relevance": BinaryRelevance(LogisticRegression()),
    "binary relevance of forests": BinaryRelevance(RandomForestClassifier(3, random_state=0)),
    "label powerset": LabelPowerset(LogisticRegression()),
    "tuned threshold": TunedThreshold(BinaryRelevance(LogisticRegression())),
}


class Own(BaseEstimator):
    """A class that is nobody's but this test's."""

    def __init__(self, value=1):
        self.value = value


@pytest.fixture
def path(tmp_path):
    """Return where a model is written, in a folder in which nothing else may appear."""
    yield tmp_path / "model"
    assert {p.name for p in tmp_path.iterdir()} <= {"model", "link", "folder"}


@pytest.mark.parametrize("name", list(MODELS))
def test_predictions_after_loading_are_equal_bit_for_bit(name, path):
    model = MODELS[name].fit(X, Y)
    again = load(saved(path, model))
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            before, after = getattr(model, method)(X), getattr(again, method)(X)
            np.testing.assert_array_equal(np.asarray(before), np.asarray(after))
    assert repr(again) == repr(model)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, pd.DataFrame])
def test_the_container_of_predictions_survives(container, path):
    model = BinaryRelevance(LogisticRegression()).fit(sparse.csr_array(X), container(Y))
    before, after = model.predict(X), load(saved(path, model)).predict(X)
    assert type(before) is type(after)
    to_array = getattr(before, "toarray", getattr(before, "to_numpy", None))
    assert np.array_equal(
        to_array(), (after.toarray if sparse.issparse(after) else after.to_numpy)()
    )


def test_sparse_attributes_and_constant_labels_survive(path):
    constant = np.c_[Y, np.zeros(len(Y), int)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn says that a label is never on
        model = OneVsRestClassifier(LinearSVC()).fit(X, constant)
    model.estimators_[0].sparsify()
    again = load(saved(path, model))
    assert sparse.issparse(again.estimators_[0].coef_)
    assert np.array_equal(model.predict(X), again.predict(X))


def test_metadata_is_read_without_the_model(path):
    save(LogisticRegression(), path, metadata={"label_names": ["ä", "b"], "method": "br"})
    metadata = read_metadata(path)
    assert metadata["label_names"] == ["ä", "b"]
    assert metadata["method"] == "br"
    assert set(metadata["versions"]) == {"colabel", "scikit-learn", "numpy", "python"}
    assert metadata["written"].endswith("+00:00")
    assert metadata["format"] == 1


@pytest.mark.parametrize("metadata", [{"format": 2}, {"a": Own()}, {"a": float("nan")}, ["a"]])
def test_metadata_that_json_cannot_hold_is_refused(metadata, path):
    with pytest.raises(ValueError, match="metadata must be"):
        save(Own(), path, metadata=metadata)


def test_a_failed_save_leaves_the_old_file_as_it_was(path):
    before = saved(path, LogisticRegression()).read_bytes()
    with pytest.raises(ModelFileError, match="<lambda> could not be found again"):
        save(FunctionTransformer(lambda x: x), path)
    with pytest.raises(ModelFileError, match="refers back to itself"):
        save(LogisticRegression().set_params(C=cyclic()), path)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(LogisticRegression(C=(i for i in range(3))), path)
    assert path.read_bytes() == before


def cyclic():
    own = Own()
    own.value = own
    return own


def test_saving_replaces_the_file_behind_a_link(path):
    link = path.with_name("link")
    link.symlink_to(saved(path, LogisticRegression()))
    save(LogisticRegression(C=7), link)
    assert link.is_symlink()
    assert load(path).C == 7


def test_saving_to_a_folder_is_refused(path):
    path.mkdir()
    with pytest.raises(ModelFileError, match=r"model is a folder; give the name of a file in it"):
        save(LogisticRegression(), path)
    assert list(path.iterdir()) == []


def test_saving_into_a_folder_that_does_not_exist_is_refused(path):
    place = path / "no such folder" / "model"
    with pytest.raises(ModelFileError, match=r"there is no folder .*no such folder; make it first"):
        save(LogisticRegression(), place)
    assert not path.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other limits on names")
def test_a_name_that_the_system_does_not_take_is_refused(path):
    save(LogisticRegression(), long := path.with_name("m" * 250))
    long.unlink()
    with pytest.raises(ModelFileError, match=r"cannot be written: File name too long"):
        save(LogisticRegression(), path.with_name("m" * 300))


def test_a_full_disk_is_reported_and_leaves_nothing(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(skops.io, "dump", full)
    with pytest.raises(ModelFileError, match="cannot be written: No space left on device"):
        save(LogisticRegression(), path)


def test_own_types_load_only_if_the_caller_trusts_them(path):
    saved_in_doubt(path, Own(3))
    with pytest.raises(ModelFileError, match=r"not trusted: \['.*test_persistence.Own'\]") as error:
        load(path)
    assert "\n" not in str(error.value)
    assert load(path, trusted=[Own]).value == 3
    assert load(path, trusted=[f"{Own.__module__}.Own"]).value == 3


@pytest.mark.parametrize("trusted", ["os.system", Own, [3], [None]])
def test_trusted_must_be_a_list_of_types(trusted, path):
    with pytest.raises(TypeError, match="trusted must be"):
        load(path, trusted=trusted)


def evil(sentinel):
    """Return an object whose pickle writes the sentinel when loaded."""

    class Evil:
        def __reduce__(self):
            return os.system, (f"echo hit > {sentinel}",)

    return Evil()


OWN = "colabel.reduction._binary_relevance"
TOUCH = "__import__('pathlib').Path('SENTINEL').touch()"
SYSTEM = f"{os.system.__module__}.system"
CALLS = {
    SYSTEM: named(
        os.system.__module__,
        "system",
        "ConstructorFromReduceNode",
        content=argument("echo hit > SENTINEL"),
    ),
    "builtins.eval": named(
        "builtins", "eval", "ConstructorFromReduceNode", content=argument(TOUCH)
    ),
    "builtins.open": named(
        "builtins", "open", "RandomStateNode", content=argument("never gets here")
    ),
}
UNTRUSTED = {
    **CALLS,
    "os.system as a function": named("os", "system", "FunctionNode"),
    "builtins.exec of a list": named("builtins", "exec", "ListNode", content=[argument("1")]),
    "builtins.eval as a type": named("builtins", "eval", "TypeNode"),
    "operator.methodcaller": named(
        "operator", "methodcaller", "OperatorFuncNode", attrs=argument("system")
    ),
    "method of a trusted object": named(
        OWN,
        "BinaryRelevance",
        "MethodNode",
        content={"func": "fit", "obj": node(OWN, "BinaryRelevance", "ObjectNode")},
    ),
    "colabel function": named("colabel.decoders.base", "make_decoder", "FunctionNode"),
    "colabel name that does not exist": named(OWN, "NoSuchThing"),
    "colabel module that does not exist": named("colabel.no_such_module", "Thing"),
    "colabel class under another module": named("colabel.reduction", "BinaryRelevance"),
    "library seen through colabel": named("colabel.base", "np", "FunctionNode"),
    "class seen through colabel": named("colabel.base", "Modular"),
    "colabel class not for models": named("colabel.dataset", "Dataset"),
    "colabel error": named("colabel.exceptions", "ColabelError"),
    "colabel with dots": named("colabel..reduction", "BinaryRelevance"),
    "colabel command line": named("colabel.__main__", "main", "FunctionNode"),
    "look-alike package": named("colabel_evil", "BinaryRelevance"),
}
UNSOUND = {
    "unknown loader": named("builtins", "list", "EvilNode"),
    "no loader": lambda schema: {"protocol": 2},
    "newer skops": lambda schema: {**schema, "protocol": 99},
    "older skops": lambda schema: {**schema, "protocol": 1},
    "no protocol": lambda schema: {**schema, "protocol": None},
    "self-reference": lambda schema: {**schema, "content": {"__id__": schema["__id__"]}},
    "unfolding to 2 ** 60 objects": lambda schema: {**schema, "content": laughs(60)},
    "a list as schema": lambda schema: [schema],
    "missing array": lambda schema: {
        **schema,
        "content": node("numpy", "ndarray", "NdArrayNode", type="numpy", file="1.npy"),
    },
    "array number that is no number": lambda schema: {**schema, "file": ["a"], "__id__": [1]},
}


def laughs(depth):
    """Return lists of two references each to the next list."""
    value = node("builtins", "list", "ListNode", content=[], __id__=1)
    for level in range(2, depth + 2):
        content = [value, {"__id__": level - 1}]
        value = node("builtins", "list", "ListNode", content=content, __id__=level)
    return value


def forged(path, change, sentinel="SENTINEL"):
    """Return a model file with a changed schema."""

    def fill(members):
        text = members["schema.json"].decode()
        members["schema.json"] = text.replace("SENTINEL", str(sentinel))

    rewrite(saved(path, LogisticRegression()), edit_json("schema.json", change))
    rewrite(path, fill)
    return path


@pytest.mark.parametrize("name", list(UNTRUSTED))
def test_untrusted_names_are_refused_and_nothing_runs(name, path, tmp_path_factory):
    sentinel = tmp_path_factory.mktemp("sentinel") / "touched"
    with pytest.raises(ModelFileError, match="holds types that are not trusted"):
        load(forged(path, UNTRUSTED[name], sentinel))
    assert not sentinel.exists()


@pytest.mark.parametrize("name", [SYSTEM, "builtins.eval"])
def test_the_forged_files_are_loaded_guns(name, path, tmp_path_factory):
    sentinel = tmp_path_factory.mktemp("sentinel") / "touched"
    load(forged(path, CALLS[name], sentinel), trusted=[name])
    assert sentinel.exists()


@pytest.mark.parametrize("name", list(UNSOUND))
def test_unsound_schemas_are_refused(name, path):
    with pytest.raises(ModelFileError, match=r"damaged|sound way|refers to"):
        load(forged(path, UNSOUND[name]))


def test_deep_nesting_is_refused(path):
    deep = b'{"protocol": 2, "content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    rewrite(
        saved(path, LogisticRegression()), lambda members: members.update({"schema.json": deep})
    )
    with pytest.raises(ModelFileError, match=r"schema\.json cannot be read"):
        load(path)


@pytest.mark.parametrize("pack", [pickle.dump, joblib.dump, lambda o, f: joblib.dump(o, f, 3)])
def test_pickles_are_refused_and_run_nothing(pack, path, tmp_path_factory):
    sentinel = tmp_path_factory.mktemp("sentinel") / "touched"
    with open(path, "wb") as file:
        pack(evil(sentinel), file)
    for read in (load, read_metadata):
        with pytest.raises(ModelFileError, match=r"is a pickle|is not a colabel model file"):
            read(path)
    assert not sentinel.exists()
    with open(path, "rb") as file:
        joblib.load(file)
    assert sentinel.exists()  # the files above were loaded guns


def test_a_malicious_reduce_never_reaches_the_file(path, tmp_path_factory):
    sentinel = tmp_path_factory.mktemp("sentinel") / "touched"
    with pytest.raises(ModelFileError, match="could not be found again"):
        save(LogisticRegression(C=evil(sentinel)), path)
    assert not sentinel.exists()


def test_empty_random_missing_and_folder_paths_are_refused(path):
    for content, message in (
        (b"", "is empty"),
        (RNG.bytes(5000), "is not"),
        (b"PK\3\4", "damaged"),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=message):
            load(path)
    folder = path.with_name("folder")
    folder.mkdir()
    for place in (folder, folder / "nothing"):
        with pytest.raises(ModelFileError, match="cannot be read"):
            load(place)


def test_a_truncated_file_is_refused_wherever_it_was_cut(path):
    content = saved(path, OneVsRestClassifier(LogisticRegression()).fit(X, Y)).read_bytes()
    for end in np.linspace(0, len(content) - 1, 40).astype(int):
        path.write_bytes(content[:end])
        with pytest.raises(ModelFileError):
            load(path)


SMALL_TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)


@cache
def model_bytes():
    with tempfile.TemporaryDirectory() as folder:
        return saved(Path(folder) / "model", SMALL_TREE).read_bytes()


@given(place=st.floats(0, 1), bits=st.integers(1, 255))
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_changed_byte_is_refused_or_does_not_matter(place, bits, tmp_path):
    path = tmp_path / "model"
    model = SMALL_TREE
    content = bytearray(model_bytes())
    content[int(place * (len(content) - 1))] ^= bits
    path.write_bytes(content)
    try:
        again = load(path)
    except ModelFileError:
        return
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("number", [2, 99])
def test_a_newer_format_is_refused(number, path):
    rewrite(
        saved(path, LogisticRegression()),
        edit_json("colabel.json", lambda h: h.update(format=number)),
    )
    for read in (load, read_metadata):
        with pytest.raises(ModelFileError, match=f"format {number}, newer than the 1.*update"):
            read(path)


@pytest.mark.parametrize("number", [0, -1, "1", None, True, 1.5])
def test_a_format_that_never_was_is_refused(number, path):
    rewrite(
        saved(path, LogisticRegression()),
        edit_json("colabel.json", lambda h: h.update(format=number)),
    )
    with pytest.raises(ModelFileError, match="does not say in which format"):
        load(path)


@pytest.mark.parametrize("version", ["0.1.0", None])
def test_another_scikit_learn_is_warned_of_once(version, path):
    save(OneVsRestClassifier(LogisticRegression()).fit(X, Y), path)
    old = b'"1.2.3\\"'.replace(b'"1', b'\\"1')

    def edit(members):
        header = json.loads(members["colabel.json"])
        header["versions"]["scikit-learn"] = version
        members["colabel.json"] = json.dumps(header)
        ours = json.dumps(json.dumps(read_metadata(path)["versions"]["scikit-learn"])).encode()
        assert members["schema.json"].count(ours) > 1  # each estimator in it says its version
        members["schema.json"] = members["schema.json"].replace(ours, b'"' + old + b'"')

    rewrite(path, edit)
    with pytest.warns(UserWarning, match=f"written with scikit-learn {version}") as caught:
        load(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_plain_skops_file_is_refused(path):
    skops.io.dump(LogisticRegression(), path)
    with pytest.raises(ModelFileError, match="not a model that colabel wrote"):
        load(path)


def test_importing_colabel_persistence_imports_no_skops():
    code = "import sys, colabel.persistence; assert 'skops' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent)


def test_a_model_of_0_1_is_refused_by_its_version(path):
    save(OneVsRestClassifier(LogisticRegression()).fit(X, Y), path)

    def edit(members):
        header = json.loads(members["colabel.json"])
        header["versions"]["colabel"] = "0.1.0"
        members["colabel.json"] = json.dumps(header)

    rewrite(path, edit)
    with pytest.raises(
        ModelFileError, match=r"was saved by colabel 0\.1\.0, .* fit and save it again"
    ):
        load(path)
