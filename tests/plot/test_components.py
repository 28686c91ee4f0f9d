"""``plot.components`` draws what ``explain`` says, and nothing lies on top of anything else."""

import subprocess
import sys
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from scipy.special import logit

from colabel import plot
from colabel.exceptions import MissingExtraError
from colabel.mixture import explain
from colabel.scores import Mixture

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


class Stub:
    def __init__(self, weights, probabilities, names=None):
        self.table = Mixture([np.log(weights)], [logit(probabilities)])
        if names is not None:
            self.label_names_in_ = names

    def predict_joint(self, X):
        return self.table


def stub(n_components, n_labels, seed=0, names=None):
    rng = np.random.default_rng(seed)
    probabilities = np.clip(rng.beta(0.3, 0.6, size=(n_components, n_labels)), 1e-3, 0.999)
    return Stub(rng.dirichlet(5 * np.ones(n_components)), probabilities, names)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def panels(figure):
    """Bar panels, the table of correlations, and the text, in order of drawing."""
    axes = [axis for axis in figure.axes if axis.get_label() != "<colorbar>"]
    bars = [axis for axis in axes if axis.patches]
    (table,) = (axis for axis in axes if axis.images)
    (text,) = (axis for axis in axes if axis.get_title(loc="left") == "why")
    return bars, table, text


def test_bars_are_the_probabilities_of_the_influential_components():
    model = stub(6, 5)
    story = explain(model, [0.0])
    shown = story.influential(3)
    bars, table, _ = panels(plot.components(model, [0.0], n_components=3))
    assert len(bars) == 4
    names = [tick.get_text() for tick in bars[0].get_yticklabels()]
    kept = [story.names.index(name) for name in names]
    for axis, values in zip(bars, [*story.probabilities[shown], story.marginals], strict=True):
        np.testing.assert_allclose([bar.get_width() for bar in axis.patches], values[kept])
        dark = [bar.get_facecolor() == bars[0].patches[0].get_facecolor() for bar in axis.patches]
        assert dark == [story.mode[m] == story.mode[kept[0]] for m in kept]
    for axis, k in zip(bars[:3], shown, strict=True):
        title = f"$\\pi$ = {story.weights[k]:.2f}\n{story.shares[k]:.0%} of the set"
        assert axis.get_title() == title
    drawn = np.ma.filled(table.images[0].get_array(), 0.0)
    expected = story.correlations[np.ix_(kept, kept)]
    np.testing.assert_allclose(drawn, expected - np.eye(len(kept)), atol=1e-12)


def test_improbable_labels_and_components_are_left_out():
    probabilities = np.full((3, 30), 0.001)
    probabilities[0, :3] = [0.9, 0.8, 0.3]
    probabilities[1, 4] = 0.2
    figure = plot.components(Stub([0.61, 0.385, 0.005], probabilities), [0.0])
    bars, _, _ = panels(figure)
    assert len(bars) == 3  # two components and the marginals
    names = [tick.get_text() for tick in bars[0].get_yticklabels()]
    assert set(names) == {"label 0", "label 1", "label 2", "label 4"}
    assert "4 of 30 labels shown" in _headline(figure)


def _headline(figure):
    return figure.subfigs[0].get_suptitle()


def test_light_components_that_answer_for_the_set_are_drawn():
    weights = np.array([*np.full(58, 0.0168), 0.0128, 0.0128])
    probabilities = np.vstack([np.full((58, 8), 0.5), np.full((2, 8), 0.99)])
    figure = plot.components(Stub(weights / weights.sum(), probabilities), [0.0])
    bars, _, _ = panels(figure)
    assert [axis.get_title() for axis in bars[:-1]] == ["$\\pi$ = 0.01\n43% of the set"] * 2


def test_labels_of_the_set_come_before_others_where_there_are_too_many():
    probabilities = np.full((1, 60), 0.45)
    probabilities[0, 50:] = 0.6
    bars, _, _ = panels(plot.components(Stub([1.0], probabilities), [0.0]))
    names = [tick.get_text() for tick in bars[0].get_yticklabels()]
    assert len(names) == 16
    assert {f"label {m}" for m in range(50, 60)} <= set(names)


