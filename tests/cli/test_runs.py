"""compare and reproduce: the files they write, the tables they print, what becomes of failures."""

import csv
import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import colabel
from cli.samples import COLUMNS, LABELS, MEASURES
from colabel.datasets import Dataset
from colabel.lab import methods, paper_tables, read_results
from colabel.lab.paper_tables import Entry, PaperTable


class Broken(colabel.BinaryRelevance):
    def fit(self, X, y, **params):
        raise RuntimeError("the machine\nis on [red]fire")


@pytest.fixture
def broken(monkeypatch):
    """A registered method that fails."""
    method = methods.Method(Broken, "none", "always fails")
    monkeypatch.setitem(methods.METHODS, "broken", method)


@pytest.fixture
def own_plans(monkeypatch):
    """An empty registry of tables; that of the papers comes back afterwards."""
    paper_tables.list_tables()
    monkeypatch.setattr(paper_tables, "_TABLES", {})


@pytest.fixture
def plan(own_plans, files):
    """A registered table with known numbers, on data that are there and data that are not."""
    here = str(files / "small.npz")
    return paper_tables.register(
        PaperTable(
            name="test-2020.table1",
            title="A [test]",
            data=(here, "enron"),
            quick_data=(here,),
            entries=(
                Entry("theirs", "br", {here: 0.25, "enron": 0.5}, params={"C": 2.0}),
                Entry("ours", "powset", {here: 0.75}, space={"estimator__C": (0.1, 1.0)}),
            ),
            measure="hamming_loss",
            split="holdout:0.5",
            seeds=(0, 1),
            note="Only a [test].",
        )
    )


