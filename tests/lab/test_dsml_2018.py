"""The tables of Liu et al. (2018): what is run, what is printed beside it, what is drawn."""

from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pytest

from colabel.lab import METHODS, find_tables, reproduce
from colabel.lab.papers import dsml_2018 as paper
from colabel.lab.papers.dsml_2018 import BASES, DATA, FIGURE_3, TABLE_2, TABLE_3


def test_every_table_is_registered_and_names_what_is_missing():
    plans = find_tables("dsml-2018")
    assert {plan.name for plan in plans} == {
        "dsml-2018.bases",
        "dsml-2018.figure3",
        *(f"dsml-2018.{t}.{part}" for t in ("table2", "table3") for part in ("a", "b", "all")),
    }
    assert find_tables("dsml-2018.table3.all") == [TABLE_3[2]]
    for plan in (*TABLE_2, *TABLE_3, FIGURE_3):
        assert set(plan.unavailable) == {"Calligrapher-Font", "Brand-Type"}


def test_the_published_numbers_stand_under_their_measures():
    assert [plan.measure for plan in TABLE_2] == list(paper.MEASURES.values())
    a, b, both = (plan.published() for plan in TABLE_2)
    assert (a[DATA, "DSML"], b[DATA, "DSML"], both[DATA, "DSML"]) == (0.8521, 0.9547, 0.8220)
    assert (DATA, "Co-Occ. Dec.") not in a
    assert both[DATA, "Co-Occ. Dec."] == 0.8068
    assert (DATA, "coupled") not in both
    assert TABLE_3[0].published()[DATA, "B = 1.20"] == 0.8476
    for plan in (*TABLE_2, *TABLE_3):
        for _, value in plan.published().items():
            assert 0.0 < value < 1.0


def test_each_column_is_the_method_of_the_paper_over_its_network():
    for entry in TABLE_2[2].entries:
        model = entry.build(5, DATA)
        if METHODS[entry.method.partition("+")[0]].facets:
            base = model.estimator
            assert (base.ratio, base.width, base.scale, base.alpha) == (0.07, 0.3, False, 0.0)
            assert base.random_state == 5
            assert entry.build(6, DATA).estimator.random_state == 6
        else:
            assert model.rule == "argmax"
    built = {entry.name: entry.build(0, DATA) for entry in TABLE_2[2].entries}
    assert (built["DSML"].n_rounds, built["DSML"].B, built["DSML"].inputs) == (
        10,
        1.05,
        "predicted",
    )
    assert (built["boosted apart"].reuse, built["boosted apart"].B) == (False, 1.0)
    assert built["DSML, true labels fed"].inputs == "true"


def test_parts_of_a_table_and_the_tables_share_their_cells():
    keys = [[entry.variant(DATA).key for entry in plan.entries] for plan in TABLE_2]
    assert keys[0] == keys[1] == keys[2]
    by_name = {entry.name: entry.variant(DATA).key for entry in TABLE_3[2].entries}
    in_2 = {entry.name: entry.variant(DATA).key for entry in TABLE_2[2].entries}
    assert by_name["B = 1.05"] == in_2["DSML"]
    assert by_name["boosted apart"] == in_2["boosted apart"]
    assert len(set(by_name.values())) == 9


def small(data):
    return data.take(slice(0, None, 6))


@pytest.mark.usefixtures("real_data")
def test_the_small_tables_run(monkeypatch, tmp_path):
    module = import_module("colabel.lab.reproduce")
    monkeypatch.setattr(module, "load", lambda name, split=None: small(paper.load(name)))
    done = {}
    names = ("DSML", "Ind. Dec.", "ML-KNN", "coupled")
    for plan in (*TABLE_2, BASES):
        quick = plan.small()
        chosen = tuple(e for e in quick.entries if e.name in names or ": independent" in e.name)
        found = reproduce(replace(quick, entries=chosen), tmp_path / plan.name, done=done)
        assert not found.failed
        assert all(0.2 < found.ours[cell] < 1.0 for cell in found.ours)
    assert len(done) == 5


@pytest.mark.usefixtures("real_data")
def test_the_figure_follows_the_rounds_and_is_drawn(monkeypatch, tmp_path):
    whole = paper.load(DATA)
    monkeypatch.setattr(paper, "load", lambda name: small(whole))
    plan = FIGURE_3.small()
    plan = replace(plan, trace=partial(plan.trace.func, **{**plan.trace.keywords, "n_rounds": 2}))
    found = reproduce(plan, tmp_path)
    assert found.picture.stat().st_size > 1000
    assert {len(values) for values in found.traces.values()} == {2}
    both = np.array(found.traces[DATA, "all, B = 1.05, reuse"])
    assert (both <= found.traces[DATA, "a, B = 1.05, reuse"]).all()
    assert both.min() > 0.3
