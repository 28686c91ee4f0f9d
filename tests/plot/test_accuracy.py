"""A measure against a parameter: what is drawn, and what cannot be."""

import sys

import pytest

from colabel.exceptions import MissingExtraError
from colabel.plot import accuracy_curves

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_curves_and_levels_are_drawn_and_named():
    curves = {"a $": {5: (30.0, 0.5), 1: (20.0, 0.0)}, "b": {1: (10.0, 1.0)}}
    figure = accuracy_curves(
        curves, levels={"flat": 25.0}, x_label="number", y_label="accuracy, per cent"
    )
    (axes,) = figure.axes
    first, second = axes.containers
    assert list(first.lines[0].get_xdata()) == [1, 5], "in order"
    assert list(first.lines[0].get_ydata()) == [20.0, 30.0]
    assert list(second.lines[0].get_ydata()) == [10.0]
    assert axes.get_lines()[0].get_ydata()[0] == 25.0
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "5"]
    assert [text.get_text() for text in axes.get_legend().texts] == ["flat", r"a \$", "b"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("number", "accuracy, per cent")
    figure.canvas.draw()


def test_a_figure_may_be_given():
    given = pyplot.figure()
    assert accuracy_curves({"a": {1: (2.0, 0.0)}}, figure=given) is given
    assert len(given.axes) == 1


def test_nothing_cannot_be_drawn():
    for curves in ({}, {"a": {}}):
        with pytest.raises(ValueError, match="there is nothing to draw"):
            accuracy_curves(curves)
    assert accuracy_curves({}, levels={"a": 1.0}).axes


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"colabel\[lab\]"):
        accuracy_curves({"a": {1: (2.0, 0.0)}})
