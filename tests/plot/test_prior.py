"""``plot.label_prior`` draws A in two parts: its mean apart, the rest as a graph and as a map."""

import subprocess
import sys
from itertools import combinations, pairwise
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy import sparse

from colabel import plot
from colabel.exceptions import IncompatibleError, MissingExtraError
from colabel.plot import _prior

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def symmetric(n_labels, seed=0, shift=0.3):
    A = np.random.default_rng(seed).normal(shift, 1, size=(n_labels, n_labels))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 0.0)
    return A


def centred(A):
    """The slow, obvious split: the mean over pairs, and what is left of each pair."""
    A = np.asarray(A, dtype=float)
    pairs = list(combinations(range(len(A)), 2))
    mean = sum(A[i, j] for i, j in pairs) / len(pairs)
    return mean, {(i, j): A[i, j] - mean for i, j in pairs}


def panels(figure):
    """The graph, the map and the bar of the uniform part."""
    axes = [axis for axis in figure.axes if axis.get_label() != "<colorbar>"]
    assert len(axes) == 3
    return axes


def order_of(figure, names=None):
    """Labels in the order of the map (every label must be named)."""
    ticks = [tick.get_text() for tick in panels(figure)[1].get_yticklabels()]
    assert ticks == [tick.get_text() for tick in panels(figure)[1].get_xticklabels()]
    return [names.index(tick) if names else int(tick.removeprefix("label ")) for tick in ticks]


def drawn(figure):
    """Pairs of the graph, strongest first, with colour and width, by where their ends lie."""
    graph = panels(figure)[0]
    (lines,) = (found for found in graph.collections if found.get_label() == "pairs")
    (dots,) = (found for found in graph.collections if found is not lines)
    places = np.asarray(dots.get_offsets())
    for path, colour, width in zip(
        reversed(lines.get_paths()),
        reversed(lines.get_edgecolors()),
        reversed(lines.get_linewidths()),
        strict=True,
    ):
        ends = [int(np.argmin(((places - end) ** 2).sum(axis=1))) for end in path.vertices[[0, -1]]]
        np.testing.assert_allclose(places[ends], path.vertices[[0, -1]])
        yield tuple(sorted(ends)), to_hex(colour), width


def mapped(figure):
    return np.ma.filled(panels(figure)[1].images[0].get_array(), np.nan)


@pytest.mark.parametrize("n_labels", [2, 3, 5, 14, 53])
@pytest.mark.parametrize("shift", [-4.0, -0.2, 0.0, 0.5, 4.0])
def test_graph_has_the_strongest_pairs_in_the_colour_of_their_sign(n_labels, shift):
    A = symmetric(n_labels, seed=n_labels, shift=shift)
    _, rest = centred(A)
    wanted = sorted(rest, key=lambda pair: -abs(rest[pair]))[: int(np.ceil(1.5 * n_labels))]
    wanted = wanted if n_labels > 2 else []  # one pair is its own mean
    got = list(drawn(plot.label_prior(A)))
    assert [pair for pair, _, _ in got] == wanted
    for pair, colour, _ in got:
        assert colour == (_prior.REPELS if rest[pair] > 0 else _prior.ATTRACTS)
    assert all(one >= other for (*_, one), (*_, other) in pairwise(got))


def test_widths_grow_with_strength():
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = 3.0
    A[2, 3] = A[3, 2] = -3.0
    A[0, 2] = A[2, 0] = 1.5
    A[1, 3] = A[3, 1] = -1.5
    (_, _, first), (_, _, second), (_, _, third), (_, _, fourth) = drawn(plot.label_prior(A))
    assert first == pytest.approx(second)
    assert third == pytest.approx(fourth)
    assert first - 0.3 == pytest.approx(2 * (third - 0.3))


@pytest.mark.parametrize("n_edges", [0, 1, 7, 1000])
def test_number_of_edges_can_be_set_and_is_said(n_edges):
    figure = plot.label_prior(symmetric(6), n_edges=n_edges)
    assert len(list(drawn(figure))) == min(n_edges, 15)
    title = {0: "no pairs to draw", 1000: "all pairs"}
    expected = title.get(n_edges, f"the {n_edges} strongest of 15 pairs")
    assert panels(figure)[0].get_title() == expected


