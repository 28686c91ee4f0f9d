"""Reports: what is read from run folders, what is made of it, and the page."""

import base64
import hashlib
import html
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

from colabel.datasets import Dataset, write
from colabel.exceptions import ColabelError, MissingExtraError, UnknownNameError
from colabel.lab import Entry, PaperTable, compare, list_tables, paper_tables, register, reproduce
from colabel.lab.report import page as page_module
from colabel.lab.report import read_runs, render_page, write_report
from colabel.lab.report.drawings import draw_ranks, draw_scatter
from colabel.lab.report.kept_files import label_tables, model_pictures
from colabel.lab.report.reproduced import paper_rows, reproduced
from colabel.lab.report.standings import Place, Standing, main_measure, standings
from colabel.lab.report.text import (
    duration,
    listed,
    measure_name,
    number,
    plural,
    printable,
    seconds,
)
from colabel.lab.report.words import about_cells, describe_standing, title_of
from colabel.lab.run_folder import read_results
from lab.run_samples import write_predictions, write_run

pytest.importorskip("jinja2")


@pytest.fixture
def registry(monkeypatch):
    """A registry that may be changed."""
    list_tables()
    monkeypatch.setattr(paper_tables, "_TABLES", dict(paper_tables._TABLES))


def one(folder):
    [run] = read_runs([folder])
    return run


def words_of(run, measure="example_f1"):
    standing = next(s for s in standings(run) if s.measure == measure)
    return " ".join(describe_standing(standing, run))


# --- reading


def test_a_run_is_read_as_it_was_written(tmp_path):
    folder = write_run(tmp_path / "mine", failed={("d0", "worst"): "failed: too slow"})
    run = one(folder)
    assert (run.name, run.table, run.is_quick) == ("mine", None, False)
    assert run.data == ["d0", "d1", "d2", "d3"]
    assert run.methods == ["best", "middle", "worst"]
    rows = read_results(folder)
    assert [row.as_dict()["method"] for row in run.rows] == [row["method"] for row in rows]
    assert run.rows[1].parameters == {"C": 2}
    assert run.rows[2].result.status == "failed: too slow"
    assert run.rows[0].result.measures["lrap"] == float(rows[0]["lrap"])
    assert run.n_missing == 0
    assert run.seconds == pytest.approx(8 * 10 + 8 * 5 + 6 * 10 / 3 + 22 * 0.01)
    assert (run.day, run.version) == ("2026-01-02", "0.1.0")


def test_folders_of_tables_are_read_one_by_one(tmp_path):
    for name in ("b", "a"):
        write_run(tmp_path / "all" / name)
    (tmp_path / "all" / "predictions").mkdir()
    runs = read_runs([tmp_path / "all", tmp_path / "all" / "b"])
    assert [run.name for run in runs] == ["a", "b", "b"]


def test_a_dataset_with_several_splits_is_there_for_each(tmp_path):
    folder = write_run(tmp_path / "run", ["d0", "d1"])
    text = (folder / "results.csv").read_text()
    more = [line.replace("holdout:0.3", "cv:2") for line in text.splitlines() if "d0" in line]
    (folder / "results.csv").write_text(text + "\n".join(more) + "\n")
    run = one(folder)
    assert run.data == ["d1", "d0 (holdout:0.3)", "d0 (cv:2)"]
    assert "--split cv:2" in html.unescape(render_page([run]))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "has no results.csv"),
        ("data,fold\nyeast,0\n", "results.csv, line 2: it is not as compare writes it"),
        ("", "no cell has finished yet"),
    ],
)
def test_folders_without_results_say_so(tmp_path, content, sentence):
    if content is not None:
        (tmp_path / "results.csv").write_text(content)
    with pytest.raises(ColabelError, match=sentence):
        read_runs([tmp_path])
    with pytest.raises(ColabelError, match="is not a folder"):
        read_runs([tmp_path / "nowhere"])


