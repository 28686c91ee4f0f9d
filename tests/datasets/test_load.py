"""Loading by name and by path."""

import dataclasses
import gzip
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from colabel.datasets import DataFile, Dataset, _registry, list_datasets, load
from colabel.exceptions import DataFormatError, DatasetNotFoundError, UnknownNameError

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
INFO = {info.name: info for info in list_datasets()}
YEAST_X = "6d73f6e26d7c2671ad5790bfa654afe441d06b47fb5f5beb83e431851d126fee"
YEAST_Y = "2ef51465364c74f50d1e23e8af4c32f1314f3fc050a6d262107e057473d88bbc"


def data_folders():
    given = os.environ.get("COLABEL_DATA", "").split(os.pathsep)
    return [folder for folder in (*given, str(SHARED)) if folder and Path(folder).is_dir()]


def skip_unless_present(name):
    """Skip if a file is in no data folder; this looks with nothing of colabel's own."""
    for file in INFO[name].files:
        if not any(next(Path(f).rglob(f"{file.name}*"), None) for f in data_folders()):
            pytest.skip(f"{file.name} is in no data folder")


needs_data = pytest.mark.skipif(
    not data_folders(), reason="no data folder: set COLABEL_DATA to one that holds the datasets"
)


@pytest.fixture
def real_data(monkeypatch):
    monkeypatch.setenv("COLABEL_DATA", os.pathsep.join(data_folders()))


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("COLABEL_DATA", str(tmp_path))
    monkeypatch.setenv("COLABEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def slow_arff(path):
    """Parse a dense numeric ARFF file the obvious way."""
    text = gzip.decompress(path.read_bytes()).decode()
    names = [line.split()[1] for line in text.splitlines() if line.startswith("@attribute")]
    rows = text.split("@data")[1].split()
    return names, np.array([[float(value) for value in row.split(",")] for row in rows])


# Yeast, which ships


def test_yeast_arrays_have_known_hashes():
    data = load("yeast")
    assert digest(data.X.astype("<f8")) == YEAST_X
    assert digest(data.Y) == YEAST_Y
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int8)
    assert data.feature_names == tuple(f"Att{j}" for j in range(1, 104))
    assert data.label_names == tuple(f"Class{label}" for label in range(1, 15))
    statistics = data.statistics()
    assert statistics["n_labelsets"] == INFO["yeast"].n_labelsets == 198
    assert statistics["cardinality"] == pytest.approx(INFO["yeast"].cardinality, abs=5e-5)


def test_yeast_splits_are_slices_of_the_whole():
    whole, train, test = load("yeast"), load("yeast:train"), load("yeast:test")
    assert (train.n_samples, test.n_samples) == (1500, 917)
    assert (whole.split, train.split, test.split) == ("all", "train", "test")
    np.testing.assert_array_equal(np.concatenate([test.X, train.X]), whole.X)
    np.testing.assert_array_equal(np.concatenate([test.Y, train.Y]), whole.Y)
    assert {data.name for data in (whole, train, test)} == {"yeast"}
    assert train.source.startswith("Elisseeff")


@needs_data
@pytest.mark.parametrize("split", ["all", "train", "test"])
def test_shipped_yeast_equals_the_original_bit_for_bit(split):
    stem = "yeast" if split == "all" else f"yeast-{split}"
    paths = [Path(folder) / "yeast" / f"{stem}.arff.gz" for folder in data_folders()]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        pytest.skip("the data folder does not hold the original yeast files")
    names, table = slow_arff(path)
    data = load("yeast", split)
    assert names == [*data.feature_names, *data.label_names]
    assert data.X.tobytes() == table[:, :103].tobytes()
    np.testing.assert_array_equal(data.Y, table[:, 103:])


def test_each_load_gives_arrays_of_its_own():
    first = load("yeast:train")
    first.X[:] = 0
    assert load("yeast:train").X.any()


def test_yeast_file_is_remade_by_the_tool(tmp_path):
    data = load("yeast")
    names = ",".join((*data.feature_names, *data.label_names))
    rows = "\n".join(
        ",".join([*(repr(float(v)) for v in x), *(str(v) for v in y)])
        for x, y in zip(data.X, data.Y, strict=True)
    )
    source = tmp_path / "yeast.csv.gz"
    source.write_bytes(gzip.compress(f"{names}\n{rows}\n".encode(), compresslevel=1))
    tool = Path(__file__).parents[2] / "tools" / "pack_yeast.py"
    made = tmp_path / "made.npz"
    subprocess.run([sys.executable, str(tool), str(source), str(made)], check=True, timeout=60)
    with np.load(made) as new, np.load(_shipped()) as old:
        assert new.files == old.files
        for name in new.files:
            np.testing.assert_array_equal(new[name], old[name])


def _shipped():
    from colabel.datasets import find

    return find("yeast")["yeast.npz"]


