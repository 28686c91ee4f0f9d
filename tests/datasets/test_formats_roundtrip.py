"""What is written reads back the same; what is damaged reads or is refused, nothing else."""

import gzip
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from colabel.dataset import Dataset
from colabel.datasets.formats import read, write
from colabel.exceptions import DataFormatError

# The same examples each time, however slow and busy the machine is.
calm = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

XML_TEXT = st.characters(
    codec="utf-8",
    exclude_categories=("Cs", "Cc"),
    exclude_characters="\ufffe\uffff",
    include_characters="\t\n\r",
)
CSV_TEXT = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="\n\r")
NASTY = st.sampled_from(
    ["a b", "a,b", "it's", '"q"', "\\", "a\\'b", "%", "{x}", "?", "", " ", "é", "0", "-C 3", "\t"]
)
VALUES = st.one_of(
    st.sampled_from([0.0, 1.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 1e22, float("nan")]),
    st.floats(allow_infinity=False),
)


@st.composite
def datasets(draw, names, is_sparse=None):
    n, d, n_labels = (draw(st.integers(1, 5)) for _ in range(3))
    X = draw(hnp.arrays(np.float64, (n, d), elements=VALUES))
    Y = draw(hnp.arrays(np.int8, (n, n_labels), elements=st.integers(0, 1)))
    every = draw(st.lists(names, min_size=d + n_labels, max_size=d + n_labels, unique_by=_loosely))
    if is_sparse is None:
        is_sparse = draw(st.booleans())
    if is_sparse:
        X = sparse.csr_array(X)
    if draw(st.booleans()):
        Y = sparse.csr_array(Y)
    return Dataset(X, Y, tuple(every[:d]), tuple(every[d:]), name="toy set")


def _loosely(name):
    return " ".join(name.replace("\\", "").replace("'", "").replace('"', "").split())


def dense(A):
    return A.toarray() if sparse.issparse(A) else A


