"""Tables of papers: registered, found, run, and set beside what was published."""

import json
import re
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from results_cells import gather_runs
from sklearn.model_selection import GridSearchCV

from colabel import BinaryRelevance
from colabel.cli.reproduce import _as_dict, _show
from colabel.datasets import Dataset, list_datasets
from colabel.exceptions import MissingExtraError, UnknownNameError
from colabel.lab import (
    Entry,
    PaperTable,
    find_tables,
    list_tables,
    paper_tables,
    register,
    reproduce,
    running,
)
from colabel.lab.cell import run_cell
from colabel.lab.methods import get_method
from colabel.lab.report import render_markdown, render_page
from colabel.lab.report.reproduced import paper_rows, reproduced
from colabel.lab.report.standings import standings
from colabel.lab.run_folder import read_results


@pytest.fixture
def registry(monkeypatch):
    """A registry that may be changed."""
    list_tables()
    monkeypatch.setattr(paper_tables, "_TABLES", dict(paper_tables._TABLES))


def a_plan(**changes):
    entries = (Entry("BR", "br", {"yeast": 0.8}, params={"C": 0.1}),)
    return replace(
        PaperTable("me-2020.table1", "Mine", ("yeast", "cal500"), entries, "hamming_loss"),
        **changes,
    )


def test_plans_are_found_by_table_by_paper_and_all_together(registry):
    first, second = register(a_plan()), register(a_plan(name="me-2020.table2"))
    assert find_tables("me-2020.table1") == [first]
    assert find_tables("me-2020") == [first, second]
    assert find_tables("all") == list_tables()
    assert [plan.name for plan in list_tables()] == sorted(plan.name for plan in find_tables("all"))
    with pytest.raises(
        UnknownNameError, match="no table is registered as 'me-2021'; did you mean me-"
    ):
        find_tables("me-2021")


def test_a_plan_with_an_unknown_measure_cannot_be_registered(registry):
    with pytest.raises(UnknownNameError, match="unknown measure"):
        register(a_plan(measure="luck"))


@pytest.mark.parametrize("plan", list_tables(), ids=lambda plan: plan.name)
def test_every_registered_plan_is_whole(plan):
    known = {info.name for info in list_datasets()}
    small = plan.small()
    assert set(plan.stand_ins) <= set(plan.data)
    assert len(small.seeds) == 1
    for some in (plan, small):
        assert some.load_data is not None or set(some.data) <= known
        assert len({entry.name for entry in some.entries}) == len(some.entries)
        for entry in some.entries:
            get_method(entry.method)
            for data in some.data:
                entry.build(0, data)
    paper = plan.name.partition(".")[0]
    theirs = {name for some in find_tables(paper) for name in (*some.data, *some.unavailable)}
    theirs |= {name for some in find_tables(paper) for name in some.stand_ins.values()}
    for entry in plan.entries:
        assert set(entry.published) <= theirs
        assert all(0 <= v <= (100 if plan.percent else 1) for v in entry.published.values())


def test_an_entry_builds_what_the_paper_ran():
    fixed = Entry("x", "ovr-svm", {}, params={"C": 0.3}).build(4)
    assert (fixed.estimator.C, fixed.estimator.random_state) == (0.3, 4)
    per_data = Entry("x", "br", {}, params={"C": 0.3, "tol": 0.1}, params_of={"enron": {"C": 7}})
    assert per_data.parameters("enron") == {"C": 7, "tol": 0.1}
    assert per_data.parameters("yeast") == per_data.parameters() == {"C": 0.3, "tol": 0.1}
    assert per_data.build(4, "enron").estimator.C == 7
    searched = Entry("x", "br", {}, space={"estimator__C": (1, 2)}, tune_for="lrap").build(4)
    assert isinstance(searched, GridSearchCV)
    assert searched.param_grid == {"estimator__C": [1, 2]}
    wrapped = Entry("x", "br", {}, wrap=lambda inner: BinaryRelevance(inner.estimator)).build(4)
    assert wrapped.estimator.max_iter == 1000