# Names


@pytest.mark.parametrize(
    ("name", "split", "n_samples"),
    [("yeast", None, 2417), ("YEAST", "all", 2417), ("Yeast:test", None, 917),
     ("yeast:test", "test", 917), ("yeast", "train", 1500)],
)  # fmt: skip
def test_split_may_be_in_the_name_or_an_argument(name, split, n_samples):
    assert load(name, split).n_samples == n_samples


def test_two_different_splits_are_refused():
    with pytest.raises(UnknownNameError, match="split='test' for another"):
        load("yeast:train", "test")


def test_unknown_splits_are_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="no split called 'valid'; it has: all, train, test"):
        load("yeast:valid")
    with pytest.raises(UnknownNameError, match=r"cal500:train does not exist.*--split cv:5"):
        load("cal500:train")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("yeats", "'yeats' is neither a registered dataset nor a file; did you mean yeast"),
        ("yeats:train", "'yeats' is neither .* did you mean yeast"),
        ("qqqqq", "colabel datasets, names those that are known"),
        ("some/where.arff", "there is no file some"),
        ("where.arff", r"there is no file where\.arff"),
        ("C:\\data\\x.arff", "there is no file C:"),
        ("", "'' is neither a registered dataset nor a file"),
        ("x" * 5000, "neither a registered dataset nor a file"),
        ("a\0b", "neither a registered dataset nor a file"),
        ("enron", "enron is registered but not on this machine: enron.arff, enron.xml not found"),
    ],
)
def test_what_cannot_be_found_is_said_in_one_sentence(empty, name, message):
    with pytest.raises(DatasetNotFoundError, match=message) as caught:
        load(name)
    assert "\n" not in str(caught.value)


# Paths

ARFF = "@relation '{}: -C 1'\n@attribute y {{0,1}}\n@attribute a numeric\n@data\n{}\n"


def test_a_path_is_read_as_string_or_path(empty):
    path = empty / "mine.arff"
    path.write_text(ARFF.format("mine", "1,2.5\n0,-1"))
    for given in (path, str(path), "mine.arff", "./mine.arff"):
        data = load(given)
        assert data.X.tolist() == [[2.5], [-1.0]]
        assert data.Y.tolist() == [[1], [0]]
        assert (data.name, data.split) == ("mine", "all")
    assert load(path, "all").n_samples == 2


def test_registered_name_wins_over_a_file_unless_it_looks_like_a_path(empty):
    (empty / "yeast").write_text(ARFF.format("mine", "1,2"))
    assert load("yeast").n_samples == 2417
    for given in ("./yeast", Path("yeast")):
        with pytest.raises(DataFormatError, match="yeast"):  # a file without a suffix says nothing
            load(given)


def test_paths_have_no_splits(empty):
    path = empty / "mine.arff"
    path.write_text(ARFF.format("mine", "1,2"))
    with pytest.raises(UnknownNameError, match="is for registered names"):
        load(path, "train")
    with pytest.raises(DatasetNotFoundError, match="only registered names have splits"):
        load(f"{path}:train")
    with pytest.raises(DatasetNotFoundError, match="is a folder: name a data file in it"):
        load(empty)


def test_options_reach_the_reader(empty):
    path = empty / "mine.csv"
    path.write_text("a,b,c\n1,0,1\n2,1,0\n")
    data = load(path, labels=["c"])
    assert data.label_names == ("c",)
    assert data.feature_names == ("a", "b")


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({}, [[5.0, 6.0]]),
        ({"zero_based": True}, [[0.0, 5.0, 6.0]]),
        ({"n_features": 4, "n_labels": 3}, [[5.0, 6.0, 0.0, 0.0]]),
    ],
)
def test_svmlight_options_and_the_format_reach_the_reader(empty, options, values):
    path = empty / "mine.data"
    path.write_text("0 1:5 2:6\n")
    data = load(path, format="svmlight", **options)
    assert data.X.toarray().tolist() == values
    assert data.n_labels == options.get("n_labels", 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels", ["Class1"]),
        ("labels", []),
        ("xml", "yeast.xml"),
        ("format", "arff"),
        ("n_features", 103),
        ("n_labels", 14),
        ("zero_based", False),
    ],
)
def test_options_that_a_registered_name_would_ignore_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}= is for files; the registered yeast"):
        load("yeast", **{name: value})


def test_one_hot_has_nothing_to_change_in_yeast():
    assert np.array_equal(load("yeast", one_hot=False).X, load("yeast").X)


# Registered files


def register(monkeypatch, folder, files, **changes):
    """Write ``files`` and register them as the dataset ``toy``."""
    entries = []
    for name, text in files.items():
        (folder / name).write_text(text)
        content = text.encode()
        entries.append(DataFile(name, len(content), hashlib.sha256(content).hexdigest()))
    info = dataclasses.replace(INFO["scene"], name="toy", files=tuple(entries), xml=None, **changes)
    monkeypatch.setattr(_registry, "_table", lambda: {"toy": info})


