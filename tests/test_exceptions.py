"""Errors say where and what, are the built-ins a caller expects, and survive other processes."""

import pickle

import pytest

from colabel import exceptions as e


@pytest.mark.parametrize(
    ("error", "builtin", "text"),
    [
        (
            e.DataFormatError("a.arff", "no @data", 3, 7),
            ValueError,
            "a.arff, line 3, column 7: no @data",
        ),
        (e.DataFormatError("a.arff", "is empty"), ValueError, "a.arff: is empty"),
        (
            e.DataFormatError("a.csv", "no labels", kind="no labels", advice="give labels="),
            ValueError,
            "a.csv: no labels; give labels=",
        ),
        (e.OptionError("xml", "is for files"), ValueError, "xml= is for files"),
        (
            e.MissingValuesError("RankSVM"),
            ValueError,
            "X has missing values (NaN), which RankSVM does not take; fill them in or leave such "
            "columns out",
        ),
        (e.DatasetNotFoundError("no yeat"), FileNotFoundError, "no yeat"),
        (e.UnknownNameError("no brr"), ValueError, "no brr"),
        (e.ModelFileError("bad"), ValueError, "bad"),
        (e.IncompatibleError("no"), TypeError, "no"),
        (
            e.MissingExtraError("a download", "data"),
            ImportError,
            'a download needs an extra: pip install "colabel[data]"',
        ),
    ],
)
def test_error_is_readable_typed_and_picklable(error, builtin, text):
    assert isinstance(error, e.ColabelError)
    assert isinstance(error, builtin)
    assert str(error) == text
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == text
    assert vars(again) == vars(error)
