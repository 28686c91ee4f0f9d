"""Reports as Markdown, LaTeX and CSV; tables gathered from stores; cells run again."""

import csv
import gzip
import io
import re
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from results_cells import (
    add_to_store,
    gather_runs,
    merged,
    pack_cells,
    read_store,
    unpack_cells,
)
from results_page import merge_pages

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError
from colabel.lab import (
    Entry,
    PaperTable,
    compare,
    list_tables,
    paper_tables,
    read_plan,
    register,
    reproduce,
)
from colabel.lab.redo import cell_of, redo, redo_command, run_command
from colabel.lab.report import read_runs, render_csv, render_latex, render_markdown
from colabel.lab.report.standings import standings
from colabel.lab.rows import WHERE
from lab.run_samples import HOSTILE, write_run

TOOL = Path(__file__).parents[2] / "tools" / "write_results.py"


@pytest.fixture
def registry(monkeypatch):
    """A registry that may be changed."""
    list_tables()
    monkeypatch.setattr(paper_tables, "_TABLES", dict(paper_tables._TABLES))


def generated(name, split=None, *, seed=0):
    rng = np.random.default_rng([seed, len(name)])
    X = rng.normal(size=(60, 3))
    data = Dataset(X, (X > 0).astype(np.int8), tuple("abc"), tuple("xyz"), name)
    rows = {"train": slice(0, 40), "test": slice(40, None), None: slice(None)}
    return data.take(rows[split])


def a_plan(**changes):
    entries = (
        Entry("BR", "br", {"one": 70.0, "three": 60.0}),
        Entry("RML", "rml", {"one": 0.0}),
    )
    plan = PaperTable(
        "me-2020.table1", "Mine", ("one", "three"), entries, "example_f1", percent=True
    )
    return register(replace(plan, load_data=generated, seeds=(0, 1), note="A_note.", **changes))


