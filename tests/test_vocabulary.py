"""One word for one thing: names of parameters agree among estimators, and with the guide."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import colabel

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "vocabulary.md"
# Words that have another now; ``max_iter``, ``alpha`` and so on are in the guide.
RETIRED = {
    *("lambda_w", "lambda_a", "ridge", "weight_decay", "C_pair", "bias_scale", "inference"),
    *("solver", "n_steps", "n_passes", "max_sweeps", "rate", "batch", "n_samples"),
}
# Ghamrawi and McCallum (2005) call it so, and it chooses what is normalised over, no oracle.
# ``solver`` is a published setting of BP-MLL, and a parameter of scikit-learn's regression.
KEPT = {
    ("PairwiseCRF", "inference"),
    ("BPMLL", "solver"),
    ("ScaledLogisticRegression", "solver"),
}


def estimators():
    """Public estimators and parts of them, each once."""
    found = {}
    for module in pkgutil.walk_packages(colabel.__path__, "colabel."):
        if "._kernels" in module.name or module.name.endswith("__main__"):
            continue
        inside = importlib.import_module(module.name)
        for name in getattr(inside, "__all__", ()):
            thing = getattr(inside, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                found[name] = thing
    return found


ESTIMATORS = estimators()
RENAMED = {name: kind for name, kind in ESTIMATORS.items() if getattr(kind, "_renamed", None)}


def parameters(kind):
    return set(inspect.signature(kind).parameters)


def section(heading):
    text = PAGE.read_text(encoding="utf-8")
    return text.split(f"## {heading}")[1].split("\n## ")[0]


def test_estimators_are_found():
    assert {"PairwiseCRF", "AveragedDescent", "MeanField", "RBFNetwork"} <= set(ESTIMATORS)
    assert len(RENAMED) > 10


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_parameter_has_a_retired_name(name):
    found = {(name, word) for word in parameters(ESTIMATORS[name]) & RETIRED}
    assert found == {one for one in KEPT if one[0] == name}


@pytest.mark.parametrize("name", RENAMED)
def test_every_other_name_is_in_the_guide(name):
    kind = RENAMED[name]
    assert not set(kind._renamed) & parameters(kind), "no name is both old and new"
    old = section("Old names, taken with a warning until the next version")
    for word, spec in kind._renamed.items():
        where = old if getattr(spec, "warn", True) else section("Parameters that estimators share")
        assert f"`{word}`" in where, f"{name}: {word}"
        if isinstance(spec, str):
            assert re.search(rf"`{word}` → `{spec}`", where), f"{name}: {word} is {spec} now"
            # A base without parameters says it for those that have them.
            assert spec in parameters(kind) or not parameters(kind)


def test_shared_names_are_those_of_parameters():
    rows = section("Parameters that estimators share").splitlines()
    shared = {word for row in rows for word in re.findall(r"`(\w+)`", row.partition(" | ")[0])}
    known = set().union(*(parameters(kind) for kind in ESTIMATORS.values()))
    assert shared - {"name"} <= known
    assert {"alpha", "coupling_alpha", "max_iter"} <= shared


def test_the_page_is_short():
    assert len(re.findall(r"\w[^\s|]*", PAGE.read_text(encoding="utf-8"))) <= 500
