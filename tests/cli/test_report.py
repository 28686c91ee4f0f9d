"""report and redo: files written, sentences printed, calls that are wrong."""

import html
import json
import os
import re
import shlex

import pytest

from colabel.lab.redo import redo as run_again
from lab.run_samples import write_run

pytest.importorskip("jinja2")


@pytest.fixture
def finished(tmp_path):
    return write_run(tmp_path / "runs" / "first")


def test_a_report_of_each_format(run, finished, tmp_path):
    for name in ("report.html", "report.md", "report.csv", "report.tex"):
        outcome = run("report", finished, "-o", name)
        assert outcome == (0, f"report in {name}\n", "")
        assert (tmp_path / name).stat().st_size > 1000
    run("report", finished, finished, "-o", "text", "--format", "md")
    assert (tmp_path / "text").read_text(encoding="utf-8").startswith("# 2 tables of results")


def test_wrong_calls_of_report_are_told(fails, finished, tmp_path):
    assert "does not say which format" in fails(2, "report", finished, "-o", "report.pdf")
    assert "'pdf' is no format" in fails(2, "report", finished, "-o", "a", "--format", "pdf")
    assert "nowhere is not a folder" in fails(2, "report", "nowhere", "-o", "report.html")
    assert "does not exist; make it first" in fails(2, "report", finished, "-o", "no/report.html")
    (tmp_path / "empty").mkdir()
    assert "empty has no results.csv" in fails(1, "report", "empty", "-o", "report.html")
    assert not (tmp_path / "report.html").exists()


def test_redo_sets_now_beside_then(run, files, tmp_path):
    data = files / "small.csv"
    labels = ("--labels", "-3")
    run("compare", data, *labels, "-m", "br,rml", "--split", "holdout:0.3", "-o", "runs")
    outcome = run("redo", "runs", "--data", data, "--method", "br", *labels)
    assert outcome.code == 0
    assert outcome.out.startswith("br on ")
    assert outcome.out.count("+0.0000") == 14
    outcome = run("redo", "runs", "--data", data, "--method", "br", *labels, "--json")
    found = json.loads(outcome.out)
    assert found["then"]["lrap"] == found["now"]["lrap"]
    # The run tells which columns are labels.
    outcome = run("redo", "runs", "--data", data, "--method", "br")
    assert outcome.out.count("+0.0000") == 14
    outcome = run("redo", "runs", "--data", data, "--method", "br", "--labels", "-2")
    assert outcome.out.count("+0.0000") < 14, "what is given goes first"


def test_models_of_files_are_drawn(run, files, tmp_path):
    """A mixture is drawn for a test sample, which is read as the run has read it."""
    call = ("compare", files / "small.csv", "--labels", "-3", "-m", "cbm-lr", "--keep", "models")
    run(*call, "--split", "holdout:0.3", "-o", "runs")
    run("report", "runs", "-o", "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the components that speak for the labels of one test sample" in page


def test_the_commands_of_a_report_run(run, files, tmp_path):
    """Each command of every cell is called as it stands on the page."""
    data = os.path.relpath(files / "small.csv", tmp_path)
    (tmp_path / "plan.toml").write_text(
        f'data = [{{ name = "{data}", labels = -3, split = "holdout:0.3" }}]\n'
        'methods = ["rml", { method = "br", name = "br, strong", parameters = { C = 0.01 } }]\n'
    )
    run("compare", "--plan", "plan.toml", "-o", "planned")
    flags = ("--labels", "-3", "--split", "holdout:0.3", "-o", "flagged")
    run("compare", data, "-m", "br", *flags)
    run("report", "planned", "flagged", "-o", "report.html")
    page = html.unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    commands = re.findall(r'<code class="command">colabel (.*?)</code>', page)
    assert [command.split()[0] for command in commands] == ["redo"] * 3 + ["compare"] * 2
    for command in commands:
        outcome = run(*shlex.split(command))
        assert outcome.code == 0, (command, outcome)
        if command.startswith("redo"):
            assert outcome.out.count("+0.0000") == 14


def test_redo_takes_options_of_files_for_files_only(fails, tmp_path):
    sentence = fails(2, "redo", tmp_path, "--data", "yeast", "--method", "br", "--labels", "3")
    assert sentence == "colabel: --labels and --xml are for files; yeast names its labels\n"


def test_redo_of_a_cell_that_fails_says_why(fails, finished):
    assert "has no cell of br on d0" in fails(1, "redo", finished, "--data", "d0", "--method", "br")
    wrong = ("--data", "d0", "--method", "best")
    assert "no method is called 'best'" in fails(2, "redo", finished, *wrong)


def test_redo_stops_where_the_cell_fails_now(fails, finished, monkeypatch):
    def broken(*args, **kwargs):
        row = run_again.__globals__["read_runs"]([finished])[0].rows[0]
        from dataclasses import replace

        return row, replace(row, result=replace(row.result, status="failed: it broke"))

    monkeypatch.setattr("colabel.lab.redo.redo", broken)
    wrong = ("--data", "d0", "--method", "best")
    assert "failed: it broke" in fails(1, "redo", finished, *wrong)
