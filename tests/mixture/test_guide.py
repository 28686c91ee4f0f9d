"""The tables of the guide to mixtures hold what the models do now."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from colabel import ConditionalBernoulliMixture
from colabel.datasets import load
from colabel.lab import reproduce
from colabel.lab.papers.cbm_2016 import TABLE_2
from colabel.metrics import evaluate
from colabel.mixture import Logistic

TEXT = (Path(__file__).parents[2] / "docs" / "guide" / "mixtures.md").read_text(encoding="utf-8")
NAMES = {entry.method: entry.name for entry in TABLE_2.entries}


def rows_after(heading):
    """Yield the cells of the table whose first line starts like this."""
    lines = TEXT[TEXT.index(heading) :].split("\n\n")[0].splitlines()
    for line in (lines[0], *lines[2:]):
        yield [cell.strip(" *`") for cell in line.strip("|").split("|")]


def test_each_target_comes_to_what_the_table_says():
    train, test = load("yeast:train"), load("yeast:test")
    assert "ConditionalBernoulliMixture(20, gate=Logistic(1.0), max_iter=5, random_state=0)" in TEXT
    clf = ConditionalBernoulliMixture(20, gate=Logistic(1.0), max_iter=5, random_state=0)
    clf.fit(train.X, train.Y)
    _, *rows = rows_after("| decoded for |")
    assert len(rows) == 4
    for row in rows:
        target = re.match(r'"?(\w+)', row[0])[1]
        found = evaluate(test.Y, clf.decode(test.X, target).labels)
        measures = ("subset_accuracy", "hamming_loss", "example_f1", "example_jaccard")
        for cell, measure in zip(row[1:], measures, strict=True):
            assert float(cell) == pytest.approx(found[measure], abs=0.006), (target, measure)


def test_the_papers_numbers_are_typed_as_published_and_ours_as_they_come_out(real_data):
    (_, *data), *rows = rows_after("| | scene | rcv1subset1 |")
    assert tuple(data) == TABLE_2.data
    assert [row[0] for row in rows] == [*NAMES]
    published, shown = TABLE_2.published(), {}
    for method, *cells in rows:
        for name, cell in zip(data, cells, strict=True):
            ours, theirs = (part.strip(" *") for part in cell.split("/"))
            assert float(theirs) == published[name, NAMES[method]]
            shown[name, NAMES[method]] = ours
    small = TABLE_2.small()
    quick = [e for e in small.entries if e.name in ("BinRel LR", "PowSet LR", "CC LR", "CBM LR")]
    found = reproduce(replace(small, entries=tuple(quick))).ours
    for cell, value in found.items():
        assert value == pytest.approx(float(shown[cell]), abs=0.6), cell
