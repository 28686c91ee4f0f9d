"""Frequency-Gender: rebuilt from recordings of voices."""

import numpy as np
import pytest

from colabel.datasets import Dataset, load
from colabel.datasets._frequency_gender import BINS, frequency_gender


def test_frequencies_are_binned_and_leave_the_features():
    X = np.array([[0.05, 1], [0.08, 2], [0.1199, 3], [0.12, 4], [0.2, 5], [0.279, 6], [0.3, 7]])
    Y = np.array([[0], [1], [0], [1], [0], [1], [0]], dtype=np.int8)
    voice = Dataset(X, Y, ("meanfreq", "other"), ("male",), "voice")
    made = frequency_gender(voice)
    assert made.feature_names == ("other",)
    np.testing.assert_array_equal(made.X.ravel(), [2, 3, 4, 5, 6, 7])  # too low a voice is out
    np.testing.assert_array_equal(made.Y[:, :5].argmax(axis=1), [0, 0, 1, 3, 4, 4])
    np.testing.assert_array_equal(made.Y[:, 5:].argmax(axis=1), [1, 0, 1, 0, 1, 0])
    assert made.facets == {"frequency": BINS, "gender": ("female", "male")}


@pytest.mark.usefixtures("real_data")
def test_the_counts_are_those_of_the_paper():
    data = load("frequency-gender")
    assert data.X.shape == (3157, 19)
    assert data.Y[:, :5].sum(axis=0, dtype=int).tolist() == [113, 557, 1736, 730, 21]
    assert (data.Y[:, :5].sum(axis=1) == 1).all()
    assert (data.Y[:, 5:].sum(axis=1) == 1).all()
    frequency = data.X[:, data.feature_names.index("centroid")]  # the same as the mean frequency
    code = data.Y[:, :5].argmax(axis=1)
    assert (np.abs(frequency - 0.1 - 0.04 * code) <= 0.02 + 1e-9).all()