def test_labels_that_reasons_speak_of_are_shown_where_there_are_too_many():
    model = stub(3, 60, seed=2)
    story = explain(model, [0.0])
    assert story.mode.sum() > 16
    assert story.marginals[story.surprising[0]] < np.sort(story.marginals)[-16]
    bars, _, text = panels(plot.components(model, [0.0]))
    names = [tick.get_text() for tick in bars[0].get_yticklabels()]
    assert len(names) == 16
    spoken = [story.names[m] for m in story.surprising[:8]]
    assert set(spoken) <= set(names)
    assert text.texts[0].get_text().startswith(f"{spoken[0]} is ")


def test_an_empty_set_is_drawn_and_said():
    figure = plot.components(Stub([1.0], [[0.01, 0.02]]), [0.0])
    assert "most probable set (empty): p = 0.97" in _headline(figure)
    bars, _, text = panels(figure)
    assert [tick.get_text() for tick in bars[0].get_yticklabels()] == ["label 1"]
    assert "Every label of the set is likelier than not" in text.texts[0].get_text()


def test_reasons_are_written_as_far_as_there_is_room():
    model = stub(8, 40, names=[f"a long name of a label, number {m}" for m in range(40)])
    story = explain(model, [0.0])
    assert len(story.reasons) > 3
    written = panels(plot.components(model, [0.0]))[2].texts[0].get_text()
    words = " ".join(written.split())
    n_written = sum(reason in words for reason in story.reasons)
    assert words.startswith(story.reasons[0])
    assert words.endswith(f"... and {len(story.reasons) - n_written} more")


def test_long_names_are_cut_in_the_middle_and_dollars_are_no_mathematics():
    names = ["label name far too long: alpha", "label name far too long: omega", r"$\nope$"]
    figure = plot.components(Stub([1.0], [[0.9, 0.8, 0.7]], names), [0.0])
    ticks = [tick.get_text() for tick in panels(figure)[0][0].get_yticklabels()]
    assert ticks == ["label name…long: alpha", "label name…long: omega", r"\$\nope\$"]
    figure.canvas.draw()


def boxes(figure):
    """Where each visible text lies."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    for axis in figure.axes:
        artists = [axis.title, axis._left_title, *axis.texts]
        if axis.axison:
            artists += [*axis.get_xticklabels(), *axis.get_yticklabels()]
        for artist in artists:
            # Panels that share an axis keep empty labels at the same place.
            if artist.get_text() and artist.get_visible() and artist.get_window_extent().width:
                yield artist.get_text(), artist.get_window_extent(renderer)
    for part in figure.subfigs:
        if part._suptitle is not None:
            yield part.get_suptitle(), part._suptitle.get_window_extent(renderer)


@pytest.mark.parametrize(("n_components", "n_labels"), [(1, 1), (2, 3), (4, 6), (4, 7), (8, 60)])
def test_no_text_lies_on_another_or_outside(n_components, n_labels):
    names = [f"quite a long label name no. {m}" for m in range(n_labels)]
    figure = plot.components(stub(n_components, n_labels, names=names), [0.0])
    placed = list(boxes(figure))
    assert len(placed) > 8
    for (one, a), (other, b) in combinations(placed, 2):
        width = min(a.x1, b.x1) - max(a.x0, b.x0)
        height = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert not (width > 1 and height > 1), f"{one!r} lies on {other!r}"
    whole = figure.bbox
    for text, box in placed:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= whole.x1 + 1, text
        assert box.y1 <= whole.y1 + 1, text


def test_a_figure_of_the_callers_is_drawn_into():
    mine = plt.figure(figsize=(12, 8), layout="constrained")
    assert plot.components(stub(3, 4), [0.0], figure=mine) is mine
    left, _ = plt.figure(figsize=(20, 8), layout="constrained").subfigures(1, 2)
    assert plot.components(stub(3, 4), [0.0], figure=left) is left
    assert plt.get_fignums() == [1, 2]


def test_bad_calls_get_one_clear_sentence():
    with pytest.raises(ValueError, match="n_components must be a whole number"):
        plot.components(stub(2, 2), [0.0], n_components=0)
    with pytest.raises(ValueError, match="1 names for 2 labels"):
        plot.components(stub(2, 2), [0.0], labels=["a"])


def test_a_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "colabel\[lab\]"'):
        plot.components(stub(2, 2), [0.0])


def test_importing_plot_does_not_load_matplotlib():
    code = "import colabel.plot, sys; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
