"""Tables of papers: registered, found, run, and set beside what was published."""

from dataclasses import replace

import pytest
from sklearn.model_selection import GridSearchCV

from colabel import BinaryRelevance
from colabel.exceptions import UnknownNameError
from colabel.lab import Entry, Plan, find_plans, list_plans, plans, register, reproduce
from colabel.lab.methods import get_method


@pytest.fixture
def registry(monkeypatch):
    """A registry that may be changed."""
    list_plans()
    monkeypatch.setattr(plans, "_PLANS", dict(plans._PLANS))


def a_plan(**changes):
    entries = (Entry("BR", "br", {"yeast": 0.8}, params={"C": 0.1}),)
    return replace(
        Plan("me-2020.table1", "Mine", ("yeast", "cal500"), entries, "hamming_loss"), **changes
    )


def test_plans_are_found_by_table_by_paper_and_all_together(registry):
    first, second = register(a_plan()), register(a_plan(name="me-2020.table2"))
    assert find_plans("me-2020.table1") == [first]
    assert find_plans("me-2020") == [first, second]
    assert find_plans("all") == list_plans()
    assert [plan.name for plan in list_plans()] == sorted(plan.name for plan in find_plans("all"))
    with pytest.raises(UnknownNameError, match="no table is registered as 'me-2021'; there is me-"):
        find_plans("me-2021")


def test_a_plan_with_an_unknown_measure_cannot_be_registered(registry):
    with pytest.raises(UnknownNameError, match="unknown measure"):
        register(a_plan(measure="luck"))


@pytest.mark.parametrize("plan", list_plans(), ids=lambda plan: plan.name)
def test_every_registered_plan_is_whole(plan):
    from colabel.datasets import list_datasets

    known = {info.name for info in list_datasets()}
    assert plan.name.count(".") == 1
    assert set(plan.data) <= known
    assert set(plan.quick_data) <= set(plan.data)
    for entry in plan.entries:
        get_method(entry.method)
        entry.build(0)
        assert set(entry.published) <= set(plan.data)
        assert all(0 <= value <= 1 for value in entry.published.values())


def test_an_entry_builds_what_the_paper_ran():
    fixed = Entry("x", "br", {}, params={"C": 0.3}).build(4)
    assert (fixed.estimator.C, fixed.estimator.random_state) == (0.3, 4)
    searched = Entry("x", "br", {}, space={"estimator__C": (1, 2)}, tune_for="lrap").build(4)
    assert isinstance(searched, GridSearchCV)
    assert searched.param_grid == {"estimator__C": [1, 2]}
    wrapped = Entry("x", "br", {}, wrap=lambda inner: BinaryRelevance(inner.estimator)).build(4)
    assert wrapped.estimator.max_iter == 1000


def test_each_label_may_choose_its_own_penalty(toy):
    from colabel.lab.papers.relaxations_2015 import TABLE_2

    X, Y = toy
    model = TABLE_2.entries[2].build(0).fit(X, Y)
    assert model.estimators_[2] is None, "a constant label has nothing to choose"
    chosen = [model.estimators_[i].best_params_["estimator__C"] for i in (0, 1, 4)]
    assert len(set(chosen)) > 1


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
