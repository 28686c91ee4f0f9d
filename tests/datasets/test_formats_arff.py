"""ARFF: what its declarations, quotes, comments, defaults and label sources mean."""

import gzip
import tempfile
from pathlib import Path

import arff as liac
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colabel.datasets.formats import _assemble, read
from colabel.exceptions import DataFormatError

# The same examples each time, however slow and busy the machine is.
calm = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def arff(tmp_path, rows, attributes=("a numeric", "b numeric", "y {0,1}"), relation="r"):
    lines = [f"@relation {relation}", *(f"@attribute {line}" for line in attributes), "@data"]
    path = tmp_path / "toy.arff"
    path.write_text("\n".join([*lines, *rows]) + "\n", encoding="utf-8")
    return path


def test_dense_rows_in_any_spacing(tmp_path):
    rows = ["1,2,1", " 3 , 4.5 ,0 ", "", "5\t6\t1", "7 8 0 % remark", "% comment", "1e2,?,1"]
    data = read(arff(tmp_path, rows), labels=-1)
    expected = [[1, 2], [3, 4.5], [5, 6], [7, 8], [100, np.nan]]
    assert np.array_equal(data.X, expected, equal_nan=True)
    assert data.Y.tolist() == [[1], [0], [1], [0], [1]]


def test_keywords_in_any_case_comments_and_blank_lines_in_odd_places(tmp_path):
    path = tmp_path / "odd.arff"
    path.write_text(
        "% first\n\n  @RELATION  x % not special\n@Attribute a REAL % why\n%\n"
        "@attribute b{0, 1}\n\t@attribute 'c d' Integer\n@attribute y {0,1} % label }\n\n@DATA\n"
        "%\n1,0,2,1\n"
    )
    data = read(path, labels=["y"])
    assert data.feature_names == ("a", "b", "c d")
    assert data.X.tolist() == [[1, 0, 2]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_byte_order_mark_and_a_missing_last_newline(tmp_path, end, last, mark):
    text = "@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\n2,1\n"
    raw = mark + (text if last else text[:-1]).replace("\n", end).encode()
    path = tmp_path / "x.arff"
    path.write_bytes(raw)
    assert read(path, labels=-1).X.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("spelt", "name"),
    [
        ("'a b,c'", "a b,c"),
        ('"it\'s"', "it's"),
        (r"'it\'s'", "it's"),
        (r"'tab\there \\ \% \u00e9'", "tab\there \\ % é"),
        (r"'dise\~no'", r"dise\~no"),
        (r"TAG_m\'usica", r"TAG_m\'usica"),
        ("TAG_??", "TAG_??"),
        ("50%", "50%"),
        ("a{b", "a{b"),
        ("naïve", "naïve"),
        ("''", ""),
    ],
)
def test_names_quoted_and_literal(tmp_path, spelt, name):
    path = arff(tmp_path, ["1,0"], (f"{spelt} numeric", "y {0,1}"))
    assert read(path, labels=-1).feature_names == (name,)


def test_latin_1_names_are_read(tmp_path):
    path = tmp_path / "x.arff"
    path.write_bytes(b"@relation r\n@attribute caf\xe9 real\n@attribute y {0,1}\n@data\n1,0\n")
    assert read(path, labels=-1).feature_names == ("café",)


def test_nominal_features_one_hot_and_ordinal(tmp_path):
    attributes = ("a numeric", "c {red,'light blue',2}", "z {1,0}", "y {0,1}")
    path = arff(tmp_path, ["1,red,1,0", "2,'light blue',0,1", "3,2,1,0", "4,?,?,0"], attributes)
    data = read(path, labels=-1)
    assert data.feature_names == ("a", "c=red", "c=light blue", "c=2", "z")
    nan = np.nan
    expected = [[1, 1, 0, 0, 1], [2, 0, 1, 0, 0], [3, 0, 0, 1, 1], [4, nan, nan, nan, nan]]
    assert np.array_equal(data.X, expected, equal_nan=True)
    ordinal = read(path, labels=-1, one_hot=False)
    assert ordinal.feature_names == ("a", "c", "z")
    assert np.array_equal(ordinal.X[:, 1], [0, 1, 2, nan], equal_nan=True)


def test_words_are_looked_up_without_leaving_the_block_reader(tmp_path):
    attributes = ("a numeric", "c {pine,'x'}", "y {0,1}")
    path = arff(tmp_path, ["1.5,pine,0", "2.5,'x',1", '3.5,"pine",1'], attributes)
    assert read(path, labels=-1, one_hot=False).X.tolist() == [[1.5, 0], [2.5, 1], [3.5, 0]]


