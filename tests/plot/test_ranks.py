"""Diagrams of average ranks."""

import numpy as np
import pytest

from colabel.plot import critical_difference, lay_out_ranks

pytest.importorskip("matplotlib")


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_names_stand_in_order_of_rank_the_better_half_on_the_left():
    layout = lay_out_ranks({"c": 3.0, "a": 1.0, "d": 4.5, "b": 2.0, "e": 4.5}, [])
    assert [level.name for level in layout.levels] == ["a", "b", "c", "d", "e"]
    assert [level.on_left for level in layout.levels] == [True, True, True, False, False]
    assert [level.row for level in layout.levels] == [0, 1, 2, 1, 0]
    assert (layout.high, layout.n_rows, layout.n_bar_rows, layout.bars) == (5, 3, 0, ())


def test_bars_that_overlap_have_lines_of_their_own():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 12))
        ranks = {f"m{i}": float(rank) for i, rank in enumerate(rng.uniform(1, n, size=n).round(1))}
        order = sorted(ranks, key=lambda name: ranks[name])
        starts = rng.integers(0, n - 1, size=rng.integers(0, 5))
        groups = [order[start : start + 2 + int(rng.integers(0, n))] for start in starts]
        layout = lay_out_ranks(ranks, groups)
        assert len(layout.bars) == len(groups)
        for i, (start, stop, row) in enumerate(layout.bars):
            assert start == ranks[groups[i][0]]
            assert stop == ranks[groups[i][-1]]
            for other_start, other_stop, other_row in layout.bars[:i]:
                assert row != other_row or stop < other_start or other_stop < start
        places = {(level.on_left, level.row) for level in layout.levels}
        assert len(places) == n


def test_the_picture_has_every_name_and_the_critical_difference():
    ranks = {"$x$ & <b>": 1.2, "y" * 60: 2.0, "z": 2.8}
    figure = critical_difference(ranks, [["$x$ & <b>", "y" * 60]], distance=1.5)
    figure.canvas.draw()
    shown = texts(figure)
    assert any(text.startswith("$x$ & <b>  1.20") for text in shown)
    assert any("yyy…yyy" in text for text in shown)
    assert "  critical difference 1.50" in shown
    assert {"1", "2", "3"} <= set(shown)


def test_a_subfigure_is_drawn_into():
    from matplotlib import pyplot

    left, right = pyplot.figure().subfigures(1, 2)
    assert critical_difference({"a": 1.0, "b": 2.0}, [], figure=left) is left
    assert not right.axes


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="at least two methods"):
        critical_difference({"a": 1.0}, [])
    with pytest.raises(ValueError, match="'c' is in a group and has no rank"):
        critical_difference({"a": 1.0, "b": 2.0}, [["a", "c"]])
