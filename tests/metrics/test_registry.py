import pickle

import numpy as np
import pytest

from colabel.exceptions import UnknownNameError
from colabel.metrics import MEASURES, evaluate, get_measure, measure_name, precision_at_k

Y = np.array([[1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1]])
RIGHT, WRONG = 2.0 * Y, -2.0 * Y


def test_the_registry_begins_with_the_table_in_its_order():
    assert list(MEASURES)[:14] == list(evaluate(Y, Y, RIGHT))


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        MEASURES["mine"] = MEASURES["lrap"]
    with pytest.raises(AttributeError):
        MEASURES["lrap"].name = "mine"


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_truly_which_way_is_up_and_how_far(name):
    measure = MEASURES[name]
    assert measure.name == name
    assert measure.description
    assert "\n" not in measure.description
    right, wrong = (Y, 1 - Y) if measure.needs == "labels" else (RIGHT, WRONG)
    best, worst = measure.function(Y, right), measure.function(Y, wrong)
    assert (best > worst) == measure.greater_is_better
    low, high = measure.range
    assert all(low <= value <= high for value in (best, worst))


@pytest.mark.parametrize(
    ("short", "full"),
    [("subset", "subset_accuracy"), ("hamming", "hamming_loss"), ("f1", "example_f1")],
)
def test_a_short_name_means_the_measure_of_samples(short, full):
    assert measure_name(short) == measure_name(full) == full
    assert get_measure(short) is MEASURES[full]


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_survives_pickling(name):
    measure = pickle.loads(pickle.dumps(MEASURES[name]))
    assert measure.function(Y, Y) == MEASURES[name].function(Y, Y)


def test_the_top_k_measures_exist_for_any_k():
    measure = get_measure("precision_at_2")
    assert measure.name == "precision_at_2"
    assert measure.function(Y, WRONG) == precision_at_k(Y, WRONG, 2)
    assert get_measure("ndcg_at_17").needs == "scores"
    assert get_measure("precision_at_5") is MEASURES["precision_at_5"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("haming_loss", "unknown measure 'haming_loss'; did you mean hamming_loss"),
        ("f1_macro", "unknown measure 'f1_macro'; "),
        ("precision_at_0", "unknown measure 'precision_at_0'; did you mean precision_at_"),
        ("zzz", "unknown measure 'zzz'; there is subset_accuracy, hamming_loss"),
    ],
)
def test_an_unknown_name_is_answered_with_the_closest(name, message):
    with pytest.raises(UnknownNameError, match=message):
        get_measure(name)