def test_pairs_that_are_not_coupled_are_no_edges():
    A = np.zeros((6, 6))
    for i, j, value in [(0, 1, -2.0), (2, 5, -1.0), (3, 4, 0.5)]:
        A[i, j] = A[j, i] = value
    pairs = [pair for pair, _, _ in drawn(plot.label_prior(A, n_edges=15))]
    assert pairs == [(0, 1), (2, 5), (3, 4)]


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 9, 53, 80])
def test_map_is_the_matrix_less_its_mean_in_an_order_that_is_a_permutation(n_labels):
    A = symmetric(n_labels, seed=n_labels)
    figure = plot.label_prior(A)
    order = order_of(figure)
    assert sorted(order) == list(range(n_labels))
    shown = mapped(figure)
    assert np.isnan(np.diag(shown)).all()
    rest = centred(A)[1] if n_labels > 1 else {}
    for (place, i), (other, j) in combinations(enumerate(order), 2):
        expected = rest[min(i, j), max(i, j)]
        assert shown[place, other] == pytest.approx(expected, abs=1e-12)
        assert shown[other, place] == pytest.approx(expected, abs=1e-12)
    low, high = panels(figure)[1].images[0].get_clim()
    assert low == -high
    assert high == pytest.approx(max(map(abs, rest.values()), default=1.0) or 1.0)


def test_graph_and_map_have_one_order_from_the_top_clockwise():
    figure = plot.label_prior(symmetric(12))
    names = sorted(
        (text.get_position() for text in panels(figure)[0].texts),
        key=lambda place: (np.pi / 2 - np.arctan2(place[1], place[0]) + 1e-9) % (2 * np.pi),
    )
    by_place = {text.get_position(): text.get_text() for text in panels(figure)[0].texts}
    around = [int(by_place[place].removeprefix("label ")) for place in names]
    assert around == order_of(figure)
    dots = np.asarray(panels(figure)[0].collections[1].get_offsets())[around]
    along = np.diff(np.unwrap(np.arctan2(dots[:, 1], dots[:, 0])))
    np.testing.assert_allclose(along, -2 * np.pi / 12)


def test_labels_that_attract_one_another_stand_together():
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat(np.arange(4), 6))
    A = np.where(groups[:, None] == groups, -1.0, 0.4) + 0.05 * symmetric(24, shift=0.0)
    along = groups[order_of(plot.label_prior(A))]
    assert np.count_nonzero(np.diff(along)) == 3


@pytest.mark.parametrize("shift", [-2.0, -0.1, 0.1, 2.0])
def test_uniform_part_is_shown_apart(shift):
    A = symmetric(7, shift=shift)
    mean, rest = centred(A)
    share = mean**2 * 21 / (mean**2 * 21 + sum(value**2 for value in rest.values()))
    bar = panels(plot.label_prior(A))[2]
    dark, pale = bar.patches
    assert dark.get_width() == pytest.approx(share)
    assert (pale.get_x(), pale.get_width()) == pytest.approx((share, 1 - share))
    text = bar.get_title(loc="left").replace("−", "-")
    assert f"a = {mean:+.3g}: {100 * share:.1f} % of |A|²" in text
    assert text.endswith(f"is worth {'less' if mean > 0 else 'more'} than the one before")


@pytest.mark.parametrize("a", [-0.7, 0.1, 3.0])
def test_what_is_said_of_further_labels_is_true_of_the_score(a):
    A = np.full((6, 6), a)
    text = panels(plot.label_prior(A))[2].get_title(loc="left")
    np.fill_diagonal(A, 0.0)
    labelings = 2.0 * np.tri(7, 6, -1) - 1  # 0, 1, ... 6 labels on
    worth = np.diff([-y @ A @ y / 2 for y in labelings])
    assert (np.diff(worth) < 0).all() == ("worth less" in text)
    assert (np.diff(worth) > 0).all() == ("worth more" in text)


def test_a_shift_of_all_pairs_changes_the_uniform_part_only():
    A = symmetric(9)
    figures = [plot.label_prior(A), plot.label_prior(A + 5.0)]
    np.testing.assert_allclose(*map(mapped, figures), atol=1e-12)
    assert len({tuple(pair for pair, _, _ in drawn(figure)) for figure in figures}) == 1
    small, large = (panels(figure)[2].patches[0].get_width() for figure in figures)
    assert small < 0.5 < large


def test_diagonal_is_ignored():
    A = symmetric(5)
    figures = plot.label_prior(A), plot.label_prior(A + np.diag([9.0, 1, 1, 1, -4]))
    np.testing.assert_array_equal(*map(mapped, figures))


