"""Keys of cells: equal for what is equal, in every process, and different for what is not."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import chi2
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from colabel import BinaryRelevance, LabelPowerset
from colabel.datasets import Dataset
from colabel.lab import Entry, compare, list_tables
from colabel.lab.cell import Variant
from colabel.lab.compare import list_cells
from colabel.lab.identity import describe, digest, hash_data
from colabel.lab.methods import METHODS, list_methods, make
from colabel.metrics import make_scorer


@dataclass
class Point:
    x: float
    y: tuple = ()


class Plain:
    def __init__(self, value):
        self.value = value

    def method(self):
        return self.value


def named(x, power=2):
    return x**power


def made(power):
    return lambda x: x**power


def search(seed=0, grid=(1.0, 2.0), scorer="micro_f1"):
    cv = ShuffleSplit(1, test_size=0.2, random_state=seed)
    space = {"estimator__C": list(grid)}
    return GridSearchCV(BinaryRelevance(), space, scoring=make_scorer(scorer), cv=cv)


# Each of these differs from all others, and is equal to itself made again.
VALUES = [
    lambda: None,
    lambda: True,
    lambda: 1,
    lambda: 2.0,
    lambda: "1",
    lambda: b"1",
    lambda: b"2",
    lambda: 2j,
    lambda: float("inf"),
    lambda: [1, 2.5],
    lambda: {"a": 1, "b": [2]},
    lambda: {"a": 1, "b": (3,)},
    lambda: {1: "a", (2, "x"): None},
    lambda: {"x", "y", "z", "w"},
    lambda: frozenset(range(3)),
    lambda: range(2, 9),
    lambda: slice(1, None),
    lambda: np.arange(6.0),
    lambda: np.arange(6.0).reshape(2, 3),
    lambda: np.arange(6),
    lambda: np.zeros((0, 3)),
    lambda: np.array(["a", None], dtype=object),
    lambda: sparse.csr_array(np.eye(3)),
    lambda: np.eye(3),
    lambda: np.dtype("float32"),
    lambda: np.log1p,
    lambda: np.random.RandomState(0),
    lambda: np.random.RandomState(1),
    lambda: np.random.default_rng(0),
    lambda: chi2,
    lambda: len,
    lambda: named,
    lambda: partial(named, power=3),
    lambda: partial(named, power=4),
    lambda: made(2),
    lambda: made(3),
    lambda: lambda x: x in {"p", "q", "r"},
    lambda: lambda x: [y for y in x if y in ("p", "q")],
    lambda: BinaryRelevance,
    lambda: BinaryRelevance(),
    lambda: LabelPowerset(),
    lambda: make_pipeline(FunctionTransformer(np.log1p), BinaryRelevance()),
    lambda: make_pipeline(FunctionTransformer(np.sqrt), BinaryRelevance()),
    search,
    partial(search, 1),
    partial(search, 0, (1.0, 3.0)),
    partial(search, 0, (1.0, 2.0), "macro_f1"),
    lambda: Point(1.0),
    lambda: Point(1.0, (2,)),
    lambda: Plain(1),
    lambda: Plain(1).method,
    lambda: Plain(2).method,
]


def keys():
    return [digest(describe(make_value())) for make_value in VALUES]


def test_equal_values_have_equal_keys_and_others_do_not():
    found = keys()
    assert found == keys()
    assert len(set(found)) == len(VALUES)
    assert all(len(key) == 32 for key in found)


def test_values_that_mean_the_same_are_the_same():
    for one, other in (
        ((1, 2), [1, 2]),
        (np.float64(0.1), 0.1),
        (np.int64(3), 3),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.asfortranarray(np.eye(3)), np.eye(3)),
        (sparse.csc_array(np.eye(3)), sparse.csr_matrix(np.eye(3))),
    ):
        assert digest(describe(one)) == digest(describe(other))
    unsorted = sparse.csr_array((np.ones(2), [1, 0], [0, 2]), shape=(1, 2))
    assert digest(describe(unsorted)) == digest(describe(sparse.csr_array(np.ones((1, 2)))))
    assert not unsorted.has_sorted_indices, "what is asked about is not changed"


def test_keys_are_the_same_in_another_process():
    code = (
        "import sys, json; sys.path[:0] = json.loads(sys.argv[1])\n"
        "from lab.test_identity import keys, keys_of_cells\n"
        "print(json.dumps([keys(), keys_of_cells()]))"
    )
    here = os.path.dirname(os.path.dirname(__file__))
    expected = None
    for seed in ("1", "2"):
        call = [sys.executable, "-c", code, json.dumps([here])]
        surroundings = os.environ | {"PYTHONHASHSEED": seed}
        out = subprocess.run(call, env=surroundings, capture_output=True, text=True, check=True)
        expected = expected or out.stdout
        assert out.stdout == expected
    assert len(json.loads(expected)[1]) > 40


def test_what_does_not_tell_what_it_is_made_of_is_no_value():
    with pytest.raises(TypeError, match="generator does not tell what it is made of"):
        describe(x for x in ())
    endless = Plain(None)
    endless.value = endless
    with pytest.raises(RecursionError):
        describe(endless)


def small(shift=0.0, **changes):
    X = np.arange(12.0).reshape(6, 2) + shift
    Y = np.tile(np.eye(2, dtype=np.int8), (3, 1))
    return replace(Dataset(X, Y, ("a", "b"), ("u", "v")), **changes)


def test_data_are_what_methods_and_measures_see_of_them():
    base = hash_data(small())
    assert hash_data(small(name="other", feature_names=("c", "d"))) == base
    others = [
        small(1e-9),
        small(Y=1 - small().Y),
        small(X=sparse.csr_array(small().X)),
        small(facets={"s": ("u", "v")}),
        small(facets={"t": ("u", "v")}),
    ]
    assert len({base, *map(hash_data, others)}) == 6


def cells_of(name="x", method="br", split="cv:2", seeds=(0,), shift=0.0):
    def load(name, split=None):
        return small(shift)

    return list_cells([name], [method], split, seeds, load)


def keys_of_cells():
    methods = [*METHODS, *(name for name in list_methods() if name.startswith("br+"))]
    return [cell.key for method in methods for cell in cells_of(method=method)]


def test_everything_that_determines_a_result_is_in_the_key(monkeypatch):
    (first, second) = cells_of()
    changed = [
        second,
        cells_of(method="powset")[0],
        cells_of(split="cv:3")[0],
        cells_of(split="holdout:0.5")[0],
        cells_of(seeds=(1,))[0],
        cells_of(shift=1.0)[0],
    ]
    assert first.key == cells_of(name="y")[0].key, "the name is no part of it"
    monkeypatch.setattr("colabel.__version__", "99.0")
    changed += cells_of()[:1]
    assert len({first.key, *(cell.key for cell in changed)}) == 8


def test_on_a_fixed_split_a_seed_matters_only_to_what_is_random():
    def keys_of(**options):
        variant = Variant("v", lambda seed: make("br"), {}, **options)
        cells = list_cells(["x"], [variant], "official", (0, 1), lambda name, split: small())
        return [cell.key for cell in cells]

    assert len(set(keys_of())) == 2
    assert len(set(keys_of(seeded=False))) == 1


def test_a_variant_is_what_it_builds():
    def wrap(estimator):
        return LabelPowerset(estimator.estimator)

    one = Entry("a", "br", {}, params={"C": 2.0})
    same = [replace(one, name="b"), Entry("c", "br", {}, params_of={"x": {"C": 2.0}})]
    other = [
        replace(one, params={"C": 3.0}),
        replace(one, method="powset"),
        replace(one, space={"estimator__C": (1.0, 2.0)}),
        replace(one, space={"estimator__C": (1.0, 2.0)}, holdout=0.2),
        replace(one, space={"estimator__C": (1.0, 2.0)}, tune_for="lrap"),
        replace(one, wrap=lambda estimator: BinaryRelevance(wrap(estimator))),
    ]
    assert {entry.variant("x").key for entry in same} == {one.variant("x").key}
    assert len({one.variant("x").key, *(entry.variant("x").key for entry in other)}) == 7


def test_what_cannot_be_told_apart_is_run_anew(tmp_path):
    fitted = []

    class Odd(BaseEstimator):
        def __init__(self, odd=None):
            self.odd = odd

        def fit(self, X, y):
            fitted.append(1)
            return self

        def predict(self, X):
            return np.zeros((len(X), 2), int)

    def load(name, split=None):
        return small()

    for n in (1, 2):
        odd = Variant("odd", lambda seed: Odd(x for x in ()), {})
        rows = compare(["x"], [odd], split="holdout:0.5", load_data=load, run_dir=tmp_path)
        assert [row.result.status for row in rows] == ["ok"]
        assert len(fitted) == n


def test_every_cell_of_the_papers_can_be_told_apart():
    for plan in list_tables():
        for some in (plan, plan.small()):
            for entry in some.entries:
                for data in some.data:
                    text = json.dumps(entry.variant(data).identity)
                    assert '"unknown"' not in text, (plan.name, entry.name)
                    assert " at 0x" not in text


FORMER = {
    "cbm-lr": {"decoder": None, "experts": "logistic", "n_components": 30},
    "cbm-gb": {"n_components": 20, "n_init": 10, "n_models": 3, "n_steps": 20},
}
