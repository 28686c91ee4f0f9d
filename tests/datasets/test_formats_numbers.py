"""The block parser of numbers agrees with float() to the last bit, and refuses what float must."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colabel.datasets.formats._numbers import integers, number, numbers, scan, spell

# The same examples each time, however slow and busy the machine is.
calm = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

plain = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=6).map(str),
    st.from_regex(r"-?[0-9]{0,9}\.[0-9]{1,18}", fullmatch=True),
    st.from_regex(r"[0-9]{1,9}\.?", fullmatch=True),
)


def parse(texts):
    return numbers(scan((",".join(texts) + "\n").encode(), b",\n"))


@calm
@given(st.lists(plain, min_size=1, max_size=30))
def test_blocks_of_numbers_equal_float_bit_for_bit(texts):
    found = parse(texts).astype(np.float64)
    assert found.tobytes() == np.array([float(text) for text in texts]).tobytes()


@pytest.mark.parametrize("seed", range(20))
def test_many_random_decimals_equal_float_bit_for_bit(seed):
    rng = np.random.default_rng(seed)
    digits = rng.integers(0, 18, 2000)
    texts = [
        f"{value:.{n}f}"
        for value, n in zip(rng.normal(0, 10.0 ** rng.integers(-6, 7), 2000), digits, strict=True)
    ]
    assert parse(texts).tobytes() == np.array([float(text) for text in texts]).tobytes()


@calm
@given(st.lists(st.text("0123456789.+-eE?x ", max_size=12), min_size=1, max_size=8))
def test_a_block_is_refused_exactly_if_one_of_its_tokens_is_no_number(texts):
    expected = [number(text.encode(), frozenset({b"?"})) for text in texts]
    found = parse(texts)
    assert (found is None) == (None in expected)
    if found is not None:
        assert np.array_equal(found, np.array(expected, float), equal_nan=True)


@pytest.mark.parametrize(
    "text", ["1.2.3", "", "-", ".", "+", "1-2", "12345678a", "0x1", "1_0", "--1", "1e", "1e999"]
)
def test_what_is_no_number_is_none(text):
    assert number(text.encode()) is None
    assert parse([text, "1"]) is None


@pytest.mark.parametrize("text", ["nan", "NaN"])
def test_a_spelt_out_nan_is_a_number(text):
    assert np.isnan(parse([text])).all()


@pytest.mark.parametrize("text", ["inf", "-Infinity", "1e999"])
def test_what_is_infinite_is_no_number(text):
    assert number(text.encode()) is None
    assert parse([text]) is None


def test_a_question_mark_is_nan():
    assert np.isnan(parse(["1", "?"])[1])


@pytest.mark.parametrize("longest", [4, 8])
def test_integers_of_every_length_are_read(longest):
    values = [7, *(10**k for k in range(longest)), 10**longest - 1]
    tokens = scan((" ".join(map(str, values)) + "\n").encode(), b" \n")
    found = integers(tokens.padded, tokens.end, tokens.end - tokens.start)
    assert found.tolist() == values


@pytest.mark.parametrize("text", ["12a", "a12", "/1", ":1", "1.5", "-1", "123456789", ""])
def test_what_is_not_a_short_row_of_digits_is_no_integer(text):
    tokens = scan((text + " 1\n").encode(), b" \n")
    assert integers(tokens.padded, tokens.end, tokens.end - tokens.start) is None


@calm
@given(st.lists(st.floats(allow_infinity=False)))
def test_spelling_and_reading_gives_the_number_back(values):
    back = [number(text.encode(), frozenset({b"?"})) for text in spell(values)]
    assert np.array_equal(np.array(back, float), np.array(values, float), equal_nan=True)