@pytest.mark.parametrize(
    ("source", "sign"),
    [
        (lambda A: SimpleNamespace(prior_=A, fit=None), 1),
        (lambda A: SimpleNamespace(prior_=A, couplings_=A, fit=None), 1),
        (lambda A: SimpleNamespace(couplings_=A, fit=None), -1),
        (lambda A: SimpleNamespace(couplings_=sparse.csr_array(A), fit=None), -1),
        (lambda A: A.tolist(), 1),
        (sparse.csr_matrix, 1),
    ],
)
def test_estimators_and_matrices_are_read_with_their_sign(source, sign):
    A = symmetric(5)
    expected, got = plot.label_prior(sign * A), plot.label_prior(source(A))
    np.testing.assert_allclose(mapped(got), mapped(expected))
    assert list(drawn(got)) == list(drawn(expected))


def test_a_fitted_estimator_is_drawn_as_attraction():
    from colabel.structured import PairwiseCRF

    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, size=(400, 3))
    Y[:, 1] = np.where(rng.random(400) < 0.8, Y[:, 0], Y[:, 1])
    Y[:, 2] = np.where(rng.random(400) < 0.6, 1 - Y[:, 0], Y[:, 2])
    model = PairwiseCRF().fit(rng.normal(size=(400, 2)), Y)
    assert model.couplings_[0, 1] > 1 > -1 > model.couplings_[0, 2]
    colours = {pair: colour for pair, colour, _ in drawn(plot.label_prior(model))}
    assert colours[0, 1] == _prior.ATTRACTS
    assert colours[0, 2] == _prior.REPELS


def test_input_is_left_as_it_was():
    model = SimpleNamespace(prior_=symmetric(4) + np.eye(4))
    before = model.prior_.copy()
    plot.label_prior(model)
    np.testing.assert_array_equal(model.prior_, before)


def test_names_come_from_the_call_the_estimator_or_nowhere():
    A = symmetric(3)
    model = SimpleNamespace(prior_=A, label_names_in_=np.array(["$x", "b_2", "c$"], dtype=object))
    assert sorted(order_of(plot.label_prior(model), ["$x", "b_2", "c$"])) == [0, 1, 2]
    assert sorted(order_of(plot.label_prior(model, label_names="uvw"), list("uvw"))) == [0, 1, 2]
    assert sorted(order_of(plot.label_prior(A))) == [0, 1, 2]
    long = plot.label_prior(A, label_names=["an extraordinarily long name 1", "b", "c"])
    (cut,) = (t.get_text() for t in panels(long)[1].get_yticklabels() if len(t.get_text()) > 1)
    assert cut == "an extraor…long name 1"