def test_union_without_a_file_is_train_then_test(empty, monkeypatch):
    files = {"a.arff": ARFF.format("a", "1,1\n0,2"), "b.arff": ARFF.format("b", "1,3")}
    register(monkeypatch, empty, files, all=("a.arff", "b.arff"), train=("a.arff",))
    data = load("toy")
    assert isinstance(data, Dataset)
    assert data.X.tolist() == [[1.0], [2.0], [3.0]]
    assert data.Y.tolist() == [[1], [0], [1]]
    assert (data.name, data.split, load("toy:train").n_samples) == ("toy", "all", 2)
    assert data.source == INFO["scene"].citation


def test_halves_with_other_columns_are_not_joined(empty, monkeypatch):
    other = ARFF.format("b", "1,3").replace("@attribute a", "@attribute other")
    files = {"a.arff": ARFF.format("a", "1,1"), "b.arff": other}
    register(monkeypatch, empty, files, all=("a.arff", "b.arff"))
    with pytest.raises(DataFormatError, match="its columns are not those of"):
        load("toy")


def test_svmlight_halves_get_the_registered_width(empty, monkeypatch):
    files = {"a.svm": "0,1 1:1 2:0.5\n", "b.svm": "2 3:1\n"}
    splits = {"all": ("a.svm", "b.svm"), "train": ("a.svm",)}
    register(monkeypatch, empty, files, **splits, n_features=5, n_labels=4)
    data = load("toy")
    assert sparse.issparse(data.X)
    assert data.X.toarray().tolist() == [[1, 0.5, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert np.asarray(data.Y).tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    assert load("toy:train").X.shape == (1, 5)


def test_halves_of_dense_and_sparse_labels_are_joined(empty, monkeypatch):
    monkeypatch.setattr("colabel.datasets.formats._assemble.FREE_LABEL_CELLS", 200)
    files = {"a.svm": "0 1:1\n" * 2, "b.svm": "99 1:2\n" * 4 + "1:3\n" * 100}
    register(monkeypatch, empty, files, all=("a.svm", "b.svm"), n_features=1, n_labels=100)
    data = load("toy")
    assert sparse.issparse(data.Y)
    assert data.Y.sum(axis=0)[[0, 99]].tolist() == [2, 4]


def test_registered_label_columns_are_used_unless_others_are_given(empty, monkeypatch):
    files = {"a.csv": "a,b,c\n1,0,1\n2,1,0\n"}
    register(monkeypatch, empty, files, all=("a.csv",), labels=("c",))
    assert load("toy").label_names == ("c",)
    assert load("toy", labels=["b", "c"]).label_names == ("b", "c")


def test_changed_file_is_refused(empty, monkeypatch):
    register(monkeypatch, empty, {"a.arff": ARFF.format("a", "1,1")}, all=("a.arff",))
    assert load("toy").n_samples == 1
    (empty / "a.arff").write_text(ARFF.format("a", "1,1\n1,2"))
    with pytest.raises(DataFormatError, match=r"this is not the registered a\.arff"):
        load("toy")


@needs_data
@pytest.mark.parametrize("name", [name for name in INFO if name != "eurlex-dc-train-discretized"])
def test_registered_dataset_loads_with_its_registered_statistics(name, real_data):
    # eurlex-dc-train-discretized (0.7 GB in memory) is read by the tests of the formats
    info = INFO[name]
    if not info.shipped:
        skip_unless_present(name)
    whole = load(name, one_hot=False)
    assert (whole.name, whole.split, whole.source) == (name, "all", info.citation)
    assert (whole.n_samples, whole.n_features, whole.n_labels) == (
        info.n_samples,
        info.n_features,
        info.n_labels,
    )
    statistics = whole.statistics()
    assert statistics["cardinality"] == pytest.approx(info.cardinality, abs=6e-5)
    assert statistics["n_labelsets"] == info.n_labelsets
    if info.train:
        train, test = load(f"{name}:train", one_hot=False), load(f"{name}:test", one_hot=False)
        assert (train.n_samples, test.n_samples) == (info.n_train, info.n_test)
        assert train.label_names == test.label_names == whole.label_names
        assert train.feature_names == test.feature_names == whole.feature_names
        on = train.Y.sum(dtype=np.int64) + test.Y.sum(dtype=np.int64)
        assert on == whole.Y.sum(dtype=np.int64)


def test_importing_datasets_is_light():
    code = (
        "import sys, colabel.datasets as d; d.load('yeast');"
        "heavy = {'pooch', 'requests', 'numba', 'pandas', 'polars', 'narwhals', 'rich', 'sklearn'};"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