def round_trip(data, name, *, format=None, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(data, path, format=format)
        there = {entry.name for entry in Path(folder).iterdir()}
        return read(path, **options), there


def assert_equal(back, data, names=True):
    assert np.array_equal(dense(back.X), dense(data.X), equal_nan=True)
    assert np.array_equal(dense(back.Y), dense(data.Y))
    if names:
        assert back.feature_names == data.feature_names
        assert back.label_names == data.label_names


@pytest.mark.parametrize("name", ["x.arff", "x.arff.gz"])
@calm
@given(data=datasets(st.one_of(NASTY, st.text(XML_TEXT, max_size=8))))
def test_mulan_round_trip(name, data):
    back, there = round_trip(data, name)
    assert there == {name, "x.xml"}
    assert back.is_sparse == data.is_sparse
    assert_equal(back, data)


@calm
@given(data=datasets(st.one_of(NASTY, st.text(st.characters(codec="utf-8"), max_size=8))))
def test_meka_round_trip(data):
    back, there = round_trip(data, "x.arff", format="meka")
    assert there == {"x.arff"}
    assert_equal(back, data)


@calm
@given(data=datasets(st.one_of(NASTY, st.text(CSV_TEXT, max_size=8))))
def test_csv_round_trip(data):
    back, _ = round_trip(data, "x.csv.gz", labels=-data.n_labels)
    assert not back.is_sparse
    assert_equal(back, data)


@calm
@given(data=datasets(st.one_of(NASTY, st.text(st.characters(codec="utf-8"), max_size=8))))
def test_npz_round_trip(data):
    if any(name.endswith("\0") for name in (*data.feature_names, *data.label_names)):
        with pytest.raises(ValueError, match="NUL"):
            round_trip(data, "x.npz")
        return
    back, _ = round_trip(data, "x.npz")
    assert back.is_sparse == data.is_sparse
    assert sparse.issparse(back.Y) == sparse.issparse(data.Y)
    assert_equal(back, data)


@calm
@given(data=datasets(st.text(max_size=3), is_sparse=True))
def test_svmlight_round_trip(data):
    back, _ = round_trip(data, "x.svm", n_labels=data.n_labels)
    assert back.n_features == data.n_features
    assert_equal(back, data, names=False)


def tiny():
    X = sparse.csr_array([[0, 1.5, 0], [2, 0, 0.25]])
    Y = np.array([[1, 0], [0, 1]], np.int8)
    return Dataset(X, Y, ("a", "b c", "d"), ("y", "it's"))


@pytest.mark.parametrize("name", ["x.arff", "x.csv", "x.svm", "x.npz"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(tiny(), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_a_failure_among_the_rows_leaves_no_orphan_label_file(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("colabel.datasets.formats.arff.stored_row", fail)
    with pytest.raises(OSError, match="disk full"):
        write(tiny(), tmp_path / "x.arff")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        write(tiny(), tmp_path / "nowhere" / "x.npz")


@pytest.mark.parametrize("name", ["x.arff.gz", "x.svm.gz", "x.csv.gz"])
def test_packed_files_depend_on_the_content_alone(tmp_path, name):
    (tmp_path / "other").mkdir()
    write(tiny(), tmp_path / name)
    write(tiny(), tmp_path / "other" / name)
    assert (tmp_path / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "name", "reason"),
    [
        ({"X": np.array([[np.inf]])}, "x.arff", "infinite"),
        ({"X": sparse.csr_array([[np.inf]])}, "x.csv", "infinite"),
        ({"label_names": ("a",)}, "x.arff", "2 columns have the name 'a'"),
        ({"label_names": ("a",)}, "x.csv", "2 columns have the name 'a'"),
        ({"X": np.ones((1, 2)), "feature_names": ("b", "b")}, "x.npz", "2 columns have the name"),
        ({"label_names": ("\x01",)}, "x.arff", "XML cannot hold"),
        ({"feature_names": ("\ud800",)}, "x.csv", "lone surrogate"),
        ({"label_names": ("y\0",)}, "x.npz", "NUL character"),
        ({"X": np.empty((1, 0)), "feature_names": ()}, "x.svm", "at least one feature"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(tmp_path, change, name, reason):
    parts = {"X": np.ones((1, 1)), "Y": np.ones((1, 1), np.int8)}
    parts |= {"feature_names": ("a",), "label_names": ("y",)}
    with pytest.raises(ValueError, match=reason):
        write(Dataset(**(parts | change)), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_feature_and_a_label_may_share_their_name_where_the_lists_are_apart(tmp_path):
    for name in ("x.npz", "x.svm"):
        write(Dataset(np.ones((1, 1)), np.ones((1, 1), np.int8), ("a",), ("a",)), tmp_path / name)
    back = read(tmp_path / "x.npz")
    assert back.feature_names == back.label_names == ("a",)


def originals():
    """One valid file of each kind, as bytes, with the options that read it."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = tiny()
        solid = Dataset(plain.X.toarray(), plain.Y, plain.feature_names, plain.label_names)
        for name, data, format, options in [
            ("sparse.arff", plain, "meka", {}),
            ("dense.arff", solid, "meka", {}),
            ("plain.svm", plain, None, {}),
            ("plain.csv", solid, None, {"labels": -2}),
            ("solid.npz", solid, None, {}),
            ("packed.npz", plain, None, {}),
        ]:
            path = Path(folder) / name
            write(data, path, format=format)
            made[name] = path.read_bytes(), options
    nominal = (
        b"@relation 'r: -C 1'\n@attribute y {no,yes}\n@attribute 'a b' {u,'v w',3}\n"
        b"@attribute c real % remark\n@data\nyes,u,1.5\nno,'v w',?\n%\nno,3,-1e-3\n"
    )
    made["nominal.arff"] = nominal, {}
    made["nominal.arff.gz"] = gzip.compress(nominal), {}
    made["words.csv"] = b'a;"w x";y\n1;"p;q";yes\n;oak;no\n', {"labels": ["y"]}
    return made


ORIGINALS = originals()
BYTES = st.one_of(st.sampled_from(list(b" ,{}'\"\\%?\n\r\t.:;-#@\0e019")), st.integers(0, 255))


@st.composite
def damage(draw, raw):
    """Cut, drop, repeat, insert or change some bytes."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(raw)))
        length = draw(st.integers(0, 12))
        kind = draw(st.sampled_from(["cut", "drop", "repeat", "insert", "change"]))
        new = bytes(draw(st.lists(BYTES, min_size=1, max_size=4)))
        raw = {
            "cut": raw[:at],
            "drop": raw[:at] + raw[at + length :],
            "repeat": raw[: at + length] + raw[at:],
            "insert": raw[:at] + new + raw[at:],
            "change": raw[:at] + new + raw[at + len(new) :],
        }[kind]
    return raw


def read_or_refuse(name, raw, options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        data, refusal = None, None
        try:
            data = read(path, **options)
        except DataFormatError as error:
            refusal = error
    if data is None:
        assert refusal.path == str(path)
        assert refusal.reason
        return
    values = data.Y.data if sparse.issparse(data.Y) else data.Y
    assert np.isin(values, (0, 1)).all()
    assert data.X.dtype == np.float64
    assert data.n_samples > 0 or name.endswith(".npz")


@pytest.mark.parametrize("name", ORIGINALS)
@settings(calm, max_examples=75)
@given(data=st.data())
def test_a_damaged_file_reads_or_is_refused(name, data):
    raw, options = ORIGINALS[name]
    read_or_refuse(name, data.draw(damage(raw)), options)


@pytest.mark.parametrize("name", ORIGINALS)
def test_every_truncation_reads_or_is_refused(name):
    raw, options = ORIGINALS[name]
    for size in range(0, len(raw), 1 if len(raw) < 500 else 5):
        read_or_refuse(name, raw[:size], options)


@pytest.mark.parametrize("name", ["x.arff", "x.svm", "x.csv", "x.npz", "x.arff.gz"])
@calm
@given(raw=st.binary(max_size=200))
def test_random_bytes_are_refused_or_read(name, raw):
    read_or_refuse(name, raw, {"labels": 1} if "arff" in name or "csv" in name else {})


@pytest.mark.parametrize("name", ["sparse.arff", "dense.arff", "plain.svm", "plain.csv"])
@calm
@given(data=st.data())
def test_the_block_reader_and_the_careful_reader_agree(name, data):
    """Reading line by line gives the same data, or the same refusal, as reading by blocks."""
    raw, options = ORIGINALS[name]
    damaged = data.draw(damage(raw))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(damaged)
        quick = outcome(path, options)
        with line_by_line():
            assert outcome(path, options) == quick


@contextmanager
def line_by_line():
    """Turn the block readers off."""
    with pytest.MonkeyPatch.context() as patch:
        for place in (
            "_dense.DenseRows._plain",
            "_sparse.SparseRows._plain",
            "_sparse.SparseRows._indicators",
            "svmlight._plain",
        ):
            patch.setattr(f"colabel.datasets.formats.{place}", lambda *_: None)
        yield


def outcome(path, options):
    try:
        data = read(path, **options)
    except DataFormatError as error:
        return str(error)
    return repr((dense(data.X) + 0.0).tolist()), dense(data.Y).tolist(), data.feature_names


@pytest.mark.parametrize("name", ["sparse.arff", "dense.arff", "plain.svm", "plain.csv"])
def test_the_two_readers_agree_on_every_truncation(name, tmp_path):
    raw, options = ORIGINALS[name]
    path = tmp_path / name
    for size in range(len(raw)):
        path.write_bytes(raw[:size])
        quick = outcome(path, options)
        with line_by_line():
            assert outcome(path, options) == quick