def cells_of(line):
    """Split a line of Markdown at bars that are not escaped."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_csv_has_every_mean(tmp_path):
    failed = {("d1", "worst"): "failed: too, slow"}
    runs = read_runs([write_run(tmp_path / "run", failed=failed)])
    lines = [*csv.DictReader(io.StringIO(render_csv(runs)))]
    assert len(lines) == 4 * 3 * 14
    places = {s.measure: s for s in standings(runs[0])}
    for line in lines:
        place = places[line["measure"]].places[line["data"], line["method"]]
        assert bool(line["mean"]) != bool(line["reason"])
        if line["mean"]:
            assert float(line["mean"]) == place.mean
            assert float(line["sd"]) == place.sd
            assert int(line["cells"]) == 2
        else:
            assert (line["reason"], line["failed"]) == ("failed: too, slow", "2")


def test_csv_has_the_papers_number_in_units_of_the_measure(tmp_path, registry):
    reproduce(a_plan(), tmp_path / "me-2020.table1")
    lines = csv.DictReader(io.StringIO(render_csv(read_runs([tmp_path]))))
    found = {
        (x["data"], x["method"]): x["published"] for x in lines if x["measure"] == "example_f1"
    }
    assert found == {
        ("one", "BR"): "0.7",
        ("one", "RML"): "0.0",
        ("three", "BR"): "0.6",
        ("three", "RML"): "",
    }


def test_csv_has_no_published_number_of_other_data(tmp_path, registry):
    reproduce(a_plan(stand_ins={"three": "one"}), tmp_path / "me-2020.table1")
    lines = [*csv.DictReader(io.StringIO(render_csv(read_runs([tmp_path]))))]
    assert {x["data"] for x in lines if x["published"]} == {"one"}


def test_markdown_has_a_table_for_each_measure(tmp_path):
    failed = {("d1", "worst"): "failed: too slow"}
    text = render_markdown(read_runs([write_run(tmp_path / "run", failed=failed)]))
    assert text.startswith("# 3 methods on 4 datasets\n")
    assert text.count("| method | average rank |") == 14
    first = text[text.index("| method") :].splitlines()
    assert cells_of(first[1]) == [":--", "--:", "--:", "--:", "--:", "--:"]
    best, worst = cells_of(first[2]), cells_of(first[4])
    assert re.fullmatch(r"\*\*0\.\d{4} ± 0\.\d{4}\*\*", best[2])
    assert worst[3] == "failed"
    assert "- worst on d1, 2 of 2 cells: failed: too slow\n" in text
    assert text.rstrip().endswith(
        "Again: `colabel compare d0 d1 d2 d3 -m best,middle,worst --split holdout:0.3 --seeds 2 "
        "-o runs/again`"
    )


def test_hostile_names_change_no_table(tmp_path):
    runs = read_runs([write_run(tmp_path / "run", HOSTILE, HOSTILE, (0,))])
    text = render_markdown(runs)
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(cells_of(line)) for line in tables} == {len(HOSTILE) + 2}
    outside = re.sub(r"(`+).*?\1", "", text.replace("\\`", ""))
    assert not re.search(r"(?<!\\)<", outside)
    latex = render_latex(runs)
    body = [line for line in latex.splitlines() if line.endswith(r"\\")]
    for line in body:
        bare = re.sub(r"\\[#$%&_{}]|\$[^$]*\$", "", line)
        assert bare.count("&") == len(HOSTILE) + 1
        assert not re.search(r"[#$%]", bare)
        assert bare.count("{") == bare.count("}")


def test_latex_sets_ours_beside_the_papers(tmp_path, registry):
    reproduce(a_plan(), tmp_path / "me-2020.table1")
    text = render_latex(read_runs([tmp_path]))
    assert r"\caption{me-2020.table1: Mine (example F1, per cent)}" in text
    assert r"\begin{tabular}{llrrrr}" in text
    line = next(line for line in text.splitlines() if line.startswith("one & RML"))
    assert re.fullmatch(r"one & RML & [\d.]+ \$\\pm\$ [\d.]+ & 0\.0 & \$\\black.*\\\\", line)


def test_markdown_of_papers_tells_date_version_time_and_note(tmp_path, registry):
    plan = a_plan(unavailable={"gone": "nobody has it"}, stand_ins={"three": "one"})
    reproduce(plan, tmp_path / plan.name)
    text = render_markdown(read_runs([tmp_path]))
    assert re.search(r"Run on \d{4}-\d\d-\d\d with colabel [\w.]+: 8 cells, [\d.]+ seconds", text)
    assert "A\\_note." in text
    assert "- gone is missing: nobody has it" in text
    assert "- three stands in for the paper's one: different data" in text
    assert "Again: `colabel reproduce me-2020.table1 -o runs/again`" in text


def test_tables_run_in_parts_are_gathered_whole(tmp_path, registry):
    plan = a_plan()
    for entry in plan.entries:
        part = replace(plan, entries=(entry,), data=plan.data[:1])
        reproduce(part, tmp_path / plan.name, store_dir=tmp_path)
    assert len(read_runs([tmp_path])[0].rows) == 2  # those of the last part alone
    [run] = gather_runs(tmp_path)
    assert len(run.rows) == 4
    assert run.n_missing == 4
    reproduce(plan, tmp_path / plan.name, store_dir=tmp_path)
    [run] = gather_runs(tmp_path, [plan])
    whole = read_runs([tmp_path])[0]
    assert [row.as_dict() for row in run.rows] == [row.as_dict() for row in whole.rows]
    assert gather_runs(tmp_path, []) == []
    with pytest.raises(ColabelError, match="is not there"):
        gather_runs(tmp_path / "nowhere", [plan])
    (tmp_path / "cells.sqlite").write_bytes(b"no store" * 200)
    with pytest.raises(ColabelError, match="cannot be read"):
        gather_runs(tmp_path, [plan])


def test_the_page_of_results_is_written_by_the_tool(tmp_path, registry):
    plan = a_plan()
    reproduce(plan, tmp_path / plan.name, store_dir=tmp_path)
    (tmp_path / "sml-2011.figure2").mkdir()
    (tmp_path / "sml-2011.figure2" / "traces.csv").write_text(
        "data,quantity,iteration,value\nyeast,ours short,1,0.5\n"
    )
    runpy.run_path(str(TOOL))["main"]([str(tmp_path)], tmp_path / "results.md")
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert text.startswith("# Results\n")
    assert text.index("## me-2020.table1") < text.index("## sml-2011.figure2")
    assert "| me-2020.table1 | 2 | 0 |" in text or "| me-2020.table1 | 3 | 0 |" in text


def test_the_page_of_results_outlives_machines(tmp_path, registry, capsys):
    main = runpy.run_path(str(TOOL))["main"]
    page = tmp_path / "results.md"
    first, second = tmp_path / "first", tmp_path / "second"
    one = a_plan()
    other = register(replace(one, name="you-2021.table1", title="Yours", seeds=(5,)))
    reproduce(one, first / one.name, store_dir=first)
    main([str(first)], page)
    before = page.read_text(encoding="utf-8")
    assert "8 cells finished" in before or "All 8 cells finished." in before
    shutil.rmtree(first)
    reproduce(other, second / other.name, store_dir=second)
    main([str(second)], page)
    both = page.read_text(encoding="utf-8")
    assert before[before.index("## me-2020") :].strip() in both, "as it was written"
    line = next(line for line in before.splitlines() if line.startswith("| me-2020"))
    assert line in both.splitlines()
    assert "All 12 cells finished." in both
    assert both.index("## me-2020.table1") < both.index("## you-2021.table1")
    main([str(second)], page)
    assert page.read_text(encoding="utf-8") == both
    # A part that is run elsewhere finds the cells of the page beside it.
    third = tmp_path / "third"
    reproduce(replace(one, data=one.data[:1], seeds=(7,)), third / one.name, store_dir=third)
    register(replace(one, seeds=(0, 1, 7)))
    main([str(third)], page)
    assert "| 10 of 12 | 0 |" in page.read_text(encoding="utf-8")
    assert "14 cells finished; 2 cells had not been run" in page.read_text(encoding="utf-8")
    # Without them it has less to show than the page, which stays.
    (tmp_path / "results.jsonl.gz").unlink()
    capsys.readouterr()
    grown = page.read_text(encoding="utf-8")
    main([str(third)], page)
    assert page.read_text(encoding="utf-8") == grown
    printed = "me-2020.table1 stays as it is: 10 cells on the page, 2 found\n"
    assert capsys.readouterr().out == printed
    main([str(third)], page, ["me-2020.table1"])
    assert "| 2 of 12 | 0 |" in page.read_text(encoding="utf-8")
    register(replace(one, seeds=(9,)))
    with pytest.raises(SystemExit, match="no cell of a table"):
        main([str(third)], page)


def test_the_page_in_the_documentation_can_be_brought_up_to_date():
    page = (TOOL.parents[1] / "docs" / "results.md").read_text(encoding="utf-8")
    assert merge_pages(page, page) == (page, {})
    head, _, sections = page.partition("## cbm-2016.table1")
    lines = [x for x in head.split("## ")[0].splitlines() if not x.startswith("| cbm-2016.figure3")]
    part = "\n".join(lines) + "\n\n## cbm-2016.table1" + sections
    assert merge_pages(page, part) == (page, {}), "tables that are not in the new one stay"


def test_runs_go_on_from_cells_that_were_packed(tmp_path, registry):
    plan = a_plan()
    found = reproduce(plan, tmp_path / "here" / plan.name, store_dir=tmp_path / "here")
    known = read_store(tmp_path / "here")
    pack_cells(tmp_path / "cells.gz", known)
    content = (tmp_path / "cells.gz").read_bytes()
    pack_cells(tmp_path / "cells.gz", dict(reversed(known.items())))
    assert (tmp_path / "cells.gz").read_bytes() == content
    back = unpack_cells(tmp_path / "cells.gz")
    assert back == known
    assert add_to_store(tmp_path / "there", back) == 8
    assert add_to_store(tmp_path / "there", back) == 0
    assert read_store(tmp_path / "there") == known, "times of their ends and all"
    started = []
    again = reproduce(
        plan,
        tmp_path / "there" / plan.name,
        store_dir=tmp_path / "there",
        on_start=lambda *cell: started.append(cell),
    )
    assert started == []
    assert again.ours == found.ours
    some = next(iter(known))
    failed = {some: (replace(known[some][0], status="failed"), "later"), "new": known[some]}
    assert merged(known, failed) == {**known, "new": known[some]}, "a failure hides no result"
    assert merged({}, failed) == failed
    assert unpack_cells(tmp_path / "none.gz") == {}
    for wrong in (b"no archive", gzip.compress(b"{}\n"), gzip.compress(b"no lines\n")):
        (tmp_path / "cells.gz").write_bytes(wrong)
        with pytest.raises(ColabelError, match=r"cells\.gz cannot be read"):
            unpack_cells(tmp_path / "cells.gz")


# --- one cell again


def test_a_cell_of_a_comparison_gives_the_same_again(tmp_path):
    compare(
        ["one"], ["br", "rml"], split="cv:2", seeds=(0, 3), run_dir=tmp_path, load_data=generated
    )
    then, now = redo(tmp_path, data="one", method="rml", seed=3, fold=1, load_data=generated)
    assert (now.method, now.seed, now.fold) == ("rml", 3, 1)
    assert now.result.measures == then.result.measures
    assert len(then.result.measures) == 14
    with pytest.raises(ColabelError, match="has no cell of br on one with seed 1 and fold 0"):
        redo(tmp_path, data="one", method="br", seed=1, load_data=generated)


def test_a_cell_of_a_table_gives_the_same_again(tmp_path, registry):
    plan = a_plan()
    reproduce(plan, tmp_path / plan.name, store_dir=tmp_path)
    then, now = redo(tmp_path, data="three", method="RML", seed=1)
    assert now.result.measures == then.result.measures
    register(replace(plan, entries=plan.entries[:1]))
    with pytest.raises(ColabelError, match=r"me-2020\.table1 has no method RML any more"):
        redo(tmp_path, data="three", method="RML", seed=1)


def test_a_cell_of_a_plan_file_is_found_in_it(tmp_path):
    (tmp_path / "plan.toml").write_text(
        'data = ["yeast"]\nmethods = [{method = "br", name = "weak", parameters = {C = 100.0}}]\n'
    )
    about = {"plan_file": str(tmp_path / "plan.toml")}
    folder = write_run(tmp_path / "run", ["yeast"], ["weak"], (0,), split="official", **about)
    [run] = read_runs([folder])
    cell = cell_of(run, run.rows[0])
    assert cell.build().estimator.C == 100.0
    again = run_command(run)
    assert again == f"colabel compare --plan {tmp_path / 'plan.toml'} -o runs/again"
    searched = {"metric": "example_f1", "strategy": "grid", "n_trials": 2, "n_folds": 2}
    other = write_run(tmp_path / "b", ["yeast"], ["br"], (0,), split="official", search=searched)
    [run] = read_runs([other])
    assert cell_of(run, run.rows[0]).build().search.n_trials == 2
    assert "--tune grid --metric example_f1 --trials 2" in run_command(run)


def test_a_cell_of_a_plan_file_is_as_it_was_whatever_becomes_of_the_file(tmp_path):
    text = """
        data = [{ name = "made.csv", labels = ["x", "y"], split = "cv:2" }]
        methods = [{ method = "br", name = "br, weak", parameters = { C = 100.0 } }]
    """
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{int(a > 0)},{int(b > a)}" for a, b in rng.normal(size=(40, 2))]
    (tmp_path / "made.csv").write_text("\n".join(["a,b,x,y", *rows]) + "\n")
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    [first, second] = read_plan(plan).run(tmp_path / "run")
    [run] = read_runs([tmp_path / "run"])
    for becomes in (text.replace("100.0", "0.001"), None):
        plan.unlink() if becomes is None else plan.write_text(becomes)
        which = dict(zip(WHERE, second.as_dict().values(), strict=False))
        then, now = redo(tmp_path / "run", **which)
        assert then.result.measures == now.result.measures == second.result.measures
        assert now.result.measures != first.result.measures
    assert redo_command(run, second).endswith("--method 'br, weak' --seed 0 --fold 1")


def test_commands_say_how_files_are_read(tmp_path):
    options = {"d0": {"labels": "-3", "n_features": "7"}}
    [run] = read_runs([write_run(tmp_path / "run", ["d0", "d1"], options=options)])
    assert redo_command(run, run.rows[0]).endswith("--fold 0 --labels=-3 --n-features=7")
    assert redo_command(run, run.rows[-1]).endswith("--fold 0")
    assert "--labels=-3 --n-features=7 -o runs/again" in run_command(run)