@pytest.mark.parametrize(
    ("declared", "first", "second", "name"),
    [
        ("{0,1}", "0", "1", "y"),
        ("{1,0}", "0", "1", "y"),
        ("numeric", "0", "1", "y"),
        ("{0.0,1.0}", "0", "1", "y"),
        ("{no,yes}", "no", "yes", "y"),
        ("{TRUE,FALSE}", "FALSE", "TRUE", "y"),
        ("{-1,1}", "-1", "1", "y"),
        ("{male,female}", "female", "male", "y=male"),
        ("{0,1}", "0.0", "1.0", "y"),
    ],
)
def test_label_values(tmp_path, declared, first, second, name):
    path = arff(tmp_path, [f"5,{first}", f"6,{second}"], ("a real", f"y {declared}"))
    data = read(path, labels=["y"])
    assert data.Y.tolist() == [[0], [1]]
    assert data.label_names == (name,)


@pytest.mark.parametrize(("declared", "always"), [("{0}", 0), ("{1}", 1), ("{no}", 0)])
def test_a_label_with_one_declared_value_is_constant(tmp_path, declared, always):
    path = arff(tmp_path, [f"5,{declared[1:-1]}"], ("a real", f"y {declared}"))
    assert read(path, labels=-1).Y.tolist() == [[always]]


def test_sparse_rows_leave_out_the_first_declared_value(tmp_path):
    attributes = ("a numeric", "b {1,0}", "c {u,v,w}", "y {0,1}", "z {1,0}")
    rows = ["{0 2.5,3 1}", "{}", "{1 0, 2 w ,4 0}", "{0 0,1 1,2 v}"]
    data = read(arff(tmp_path, rows, attributes), labels=-2)
    assert data.is_sparse
    assert data.feature_names == ("a", "b", "c=u", "c=v", "c=w")
    expected = [[2.5, 1, 1, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [0, 1, 0, 1, 0]]
    assert data.X.toarray().tolist() == expected
    assert data.Y.tolist() == [[1, 1], [0, 1], [0, 0], [0, 1]]
    assert data.X.has_canonical_format
    assert data.X.nnz == np.count_nonzero(expected)


def test_sparse_nominal_places_stay_sparse(tmp_path):
    attributes = ("a numeric", "c {4,5,6}", "y {0,1}")
    data = read(arff(tmp_path, ["{1 6}", "{1 4}", "{1 ?}"], attributes), labels=-1, one_hot=False)
    assert np.array_equal(data.X.toarray()[:, 1], [2, 0, np.nan], equal_nan=True)
    assert data.X.nnz == 2


def test_sparse_rows_in_any_spacing_and_order(tmp_path):
    rows = ["{ 0 1 , 2 1 }", "{1\t2.5,0 3}", " {0 1}", "{2 1} % on", "", "{1  7}", "{}"]
    data = read(arff(tmp_path, rows), labels=-1)
    assert data.X.toarray().tolist() == [[1, 0], [3, 2.5], [1, 0], [0, 0], [0, 7], [0, 0]]
    assert data.Y.ravel().tolist() == [1, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("rows", "count"), [(["1,2,0", "", "", ""] * 30, 30), (["{2 1}", *[""] * 9], 1)]
)
def test_blocks_of_blank_lines_hold_no_rows(tmp_path, monkeypatch, rows, count):
    monkeypatch.setattr("colabel.datasets.formats._stream.BLOCK_BYTES", 3)
    assert read(arff(tmp_path, rows), labels=-1).n_samples == count


def test_blocks_of_every_kind_join(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 2)) < 0.3).astype(int)
    Y = (rng.random(3000) < 0.5).astype(int)
    rows = []
    for i, ((a, b), y) in enumerate(zip(X, Y, strict=True)):
        entries = [f"{j} {v}" for j, v in enumerate((a, b, y)) if v]
        rows.append("{" + (" , " if i % 1000 == 999 else ",").join(entries) + "}")
    path = arff(tmp_path, rows)
    monkeypatch.setattr("colabel.datasets.formats._stream.BLOCK_BYTES", 512)
    data = read(path, labels=-1)
    assert np.array_equal(data.X.toarray(), X)
    assert np.array_equal(data.Y[:, 0], Y)