def test_each_label_may_choose_its_own_penalty(toy):
    from colabel.lab.papers.relaxations_2015 import GRID, TABLE_2

    X, Y = toy
    model = TABLE_2.entries[2].build(0).fit(X, Y)
    assert model.estimators_[2] is None, "a constant label has nothing to choose"
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30))
    noisy = (X[:, 0] > 0) ^ (rng.random(200) < 0.35)
    rare = np.arange(200) == np.argmax(X[:, 1])
    model = TABLE_2.entries[2].build(0).fit(X, np.column_stack([noisy, rare]).astype(np.int8))
    few, equal = (one.best_params_["estimator__C"] for one in model.estimators_)
    assert few < max(GRID)
    assert equal == max(GRID), "all are equally good for a label that is on once"


def test_a_plan_runs_on_the_data_that_are_there(monkeypatch, tmp_path):
    monkeypatch.delenv("COLABEL_DATA", raising=False)
    monkeypatch.setenv("COLABEL_CACHE", str(tmp_path))
    heard = []
    found = reproduce(a_plan(), tmp_path / "r", on_row=heard.append)
    assert len(heard) == 1
    assert found.published == {("yeast", "BR"): 0.8}
    assert found.ours["yeast", "BR"] == heard[0].result.measures["hamming_loss"]
    assert "not on this machine" in found.missing["cal500"]
    assert found.failed == {}
    loss = reproduce(a_plan(as_loss=True, data=("yeast",)))
    assert loss.ours["yeast", "BR"] == pytest.approx(1 - found.ours["yeast", "BR"])
    quick = reproduce(a_plan(quick_data=("yeast",), seeds=(0, 1)), quick=True)
    assert quick.missing == {}
    assert quick.ours == found.ours


def test_a_plan_whose_data_are_all_missing_runs_nothing(monkeypatch, tmp_path):
    monkeypatch.delenv("COLABEL_DATA", raising=False)
    monkeypatch.setenv("COLABEL_CACHE", str(tmp_path))
    found = reproduce(a_plan(data=("cal500",)), tmp_path / "r")
    assert found.ours == {}
    assert list(found.missing) == ["cal500"]
    assert not (tmp_path / "r").exists()


def generated(name, split="train", *, seed):
    """Data whose first label is its first feature's sign; each seed has its own rows."""
    rng = np.random.default_rng([seed, split == "test"])
    X = rng.normal(size=(30 + seed, 2))
    return Dataset(X, (X > 0).astype(np.int8), ("a", "b"), ("u", "v"), name, split)


def a_generated_plan(**changes):
    entries = (Entry("BR", "br", {"made": 60.0}), Entry("half", "br", {}, params={"C": 1e-9}))
    plan = PaperTable(
        "me-2020.made",
        "Made",
        ("made",),
        entries,
        "subset_accuracy",
        percent=True,
        seeds=(0, 1),
        load_data=generated,
        bound=lambda data, seed: 0.9 + 0.1 * seed,
        published_bound={"made": 80.0},
    )
    return replace(plan, **changes)


def test_generated_data_have_a_bound_and_a_seed_of_their_own(tmp_path):
    heard, planned = [], []
    found = reproduce(a_generated_plan(), tmp_path, on_row=heard.append, on_plan=planned.append)
    assert [(row.seed, row.method) for row in heard] == [
        (0, "BR"), (0, "half"), (1, "BR"), (1, "half"),
    ]  # fmt: skip
    assert planned == [4]
    assert [row["seed"] for row in read_results(tmp_path)] == ["0", "0", "1", "1"]
    about = json.loads((tmp_path / "run.json").read_text())
    assert (about["plan"], about["seeds"]) == ("me-2020.made", [0, 1])
    mine = [100 * row.result.measures["subset_accuracy"] for row in heard if row.method == "BR"]
    assert mine[0] != mine[1], "the seeds made different data"
    assert found.ours["made", "BR"] == pytest.approx(np.mean(mine))
    assert found.spread["made", "BR"] == pytest.approx(np.std(mine, ddof=1))
    assert found.ours["made", "upper bound"] == pytest.approx(95.0)
    assert found.cells() == [("made", "upper bound"), ("made", "BR"), ("made", "half")]
    assert found.of_bound(("made", "BR")) == pytest.approx((np.mean(mine) / 95.0, 0.75))
    assert found.of_bound(("made", "half"))[1] is None
    assert found.of_bound(("made", "upper bound")) == (None, None)