@pytest.mark.parametrize(
    ("A", "attracts", "repels"),
    [
        (symmetric(5), "attracts (A − a < 0)", "repels (A − a > 0)"),
        (np.abs(symmetric(5)), "repels less than the mean pair", "repels more"),
        (-np.abs(symmetric(5)), "attracts more than the mean pair", "attracts less"),
    ],
)
def test_legend_does_not_promise_a_sign_that_the_matrix_has_not(A, attracts, repels):
    legend = panels(plot.label_prior(A))[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [attracts, repels]
    colours = [to_hex(line.get_color()) for line in legend.get_lines()]
    assert colours == [_prior.ATTRACTS, _prior.REPELS]


@pytest.mark.parametrize(
    ("A", "words", "n_bars"),
    [
        ([[0.0]], "one label has no pairs", 0),
        ([[7.0]], "one label has no pairs", 0),
        (np.zeros((4, 4)), "A = 0: no pair attracts or repels", 0),
        (np.full((6, 6), 0.1), "a = +0.1: 100.0 % of |A|²", 2),
        (np.full((7, 7), -1e-200), "a = −1e−200: 100.0 % of |A|²", 2),
        ([[0, -3.0], [-3.0, 0]], "a = −3: 100.0 % of |A|²", 2),
    ],
)
def test_degenerate_priors_have_no_edges_and_say_why(A, words, n_bars):
    figure = plot.label_prior(A)
    figure.canvas.draw()
    assert not list(drawn(figure))
    assert panels(figure)[0].get_title() == "no pairs to draw"
    assert words in panels(figure)[2].get_title(loc="left")
    assert len(panels(figure)[2].patches) == n_bars
    assert not np.nan_to_num(mapped(figure)).any()
    assert order_of(figure) == list(range(len(A)))


def test_a_prior_of_mean_zero_does_not_see_the_number_of_labels():
    A = np.array([[0, 1, -1], [1, 0, 0], [-1, 0, 0]])
    text = panels(plot.label_prior(A))[2].get_title(loc="left")
    assert text.endswith("0.0 % of |A|²; A does not see how many labels are on")


@pytest.mark.parametrize(("n_labels", "step"), [(80, 1), (81, 2), (200, 3)])
def test_names_are_thinned_out_where_there_are_too_many_and_it_is_said(n_labels, step):
    figure = plot.label_prior(symmetric(n_labels))
    graph, table, _ = panels(figure)
    assert len(graph.texts) == len(table.get_yticklabels()) == -(-n_labels // step)
    assert (f"one label in {step} is named" in table.get_title()) == (step > 1)
    assert mapped(figure).shape == (n_labels, n_labels)


def boxes(figure):
    """Where each text that is drawn lies, in pixels."""
    figure.canvas.draw()
    for axis in figure.axes:
        artists = [axis.title, axis._left_title, *axis.texts]
        if axis.axison:
            artists += [*axis.get_xticklabels(), *axis.get_yticklabels(), axis.yaxis.label]
        if axis.get_legend() is not None:
            artists += [axis.get_legend().get_title(), *axis.get_legend().get_texts()]
        yield from ((text, text.get_window_extent()) for text in artists if text.get_text())


@pytest.mark.parametrize(
    ("n_labels", "long"), [(1, 0), (5, 0), (5, 1), (14, 1), (53, 0), (53, 1), (200, 1)]
)
def test_names_are_apart_and_inside_the_figure(n_labels, long):
    names = [f"{'quite a long name, ' * long}no. {m}" for m in range(n_labels)]
    figure = plot.label_prior(symmetric(n_labels), label_names=names)
    for text, box in boxes(figure):
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text
    graph, table, _ = panels(figure)
    for texts in (graph.texts, table.get_yticklabels(), table.get_xticklabels()):
        anchors = np.array([t.get_transform().transform(t.get_position()) for t in texts])
        line = texts[0].get_fontsize() * figure.dpi / 72
        apart = np.sqrt((np.diff(anchors, axis=0) ** 2).sum(axis=1))
        assert (apart >= line).all(), f"{apart.min():.1f} pixels for a line of {line:.1f}"


@pytest.mark.parametrize("n_labels", [2, 6, 14, 53])
@pytest.mark.parametrize("sign", [-1, 1])
def test_names_of_the_graph_lie_on_neither_title_nor_legend(n_labels, sign):
    figure = plot.label_prior(sign * np.abs(symmetric(n_labels)))
    figure.canvas.draw()
    graph = panels(figure)[0]
    title, legend = graph.title.get_window_extent(), graph.get_legend().get_window_extent()
    for text in graph.texts:
        box = text.get_window_extent()
        assert box.y1 <= title.y0 + 1, text
        assert box.y0 >= legend.y1 - 1, text


def test_a_figure_of_the_callers_is_drawn_into():
    mine = plt.figure(figsize=(12, 8), layout="constrained")
    assert plot.label_prior(symmetric(6), figure=mine) is mine
    left, _ = plt.figure(figsize=(20, 8), layout="constrained").subfigures(1, 2)
    assert plot.label_prior(symmetric(6), figure=left) is left
    assert plt.get_fignums() == [1, 2]


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([1.0, 2.0], r"square matrix, not an array of shape \(2,\)"),
        (np.zeros((2, 3)), r"square matrix, not an array of shape \(2, 3\)"),
        (np.zeros((0, 0)), r"square matrix, not an array of shape \(0, 0\)"),
        ([[0, np.nan], [np.nan, 0]], "not finite"),
        ([[0, 1.0], [2.0, 0]], r"symmetric, and this matrix is not"),
    ],
)
def test_bad_matrices_get_one_clear_sentence(A, message):
    with pytest.raises(ValueError, match=message):
        plot.label_prior(A)


def test_bad_calls_get_one_clear_sentence():
    with pytest.raises(ValueError, match="1 names for 2 labels"):
        plot.label_prior(np.zeros((2, 2)), label_names=["a"])
    for wrong in (-1, 2.5, True, "all"):
        with pytest.raises(ValueError, match="n_edges must be an integer of at least 0"):
            plot.label_prior(np.zeros((2, 2)), n_edges=wrong)
    with pytest.raises(IncompatibleError, match="neither prior_ nor couplings_"):
        plot.label_prior(SimpleNamespace(fit=None))
    assert plt.get_fignums() == []


def test_a_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "colabel\[lab\]"'):
        plot.label_prior(np.zeros((2, 2)))


def test_importing_plot_does_not_load_matplotlib():
    code = "import colabel.plot, sys; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