def results(folder):
    with (folder / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measures(rows):
    return [{name: row[name] for name in MEASURES} for row in rows]


def test_results_have_the_columns_of_the_contract_and_a_row_a_cell(run, files, tmp_path):
    outcome = run(
        "compare", files / "small.csv", files / "other.csv", *LABELS, "-m", "br, br+top_1",
        "--split", "cv:2", "--seeds", 2, "-o", "runs/one",
    )  # fmt: skip
    assert (outcome.code, outcome.err) == (0, "")
    rows = results(tmp_path / "runs" / "one")
    assert list(rows[0]) == COLUMNS + MEASURES
    cells = [(r["data"], r["seed"], r["fold"], r["method"]) for r in rows]
    assert cells == [
        (str(files / name), seed, fold, method)
        for name in ("small.csv", "other.csv")
        for seed in "01"
        for fold in "01"
        for method in ("br", "br+top_1")
    ]
    for row in rows:
        assert (row["split"], row["parameters"], row["status"]) == ("cv:2", "{}", "ok")
        assert float(row["fit_seconds"]) > 0
        assert float(row["predict_seconds"]) > 0
        assert float(row["peak_memory_mb"]) > 10
        assert 0 <= float(row["hamming_loss"]) <= 1
    assert "(cv:2, mean of 4 runs)" in outcome.out.replace("\n", "")
    assert "16 cells, 0 failed; " in outcome.out


def test_a_run_says_how_it_was_made(run, files, tmp_path):
    call = ["compare", files / "small.npz", "-m", "br", "--split", "holdout:0.3", "-o", "r"]
    assert run(*call).code == 0
    about = json.loads((tmp_path / "r" / "run.json").read_text())
    assert about["data"] == [str(files / "small.npz")]
    assert about["splits"] == {str(files / "small.npz"): "holdout:0.3"}
    assert (about["methods"], about["seeds"]) == (["br"], [0])
    assert about["versions"]["colabel"] == colabel.__version__
    assert {"python", "numpy", "scipy", "scikit-learn"} <= set(about["versions"])


def test_the_same_seed_gives_the_same_measures(run, files, tmp_path):
    call = ["compare", files / "small.npz", "-m", "ovr-svm+global", "--split", "cv:2", "-o"]
    assert run(*call, "r").code == run(*call, "s").code == 0
    assert measures(results(tmp_path / "r")) == measures(results(tmp_path / "s"))


def test_a_method_that_fails_is_recorded_and_the_run_goes_on(run, files, tmp_path, broken):
    call = ["compare", "data/small.npz", "-m", "broken,br", "--split", "cv:2", "-o", "r"]
    outcome = run(*call)
    assert (outcome.code, outcome.err) == (0, "")
    rows = results(tmp_path / "r")
    assert [row["status"] for row in rows] == [
        "failed: RuntimeError: the machine is on [red]fire",
        "ok",
    ] * 2
    assert all(rows[0][name] == "" for name in (*MEASURES, "fit_seconds", "peak_memory_mb"))
    lines = outcome.out.splitlines()
    reason = "failed: RuntimeError: the machine is on [red]fire"
    assert lines[-2] == f"broken on data/small.npz, 2 of 2 cells: {reason}"
    assert sum(reason in line for line in lines) == 1, "what failed alike is told once"
    assert "4 cells, 2 failed; " in outcome.out
    assert "broken" in outcome.out.splitlines()[4]


def test_a_cell_that_fails_alone_is_told_by_fold_and_seed(run, files, broken):
    call = ["compare", "data/small.npz", "-m", "broken,br", "--split", "holdout:0.3", "-o", "r"]
    assert "broken on data/small.npz, seed 0, fold 0: failed: RuntimeError" in run(*call).out


def test_a_run_in_which_everything_fails_has_failed(run, files, tmp_path, broken):
    call = ["compare", files / "small.npz", "-m", "broken", "--split", "cv:2", "-o", "r"]
    outcome = run(*call)
    assert outcome.code == 1
    place = Path("r") / "results.csv"
    assert outcome.err == f"colabel: all 2 cells failed; the reasons are in {place}\n"
    assert len(results(tmp_path / "r")) == 2


def test_yeast_is_compared_on_its_official_split_by_default(run, tmp_path):
    outcome = run("compare", "yeast", "-m", "br,br", "-o", "r")
    assert outcome.code == 0
    (row,) = results(tmp_path / "r")
    assert (row["data"], row["split"], row["fold"]) == ("yeast", "official", "0")
    assert float(row["hamming_loss"]) == pytest.approx(0.199, abs=0.01)
    lines = outcome.out.splitlines()
    assert lines[0] == "yeast (official)"
    assert lines[1].split() == [
        "subset", "Hamming", "example", "micro", "macro", "ranking", "fit", "predict",
    ]  # fmt: skip
    assert " ".join(lines[2].split()) == "method acc. ↑ loss ↓ F1 ↑ F1 ↑ F1 ↑ loss ↓ s s"
    assert lines[4].split()[:2] == ["br", f"{float(row['subset_accuracy']):.4f}"]


def test_the_longest_names_fit_80_columns(run, files):
    longest = max(methods.list_methods(), key=len)
    outcome = run("compare", "data/small.npz", "-m", longest, "--split", "holdout:0.5", "-o", "r")
    table = outcome.out.splitlines()[1:6]
    assert max(map(len, table)) <= 80
    # On two lines if need be, and whole.
    assert "".join(line.split(" ")[0] for line in table[3:]) == longest
    assert "…" not in outcome.out


def test_registered_data_and_files_are_compared_side_by_side(run, files, tmp_path):
    outcome = run("compare", "yeast", files / "small.csv", *LABELS, "-m", "br", "-o", "r")
    assert outcome.code == 0
    assert [row["split"] for row in results(tmp_path / "r")] == ["official"] + ["cv:5"] * 5
    assert "yeast (official)" in outcome.out
    assert "(cv:5, mean of 5 runs)" in outcome.out.replace("\n", "")


def test_data_without_an_official_split_gets_five_folds(run, files, tmp_path):
    assert run("compare", files / "small.npz", "-m", "br", "-o", "r").code == 0
    assert [row["split"] for row in results(tmp_path / "r")] == ["cv:5"] * 5


def test_a_table_is_reproduced_with_ours_beside_the_papers(run, plan, tmp_path):
    outcome = run("reproduce", "test-2020.table1", "-o", "r", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    (found,) = json.loads(outcome.out)
    assert found["plan"] == "test-2020.table1"
    assert (found["measure"], found["as_loss"], found["note"]) == (
        "hamming_loss", False, "Only a [test].",
    )  # fmt: skip
    cells = {(cell["data"], cell["method"]): cell for cell in found["cells"]}
    assert len(cells) == 3
    here = plan.data[0]
    rows = [r for r in results(tmp_path / "r" / "test-2020.table1") if r["method"] == "theirs"]
    assert len(rows) == 2
    assert json.loads(rows[0]["parameters"]) == {"C": 2.0}
    mean = sum(float(row["hamming_loss"]) for row in rows) / 2
    assert cells[here, "theirs"]["ours"] == pytest.approx(mean)
    assert (cells[here, "theirs"]["paper"], cells[here, "ours"]["paper"]) == (0.25, 0.75)
    assert cells["enron", "theirs"]["ours"] is None
    assert "not on this machine" in found["missing"]["enron"]


def test_missing_data_are_named_in_the_table_too(run, plan):
    outcome = run("reproduce", "test-2020", "-o", "r")
    assert outcome.code == 0
    assert "test-2020.table1: A [test] (hamming_loss)" in outcome.out
    assert "missing: enron: enron is registered but not on this machine" in outcome.out
    assert "Only a [test]." in outcome.out
    assert "0.2500" in outcome.out
    assert "–" in outcome.out


def generated(name, split="train", *, seed):
    rng = np.random.default_rng([seed, split == "test"])
    X = rng.normal(size=(40, 2))
    return Dataset(X, (X > 0).astype(np.int8), ("a", "b"), ("u", "v"), name, split)


def test_a_table_of_generated_data_shows_bound_and_spread(run, own_plans):
    paper_tables.register(
        PaperTable(
            name="test-2024.table1",
            title="Made",
            data=("made",),
            entries=(Entry("BR", "br", {"made": 60.0}), Entry("weak", "br", {}, {"C": 1e-9})),
            measure="subset_accuracy",
            percent=True,
            seeds=(0, 1),
            load_data=generated,
            bound=lambda data, seed: 0.9 + 0.1 * seed,
            published_bound={"made": 80.0},
        )
    )
    outcome = run("reproduce", "test-2024.table1", "-o", "r")
    assert outcome.code == 0
    title, heading, _, bound, mine, weak = outcome.out.splitlines()[:6]
    assert title == "test-2024.table1: Made (subset_accuracy, per cent)"
    assert heading.split("  ")[-1].strip().endswith("% of bound paper's %")
    assert bound.split() == ["made", "upper", "bound", "95.0", "±", "7.1", "80.0"]
    assert re.fullmatch(r"made +BR +\d+\.\d ± +\d+\.\d +60\.0 +\d+\.\d +75\.0", mine.strip())
    assert "–" in weak
    (found,) = json.loads(run("reproduce", "test-2024.table1", "-o", "r", "--json").out)
    assert (found["percent"], found["picture"]) == (True, None)
    first, second, third = found["cells"]
    assert (first["method"], first["paper"]) == ("upper bound", 80.0)
    assert first["spread"] == pytest.approx(50**0.5), "of 90 and 100, n - 1 in the denominator"
    share = 100 * second["ours"] / first["ours"]
    assert f"{share:.1f}" in mine
    assert third["paper"] is None


def test_other_data_than_the_papers_are_marked(run, own_plans, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    paper_tables.register(
        PaperTable(
            name="test-2025.figure1",
            title="Else",
            data=("yeast",),
            entries=(Entry("BR", "br", {"proteins": 80.0, "stars": 90.0}),),
            measure="subset_accuracy",
            percent=True,
            stand_ins={"yeast": "proteins"},
            unavailable={"stars": "out of reach"},
            draw=lambda found: pyplot.figure(),
        )
    )
    outcome = run("reproduce", "test-2025", "-o", "r")
    pyplot.close("all")
    assert outcome.code == 0
    row = outcome.out.splitlines()[3].split()
    assert (row[:2], row[-3:]) == (["yeast", "BR"], ["80.0", "different", "data"])
    assert "different data: yeast stands in for the paper's proteins" in outcome.out
    assert "missing: stars: out of reach" in outcome.out
    path = Path("r") / "test-2025.figure1" / "figure1.svg"
    assert f"picture: {path}" in outcome.out
    assert (tmp_path / path).exists()
    (found,) = json.loads(run("reproduce", "test-2025", "-o", "r", "--json").out)
    pyplot.close("all")
    assert found["cells"][0]["stands_in_for"] == "proteins"
    assert found["picture"] == str(path)
    assert found["missing"] == {"stars": "out of reach"}


def test_quick_runs_the_small_version(run, plan, tmp_path):
    outcome = run("reproduce", "test-2020.table1", "--quick", "-o", "r")
    assert outcome.code == 0
    assert "enron" not in outcome.out
    assert {r["seed"] for r in results(tmp_path / "r" / "test-2020.table1")} == {"0"}


def test_a_table_of_which_nothing_can_be_run_has_failed(run, own_plans):
    entry = Entry("x", "br", {"enron": 0.5})
    paper_tables.register(
        PaperTable("test-2021.table1", "Gone", ("enron",), (entry,), "example_f1")
    )
    outcome = run("reproduce", "test-2021", "-o", "r")
    assert outcome.code == 1
    assert "missing: enron" in outcome.out
    assert outcome.err.startswith("colabel: nothing of test-2021 could be run: enron is registered")
    paper_tables.register(PaperTable("test-2022.table1", "Empty", (), (), "example_f1"))
    assert "it has no data" in run("reproduce", "test-2022", "-o", "r").err


def test_failures_of_a_table_are_named(run, own_plans, files, broken):
    here = str(files / "small.npz")
    entries = (Entry("bad", "broken", {here: 0.5}), Entry("good", "br", {here: 0.5}))
    paper_tables.register(
        PaperTable("test-2023.t", "Half", (here,), entries, "micro_f1", split="holdout:0.5")
    )
    outcome = run("reproduce", "test-2023.t", "-o", "r")
    assert outcome.code == 0
    assert "failed: RuntimeError: the machine is on [red]fire" in outcome.out
    (found,) = json.loads(run("reproduce", "test-2023.t", "-o", "r", "--json").out)
    bad, good = found["cells"]
    assert bad["failed"].startswith("failed: RuntimeError")
    assert bad["ours"] is None
    assert good["failed"] is None


def test_a_table_shows_seconds_where_its_plan_asks_for_them(run, own_plans, tmp_path):
    made = paper_tables.register(
        PaperTable(
            name="test-2026.table1",
            title="Timed",
            data=("made",),
            entries=(Entry("BR", "br", {"made": 0.5}),),
            measure="example_f1",
            show_seconds=True,
            load_data=generated,
        )
    )
    outcome = run("reproduce", "test-2026", "-o", "r")
    _, heading, _, row = outcome.out.splitlines()[:4]
    assert heading.strip().endswith("paper difference fit s")
    assert re.fullmatch(r"made BR +\d\.\d{4} 0\.5000 +[+-]\d\.\d{4} +\d+\.\d", row.strip())
    (found,) = json.loads(run("reproduce", "test-2026", "-o", "s", "--json").out)
    (line,) = results(tmp_path / "s" / "test-2026.table1")
    (cell,) = found["cells"]
    assert cell["fit_seconds"] == pytest.approx(float(line["fit_seconds"]), rel=1e-3)
    paper_tables.register(replace(made, show_seconds=False))
    outcome = run("reproduce", "test-2026", "-o", "r")
    assert outcome.out.splitlines()[1].strip().endswith("paper difference")
    (found,) = json.loads(run("reproduce", "test-2026", "-o", "r", "--json").out)
    assert "fit_seconds" not in found["cells"][0]


def test_the_registered_table_runs_on_yeast(run, monkeypatch):
    grid, name = (0.1, 1.0), "relaxations-2015.table2"  # two penalties of seven, to save time
    (full,) = paper_tables.find_tables(name)
    entries = tuple(
        replace(entry, space=dict.fromkeys(entry.space, grid)) for entry in full.entries
    )
    monkeypatch.setattr(import_module("colabel.lab.papers.relaxations_2015"), "GRID", grid)
    monkeypatch.setitem(paper_tables._TABLES, name, replace(full, entries=entries))
    outcome = run("reproduce", "relaxations-2015.table2", "--quick", "-o", "r", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    (found,) = json.loads(outcome.out)
    assert found["missing"] == {}
    assert len(found["cells"]) == 3
    for cell in found["cells"]:
        assert cell["data"] == "yeast"
        assert abs(cell["ours"] - cell["paper"]) < 0.2


PLAN = """
data = [{ name = "data/small.csv", labels = -3 }]
split = ["cv:2", "holdout:0.5"]
measures = ["ranking_loss", "lrap"]
methods = ["br", { method = "br", name = "br C=9", parameters = { C = 9 }, search = false }]

[tune]
metric = "hamming_loss"
trials = 3
folds = 2
"""


def test_a_plan_is_compared_with_the_measures_it_names(run, files, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    outcome = run("compare", "--plan", "plan.toml", "-o", "r")
    assert (outcome.code, outcome.err) == (0, "")
    title, upper, lower, *_ = outcome.out.splitlines()
    assert title == "data/small.csv (cv:2, mean of 2 runs)"
    assert upper.split() == ["ranking", "fit", "predict"]
    assert lower.split() == ["method", "loss", "↓", "lrap", "↑", "s", "s"]
    rows = read_results(tmp_path / "r")
    assert [row["method"] for row in rows] == ["br", "br C=9"] * 3
    assert [row["split"] for row in rows] == ["cv:2"] * 4 + ["holdout:0.5"] * 2
    assert "data/small.csv (holdout:0.5)\n" in outcome.out
    assert json.loads(rows[1]["parameters"]) == {"C": 9}
    assert list(json.loads(rows[0]["parameters"])) == ["estimator__C"]
    about = json.loads((tmp_path / "r" / "run.json").read_text())
    assert (about["plan_file"], about["measures"]) == ("plan.toml", ["ranking_loss", "lrap"])


def test_parameters_are_tuned_in_cells_and_files_are_kept(run, files, tmp_path):
    call = ["compare", "data/small.csv", *LABELS, "-m", "br", "--split", "holdout:0.5", "-o", "r"]
    search = ["--tune", "random", "--metric", "hamming_loss", "--trials", "2"]
    outcome = run(*call, *search, "--keep", "predictions, models")
    assert (outcome.code, outcome.err) == (0, "")
    with (tmp_path / "r" / "inner.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 2
    with (tmp_path / "r" / "kept.csv").open(newline="") as file:
        (kept,) = csv.DictReader(file)
    assert colabel.load(tmp_path / "r" / kept["models"]).predict([[0, 0, 0]]).shape == (1, 3)
    assert (tmp_path / "r" / kept["predictions"]).exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["--plan", "gone.toml"], "gone.toml: there is no such file"),
        (["--plan", "p.toml", "yeast"], "--plan says what is compared: leave out DATA"),
        (["--plan", "p.toml", "--seeds", "3"], "leave out --seeds"),
        (["--plan", "p.toml"], "p.toml: method: is no key here; did you mean methods?"),
        (["yeast", "--tune", "luck"], "'luck' is no search: there is grid, random, halving"),
        (["yeast", "-m", "br", "--tune", "grid", "--metric", "luck"], "unknown measure"),
        (["yeast", "--trials", "3"], "--metric and --trials belong to --tune"),
        (["yeast", "--keep", "luck"], "'luck' cannot be kept: there is predictions, models"),
        (["yeast", "--dask", "x", "--jobs", "2"], "as many cells as its workers have threads"),
        (["yeast", "--dask", "x", "--cell-timeout", "2"], "set limits on its workers"),
        (["yeast", "--cell-memory", "0"], "--cell-memory must be above zero, not 0"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_a_wrong_call_is_one_sentence(fails, tmp_path, call, words):
    (tmp_path / "p.toml").write_text('data = ["yeast"]\nmethod = "br"\n')
    assert words in fails(2, "compare", *call, "-o", "r")
    assert not (tmp_path / "r").exists()