@pytest.mark.parametrize("sparse", [False, True])
@calm
@given(data=st.data())
def test_reading_equals_liac_arff(sparse, data):
    """A slow and independent reader agrees on random tables."""
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 5))
    number = st.one_of(st.integers(0, 9), st.floats(-1e9, 1e9), st.sampled_from([0, 0, 0]))
    cells = data.draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=n, max_size=n))
    labels = data.draw(st.lists(st.sampled_from("01"), min_size=n, max_size=n))
    document = {
        "relation": "r",
        "attributes": [*((f"a{j}", "REAL") for j in range(d)), ("y", ["0", "1"])],
        "data": [[*row, y] for row, y in zip(cells, labels, strict=True)],
    }
    if sparse:
        document["data"] = [
            {j: v for j, v in enumerate(row) if v not in (0, "0")} for row in document["data"]
        ]
    text = liac.dumps(document)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.arff"
        path.write_text(text)
        found = read(path, labels=["y"])
    X = found.X.toarray() if sparse else found.X
    assert np.array_equal(X, np.array(cells, float))
    assert found.Y[:, 0].tolist() == [int(y) for y in labels]


def test_declared_numbers_match_as_numbers_by_either_way(tmp_path):
    attributes = ("a {1,2.50,3}", "y {0,1}")
    plain, careful = ["2.5,1.0", "3,0"], ["2.5,1.0 % remark", "3.0,0"]
    for rows in (plain, careful):
        data = read(arff(tmp_path, rows, attributes), labels=-1, one_hot=False)
        assert data.X.tolist() == [[1], [2]]
        assert data.Y.tolist() == [[1], [0]]


def test_labels_by_name_count_and_relation(tmp_path):
    rows, attributes = ["1,0,1"], ("p {0,1}", "q {0,1}", "r {0,1}")
    path = arff(tmp_path, rows, attributes, "'x: -C -1 -split 3'")
    assert read(path).label_names == ("r",)
    assert read(path, labels=2).label_names == ("p", "q")
    assert read(path, labels=-2).label_names == ("q", "r")
    assert read(path, labels=["r", "p"]).label_names == ("p", "r")
    assert read(path, labels="q").label_names == ("q",)


@pytest.mark.parametrize(
    ("data", "xml"),
    [
        ("a.arff", "a.xml"),
        ("A-train.arff", "a.xml"),
        ("a-test-sparse.arff", "A.XML"),
        ("a_reduced-train.arff", "a.xml"),
        ("a-fold12-test.arff", "a.xml"),
    ],
)
def test_the_xml_beside_the_file_names_the_labels(tmp_path, data, xml):
    path = tmp_path / data
    path.write_text("@relation 'r: -C 1'\n@attribute x real\n@attribute y {0,1}\n@data\n1,0\n")
    (tmp_path / xml).write_text('<labels><label name="y"/></labels>')
    (tmp_path / "unfitting.xml").write_text('<labels><label name="nowhere"/></labels>')
    (tmp_path / "broken.xml").write_text("<labels><label")
    assert read(path).label_names == ("y",)
    assert read(path, format="mulan").label_names == ("y",)
    assert read(path, format="meka").label_names == ("x",)


@pytest.mark.parametrize(("relation", "name"), [("r", "y"), ("'r: -C 1'", "x")])
def test_the_only_xml_in_the_folder_counts_unless_the_relation_names_labels(
    tmp_path, relation, name
):
    path = arff(tmp_path, ["1,0"], ("x {0,1}", "y {0,1}"), relation)
    (tmp_path / "other.xml").write_text('<labels><label name="y"/></labels>')
    assert read(path).label_names == (name,)
    assert read(path, format="mulan").label_names == ("y",)


def test_the_last_count_in_the_relation_is_that_of_the_labels(tmp_path):
    path = arff(tmp_path, ["1,0,1"], ("p {0,1}", "q {0,1}", "r {0,1}"), "'x -C 3: -C 2 -W 1'")
    assert read(path).label_names == ("p", "q")


@pytest.mark.parametrize("row", ["1.5,2,u", "{0 1.5,1 2}"])
def test_an_arff_file_without_labels_can_be_asked_for(tmp_path, row):
    data = read(arff(tmp_path, [row], ("a real", "b real", "c {u,v}")), labels=[])
    assert data.Y.shape == (1, 0)
    assert data.label_names == ()
    assert np.array_equal(np.ravel(data.X.toarray() if data.is_sparse else data.X), [1.5, 2, 1, 0])


def test_a_folder_that_cannot_be_listed_has_no_label_files(tmp_path, monkeypatch):
    path = arff(tmp_path, ["1,2,0"], relation="'r: -C -1'")

    def deny(_):
        raise PermissionError("no listing")

    monkeypatch.setattr(Path, "iterdir", deny)
    assert read(path).label_names == ("y",)


