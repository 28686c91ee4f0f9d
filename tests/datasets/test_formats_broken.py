"""Broken and hostile files stop with reason, line and column, quickly and in little memory."""

import gzip
import os
import tracemalloc

import numpy as np
import pytest

from colabel.datasets.formats import _assemble, _stream, arff, mulan, read
from colabel.datasets.formats._columns import by_group
from colabel.exceptions import DataFormatError, DatasetNotFoundError

HEAD = "@relation r\n@attribute a numeric\n@attribute c {u,v}\n@attribute y {0,1}\n@data\n"

# text, line, column, part of the reason
ARFF = [
    ("", 1, 1, "empty"),
    ("\n\n", 3, 1, "ends before @data"),
    ("hello\n", 1, 1, "is this ARFF"),
    ("@relation r\n@attribute a numeric\n", 3, 1, "ends before @data"),
    ("@relation r\n@data\n", 2, 1, "no @attribute"),
    ("@relation r\n@attribute\n", 2, 11, "a name is expected"),
    ("@relation r\n@attribute a\n", 2, 13, "type is missing"),
    ("@relation r\n@attribute a % numeric\n", 2, 14, "type is missing"),
    ("@relation r\n@attribute a nummeric\n", 2, 14, "'nummeric' is no attribute type"),
    ("@relation r\n@attribute 'a numeric\n", 2, 12, "quote is not closed"),
    ("@relation r\n@attribute a {0,1\n", 2, 14, "not closed by }"),
    ("@relation r\n@attribute a {0,,1}\n", 2, 17, "an empty value"),
    ("@relation r\n@attribute a {0,0}\n", 2, 14, "declared twice"),
    ("@relation r\n@attribute a {0,1} x\n", 2, 20, "nothing may follow"),
    ("@relation r\n@attribute a {0,{1}\n", 2, 17, "'{' is not expected"),
    (HEAD.replace("numeric", "string") + "x,u,1\n", 2, 1, "'a' is of type string"),
    (HEAD.replace("numeric", "date 'yyyy'") + "x,u,1\n", 2, 1, "'a' is of type date"),
    (HEAD.replace("{0,1}", "{0,1,2}") + "1,u,1\n", 4, 1, "'y' has 3 values"),
    (HEAD.replace(" c ", " a "), 3, 1, "columns 1 and 2 have the same name 'a'"),
    (HEAD.replace(" a ", " c=u "), None, None, "columns 1 and 2 have the same name 'c=u'"),
    (HEAD + "inf,u,1\n", 6, 1, "column 'a': 'inf' is not a number"),
    (HEAD, None, None, "no rows after @data"),
    (HEAD + "% only remarks\n\n", None, None, "no rows after @data"),
    (HEAD + "1,u\n", 6, 4, "2 values for 3 columns"),
    (HEAD + "1,u,1\n2,v,0,7\n", 7, 7, "4 values for 3 columns"),
    (HEAD + "1,u,1\n2,,0\n", 7, 3, "an empty value"),
    (HEAD + "1,u,1\n2,v,\n", 7, 5, "missing after the comma"),
    (HEAD + "1,u,1\n2,'v,0\n", 7, 3, "quote is not closed"),
    (HEAD + "1,u,1\n2,'v'w,0\n", 7, 6, "a comma is expected"),
    (HEAD + "1,u,1\nx,v,0\n", 7, 1, "column 'a': 'x' is not a number"),
    (HEAD + "1,u,1\n1e999,v,0\n", 7, 1, "not a number"),
    (HEAD + "1,u,1\n2,w,0\n", 7, 3, "column 'c': 'w' is none of the declared values {u,v}"),
    (HEAD + "1,u,1\n2,v,2\n", 7, 5, "column 'y': '2' is none"),
    (HEAD + "1,u,?\n", 6, 5, "a label cannot be missing"),
    (HEAD + "1,u,1,{5}\n", 6, 7, "'{' is not expected"),
    (HEAD + "1,u,1\n{0 1}\n", 7, 1, "'{' is not expected"),
    (HEAD + "{0 1}\n1,u,1\n", 7, 1, "a sparse row starts with {"),
    (HEAD + "{0 1,2 1\n", 6, 9, "not closed by }"),
    (HEAD + "{0 1 2 1}\n", 6, 6, "a comma or } is expected"),
    (HEAD + "{0 1}}\n", 6, 6, "nothing may follow"),
    (HEAD + "{0 1},{5}\n", 6, 6, "nothing may follow"),
    (HEAD + "{0}\n", 6, 2, "an attribute number and a value"),
    (HEAD + "{0 1,}\n", 6, 6, "an attribute number and a value"),
    (HEAD + "{-1 1}\n", 6, 2, "an attribute number and a value"),
    (HEAD + "{0 1,99999999999 1}\n", 6, 6, "an attribute number and a value"),
    (HEAD + "{0 }\n", 6, 4, "'}' is not expected"),
    (HEAD + "{0 1}\n{0 1,3 1}\n", 7, 8, "attribute number 3, but the last of 3 is 2"),
    (HEAD + "{0 1,0 2}\n", 6, 8, "occurs twice"),
    (HEAD + "{0 x}\n", 6, 4, "'x' is not a number"),
    (HEAD.replace("{u,v}", "real") + "{0 1}\n{0 x}\n", 7, 4, "'x' is not a number"),
    (HEAD + "{2 2}\n", 6, 4, "'2' is none of the declared"),
    (HEAD + "{2 ?}\n", 6, 4, "a label cannot be missing"),
    (HEAD.replace("{u,v}", "{2,4,8}") + "{0 1,1 4}\n{1 5}\n", 7, 4, "'5' is none of the"),
    (HEAD + "1,u,1\n\0\0", 7, 1, "NUL byte"),
]

