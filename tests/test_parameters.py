"""Checks of constructor arguments: what passes, and the sentence for what does not."""

import numpy as np
import pytest

from colabel._parameters import check_choice, check_real, check_whole


@pytest.mark.parametrize("value", [1, 7, np.int32(3)])
def test_whole_numbers_pass(value):
    check_whole(value, "n", least=1)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, np.True_, "1", None, np.nan])
def test_what_is_not_a_whole_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^n must be a whole number of at least 1, not "):
        check_whole(value, "n", least=1)


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "words"),
    [
        ({}, [-1e300, 0, np.float32(2)], [np.inf, np.nan, "0", None, False], "a number"),
        ({"above": 0.0}, [1e-300, 5], [0, -1.0, np.inf], "a positive number"),
        ({"least": 0.0}, [0.0, 5], [-1e-300, np.inf], "a number of at least 0"),
        ({"least": 0, "below": 1}, [0, 0.9], [1, -0.1], "a number of at least 0 and below 1"),
        ({"above": 0, "most": 1}, [0.1, 1], [0, 1.1, True], "a number above 0 and at most 1"),
    ],
)
def test_numbers_within_limits_pass_and_others_are_refused(limits, inside, outside, words):
    for value in inside:
        check_real(value, "x", **limits)
    for value in outside:
        with pytest.raises(ValueError, match=f"^x must be {words}, not "):
            check_real(value, "x", **limits)


def test_choices_are_listed():
    check_choice("a", "way", ("a", "b", None))
    check_choice(None, "way", ("a", "b", None))
    for value in ("c", 0, np.zeros(2)):
        with pytest.raises(ValueError, match=r"^way must be 'a', 'b' or None, not "):
            check_choice(value, "way", ("a", "b", None))