def test_the_nearest_of_two_fitting_label_files_wins(tmp_path):
    path = tmp_path / "a-train.arff"
    path.write_text("@relation r\n@attribute x {0,1}\n@attribute y {0,1}\n@data\n1,0\n")
    (tmp_path / "a.xml").write_text('<labels><label name="y"/></labels>')
    (tmp_path / "contest.xml").write_text('<labels><label name="x"/></labels>')
    assert read(path).label_names == ("y",)


def test_two_fitting_label_files_are_no_answer(tmp_path):
    path = arff(tmp_path, ["1,2,0"])
    for name in ("p", "q"):
        (tmp_path / f"{name}.xml").write_text('<labels><label name="y"/></labels>')
    with pytest.raises(DataFormatError, match="nothing says which attributes are labels"):
        read(path)


def test_label_names_match_but_for_quotes_backslashes_and_blanks(tmp_path):
    attributes = ("a real", r"'Red\'s  Bird' {0,1}", r"x\~y {0,1}")
    path = arff(tmp_path, ["1,0,1"], attributes)
    xml = tmp_path / "l.xml"
    xml.write_text('<labels><label name="x~y"/><label name="Reds Bird"/></labels>')
    assert read(path, xml=xml).label_names == ("Red's  Bird", r"x\~y")


def test_nested_labels_and_escapes_of_the_xml(tmp_path):
    path = arff(tmp_path, ["1,0,1"], ("a real", "'p&q' {0,1}", "'r\"s' {0,1}"))
    (tmp_path / "toy.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE labels>\n'
        '<m:labels xmlns:m="u"><m:label name="p&amp;q"><m:label name="r&#34;s"/></m:label>'
        "</m:labels>"
    )
    assert read(path).label_names == ("p&q", 'r"s')


def test_a_large_one_hot_table_is_sparse_and_equal(tmp_path, monkeypatch):
    attributes = ("a numeric", "c {1,2,3}", "d {u,v}", "y {0,1}")
    rows = ["1.5,1,u,0", "0,3,v,1", "2,2,?,1", "?,2,u,0"]
    path = arff(tmp_path, rows, attributes)
    dense = read(path, labels=-1)
    monkeypatch.setattr(_assemble, "MAX_DENSE_BYTES", 8)
    packed = read(path, labels=-1)
    assert packed.is_sparse
    assert np.array_equal(packed.X.toarray(), dense.X, equal_nan=True)
    known = read(arff(tmp_path, rows[:2], attributes), labels=-1)
    assert np.array_equal(known.X.toarray(), dense.X[:2])
    assert known.X.indices.dtype == np.int32
    assert known.X.has_canonical_format


def test_large_label_matrices_are_sparse_and_equal(tmp_path, monkeypatch):
    attributes = ("a numeric", "y {0,1}", "z {1,0}")
    dense, sparse = ["1,1,0", "2,0,1"], ["{0 1,1 1,2 0}", "{0 2}"]
    expected = read(arff(tmp_path, dense, attributes), labels=-2).Y
    monkeypatch.setattr(_assemble, "MAX_DENSE_BYTES", 1)
    for rows in (dense, sparse):
        Y = read(arff(tmp_path, rows, attributes), labels=-2).Y
        assert Y.dtype == np.int8
        assert np.array_equal(Y.toarray(), expected)


def test_many_kinds_of_columns_are_read_with_care(tmp_path):
    attributes = [f"a{j} {{0,{j}}}" for j in range(2, 80)] + ["y {0,1}"]
    row = ",".join([*(str(j) for j in range(2, 80)), "1"])
    data = read(arff(tmp_path, [row], attributes), labels=-1, one_hot=False)
    assert data.X.tolist() == [[1.0] * 78]


def test_gzip_of_several_members_and_padding(tmp_path):
    text = b"@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,0\n2,1\n"
    path = tmp_path / "x.arff.gz"
    path.write_bytes(gzip.compress(text[:30]) + gzip.compress(text[30:]) + b"\0" * 512)
    assert read(path, labels=-1).X.tolist() == [[1], [2]]
    packed_under_a_plain_name = tmp_path / "x.arff"
    packed_under_a_plain_name.write_bytes(path.read_bytes())
    assert read(packed_under_a_plain_name, labels=-1).n_samples == 2


def test_name_split_and_source(tmp_path):
    path = arff(tmp_path, ["1,2,0"]).rename(tmp_path / "birds-Train-x.arff")
    data = read(path, labels=-1)
    assert (data.name, data.split, data.source) == ("birds-Train-x", "train", str(path))