SVM = [
    ("", 1, 1, "empty"),
    ("\n\n", None, None, "no rows"),
    ("1,x 1:2\n", 1, 3, "'x' is no label id"),
    ("0 1:2\n-1 1:2\n", 2, 1, "'-1' is no label id"),
    ("0, 1:2\n", 1, 3, "'' is no label id"),
    ("0 1:2 3\n", 1, 7, "index:value is expected"),
    ("0 1:2\n0 1:x\n", 2, 5, "'x' is not a number"),
    ("0 1:2\n0 1:\n", 2, 5, "'' is not a number"),
    ("0 :2\n", 1, 3, "is no feature number"),
    ("0 1:2\n0 1:-inf\n", 2, 5, "'-inf' is not a number"),
    ("0 a:2\n", 1, 3, "'a' is no feature number"),
    ("0 1:1 1:2\n", 1, 7, "occurs twice"),
    ("0 1:1:2\n", 1, 5, "'1:2' is not a number"),
    ("0 9999999999:1\n", 1, 3, "is no feature number"),
    ("9999999999 1:1\n", 1, 1, "is no label id"),
    ("0 2000000000:1\n", None, None, "2000000000 features are far more"),
    ("2000000000 1:1\n", None, None, "2000000001 labels are far more"),
    ("2 5 5\n0 0:1\n", 1, 1, "says 2 rows, but there are 1"),
    ("1 5 5\n0 5:1\n", None, None, "feature number 5 does not fit into 5 features"),
    ("1 5 5\n5 4:1\n", None, None, "label number 5 does not fit into 5 labels"),
    ("1 999999999 9\n0 0:1\n", None, None, "999999999 features are far more"),
    ("1 9 999999999\n0 0:1\n", None, None, "999999999 labels are far more"),
    ("0 9 9\n", 1, 1, "says 0 rows"),
]