def test_broken_files_are_named(tmp_path):
    folder = write_run(tmp_path / "run")
    (folder / "run.json").write_text("{")
    with pytest.raises(ColabelError, match=r"run\.json cannot be read"):
        read_runs([folder])
    (folder / "run.json").write_text("[]")
    assert one(folder).about == {}
    assert "Run on" in render_page([one(folder)])
    (folder / "results.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ColabelError, match=r"results\.csv cannot be read"):
        read_runs([folder])


# --- standings


def test_means_spreads_and_ranks_are_those_of_the_rows(tmp_path):
    run = one(write_run(tmp_path / "run", seeds=range(4)))
    rows = read_results(tmp_path / "run")
    for standing in standings(run):
        table = []
        for data in run.data:
            for method in run.methods:
                values = [
                    float(row[standing.measure])
                    for row in rows
                    if (row["data"], row["method"]) == (data, method)
                ]
                place = standing.places[data, method]
                assert place.mean == pytest.approx(np.mean(values))
                assert place.sd == pytest.approx(np.std(values, ddof=1))
                table.append(place.mean)
        table = np.array(table).reshape(len(run.data), -1)
        ranks = rankdata(-table if standing.upward else table, axis=1).mean(axis=0)
        assert [*standing.ranks.values()] == pytest.approx(ranks)
        best = table.max(axis=1) if standing.upward else table.min(axis=1)
        assert [standing.best(data) for data in run.data] == pytest.approx(best)


def test_every_empty_place_has_a_reason(tmp_path):
    run = one(
        write_run(
            tmp_path / "run",
            failed={("d1", "worst"): "failed: MemoryError: no room"},
            no_scores=("middle",),
            left_out=(("d2", "worst"),),
            methods=("best", "middle", "worst"),
        )
    )
    for standing in standings(run):
        assert len(standing.places) == 12
        for place in standing.places.values():
            assert place.known != bool(place.reason)
            assert bool(place.short) == bool(place.reason)
    lrap = next(s for s in standings(run) if s.measure == "lrap")
    assert lrap.places["d0", "middle"].reason == "it gives no scores"
    assert lrap.places["d1", "worst"].reason == "failed: MemoryError: no room"
    assert lrap.places["d2", "worst"].short == "not run"
    # No two would be left without worst: datasets go.
    assert lrap.compared == (["d0", "d3"], ["best", "worst"])
    assert lrap.unranked == {"middle": "it has no value on any dataset"}
    f1 = next(s for s in standings(run) if s.measure == "example_f1")
    assert f1.compared == (["d0", "d1", "d2", "d3"], ["best", "middle"])
    assert f1.unranked == {"worst": "it has no value on d1 and d2"}
    half = one(write_run(tmp_path / "half", left_out=(("d2", "worst"),), n_cells=24))
    assert standings(half)[0].places["d2", "worst"].short == "not yet run"


def test_the_plan_or_custom_chooses_what_comes_first(tmp_path, registry):
    register(
        PaperTable(
            "me.table1", "Mine", ("d0",), (Entry("best", "br", {"d0": 0.1}),), "hamming_loss"
        )
    )
    run = one(write_run(tmp_path / "run", ["d0"], ["best"], plan="me.table1"))
    assert (main_measure(run), run.name) == ("hamming_loss", "me.table1")
    assert main_measure(one(write_run(tmp_path / "other"))) == "example_f1"
    asked = write_run(tmp_path / "asked", measures=["accuracy_x", "lrap"])
    assert main_measure(one(asked)) == "lrap"
    assert [s.measure for s in standings(run)][:2] == ["hamming_loss", "subset_accuracy"]


# --- words


def test_one_dataset_is_judged_by_its_folds(tmp_path):
    run = one(write_run(tmp_path / "run", ["d0"], seeds=range(5)))
    assert title_of([run]) == "3 methods on d0"
    assert about_cells([run]) == "All 15 cells finished."
    words = words_of(run)
    assert words.startswith("By example F1, best is best on d0: 0.8996, 0.0997 ahead")
    assert (
        "The lead is more than chance (corrected t-test over 5 folds, p\u00a0<\u00a00.001)."
        in words
    )
    official = one(write_run(tmp_path / "o", ["d0"], split="official", seeds=(0,)))
    assert "t-test" not in words_of(official)
    alone = one(write_run(tmp_path / "alone", ["d0"], ["best"], split="cv:5"))
    assert re.fullmatch(r"By example F1, best is best on d0: 0\.\d+\.", words_of(alone))


def test_one_method_on_several_datasets_is_a_report_too(tmp_path):
    run = one(write_run(tmp_path / "run", ["d0", "d1"], ["best"]))
    assert words_of(run) == "No two methods can be compared by example F1."
    assert "best" in render_page([run])


def test_several_datasets_are_judged_by_ranks(tmp_path):
    few = words_of(one(write_run(tmp_path / "few", ["d0", "d1"])))
    assert "best has the best average rank, 1.00, over 2 datasets" in few
    assert "With so few datasets and methods no test can find a difference." in few
    many = words_of(one(write_run(tmp_path / "many", [f"d{i}" for i in range(8)])))
    assert "The methods differ (Friedman's test, p\u00a0<\u00a00.001)" in many
    assert "best is better than worst" in many
    assert "best is better than middle by more than 0.01 with probability 1.00" in many
    assert "Most often worth their time" in many
    equal = write_run(tmp_path / "equal", methods=("a", "b", "c"))
    text = (equal / "results.csv").read_text().splitlines()
    same = [line if i == 0 else re.sub(r"0\.\d{4,}", "0.5", line) for i, line in enumerate(text)]
    (equal / "results.csv").write_text("\n".join(same) + "\n")
    assert "finds no difference between the methods" in words_of(one(equal))
    assert "a, b and c share the best average rank, 2.00, over 4 datasets." in words_of(one(equal))


def test_a_shared_first_place_is_a_first_place(tmp_path):
    run = one(write_run(tmp_path / "run", ["d0", "d1"], ["a", "b", "c"]))
    values = {("d0", "b"): 0.95, ("d1", "a"): 0.95, ("d1", "b"): 0.95}
    rows = [
        replace(row, result=replace(row.result, measures={"example_f1": value}))
        if (value := values.get((row.data, row.method))) is not None
        else row
        for row in run.rows
    ]
    words = words_of(replace(run, rows=rows))
    assert "b has the best average rank, 1.25, over 2 datasets, before a (1.75) and c" in words
    assert "it is first on 2 of them." in words


def test_one_that_fails_narrows_no_comparison_of_the_others(tmp_path):
    methods, failed = [f"m{i}" for i in range(5)], {("d1", "m4"): "failed: MemoryError"}
    run = one(write_run(tmp_path / "run", methods=methods, failed=failed))
    standing = standings(run)[0]
    assert standing.compared == (["d0", "d1", "d2", "d3"], methods[:4])
    words = words_of(run)
    assert "Left out of ranks and tests: m4 (no value on d1)." in words
    assert "over 4 datasets" in words
    page = render_page([run])
    assert 'title="it has no value on d1">not ranked<' in page
    # A dataset that the run has only begun goes, and the methods stay.
    left_out = [("d3", name) for name in methods[2:]]
    half = one(write_run(tmp_path / "half", methods=methods, left_out=left_out, n_cells=40))
    assert standings(half)[0].compared == (["d0", "d1", "d2"], methods)
    assert "1 dataset with empty places left out" in words_of(half)
    # Of two, both stay.
    few = one(write_run(tmp_path / "few", methods=["a", "b"], failed={("d1", "b"): "failed: x"}))
    assert standings(few)[0].compared == (["d0", "d2", "d3"], ["a", "b"])


def test_two_methods_are_told_apart(tmp_path):
    few = words_of(one(write_run(tmp_path / "few", methods=("best", "worst"), seeds=range(4))))
    assert "The methods may not differ (Wilcoxon's test, p\u00a0=\u00a00.125, which six data" in few
    assert "best is better than worst by more than 0.01 with probability" in few
    assert "best is better by more than chance on 4 of 4 and worst on 0 (corrected t-test" in few
    data = [f"d{i}" for i in range(7)]
    many = one(write_run(tmp_path / "many", data, ("best", "worst"), split="official"))
    assert "The methods differ (Wilcoxon's test, p\u00a0=\u00a00.016)." in words_of(many)
    assert "t-test" not in words_of(many), "there are no folds"
    for measure in ("hamming_loss", "lrap"):
        assert "best is better than worst by more than 0.01 with" in words_of(many, measure)
    two = one(write_run(tmp_path / "two", data[:2], ("worst", "best"), seeds=range(4)))
    assert "worst is better by more than chance on 2 of 2 and best on 0" in words_of(two)
    assert "worst is better by more than chance on 2 of 2" in words_of(two, "hamming_loss")


def test_failed_and_missing_cells_are_counted(tmp_path):
    run = one(write_run(tmp_path / "run", failed={("d0", "best"): "failed: x"}, n_cells=30))
    assert about_cells([run]) == (
        "22 cells finished; 2 failed, with the reasons below; 6 cells had not been run when this "
        "was written."
    )


def test_numbers_are_written_as_people_do():
    assert [number(-0.12345), number(float("nan")), number(1.0, 1, sign=True)] == [
        "−0.1235",
        "",
        "+1.0",
    ]
    assert [seconds(v) for v in (0.1234, 12.34, 123.4, float("nan"))] == ["0.12", "12.3", "123", ""]
    assert duration(1.5) == "1.50 seconds"
    assert [duration(v) for v in (59, 300, 9000, 200000)] == [
        "59 seconds",
        "5.0 minutes",
        "2.5 hours",
        "2.3 days",
    ]
    assert [plural(1, "cell"), plural(12345, "cell")] == ["1 cell", "12\u202f345 cells"]
    assert [listed(["a"]), listed(["a", "b"]), listed([*"abc"])] == ["a", "a and b", "a, b and c"]
    assert listed([*"abcdefg"]) == "a, b, c, d and 3 others"
    assert measure_name("ndcg_at_5") == "NDCG at 5"
    assert printable("p\u00a0= 1\u202f000 \u202e\x07") == "p\u00a0= 1\u202f000 \\u202e\\x07"


# --- pictures


def test_pictures_stay_in_their_frames(tmp_path):
    run = one(write_run(tmp_path / "run", [f"d{i}" for i in range(6)], [f"m{i}" for i in range(9)]))
    for standing in standings(run):
        ranks = draw_ranks(standing)
        assert len(ranks.leaders) == 9
        for leader in ranks.leaders:
            assert ranks.ticks[0][0] <= leader.x <= ranks.ticks[-1][0]
            assert leader.y < ranks.height
        assert "Average ranks: m0 1.00" in ranks.words
        scatter = draw_scatter(standing, "d0")
        left, top, right, bottom = scatter.frame
        assert all(left <= dot.x <= right and top <= dot.y <= bottom for dot in scatter.dots)
        assert all(dot.on_front for dot in scatter.dots)  # better ones take longer
        assert scatter.front.count("H") == 8
        assert len(scatter.x_ticks) > 1
        assert len(scatter.y_ticks) > 1
    alone = one(write_run(tmp_path / "alone", ["d0"], ["m"], seeds=(0,)))
    assert draw_scatter(standings(alone)[0], "d0") is None
    assert draw_ranks(standings(alone)[0]) is None


def test_all_methods_of_the_front_have_their_names():
    """The last is at the top and on the right, and another one is in the place below it."""
    found = {"br": (0.009, 0.607), "br+global": (0.077, 0.649), "sml": (0.95, 0.647)}
    found |= {"cc": (0.025, 0.57), "quad-mincut": (2.5, 0.6491)}
    places = {("d", m): Place(mean, 0.0, 1, 0, seconds=s) for m, (s, mean) in found.items()}
    scatter = draw_scatter(Standing("example_f1", ["d"], [*found], places), "d")
    front = {dot.name: dot.label for dot in scatter.dots if dot.on_front}
    assert [*front] == ["br", "br+global", "quad-mincut"]
    assert all(front.values())


# --- labels and models


def test_labels_are_counted_over_folds(tmp_path):
    folder = write_run(tmp_path / "run")
    write_predictions(folder, ["sun", "never"], ["best", "worst"])
    [table] = label_tables(one(folder))
    assert (table.data, [*table.label_names]) == ("d0", ["sun", "never"])
    truth, labels = [], []
    for seed in (0, 1):
        with np.load(folder / "predictions" / f"{seed}-1.npz") as file:
            truth.append(file["truth"])
            labels.append(file["labels"])
    truth, labels = np.concatenate(truth), np.concatenate(labels)
    expected = 2 * (truth & labels).sum(0) / (truth.sum(0) + labels.sum(0))
    assert table.f1[:, 1] == pytest.approx(expected)
    assert table.f1[:, 0].tolist() == [1.0, 1.0]
    assert table.n_true.tolist() == truth.sum(0).tolist()
    assert "Label by label" in render_page([one(folder)])
    (folder / "predictions" / "0-0.npz").write_bytes(b"no archive")
    with pytest.raises(ColabelError, match=r"0-0\.npz cannot be read"):
        label_tables(one(folder))


def test_kept_models_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, [0, 0, 1]] + 0.3 * rng.normal(size=(60, 3)) > 0).astype(np.int8)
    data = Dataset(X, Y, tuple("abcd"), ("<b>", "y", "z"), "small")
    write(data, tmp_path / "small.npz")
    name = str(tmp_path / "small.npz")
    methods = ["br", "sml", "cbm-lr"]
    compare([name], methods, split="holdout:0.3", run_dir=tmp_path / "run", keep=["models"])
    pictures = model_pictures(one(tmp_path / "run"))
    assert [picture.caption.split(" ")[0] for picture in pictures] == ["sml", "cbm-lr"]
    for picture in pictures:
        kind, _, content = picture.uri.partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert b"<svg" in base64.b64decode(content)
    page = render_page([one(tmp_path / "run")])
    assert page.count('<img class="picture"') == 2
    for path in (tmp_path / "run" / "models").iterdir():
        path.write_bytes(b"damaged")
    assert model_pictures(one(tmp_path / "run")) == []


