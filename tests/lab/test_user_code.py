"""Keys of cells of code that users write: edited code is other code, and nothing else is."""

import importlib
import os
import subprocess
import sys
import textwrap
from functools import partial

import pytest
from sklearn.linear_model import LogisticRegression

from colabel.lab.cell import Variant
from colabel.lab.identity import describe, digest, is_user_code

HELPERS = "def shift(x):\n    return x + 1\n"
MINE = '''
"""A module as users write them."""
import logging
from functools import cached_property, lru_cache, partial, wraps

from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if

import mine_helpers

logger = logging.getLogger(__name__)
RATE = 0.5
GRID = [1, 2, 3]
NAMES = {"sun", "sea", "sand", "sky"}
BASE = LogisticRegression(C=2.0)
DATASETS = ["yeast"]
MARK, TURN = b"mark", 2j


class Config:
    def __init__(self, depth):
        self.depth = depth


config = Config(depth=7)


def double(x):
    return 2 * x


def loud(method):
    @wraps(method)
    def wrapper(self, *args):
        logger.info("loud %s", "again")
        return method(self, *args)
    return wrapper


@lru_cache
def cached(x):
    return x - 11


METHODS = {"double": double, "cycle": None}


def cycle(x):
    return METHODS["cycle"](x)


METHODS["cycle"] = cycle
scaled = partial(double, x=13)


class Parent(BaseEstimator):
    def predict(self, X):
        return X * 17


class Mine(Parent):
    limit = 19

    def __init__(self, C=1.0):
        self.C = C

    @loud
    def fit(self, X, y, times=23):
        logger.info("fitting")
        self.X_ = double(X) * RATE + sum(GRID) + cached(config.depth)
        self.marks_ = MARK, TURN
        return [name for name in NAMES if name in X]

    @property
    def wide(self):
        return 29

    @cached_property
    def tall(self):
        return 31 + METHODS["double"](1) + BASE.C + scaled()

    @staticmethod
    def plain(x):
        return mine_helpers.shift(x) * 37

    @classmethod
    def named(cls):
        def inner(x):
            return x + 41
        return inner

    @available_if(lambda self: self.C > 43)
    def predict_proba(self, X):
        return X * 47


def main():
    print(DATASETS, "unrelated")
'''
CHANGES = [
    ("RATE = 0.5", "RATE = 0.6"),
    ("GRID = [1, 2, 3]", "GRID = [1, 2, 4]"),
    ('"sun", "sea"', '"sun", "sad"'),
    ("C=2.0", "C=3.0"),
    ('b"mark"', 'b"park"'),
    ("2j", "3j"),
    ("depth=7", "depth=8"),
    ("self.depth = depth", "self.depth = depth + 1"),
    ("return 2 * x", "return 3 * x"),
    ("loud %s", "louder %s"),
    ("x - 11", "x - 12"),
    ('METHODS["cycle"](x)', 'METHODS["cycle"](x + 1)'),
    ("x=13", "x=14"),
    ("X * 17", "X * 18"),
    ("limit = 19", "limit = 20"),
    ("C=1.0", "C=1.5"),
    ("times=23", "times=24"),
    ("return 29", "return 30"),
    ("return 31", "return 32"),
    ("* 37", "* 38"),
    ("x + 41", "x + 42"),
    ("> 43", "> 44"),
    ("X * 47", "X * 48"),
    ("class Parent(BaseEstimator)", "class Parent(LogisticRegression)"),
]
SAME = [
    ("RATE = 0.5", "# slow\n\n\nRATE = 0.5"),
    ('DATASETS = ["yeast"]', 'DATASETS = ["yeast", "scene"]'),
    ("unrelated", "other words"),
    ("logger = logging.getLogger(__name__)", 'logger = logging.getLogger("other")'),
    ("        return 29\n", "        # told why\n        return 29\n"),
]


@pytest.fixture
def key_of(tmp_path, monkeypatch):
    """Return the key of ``Mine()`` in a module of some text."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def find(text=MINE, helpers=HELPERS, make="Mine()"):
        (tmp_path / "mine.py").write_text(text)
        (tmp_path / "mine_helpers.py").write_text(helpers)
        for name in ("mine", "mine_helpers"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        module = importlib.import_module("mine")
        return digest(describe(eval(make, {**vars(module), "partial": partial})))

    yield find
    for name in ("mine", "mine_helpers"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("make", ["Mine()", "Mine", "Mine().fit", "partial(Mine, C=2)"])
def test_edited_code_is_other_code(key_of, make):
    keys = [key_of(make=make)]
    for old, new in CHANGES:
        assert MINE.count(old) == 1, old
        keys.append(key_of(MINE.replace(old, new), make=make))
    keys.append(key_of(helpers=HELPERS.replace("1", "2"), make=make))
    assert len(set(keys)) == len(CHANGES) + 2


def test_other_edits_are_none(key_of):
    key = key_of()
    assert key == key_of()
    for old, new in SAME:
        assert old in MINE
        assert key_of(MINE.replace(old, new)) == key, old
    turned = MINE.replace("    @property\n    def wide(self):\n        return 29\n", "")
    assert key_of(turned) != key
    moved = turned.replace(
        "    limit = 19\n",
        "    limit = 19\n\n    @property\n    def wide(self):\n        return 29\n",
    )
    assert key_of(moved) == key, "the order of definitions"


def test_code_that_is_installed_or_ours_is_known_by_name():
    assert not is_user_code(LogisticRegression)
    assert not is_user_code(Variant)
    assert not is_user_code(len)
    assert not is_user_code(os.path.join)
    assert is_user_code(test_other_edits_are_none)
    assert describe(LogisticRegression) == {
        "name": "sklearn.linear_model._logistic.LogisticRegression"
    }


def test_code_without_source_is_known_by_what_was_compiled():
    def made(number):
        space = {"__name__": "__main__"}
        exec(f"class Made:\n    def fit(self):\n        return {number}\n", space)
        return digest(describe(space["Made"]))

    assert made(1) == made(1) != made(2)


def test_what_is_closed_over_and_cannot_be_told_is_run_anew():
    odd = (x for x in ())
    variant = Variant("odd", lambda seed: partial(lambda: odd), {})
    assert "unknown" in variant.identity


SCRIPT = """
    import numpy as np
    from sklearn.base import BaseEstimator
    from colabel.datasets import Dataset
    from colabel.lab import Variant, compare

    class Mine(BaseEstimator):
        def fit(self, X, y):
            print("fitted")
            self.n_labels_ = y.shape[1]
            return self

        def predict(self, X):
            return np.full((len(X), self.n_labels_), THRESHOLD)

    THRESHOLD = 0

    def load(name, split=None):
        X = np.random.default_rng(0).normal(size=(30, 3))
        return Dataset(X, (X > 0).astype(np.int8), tuple("abc"), tuple("xyz"), name)

    if __name__ == "__main__":
        mine = Variant("mine", lambda seed: Mine(), {})
        rows = compare(["made"], [mine], split="holdout:0.3", load_data=load, run_dir="run")
        print(rows[0].result.measures["hamming_loss"])
"""


def test_an_edited_script_finds_no_old_results(tmp_path):
    def run(text):
        (tmp_path / "script.py").write_text(textwrap.dedent(text))
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    first = run(SCRIPT)
    assert first[0] == "fitted"
    assert run(SCRIPT.replace('"made"', '"called otherwise"')) == first[1:], "read, not run"
    second = run(SCRIPT.replace("THRESHOLD = 0", "THRESHOLD = 1"))
    assert second[0] == "fitted"
    assert float(second[1]) == pytest.approx(1 - float(first[1]))
