"""Time against a measure, and names that do not overlap."""

import numpy as np
import pytest

from colabel.plot import pareto_front, time_accuracy
from colabel.plot.names import elide, place_names


def slow_front(seconds, values):
    """A point is on the front unless another is at least as good in both, and better in one."""
    points = [*zip(seconds, values, strict=True)]
    return [not any(t <= s and u >= v and (t < s or u > v) for t, u in points) for s, v in points]


def test_the_front_is_what_no_other_point_beats():
    rng = np.random.default_rng(0)
    for case in range(300):
        n = int(rng.integers(1, 12))
        # Whole numbers, for ties.
        seconds, values = rng.integers(1, 6, size=n), rng.integers(0, 6, size=n)
        expected = slow_front(seconds, values)
        assert pareto_front(seconds, values).tolist() == expected, case
        assert pareto_front(seconds, -values, greater_is_better=False).tolist() == expected


def test_points_without_a_value_are_not_on_the_front():
    assert pareto_front([1.0, np.nan, 2.0], [0.5, 0.9, np.nan]).tolist() == [True, False, False]


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_names_cover_neither_points_nor_one_another():
    rng = np.random.default_rng(1)
    frame = (0.0, 0.0, 300.0, 200.0)
    n_placed = n_names = 0
    for _ in range(100):
        n = int(rng.integers(1, 15))
        points = [(float(x), float(y)) for x, y in rng.uniform((0, 0), (300, 200), size=(n, 2))]
        sizes = [(float(w), 12.0) for w in rng.uniform(10, 90, size=n)]
        wanted = [bool(some) for some in rng.random(n) < 0.3]
        lines = [(50.0, 99.0, 250.0, 101.0)]
        places = place_names(points, sizes, wanted, frame, lines=lines)
        boxes = []
        for place, (width, height), must in zip(places, sizes, wanted, strict=True):
            if place is not None:
                box = (*place, place[0] + width, place[1] + height)
                assert min(box[:2]) >= 0
                assert box[2] <= 300
                assert box[3] <= 200
                assert must or not overlap(box, lines[0])
                boxes.append(box)
        marks = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
        assert not any(overlap(box, mark) for box in boxes for mark in marks)
        assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
        n_placed, n_names = n_placed + len(boxes), n_names + n
    assert n_placed > 0.7 * n_names


def test_long_names_lose_their_middle():
    assert elide("short", 10) == "short"
    assert elide("a" * 20 + "b" * 20, 10) == "aaaa…bbbbb"


def test_the_picture_names_the_front():
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    points = {"quick $": (0.1, 0.5), "best": (10.0, 0.7), "behind": (20.0, 0.4)}
    figure = time_accuracy(points, y_label="F1")
    shown = {text.get_text() for text in figure.axes[0].texts}
    assert {"quick $", "best"} <= shown
    assert figure.axes[0].get_ylabel() == "F1"
    losses = time_accuracy(points, greater_is_better=False, figure=pyplot.figure().subfigures())
    assert "behind" in {text.get_text() for text in losses.axes[0].texts}
    pyplot.close("all")
    with pytest.raises(ValueError, match="nothing to draw"):
        time_accuracy({})
    with pytest.raises(ValueError, match="above zero"):
        time_accuracy({"a": (0.0, 1.0)})