CSV = [
    ("", 1, 1, "empty"),
    ("a,y\n", None, None, "no rows after the header"),
    ('"a,y\n1,0\n', 1, 1, "quote is not closed"),
    ("a,y\n1,0\n1\n", 3, 2, "1 values for 2 columns"),
    ("a,y\n1,0\n1,0,2\n", 3, 5, "3 values for 2 columns"),
    ('a,y\n1,0\n"1,0\n', 3, 1, "quote is not closed"),
    ('a,y\n1,0\n"1"2,0\n', 3, 4, "text after a closing quote"),
    ("a,y\n1,0\n2,\n", 3, 3, "a label cannot be missing"),
    ("a,y\n1,0\n2,1\n3,2\n", 4, 3, "more than two values"),
    ("a,y\n1,p\n2,q\n3,r\n", 4, 3, "more than two values"),
    ("a,y\n1,1\n2,2\n", 3, 3, "'y' holds 1 and 2, but a label is 0/1 or -1/1"),
    ("a,y\n1,3\n2,3\n", 2, 3, "'y' holds 3, but"),
    ("a,y\n1,b\n2,b\n", 2, 3, "'y' holds only 'b'"),
    ("a,b,a,y\n1,2,3,0\n", 1, 5, "columns 1 and 3 have the same name 'a'"),
    ("w,w=u,y\nu,1,0\nv,2,1\n", None, None, "columns 1 and 3 have the same name 'w=u'"),
    ("1,2,0\n3,4,1\n", 1, 1, "the first line holds only numbers"),
    ("\n1,5;2;1\n3;4;1\n", 2, 1, "the first line holds only numbers"),
    ("a,b,y\n1,2,0\n2,3,0\n3,x,1\n4,u,1\n", 4, 3, "'b' holds numbers, and 'x' is none"),
    ("a,b,y\n1,x,0\n2,3,0\n", 2, 3, "'b' holds numbers, and 'x' is none"),
    ("a;y\n1,5;0\n2,5;1\n", 2, 1, "'a' holds numbers, and '1,5' is none"),
    ('a,y\n"1,234.5",0\n7,1\n', 2, 1, "write a point for decimals"),
    ("a;y\n" + "".join(f"{i},5;1\n" for i in range(1002)), 2, 1, "'0,5' is none"),
    ("a,y\n1,0\n-inf,1\n", 3, 1, "'-inf' is none"),
    ("a,y\ninf,0\nInfinity,1\n", 2, 1, "'inf' is none"),
    ("a,b,y\nu,2,0\n3,0\n", 3, 4, "2 values for 3 columns"),
    ("a,y\n" + "".join(f"w{i},1\n" for i in range(1001)), 2, 1, "more than 1000 different"),
    ("a" + "," * 100_000 + "\n", 1, 100_001, "more than 100000 fields"),
    ("a,y\n1,0\n\0", 3, 1, "NUL byte"),
]


@pytest.mark.parametrize(
    ("suffix", "text", "line", "column", "reason"),
    [
        *(("arff", *case) for case in ARFF),
        *(("svm", *case) for case in SVM),
        *(("csv", *case) for case in CSV),
    ],
)
def test_a_broken_file_is_refused_with_reason_line_and_column(
    tmp_path, suffix, text, line, column, reason
):
    path = tmp_path / f"broken.{suffix}"
    path.write_text(text)
    with pytest.raises(DataFormatError) as caught:
        read(path, labels=None if suffix == "svm" else -1)
    error = caught.value
    assert reason in error.reason
    assert (error.path, error.line, error.column) == (str(path), line, column)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        ("r", "nothing says which attributes are labels"),
        ("'r: -C 0'", "-C 0 in @relation"),
        ("'r: -C 4'", "-C 4 in @relation"),
        ("'r: -C -999999999'", "-C -999999999 in @relation"),
        ("'r -W999-C-I'", "nothing says"),
    ],
)
def test_labels_that_nothing_names_are_an_error(tmp_path, relation, reason):
    path = tmp_path / "x.arff"
    path.write_text(HEAD.replace("@relation r", f"@relation {relation}") + "1,u,1\n")
    with pytest.raises(DataFormatError, match=reason):
        read(path)


@pytest.mark.parametrize(
    ("labels", "reason", "kind"),
    [
        (0, "a count of 0 label columns does not fit the 3 columns", "label count"),
        (4, "a count of 4 label columns does not fit", "label count"),
        (-4, "a count of -4 label columns does not fit", "label count"),
        (["nope"], "label 'nope' is no attribute", "unknown label"),
        (["y", "y"], "the same attribute", "repeated label"),
    ],
)
def test_wrong_label_choices_are_an_error(tmp_path, labels, reason, kind):
    path = tmp_path / "x.arff"
    path.write_text(HEAD + "1,u,1\n")
    with pytest.raises(DataFormatError, match=reason) as caught:
        read(path, labels=labels)
    assert caught.value.kind == kind
    assert caught.value.label == (labels[0] if kind == "unknown label" else None)


