"""No place of a report is empty without a reason, whatever became of the cells."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from colabel.lab import Entry, PaperTable, list_tables, paper_tables, register
from colabel.lab.report import read_runs, render_latex, render_markdown, render_page
from lab.run_samples import write_predictions, write_run

pytest.importorskip("jinja2")

TIMEOUT = "failed: stopped after 120 s, the limit of a cell"
MEMORY = "failed: MemoryError: no room for <b>this</b>"


class Places(HTMLParser):
    """Collects the places of tables: what they show, their class and their title."""

    def __init__(self, page):
        super().__init__()
        self.found, self._open = [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag in ("td", "th"):
            self.found.append(["", dict(attributes)])
            self._open = True

    def handle_endtag(self, tag):
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data):
        if self._open:
            self.found[-1][0] += data.strip()


def check(page):
    """Return the reasons of places without a number, by what they show."""
    reasons = {}
    for shown, attributes in Places(page).found:
        assert shown, attributes
        assert shown.lower() != "nan"
        is_empty = "none" in (attributes.get("class") or "").split()
        assert is_empty == (attributes.get("data-v") == "NaN"), (shown, attributes)
        if is_empty or shown == "–":
            assert attributes.get("title"), (shown, attributes)
            reasons.setdefault(shown, set()).add(attributes["title"])
    return reasons


def check_tables(text):
    """No place of a table in Markdown is empty."""
    for line in text.splitlines():
        if line.startswith("| "):
            assert all(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]), line


@pytest.fixture
def run(tmp_path):
    """6 datasets, 5 methods, 3 seeds: failed, too slow, not come to, not scored, and all well."""
    folder = write_run(
        tmp_path / "run",
        [f"d{i}" for i in range(6)],
        ["best", "slow", "greedy", "late", "mute"],
        (0, 1, 2),
        failed={("d3", "slow"): TIMEOUT, ("d1", "greedy"): MEMORY, ("d2", "greedy"): MEMORY},
        no_scores=("mute",),
        left_out=(("d5", "late"), ("d4", "late")),
        n_cells=90,
    )
    write_predictions(folder, ["sun", "sea"], ["best", "slow"], seeds=(0, 1))
    [found] = read_runs([folder])
    return found


def test_every_empty_place_of_a_comparison_says_why(run):
    reasons = check(render_page([run]))
    assert reasons["failed"] == {TIMEOUT, MEMORY}
    assert reasons["not yet run"] == {"the run had not come to it"}
    assert reasons["no scores"] == {"it gives no scores"}
    assert reasons["not ranked"] >= {"it has no value on d3", "it has no value on d1 and d2"}
    check_tables(render_markdown([run]))
    assert not re.search(r"&\s*(&|\\\\)", render_latex([run]))


def test_a_run_that_was_not_asked_for_a_place_says_so(tmp_path):
    folder = write_run(tmp_path / "run", left_out=(("d2", "worst"),))
    assert check(render_page(read_runs([folder])))["not run"] == {"it was not asked to run there"}


def test_where_some_cells_failed_the_mean_says_of_how_many(run):
    rows = [
        replace(row, result=replace(row.result, status=TIMEOUT, measures={}))
        if (row.data, row.method, row.seed) == ("d0", "best", 1)
        else row
        for row in run.rows
    ]
    page = render_page([replace(run, rows=rows)])
    check(page)
    assert "2 of 3</span>" in page


def test_every_empty_place_of_a_papers_table_says_why(tmp_path, run, monkeypatch):
    list_tables()
    monkeypatch.setattr(paper_tables, "_TABLES", dict(paper_tables._TABLES))
    entries = (Entry("A", "br", {"d0": 0.1, "d1": 0.2, "theirs": 0.3}), Entry("B", "br", {}))
    plan = PaperTable(
        "me.table1",
        "Mine",
        ("d0", "d1", "d2", "gone"),
        entries,
        "example_f1",
        stand_ins={"d2": "theirs"},
        unavailable={"gone": "nobody has it"},
    )
    register(replace(plan, entries=(*entries, Entry("C", "br", {"d1": 0.5, "gone": 0.5}))))
    traced = PaperTable(
        "me.figure1", "Traced", ("d",), entries[:1], "gap", trace=lambda name, seed: {}
    )
    register(traced)
    write_run(
        tmp_path / "all" / "me.table1",
        ["d0", "d1", "d2"],
        ["A", "B"],
        failed={("d0", "A"): TIMEOUT},
    )
    (tmp_path / "all" / "me.figure1").mkdir()
    (tmp_path / "all" / "me.figure1" / "traces.csv").write_text(
        "data,quantity,iteration,value\nd,A,1,0.5\n"
    )
    runs = [*read_runs([tmp_path / "all"]), run]
    reasons = check(render_page(runs))
    assert reasons["failed"] >= {TIMEOUT}
    assert reasons["no data"] == {"nobody has it"}
    assert reasons["not printed"] == {"the paper prints no number"}
    assert reasons["different data"] == {"d2 stands in for the paper's theirs"}
    assert "figures of training itself are not timed" in reasons["–"]
    check_tables(render_markdown(runs))
    register(replace(plan, bound=lambda name, seed: 0.9, published_bound={"d1": 0.9}))
    runs = read_runs([tmp_path / "all" / "me.table1"])
    check(render_page(runs))
    check_tables(render_markdown(runs))
