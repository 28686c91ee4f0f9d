"""CSV: names, delimiters, words, unknown values, and what becomes a label."""

import numpy as np
import pytest

from colabel.datasets.formats import _names, _survey, read, write
from colabel.exceptions import DataFormatError


def csv(tmp_path, text, name="x.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_delimiter(tmp_path, delimiter):
    text = "\n \na|b|y\n1.5|-2e3|1\n\n 7 | 8 |0\n".replace("|", delimiter)
    data = read(csv(tmp_path, text), labels=["y"])
    assert data.feature_names == ("a", "b")
    assert data.X.tolist() == [[1.5, -2000], [7, 8]]
    assert data.Y.tolist() == [[1], [0]]


def test_quoted_names_may_hold_delimiters_and_quotes(tmp_path):
    data = read(csv(tmp_path, '"a;;;b","say ""x""",y\n1,2,0\n'), labels=-1)
    assert data.feature_names == ("a;;;b", 'say "x"')


@pytest.mark.parametrize(
    "unknown", ["", "?", "NA", "nan", '""', "null", "None", "#N/A", "n/a", "-"]
)
def test_unknown_numbers_are_nan(tmp_path, unknown):
    data = read(csv(tmp_path, f"a,b,y\n1,{unknown},0\n{unknown},2,1\n"), labels=-1)
    assert np.array_equal(data.X, [[1, np.nan], [np.nan, 2]], equal_nan=True)


def test_words_become_one_hot_columns_in_sorted_order(tmp_path):
    text = 'a,w,y\n1,"pine, old",0\n2,oak tree,1\n3,NA,1\n'
    data = read(csv(tmp_path, text), labels=-1)
    assert data.feature_names == ("a", "w=oak tree", "w=pine, old")
    nan = np.nan
    assert np.array_equal(data.X, [[1, 0, 1], [2, 1, 0], [3, nan, nan]], equal_nan=True)
    places = read(csv(tmp_path, text), labels=-1, one_hot=False)
    assert np.array_equal(places.X[:, 1], [1, 0, nan], equal_nan=True)


def test_a_word_far_down_a_column_of_numbers_is_refused_where_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr("colabel.datasets.formats._stream.BLOCK_BYTES", 64)
    text = "a,w,y\n" + "1,2,0\n" * 50 + "1,x,1\n"
    with pytest.raises(DataFormatError, match="'w' holds numbers, and 'x' is none") as caught:
        read(csv(tmp_path, text), labels=-1)
    assert (caught.value.line, caught.value.column) == (52, 3)


def test_words_that_only_partly_look_like_numbers_are_words(tmp_path):
    data = read(csv(tmp_path, "w;y\n1,5;0\noak;1\noak;1\n"), labels=-1)
    assert data.feature_names == ("w=1,5", "w=oak")
    assert data.X.tolist() == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("values", "name", "on"),
    [
        (("0", "1"), "y", [0, 1]),
        (("1.0", "0.0"), "y", [1, 0]),
        (("no", "yes"), "y", [0, 1]),
        (("male", "female"), "y=male", [1, 0]),
        (("-1", "1"), "y", [0, 1]),
        (("+1.0", "-1"), "y", [1, 0]),
        (("-1", "-1"), "y", [0, 0]),
        (("1", "1"), "y", [1, 1]),
        (("yes", "yes"), "y", [1, 1]),
        (("no", "no"), "y", [0, 0]),
        (("0", "0"), "y", [0, 0]),
    ],
)
def test_a_label_column_of_two_values(tmp_path, values, name, on):
    data = read(csv(tmp_path, f"a,y\n5,{values[0]}\n6,{values[1]}\n"), labels=["y"])
    assert data.label_names == (name,)
    assert data.Y[:, 0].tolist() == on


def test_labels_by_count_from_either_end(tmp_path):
    path = csv(tmp_path, "p,q,r\n0,1,0\n")
    assert read(path, labels=1).label_names == ("p",)
    assert read(path, labels=-2).label_names == ("q", "r")


def test_one_character_tables_take_the_short_way(tmp_path):
    rows = np.random.default_rng(0).integers(0, 10, (50, 4))
    text = "a,b,c,y\n" + "".join(f"{a},{b},{c},{y % 2}\n" for a, b, c, y in rows)
    data = read(csv(tmp_path, text), labels=-1)
    assert np.array_equal(data.X, rows[:, :3])
    assert data.X.dtype == np.float64
    assert np.array_equal(data.Y[:, 0], rows[:, 3] % 2)


def test_a_name_with_a_line_break_cannot_be_written(tmp_path):
    data = read(csv(tmp_path, "a,y\n1,0\n"), labels=-1)
    broken = type(data)(data.X, data.Y, ("a\nb",), data.label_names)
    with pytest.raises(ValueError, match="line break"):
        write(broken, tmp_path / "y.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv"]


def test_no_labels_can_be_asked_for(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    data = read(path, labels=[])
    assert data.Y.shape == (2, 0)
    assert data.feature_names == ("a", "b")


def test_names_that_are_numbers_are_written_in_quotes_and_read_back(tmp_path):
    data = read(csv(tmp_path, '"0","1,5","-inf"\n7,8,1\n'), labels=-1)
    write(data, tmp_path / "copy.csv")
    copy = read(tmp_path / "copy.csv", labels=-1)
    assert (copy.feature_names, copy.label_names) == (("0", "1,5"), ("-inf",))


def test_words_and_names_that_would_fill_memory_are_refused(tmp_path, monkeypatch):
    path = csv(tmp_path, "width,w,y\nu,p,0\nv,q,1\n")
    monkeypatch.setattr(_names, "MAX_NAME_CHARACTERS", 15)
    with pytest.raises(DataFormatError, match="more than 15 characters"):
        read(path, labels=-1)
    assert read(path, labels=-1, one_hot=False).n_features == 2
    monkeypatch.setattr(_names, "MAX_NAME_CHARACTERS", 16)
    assert read(path, labels=-1).n_features == 4
    monkeypatch.setattr(_survey, "MAX_WORD_BYTES", 3 * 65)
    with pytest.raises(DataFormatError, match="take more than 0 MiB"):
        read(path, labels=-1)