def test_a_name_that_fits_two_columns_is_an_error(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,y ?,'y' ?\n1,0,1\n")
    with pytest.raises(DataFormatError, match="fits 2 attributes"):
        read(path, labels=['"y" ?'])


def test_a_csv_file_without_labels_names_the_remedy(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,y\n1,0\n")
    with pytest.raises(DataFormatError, match="give labels="):
        read(path)


ENTITY = '<!DOCTYPE l [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
XML = [
    ("", 1, 1, "not well-formed"),
    ("<labels>", 1, 9, "not well-formed"),
    ("<labels>\n<label name='y'></labels>", 2, 18, "not well-formed"),
    ("<tags><label name='y'/></tags>", 1, 1, "root element is <tags>"),
    ("<labels><label/></labels>", 1, 9, "without a name"),
    ("<labels></labels>", None, None, "names no label"),
    ("<labels><label name='y'/><label name='y'/></labels>", None, None, "named twice"),
    ("<labels><label name='q'/></labels>", None, None, "label 'q' is no attribute"),
    (ENTITY + "<labels><label name='&b;'/></labels>", 1, 25, "an entity declaration"),
    ("<labels>" + "<label name='y'>" * 2000, 1, 1 + 8 + 16 * 999, "nested too deeply"),
    ("<?xml version='1.0' encoding='utf-99'?><labels/>", 1, 1, "encoding"),
]


@pytest.mark.parametrize(("text", "line", "column", "reason"), XML)
def test_a_broken_label_file_is_refused(tmp_path, text, line, column, reason):
    path, xml = tmp_path / "x.arff", tmp_path / "x.xml"
    path.write_text(HEAD + "1,u,1\n")
    xml.write_text(text)
    with pytest.raises(DataFormatError) as caught:
        read(path)
    assert reason in caught.value.reason
    assert caught.value.path == str(xml)
    if "encoding" not in reason and "well-formed" not in reason:
        assert (caught.value.line, caught.value.column) == (line, column)


def test_a_huge_label_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.arff"
    path.write_text(HEAD + "1,u,1\n")
    (tmp_path / "x.xml").write_text("<labels>\n" + "<label name='y'/>\n" * 100)
    monkeypatch.setattr(mulan, "MAX_XML_BYTES", 1000)
    with pytest.raises(DataFormatError, match="a label file of more than"):
        read(path)


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        ("x.arff", b"BZh91AY", "a bzip2 file"),
        ("x.csv", b"PK\x03\x04rest", "a zip file"),
        ("x.svm", b"\xfd7zXZ\x00rest", "a xz file"),
        ("x.arff", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL byte"),
        ("x.arff", "@relation".encode("utf-16"), "NUL byte"),
        ("x.rda", b"anything", "an R data file"),
        ("x.RData.gz", b"anything", "an R data file"),
        ("x.unknown", b"anything", "the suffix says no known format"),
        ("noSuffix", b"anything", "the suffix says no known format"),
        ("x.npz.gz", b"anything", "the suffix says no known format"),
    ],
)
def test_other_kinds_of_files_are_refused(tmp_path, name, raw, reason):
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(DataFormatError, match=reason):
        read(path, labels=None if "svm" in name else -1)


@pytest.mark.parametrize("name", ["none.arff", "none.svm", "none.csv", "none.npz"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(DatasetNotFoundError, match="no such file"):
        read(tmp_path / name, labels=1 if name[5] in "ac" else None)


# Opening a pipe that nobody writes to would wait for ever; not every system has them.
MAKERS = [getattr(os, name) for name in ("mkdir", "mkfifo") if hasattr(os, name)]


@pytest.mark.parametrize("name", ["x.arff", "x.npz"])
@pytest.mark.parametrize("make", MAKERS)
def test_a_folder_or_pipe_is_no_data_file(tmp_path, name, make):
    make(tmp_path / name)
    with pytest.raises(DataFormatError, match="this is not a file"):
        read(tmp_path / name)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.arff"
    path.write_text(HEAD + "1,u,1\n")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(DataFormatError, match="permission denied"):
        read(path, labels=-1)


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("x.svm", {"labels": 1}, "labels= has no meaning"),
        ("x.csv", {"n_labels": 3}, "n_labels= has no meaning"),
        ("x.npz", {"xml": "y.xml"}, "xml= has no meaning"),
        ("x.arff", {"n_features": 3}, "n_features= has no meaning"),
        ("x.svm", {"n_features": 0}, "n_features must be from 1"),
        ("x.svm", {"format": "excel"}, "unknown format 'excel'"),
    ],
)
def test_options_that_a_format_would_ignore_are_refused(tmp_path, name, options, reason):
    with pytest.raises(ValueError, match=reason):
        read(tmp_path / name, **options)


class TestGzip:
    text = (HEAD + "1,u,1\n" * 5000).encode()

    def refused(self, tmp_path, raw):
        path = tmp_path / "x.arff.gz"
        path.write_bytes(raw)
        with pytest.raises(DataFormatError) as caught:
            read(path, labels=-1)
        return caught.value.reason

    @pytest.mark.parametrize("keep", [3, 12, 40, -1, -8, -20])
    def test_a_truncated_file_is_refused(self, tmp_path, keep):
        packed = gzip.compress(self.text)
        assert "ends too early" in self.refused(tmp_path, packed[:keep])

    def test_a_damaged_file_is_refused(self, tmp_path):
        packed = bytearray(gzip.compress(self.text))
        packed[-6] ^= 0xFF
        assert "damaged" in self.refused(tmp_path, bytes(packed))
        assert "damaged" in self.refused(tmp_path, gzip.compress(self.text) + b"garbage")

    def test_a_bomb_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_stream, "RATIO_FREE_BYTES", 1 << 20)
        bomb = gzip.compress(HEAD.encode() + b"\n" * (4 << 20))
        assert "as a bomb would" in self.refused(tmp_path, bomb)

    def test_the_unpacked_size_has_a_limit(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_stream, "MAX_UNPACKED_BYTES", 10_000)
        assert "unpacks to more than" in self.refused(tmp_path, gzip.compress(self.text))


