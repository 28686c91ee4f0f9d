"""Comparisons in TOML files: what they say, and what is wrong with them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from colabel.exceptions import UnknownNameError
from colabel.lab import read_plan
from colabel.lab.run_folder import read_results

WHOLE = """
data = ["yeast", { name = "mine.csv", labels = ["u", "v"], split = "cv:2" }]
split = ["holdout:0.3", "holdout:0.5"]
seeds = [3, 1]
measures = ["hamming_loss", "micro_f1"]
methods = [
    "br",
    { method = "br", name = "strong", parameters = { C = 0.01 }, search = false },
    { method = "powset", search = { C = [0.1, 1.0] } },
]

[tune]
metric = "hamming_loss"
strategy = "random"
trials = 3
folds = 2
"""


@pytest.fixture
def plan(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = (X + rng.normal(size=(40, 2)) > 0).astype(int)
    lines = [f"{a},{b},{u},{v}" for (a, b), (u, v) in zip(X, Y, strict=True)]
    (tmp_path / "mine.csv").write_text("a,b,u,v\n" + "\n".join(lines) + "\n")

    def write(text):
        (tmp_path / "plan.toml").write_text(text)
        return tmp_path / "plan.toml"

    return write


def test_a_plan_says_what_is_compared(plan, tmp_path):
    found = read_plan(plan(WHOLE))
    mine = str(tmp_path / "mine.csv")
    assert found.data == ("yeast", mine)
    assert found.splits == {"yeast": ("holdout:0.3", "holdout:0.5"), mine: ("cv:2",)}
    assert found.seeds == (3, 1)
    assert found.measures == ("hamming_loss", "micro_f1")
    assert [variant.name for variant in found.methods] == ["br", "strong", "powset"]
    br, strong, powset = (variant.build(0) for variant in found.methods)
    assert (br.search.strategy, br.search.n_trials, br.search.n_folds) == ("random", 3, 2)
    assert powset.space == {"estimator__C": (0.1, 1.0)}
    assert strong.estimator.C == 0.01
    assert found.load(mine).label_names == ("u", "v")


def test_a_plan_is_run(plan, tmp_path):
    text = WHOLE.replace('"yeast", ', "")
    rows = read_plan(plan(text)).run(tmp_path / "run")
    assert len(rows) == 2 * 2 * 3, "seeds, folds and methods"
    assert [row.seed for row in rows[::6]] == [3, 1]
    assert all(row.result.ok for row in rows)
    assert all(bool(row.result.trials) == (row.method != "strong") for row in rows)
    assert len(read_results(tmp_path / "run")) == 12
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert about["measures"] == ["hamming_loss", "micro_f1"]
    assert Path(about["plan_file"]) == tmp_path / "plan.toml"


def test_little_need_be_said(plan):
    found = read_plan(plan('data = ["yeast:train"]\nseeds = 2\n'))
    assert found.methods is None
    assert found.splits == {}
    assert found.seeds == (0, 1)
    assert found.data == ("yeast:train",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("data = [", "this is not TOML: "),
        ("", "data: names no data"),
        ("data = []", "data: names no data"),
        ('data = "yeast"', "data: must be a list, not 'yeast'"),
        ("data = [3]", "data, entry 1: must be a name or a table"),
        ("data = [{ labels = 3 }]", "data, entry 1: has no name"),
        (
            'data = [{ name = "x", label = 3 }]',
            "entry 1, label: is no key here; did you mean labels",
        ),
        ('data = [{ name = "x", split = "cv" }]', "entry 1, split: 'cv' is not a split"),
        ("dat = []", "dat: is no key here; did you mean data?"),
        ("x = 1", "x: is no key here; there is data, split, seeds"),
        ('split = "cv:1"', "split: 'cv:1' is not a split: use official"),
        ("split = []", "split: is empty"),
        ("split = 5", "split: must be a text or a list, not 5"),
        ("seeds = 0", "seeds: must be a number above zero"),
        ("seeds = [0.5]", "seeds: must be a number above zero"),
        ("seeds = true", "seeds: must be a whole number or a list, not True"),
        ('measures = ["luck"]', "measures: unknown measure"),
        ("measures = [3]", "measures: "),
        ('methods = ["bbr"]', "methods, entry 1: no method is called 'bbr'"),
        ("methods = [3]", "methods, entry 1: must be a name or a table"),
        ("methods = [{}]", "methods, entry 1: has no method"),
        ('methods = ["br", "br"]', "methods: 'br' is there twice: give one of them another name"),
        ('data = ["yeast", "yeast"]', "data: 'yeast' is there twice: name it once, with a list of"),
        (
            'data = ["yeast", { name = "yeast", split = "cv:2" }]',
            "data: 'yeast' is there twice: name it once",
        ),
        ('measures = ["lrap", "lrap"]', "measures: 'lrap' is there twice: name it once"),
        ('split = ["cv:2", "cv:2"]', "split: 'cv:2' is there twice: name it once"),
        ('methods = [{ method = "br", C = 1 }]', "entry 1, C: is no key here; there is method"),
        ('methods = [{ method = "br", parameters = { K = 1 } }]', "br has no parameter 'K'"),
        ('methods = [{ method = "br", search = true }]', "entry 1: is searched, and there is no"),
        ('methods = [{ method = "br", search = { C = 1 } }]\n[tune]', "search, C: must be a list"),
        ('[tune]\nstrategy = "luck"', "tune: 'luck' is no search"),
        ("[tune]\ntrials = 0", "tune: a search needs at least 1 trial"),
        ('methods = ["br"]\n[tune]\nmetric = "luck"', "methods, entry 1: unknown measure"),
        ("[tune]\nmetrics = 3", "tune, metrics: is no key here; did you mean metric"),
    ],
)
def test_what_is_wrong_is_told_with_the_file_and_the_key(plan, text, sentence):
    if "data" not in text and text and not text.startswith("dat ="):
        text = f'data = ["yeast"]\n{text}'
    path = plan(text)
    with pytest.raises(UnknownNameError) as caught:
        read_plan(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert sentence in message
    assert "\n" not in message


def test_a_plan_that_is_not_there(tmp_path):
    with pytest.raises(UnknownNameError, match=r"no\.toml: there is no such file"):
        read_plan(tmp_path / "no.toml")


def test_the_plan_of_the_guide_can_be_read(plan):
    page = Path(__file__).parents[2] / "docs" / "guide" / "comparing.md"
    (text,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    found = read_plan(plan(text))
    assert len(found.data) == len(found.methods) == 3
    assert found.search.strategy == "halving"