def test_the_small_plan_changes_what_it_says():
    plan = a_generated_plan(quick={"entries": a_generated_plan().entries[:1]})
    found = reproduce(plan, quick=True)
    assert found.table.seeds == (0,)
    assert found.cells() == [("made", "upper bound"), ("made", "BR")]
    assert found.spread == {}, "one value has no spread"


def test_a_table_in_per_cent_of_a_loss():
    plan = a_generated_plan(as_loss=True, seeds=(0,), bound=None)
    share = reproduce(replace(plan, as_loss=False, percent=False)).ours["made", "BR"]
    assert reproduce(plan).ours["made", "BR"] == pytest.approx(100 * (1 - share))


def test_data_that_stand_in_are_set_beside_the_numbers_of_the_papers_data():
    entries = (Entry("BR", "br", {"proteins": 0.8, "stars": 0.9}),)
    plan = a_plan(
        data=("yeast",),
        entries=entries,
        stand_ins={"yeast": "proteins"},
        unavailable={"stars": "out of reach"},
    )
    found = reproduce(plan)
    assert found.published == {("yeast", "BR"): 0.8}
    assert found.missing == {"stars": "out of reach"}
    assert reproduce(plan, quick=True).missing == {}


def test_plans_are_found_by_the_beginning_of_their_names(registry):
    names = ("me-2020.more.b", "me-2020.more.a", "me-2020.moreover")
    plans = {name: register(a_plan(name=name)) for name in names}
    assert find_tables("me-2020.more") == [plans["me-2020.more.a"], plans["me-2020.more.b"]]
    assert find_tables("me-2020.more.b") == [plans["me-2020.more.b"]]
    with pytest.raises(UnknownNameError, match=r"did you mean me-2020\.more"):
        find_tables("me-2020.mo")