def test_an_endless_line_is_refused_in_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(_stream, "MAX_LINE_BYTES", 4 << 20)
    path = tmp_path / "x.arff.gz"
    with gzip.open(path, "wb") as file:
        file.write(HEAD.encode())
        for _ in range(200):
            file.write(b"1," * (1 << 18))
    tracemalloc.start()
    try:
        with pytest.raises(DataFormatError, match="the line is longer than 4 MiB") as caught:
            read(path, labels=-1)
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()
    assert caught.value.line == 6


def test_too_many_attributes_and_values_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.arff"
    path.write_text(HEAD + "1,u,1\n")
    monkeypatch.setattr(arff, "MAX_ATTRIBUTES", 2)
    with pytest.raises(DataFormatError, match="more than 2 attributes") as caught:
        read(path, labels=-1)
    assert caught.value.line == 4
    monkeypatch.setattr(arff, "MAX_ATTRIBUTES", 10)
    monkeypatch.setattr(arff, "MAX_VALUES", 3)
    with pytest.raises(DataFormatError, match="more than 1 nominal values"):
        read(path, labels=-1)
    monkeypatch.setattr(arff, "MAX_VALUES", 5)
    more = "@attribute b {u,v}\n@attribute d {u,v}\n@data\n"
    path.write_text(HEAD.replace("@data\n", more) + "1,u,1,u,v\n")
    with pytest.raises(DataFormatError, match="more than 5 one-hot columns"):
        read(path, labels=["y"])
    assert read(path, labels=["y"], one_hot=False).n_features == 4


@pytest.mark.parametrize(
    ("rows", "labels"), [("{}\n" * 100, 1), ("{}\n" * 100, -1), ("?,?,1\n" * 100, -1)]
)
def test_defaults_that_would_fill_memory_are_refused(tmp_path, monkeypatch, rows, labels):
    path = tmp_path / "x.arff"
    path.write_text(
        "@relation r\n@attribute y {1,0}\n@attribute c {u,v,w}\n@attribute z {0,1}\n@data\n" + rows
    )
    monkeypatch.setattr(_assemble, "MAX_FILLED_CELLS", 50)
    monkeypatch.setattr(_assemble, "MAX_DENSE_BYTES", 1)
    with pytest.raises(DataFormatError, match="would fill"):
        read(path, labels=labels)