# --- tables of papers


def generated(name, split="train", *, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    rows = slice(0, 40) if split == "train" else slice(40, None)
    return Dataset(X, (X > 0).astype(np.int8), tuple("abc"), tuple("xyz"), name).take(rows)


@pytest.fixture
def paper(registry, tmp_path):
    """A run of a plan: numbers above, below and equal to ours, and data that stand in."""
    plan = PaperTable(
        "me-2020.table1",
        "Mine <i>",
        ("made", "other", "gone"),
        (
            Entry("BR", "br", {"made": 10.0, "theirs": 50.0, "gone": 1.0}),
            Entry("RML", "rml", {"made": 99.9}),
        ),
        "hamming_loss",
        as_loss=True,
        percent=True,
        seeds=(0, 1),
        load_data=generated,
        stand_ins={"other": "theirs"},
        unavailable={"gone": "nobody has it"},
        note="Drawn & measured.",
    )
    plan = replace(plan, data=("made", "other"))
    register(replace(plan, data=("made", "other", "gone")))
    reproduce(plan, tmp_path / plan.name)
    return tmp_path / plan.name


def test_ours_stands_beside_the_papers(paper):
    run = one(paper)
    found = reproduced(run)
    rows = {(row.data, row.entry): row for row in paper_rows(found)}
    accuracy = 100 * (1 - np.mean([r.result.measures["hamming_loss"] for r in run.rows[:1]]))
    first = rows["made", "BR"]
    assert first.ours == pytest.approx(found.ours["made", "BR"])
    assert abs(first.ours - accuracy) < 20
    assert first.difference == pytest.approx(first.ours - 10.0)
    assert first.verdict == "better"
    assert rows["made", "RML"].verdict == "worse"
    assert rows["other", "BR"].difference is None
    assert rows["other", "BR"].short == "different data"
    assert rows["other", "RML"].short == "different data"
    assert rows["gone", "BR"].ours is None
    assert rows["gone", "BR"].reason == "nobody has it"
    page = render_page([run])
    assert "▲ +" in page
    assert "▼ −" in page
    assert "Mine &lt;i&gt;" in page
    assert "Drawn &amp; measured." in page
    assert "nobody has it" in page


def test_pictures_of_plans_are_inside_the_page(paper):
    (paper / "table1.svg").write_text("<svg xmlns='x'><script>1</script></svg>")
    page = render_page([one(paper)])
    assert "<script>1" not in page
    assert base64.b64encode((paper / "table1.svg").read_bytes()).decode() in page


def test_small_versions_are_recognised(tmp_path, registry):
    entries = (Entry("a", "br", {}), Entry("b", "br", {}))
    plan = PaperTable("me.table1", "Mine", ("d0", "d1"), entries, "example_f1", seeds=(0, 1))
    register(replace(plan, quick_data=("d0",)))
    whole = one(write_run(tmp_path / "whole", ["d0", "d1"], ["a", "b"], plan="me.table1"))
    small = one(write_run(tmp_path / "small", ["d0"], ["a", "b"], (0,), plan="me.table1"))
    said = one(write_run(tmp_path / "said", ["d0"], ["a"], plan="me.table1", quick=True))
    assert [run.is_quick for run in (whole, small, said)] == [False, True, True]
    assert small.table.data == ("d0",)
    assert "colabel reproduce me.table1 --quick" in render_page([small])


def test_bounds_are_shown_as_shares(paper):
    plan = replace(paper_tables._TABLES["me-2020.table1"], bound=lambda name, seed: 0.1)
    register(replace(plan, published_bound={"made": 95.0}))
    page = render_page([one(paper)])
    assert "paper’s, % of bound" in page


def test_traces_have_a_table_too(tmp_path, registry):
    entries = (Entry("gap", "br", {}),)
    register(
        PaperTable("me.figure2", "Traced", ("d",), entries, "gap", trace=lambda name, seed: {})
    )
    (tmp_path / "me.figure2").mkdir()
    (tmp_path / "me.figure2" / "traces.csv").write_text(
        "data,quantity,iteration,value\nd,gap,1,0.5\nd,gap,2,0.25\n"
    )
    [run] = read_runs([tmp_path])
    assert reproduced(run).ours == {("d", "gap"): 0.375}
    assert "0.3750" in render_page([run])


# --- the page


def test_the_page_is_one_file_that_allows_nothing_else(tmp_path):
    write_run(tmp_path / "run")
    write_report([tmp_path / "run"], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page
    assert "https://" not in page
    policy = html.unescape(re.search(r'Security-Policy" content="([^"]*)"', page)[1])
    for tag in ("script", "style"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert " style=" not in page
    assert not [*tmp_path.glob("*.part")]


def test_several_runs_make_one_page(tmp_path):
    runs = read_runs([write_run(tmp_path / "a"), write_run(tmp_path / "b", ["d0"])])
    page = render_page(runs, title="Mine")
    assert "All runs" in page
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    for target in re.findall(r'(?:href="#|aria-labelledby="|data-table=")([^"]+)', page):
        assert target in ids


def test_all_cells_failed_is_a_page_too(tmp_path):
    failed = {("d0", "best"): "failed: it broke"}
    run = one(write_run(tmp_path / "run", ["d0"], ["best"], failed=failed))
    page = render_page([run])
    assert "No cell has a result" in page
    assert "failed: it broke" in page


def test_without_jinja2_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    page_module._environment.cache_clear()
    with pytest.raises(MissingExtraError, match=r'a report page needs an extra.*"colabel\[lab\]"'):
        render_page([one(write_run(tmp_path / "run"))])
    monkeypatch.undo()
    page_module._environment.cache_clear()


def test_formats_go_by_name_or_ending(tmp_path):
    run = write_run(tmp_path / "run", ["d0"])
    for name, begin in (("a.md", "# 3 methods"), ("a.csv", "run,data"), ("a.tex", "% needs")):
        write_report([run], tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)
    write_report([run], tmp_path / "other", "latex")
    assert (tmp_path / "other").read_text() == (tmp_path / "a.tex").read_text()
    with pytest.raises(UnknownNameError, match="does not say which format"):
        write_report([run], tmp_path / "a.docx")
    with pytest.raises(UnknownNameError, match="'pdf' is no format"):
        write_report([run], tmp_path / "a.html", "pdf")


def test_run_json_with_anything_in_it_is_text(tmp_path):
    about = {"started": "<b>", "versions": {"<i>": "<u>", "colabel": "<s>"}}
    page = render_page([one(write_run(tmp_path / "run", **about))])
    for tag in ("b", "i", "u", "s"):
        assert f"<{tag}>" not in page