def test_label_sets_that_exclude_one_another_keep_their_columns(tmp_path, monkeypatch):
    sets = {"side": ("u", "v")}
    X = np.random.default_rng(0).normal(size=(40, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(np.int8)
    data = Dataset(X, Y, ("a", "b"), ("u", "v"), "pairs", facets=sets)
    monkeypatch.setattr(import_module("colabel.lab.reproduce"), "load", lambda name: data)
    plan = a_plan(data=("pairs",), split="holdout:0.5", measure="subset_accuracy")
    reproduce(plan, tmp_path)
    (row,) = read_results(tmp_path)
    assert float(row["accuracy_side"]) == float(row["accuracy_all"]) > 0.5


def test_a_plan_draws_its_picture(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")

    def draw(found):
        figure = pyplot.figure()
        figure.subplots().plot([found.ours["made", "BR"]])
        return figure

    plan = a_generated_plan(draw=draw, name="me-2020.figure7")
    found = reproduce(plan, tmp_path, quick=True)
    pyplot.close("all")
    assert found.picture == tmp_path / "figure7.svg"
    assert found.picture.read_text().startswith("<?xml")
    assert reproduce(plan, quick=True).picture is None, "there is no folder for it"


def test_without_matplotlib_a_plan_says_why_there_is_no_picture(tmp_path):
    def draw(found):
        raise MissingExtraError("drawing a picture", "lab")

    with pytest.warns(UserWarning, match=r"drawing a picture needs an extra: .*colabel\[lab\]"):
        found = reproduce(a_generated_plan(draw=draw), tmp_path, quick=True)
    assert found.picture is None
    assert found.ours


def test_tables_of_the_same_cells_are_fitted_once(monkeypatch, tmp_path):
    fitted = []

    def counting(build, *given):
        fitted.append(build())
        return run_cell(build, *given)

    monkeypatch.setattr(running, "run_cell", counting)
    one = Entry("BR", "br", {"yeast": 80.0}, {"C": 0.1})
    entries = (one, Entry("PowSet", "powset", {}, params_of={"yeast": {"C": 0.1}}))
    first = a_plan(name="me.1", data=("yeast",), entries=entries, measure="hamming_loss")
    second = a_plan(name="me.2", data=("yeast",), measure="subset_accuracy", as_loss=True)
    second = replace(
        second,
        entries=(replace(one, name="binary", published={}), replace(one, name="C 1", params={})),
    )
    done = {}
    found = [reproduce(p, tmp_path / p.name, done=done) for p in (first, second)]
    assert len(fitted) == 3
    (same,) = [row for row in read_results(tmp_path / "me.2") if row["method"] == "binary"]
    (before,) = [row for row in read_results(tmp_path / "me.1") if row["method"] == "BR"]
    assert {**same, "method": "BR"} == before
    alone = reproduce(second)
    assert len(fitted) == 5
    assert found[1].ours == alone.ours
    # Nothing in this method is random, and the split is fixed: another seed is the same cell.
    seeds = reproduce(replace(first, seeds=(0, 1), entries=(one,)), done=done)
    assert len(fitted) == 5
    assert seeds.spread["yeast", "BR"] == 0.0
    svm = Entry("SVM", "ovr-svm", {})
    assert reproduce(replace(first, seeds=(0, 1), entries=(svm,)), done=done).ours
    assert len(fitted) == 7


def test_generated_data_of_another_seed_are_other_cells():
    def made(name, split="train", *, seed):
        X = np.random.default_rng([seed, split == "test"]).normal(size=(30, 2))
        return Dataset(X, (X > 0).astype(np.int8), ("a", "b"), ("u", "v"), name, split)

    plan = a_plan(data=("made",), load_data=made, seeds=(0, 1))
    done = {}
    first = reproduce(plan, done=done)
    assert len(done) == 2, "nothing in the method is random; the data are"
    assert reproduce(plan, done=done).ours == first.ours
    assert len(done) == 2


def test_what_is_left_out_is_not_run_and_has_its_reason(tmp_path, capsys):
    slow = Entry("slow", "br", {}, left_out={"yeast": "it takes a week"})
    plan = a_plan(data=("yeast",), split="holdout:0.2")
    plan = replace(plan, entries=(*plan.entries, slow))
    assert plan.left_out() == {("yeast", "slow"): "it takes a week"}
    assert plan.small().left_out() == plan.left_out()
    found = reproduce(plan, tmp_path / plan.name, store_dir=tmp_path)
    assert set(found.ours) == {("yeast", "BR")}
    assert found.cells() == [("yeast", "BR"), ("yeast", "slow")]
    assert not found.failed
    _show(found)
    assert "left out: slow on yeast: it takes a week" in capsys.readouterr().out
    told = {cell["method"]: cell["left_out"] for cell in _as_dict(found)["cells"]}
    assert told == {"BR": None, "slow": "it takes a week"}
    (run,) = gather_runs(tmp_path, [plan])
    assert run.n_missing == 0
    [row] = [row for row in paper_rows(reproduced(run)) if row.entry == "slow"]
    assert (row.ours, row.short, row.reason) == (None, "left out", "it takes a week")
    place = standings(run)[0].places["yeast", "slow"]
    assert (place.short, place.reason) == ("left out", "it takes a week")
    text = render_markdown([run])
    assert "slow on yeast is left out: it takes a week" in text
    [note] = re.findall("Left out: .*", render_page([run]))
    assert re.sub("<[^>]*>", "", note) == "Left out: slow on yeast: it takes a week."