def test_long_names_of_many_values_are_refused_in_little_memory(tmp_path):
    path, values = tmp_path / "x.arff", ",".join(f"v{i}" for i in range(3000))
    name = "n" * 1_000_000
    head = f"@relation r\n@attribute {name} {{{values}}}\n@attribute y {{0,1}}\n@data\n"
    path.write_text(head + "v1,1\n")
    tracemalloc.start()
    try:
        with pytest.raises(DataFormatError, match="names of one-hot columns would take more"):
            read(path, labels=["y"])
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
    assert read(path, labels=["y"], one_hot=False).X.tolist() == [[1.0]]


def test_unknown_values_of_sparse_rows_count_as_filled_cells(tmp_path, monkeypatch):
    path = tmp_path / "x.arff"
    path.write_text(HEAD.replace("{u,v}", "{u,v,w,x}") + "{1 ?}\n" * 10)
    monkeypatch.setattr(_assemble, "MAX_FILLED_CELLS", 49)
    with pytest.raises(DataFormatError, match="would fill 50 cells"):
        read(path, labels=-1)
    monkeypatch.setattr(_assemble, "MAX_FILLED_CELLS", 50)
    assert np.isnan(read(path, labels=-1).X.toarray()[:, 1:]).all()


def test_columns_are_grouped_as_by_looking_for_each_kind_but_in_one_go():
    rng = np.random.default_rng(0)
    for group in (rng.integers(0, 5, 40), np.empty(0, np.int64), np.array([3]), np.arange(9)[::-1]):
        expected = [np.flatnonzero(group == g).tolist() for g in np.unique(group)]
        assert [places.tolist() for places in by_group(group)] == expected
    # A million kinds: looking for each of them would take hours.
    assert len(by_group(rng.permutation(1_000_000))) == 1_000_000


def test_a_wide_csv_file_with_one_stray_label_is_refused_in_little_memory(tmp_path):
    path, width, rng = tmp_path / "x.csv", 2000, np.random.default_rng(0)
    rows = [",".join(map(str, row)) for row in rng.integers(0, 10**6, (100, width))]
    head = ",".join([*(f"a{j}" for j in range(width)), "y"]) + "\n"
    body = "".join(f"{row},{i % 2}\n" for i, row in enumerate(rows))
    path.write_text(head + body + rows[0] + ",yes\n")
    tracemalloc.start()
    try:
        with pytest.raises(DataFormatError, match="'y' has more than two values") as caught:
            read(path, labels=-1)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()
    assert caught.value.line == 102


HOSTILE_LINES = [
    "'" * 400_000,
    "'a" * 200_000,
    '"' + "\\" * 400_000,
    "{" * 400_000,
    "{0 " + "'\\" * 200_000,
    " " * 400_000 + "x",
    "1," + " " * 400_000 + "u",
    "{0 1" + " " * 400_000 + "x",
    "," * 400_000,
    "1" * 400_000 + ",u,1",
    "%" * 400_000 + "\nx",
    "{0 1," * 80_000,
    "1 " * 200_000,
]


@pytest.mark.parametrize("line", HOSTILE_LINES, ids=range(len(HOSTILE_LINES)))
def test_long_hostile_lines_do_not_hang(tmp_path, line):
    """Work that is quadratic in the line's length would take hours here."""
    refused = {
        "h.arff": f"@relation r\n@attribute {line}\n",
        "r.arff": HEAD + line + "\n",
        "s.svm": line + "\n",
    }
    for name, text in refused.items():
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(DataFormatError) as caught:
            read(path, labels=-1 if name == "r.arff" else None)
        assert len(caught.value.reason) < 300
    # In CSV almost anything is a name or a word.
    path = tmp_path / "c.csv"
    for text in ("a,b,y\n1,2,0\n" + line + "\n", line + "\n" + line + "\n"):
        path.write_text(text)
        try:
            reason = f"it has {read(path, labels=-1).n_samples} rows"
        except DataFormatError as error:
            reason = error.reason
        assert len(reason) < 300
