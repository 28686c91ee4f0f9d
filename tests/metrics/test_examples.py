import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

from colabel import metrics

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "measures.md"
MODULES = [module.name for module in pkgutil.iter_modules(metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_are_true(name):
    module = importlib.import_module(f"colabel.metrics.{name}")
    assert doctest.testmod(module).failed == 0


def test_every_public_function_has_an_example():
    functions = [getattr(metrics, name) for name in metrics.__all__ if name.islower()]
    assert len(functions) > 20
    assert [f.__name__ for f in functions if ">>>" not in f.__doc__] == []


def test_the_examples_in_the_guide_are_true():
    result = doctest.testfile(str(GUIDE), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_guide_names_every_registered_measure():
    named = set(re.findall(r"\w+", GUIDE.read_text(encoding="utf-8")))
    assert set(metrics.MEASURES) - named == set()
